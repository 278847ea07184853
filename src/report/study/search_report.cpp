#include "titer/report/study/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "search_figures.hpp"
#include "titer/input/defect.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

using Key = const SearchKey*;

std::string text_of(const Plan& plan, const SearchKey& key) { return shown(key.value(plan)); }

/// The keys in which some of the plans differ.
std::vector<Key> varied_keys(const SearchAnswer& answer) {
  std::vector<Key> keys;
  for (const SearchKey& key : search_keys()) {
    const bool varies = std::ranges::any_of(answer.plans, [&](const FoundPlan& found) {
      return text_of(found.plan, key) != text_of(answer.plans.front().plan, key);
    });
    if (varies) {
      keys.push_back(&key);
    }
  }
  return keys;
}

std::string counts_text(const SearchCounts& counts) {
  std::string text = fmt::format("{} plans", grouped_count(counts.plans));
  for (const SearchCountName& count : kSearchCounts) {
    if (counts.*count.value > 0) {
      text += fmt::format("{} {} {}",
                          text.find(':') == std::string::npos ? ":" : ",",
                          grouped_count(counts.*count.value),
                          count.name);
    }
  }
  return text;
}

bool devices_vary(const SearchAnswer& answer) {
  return std::ranges::any_of(answer.plans, [&](const FoundPlan& found) {
    return found.devices != answer.plans.front().devices;
  });
}

/// What is no transformer has samples, and no attention.
void relabel_samples(Figures& row) {
  for (Figure& figure : row) {
    figure.label = figure.key == "tokens_per_s" ? "samples/s"
                   : figure.key == "mfu_causal" ? ""
                                                : figure.label;
  }
}

/// What plans come to, and where they differ: in the number of devices, and in the keys.
FigureRows plan_rows(const Search& search, const SearchAnswer& answer) {
  const bool has_tokens = searched(search, answer).scenario.model.is_transformer();
  const std::vector<Key> keys = varied_keys(answer);
  const bool devices = devices_vary(answer);
  FigureRows rows;
  for (const FoundPlan& found : answer.plans) {
    Figures row = joined({{"", rows.size() + 1, kNoHeading}}, found_figures(found));
    const auto refined = std::ranges::find(row, "refined", &Figure::label);
    std::rotate(row.begin() + 2, refined, refined + 1);  // beside the time
    if (!has_tokens) {
      relabel_samples(row);
    }
    if (devices) {
      row.push_back({"", found.devices, "devices"});
      row.push_back({"", found.plan.data, "data"});
    }
    for (const Key key : keys) {
      row.push_back({"", text_of(found.plan, *key), std::string(key->name)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// "best by time", "no other is better in time and memory".
std::string objective_text(const Search& search) {
  const std::string text =
      search.robust
          ? "expected time over the spread of its figures"
          : listed(search.objectives, [](const Objective objective) { return name(objective); });
  if (search.objectives.size() > 1) {
    return "Pareto front of " + text;
  }
  const bool of_shapes = search.best_of == BestPlanOf::shape && search.top > 1;
  return "best by " + text + (of_shapes ? ", one plan of each shape" : "");
}

std::string heading(const Search& search, const SearchAnswer& answer) {
  const Search& of = searched(search, answer);
  const Training& training = of.scenario.training;
  const std::string devices =
      !answer.plans.empty() && !devices_vary(answer) ? std::to_string(answer.plans.front().devices)
      : of.devices.size() == 1                       ? std::to_string(of.devices.front())
                               : fmt::format("{} to {}", of.devices.front(), of.devices.back());
  const std::string model = of.scenario.model.title();
  const std::string tokens =
      !of.scenario.model.is_transformer()
          ? ""
          : fmt::format("; {} tokens per step",
                        grouped_digits(counted_product(training.global_batch, training.sequence)));
  return fmt::format("{} on {} x {} ({}): {}{}\n  {}{}\n",
                     answer.model.empty() ? model : model + " (" + answer.model + ")",
                     devices,
                     of.scenario.cluster.chip.title,
                     of.scenario.cluster.name,
                     objective_text(search),
                     answer.complete ? "" : "; incomplete, stopped before all plans were through",
                     training_words(of.scenario),
                     tokens);
}

/// "schedule 1f1b; pipeline 1, 2, 4": what of the space was given, where not all that there is.
std::string space_text(const Search& search) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const auto given = std::ranges::find(search.narrowed, key.name);
    if (given == search.narrowed.end()) {
      continue;
    }
    const auto words = [](const Value& value) { return shown(value); };
    add_listed(text, fmt::format("{} {}", key.name, listed(key.values(search.space), words)), "; ");
  }
  return text.empty() ? "all plans there are" : "plans with " + text;
}

/// "expert_overlap true, layers \"lighter-ends\"": what all plans have of what is not varied, where
/// it is not as usual.
std::string given_text(const Plan& plan) {
  std::string text;
  for (const Field<Plan>& field : plan_fields()) {
    const bool is_varied =
        field.key == "data" || std::ranges::count(search_keys(), field.key, &SearchKey::name) > 0;
    if (!is_varied && !field.same(plan, Plan())) {
      add_listed(text, fmt::format("{} {}", field.key, shown(field.write(plan))));
    }
  }
  return text;
}

/// "13.92 s instead of 16.4 s"; of a front "time 13.92 s instead of 16.4 s".
std::string gain_text(const Search& search,
                      const SearchAnswer& answer,
                      const BeyondSoftware& beyond) {
  const FoundPlan& best = beyond.best.plans.front();
  const Objective objective = search.objectives[beyond.objective];
  const bool is_time = objective == Objective::time;
  const auto score = [&](const FoundPlan& found, double of) {
    if (objective == Objective::memory) {
      return "memory " + format(Bytes::from_si(of));
    }
    return is_time ? format(found.result.iteration_time)
                   : fmt::format("{} {:.4g}", name(objective), std::abs(of));
  };
  std::string text = beyond.best.model.empty() ? "" : beyond.best.model + ", ";
  text += search.fewest_devices ? fmt::format("{} devices, ", best.devices) : "";
  text += is_time && search.objectives.size() > 1 ? "time " : "";
  text += score(best, best.scores.front());
  if (answer.plans.empty() || answer.model != beyond.best.model) {
    return text;
  }
  const FoundPlan& known = *best_by(answer, beyond.objective);
  text += fmt::format(" instead of {}", score(known, known.scores[beyond.objective]));
  if (is_time && known.devices == best.devices) {
    text += fmt::format(" ({:.0f} % faster)",
                        100 * (known.result.iteration_time / best.result.iteration_time - 1));
  }
  return text;
}

/// What the software cannot run, and what staying inside costs.
std::string software_text(const Search& search,
                          const SearchAnswer& answer,
                          std::span<const BeyondSoftware> beyond) {
  if (answer.counts.beyond == 0) {
    return "";
  }
  const std::string& stack = search.scenario.stack.name;
  std::string text = fmt::format(
      "  left out: {} plans that {} cannot run\n", grouped_count(answer.counts.beyond), stack);
  for (const BeyondSoftware& one : beyond) {
    text += fmt::format("  beyond {} (--any-software): {}, with {}\n",
                        stack,
                        gain_text(search, answer, one),
                        listed(leaving_software(search, one.best)));
  }
  return text;
}

/// How sure the best plan's time is.
std::string evidence_text(const StepResult& best) {
  return fmt::format(
      "  basis: {} figures{}\n", name(best.grade), bar_words("; the best: ", best.error_bar));
}

/// The keys in which plans that are alike differ: "rank_order, tensor_overlap".
std::string alike_keys(const FoundPlan& found) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const bool differs = std::ranges::any_of(found.alike, [&](const Plan& plan) {
      return text_of(plan, key) != text_of(found.plan, key);
    });
    if (differs) {
      add_listed(text, key.name);
    }
  }
  return text;
}

/// Under the table: what every plan has otherwise than the best, and the keys that change nothing.
std::string rows_text(const SearchAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const FoundPlan& found = answer.plans[i];
    const std::string own = plan_difference(found.plan, answer.plans.front().plan);
    const std::string alike =
        found.alike_count == 0
            ? ""
            : fmt::format("(+{} alike: {})", grouped_count(found.alike_count), alike_keys(found));
    std::string line = i == 0 && !alike.empty() ? "the best" : own;
    if (!alike.empty()) {
      add_listed(line, alike, " ");
    }
    if (!line.empty()) {
      text += fmt::format("  {}: {}\n", i + 1, line);
    }
  }
  return text.empty() ? text : "  other than the best:\n" + text;
}

/// How sure it is that the first is the fastest, and which is the likeliest to be it and to fit, or
/// the fastest on average.
std::string chances_text(const Search& search, const SearchAnswer& answer) {
  const std::vector<FoundPlan>& plans = answer.plans;
  if (!plans.front().chance_fastest) {
    return "";
  }
  const auto chances = [](const FoundPlan& found) {
    return fmt::format(
        "{:.0f} % and {:.0f} %", 100 * *found.chance_fastest, 100 * *found.chance_fits);
  };
  std::string text = fmt::format(
      "  as far as figures and plans' times are off, 1 is the fastest of these with {:.0f} % and "
      "fits with {:.0f} %",
      100 * *plans.front().chance_fastest,
      100 * *plans.front().chance_fits);
  const auto safest = std::ranges::max_element(
      plans, {}, [](const FoundPlan& found) { return *found.chance_fastest * *found.chance_fits; });
  if (safest != plans.begin()) {
    text += fmt::format(
        "; {} is likelier to be both: {}", safest - plans.begin() + 1, chances(*safest));
  }
  const auto expected = std::ranges::min_element(plans, {}, &FoundPlan::expected_time);
  if (expected != plans.begin() && !search.robust) {
    text += fmt::format("; {} takes the least on average (--robust): {}",
                        expected - plans.begin() + 1,
                        format(*expected->expected_time));
  }
  return text + "\n";
}

}  // namespace

View search_view(const Search& search,
                 const SearchAnswer& answer,
                 const std::vector<std::string>& notes,
                 std::span<const BeyondSoftware> beyond) {
  const Search& of = searched(search, answer);
  View view{.text = heading(search, answer),
            .figures = search_figures(search, answer, notes, beyond),
            .rows = {},
            .columns = {},
            .headline = search_headline(answer),
            .plots = search_plots(search, answer)};
  add_search_rows(search, answer, view);
  const auto say = [&](const std::string& line) { view.text.add("  " + line + "\n"); };
  say(space_text(of) + "; " + memory_margin_words(of.limits.memory_margin));
  if (const std::string given = given_text(of.scenario.plan); !given.empty()) {
    say("all with " + given);
  }
  say(counts_text(answer.counts));
  if (answer.counts.defects > 0) {
    say(defect_words(answer.counts.defect));
  }
  for (const std::string& line : degrees_left_out(of)) {
    say(line);
  }
  view.text.add(software_text(search, answer, beyond));
  if (!answer.without_plan.empty()) {
    say("no plan for: " + listed(answer.without_plan, "; "));
  }
  if (answer.plans.empty()) {
    say(no_plan_sentence(of, answer));
  } else {
    view.text.add("  best: " + plan_words(answer.plans.front().plan) + "\n\n")
        .table(plan_rows(search, answer));
    view.text.add("\n" + rows_text(answer))
        .add(evidence_text(answer.plans.front().result))
        .add(chances_text(search, answer));
  }
  for (const std::string& note : notes) {
    say(note);
  }
  return view;
}

}  // namespace titer
