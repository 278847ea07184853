#include "titer/report/study/difference_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "difference_verdict.hpp"
#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "titer/estimate/figures.hpp"
#include "titer/input/words.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostInputs = 20;  // of the text
constexpr std::size_t kWidestInput = 40;

/// '+' for what B takes longer, '-' for what it takes less.
std::string signed_bar(double share) { return bar_text(std::abs(share), share < 0 ? '-' : '+'); }

std::string value_text(const Value& value) {
  return value.kind == Value::Kind::null ? "(none)" : bare_text(value);
}

std::string joined_paths(const Contribution& contribution) {
  return listed(contribution.paths, " and ");
}

/// A figure of both.
struct Compared {
  std::string name;
  double a = 0;
  double b = 0;

  [[nodiscard]] bool is_nothing() const { return a == 0 && b == 0; }
};

std::vector<Compared> compared_parts(const Difference& found) {
  return each_of(kBreakdownParts, [&](const BreakdownPart& part) {
    return Compared{std::string(part.name),
                    (found.a.breakdown.*part.value).si(),
                    (found.b.breakdown.*part.value).si()};
  });
}

std::vector<Compared> compared_rates(const Difference& found) {
  return each_of(kResultFigures, [&](const ResultFigure& figure) {
    return Compared{std::string(figure.name), figure.value(found.a), figure.value(found.b)};
  });
}

/// Of the stages where it peaks.
std::vector<Compared> compared_memory(const Difference& found) {
  const StageMemory& a = found.a.peak_stage();
  const StageMemory& b = found.b.peak_stage();
  std::vector<Compared> parts = each_of(kMemoryParts, [&](const MemoryPart& part) {
    return Compared{std::string(part.name), (a.*part.value).si(), (b.*part.value).si()};
  });
  parts.push_back({"total", found.a.memory_peak.si(), found.b.memory_peak.si()});
  parts.push_back({"capacity", found.a.memory_capacity.si(), found.b.memory_capacity.si()});
  return parts;
}

TextView parts_text(const Difference& found) {
  const Seconds iteration = found.a.iteration_time;
  std::vector<Compared> parts = compared_parts(found);
  parts.push_back({"iteration time", iteration.si(), found.b.iteration_time.si()});
  std::erase_if(parts, [](const Compared& part) { return part.is_nothing(); });
  const auto figures = [&](const Compared& part) {
    const Seconds a = Seconds::from_si(part.a);
    const Seconds b = Seconds::from_si(part.b);
    const double share = (b - a) / iteration;
    return Figures{{"", part.name, kNoHeading},
                   {"", a, "A"},
                   {"", b, "B"},
                   {"", signed_text(b - a), "B - A"},
                   {"", Datum(share, kSignedPercent), "of A"},
                   {"", signed_bar(share), kNoHeading}};
  };
  return TextView(
             fmt::format("where the time differs (pipeline stage {} of A, {} of B, the last to "
                         "finish; exposed parts)\n",
                         found.a.reference_stage,
                         found.b.reference_stage))
      .table(rows_of(parts, figures), "lrrrrb")
      .add("\n");
}

/// Which orders the contributions are a mean of.
std::string orders_text(const Difference& found) {
  if (found.contributions.size() == 1) {
    return "in one step";
  }
  if (found.orders == found.sound_orders) {
    return fmt::format("one change after the other, the mean of all {} orders", found.orders);
  }
  return fmt::format(
      "one change after the other, the mean of {} of {} orders", found.sound_orders, found.orders);
}

TextView contributions_text(const Difference& found) {
  std::vector<Row> rows;
  std::string none;
  for (const Contribution& one : found.contributions) {
    if (one.time == Seconds{}) {
      add_listed(none, joined_paths(one));
      continue;
    }
    const double share = one.time / found.a.iteration_time;
    rows.push_back({joined_paths(one),
                    signed_text(one.time),
                    Datum(share, kSignedPercent).words(),
                    signed_bar(share)});
  }
  return TextView(fmt::format("which inputs make the difference ({})\n", orders_text(found)))
      .lines(rows, "lrrb")
      .add(none.empty() ? "" : "  no difference by " + none + "\n")
      .add(found.orders == found.sound_orders
               ? ""
               : fmt::format("  on the way of the other orders: {}\n", found.refusal))
      .add("\n");
}

/// Four digits, or all before the point.
std::string rate_words(double rate) {
  constexpr double many = 1e4;
  return rate < many ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
}

TextView rates_text(const Difference& found) {
  std::vector<Compared> rates = compared_rates(found);
  std::erase_if(rates, [](const Compared& rate) {
    return rate.name == "iteration_time_s" || rate.is_nothing();
  });
  const auto figures = [](const Compared& rate) {
    const Datum ratio = rate.a == 0 ? Datum("") : Datum(fmt::format("{:.3f}", rate.b / rate.a));
    return Figures{{"", rate.name, kNoHeading},
                   {"", Datum(rate.a, rate_words(rate.a)), "A"},
                   {"", Datum(rate.b, rate_words(rate.b)), "B"},
                   {"", ratio, "B / A"}};
  };
  return TextView("rates\n").table(rows_of(rates, figures)).add("\n");
}

TextView memory_difference_text(const Difference& found) {
  constexpr NumberStyle signed_gibibytes = {.format = "{:+.2f}", .scale = kGibibytes.scale};
  std::vector<Compared> parts = compared_memory(found);
  std::erase_if(parts, [](const Compared& part) { return part.is_nothing(); });
  const auto figures = [&](const Compared& part) {
    return Figures{{"", part.name, kNoHeading},
                   {"", Datum(part.a, kGibibytes), "A"},
                   {"", Datum(part.b, kGibibytes), "B"},
                   {"", Datum(part.b - part.a, signed_gibibytes), "B - A"}};
  };
  return TextView(fmt::format("memory per device at its peak, GiB (stage {} of A, {} of B)\n",
                              found.a.peak_stage().stage,
                              found.b.peak_stage().stage))
      .table(rows_of(parts, figures))
      .add("\n");
}

Figures input_figures(const InputChange& change) {
  return {{"path", change.path, kNoHeading},
          {"a", Datum(change.from, shortened(value_text(change.from), kWidestInput)), "A"},
          {"b", Datum(change.to, shortened(value_text(change.to), kWidestInput)), "B"}};
}

TextView inputs_text(const Difference& found) {
  FigureRows rows = rows_of(found.changes, input_figures);
  const std::size_t more = rows.size() - std::min(rows.size(), kMostInputs);
  rows.resize(rows.size() - more);
  return TextView("inputs that differ\n")
      .table(rows, "lll")
      .add(more > 0 ? fmt::format("  and {} more (--format csv has all)\n", more) : "");
}

/// What is set side by side, and how far off its time may be.
std::string scenario_text(std::string_view name, const Scenario& scenario, const StepResult& step) {
  return fmt::format("{}: {} ({})\n   {}\n   {}: {}\n",
                     name,
                     step_title(scenario),
                     scenario.cluster.name,
                     training_words(scenario),
                     format(step.iteration_time),
                     evidence_words(step));
}

TextView comparison_text(const Difference& found) {
  TextView text =
      scenario_text("A", found.a_scenario, found.a) + scenario_text("B", found.b_scenario, found.b);
  if (found.changes.empty()) {
    return text.add(fmt::format("the same scenario: no input differs, both take {}\n",
                                format(found.a.iteration_time)));
  }
  return text.add(verdict_text(found) + "\n")
      .append(parts_text(found))
      .append(contributions_text(found))
      .append(rates_text(found))
      .append(memory_difference_text(found))
      .append(inputs_text(found));
}

Figures pair_figures(double a, double b) { return {{"a", a}, {"b", b}, {"difference", b - a}}; }

/// Each by its name, as a tree has them.
Figures pairs_of(const std::vector<Compared>& list) {
  Figures figures;
  for (const auto& [name, a, b] : list) {
    figures.push_back({name, pair_figures(a, b)});
  }
  return figures;
}

/// What was asked, with whether the scenarios ask for the same work on as many devices.
Figures asked_pairs(const Difference& found) {
  Figures figures;
  bool same = true;
  for (const AskedValue& value : asked_values(found)) {
    figures.push_back({std::string(value.key),
                       Figures{{"a", value.a}, {"b", value.b}, {"differs", value.differs}}});
    same = same && !value.differs;
  }
  return joined(figures, {{"same", same}});
}

Figures ratio_figures(const Difference& found) {
  Figures figures;
  for (const auto& [name, ratio] : named_ratios(found)) {
    figures.push_back({std::string(name), ratio});
  }
  return figures;
}

Figures contribution_figures(const Contribution& one) {
  return {{"paths", one.paths}, {"time_s", one.time}};
}

/// section, name, a, b, difference: what was asked, B over A, then what came of it.
FigureRows table_of(const Difference& found) {
  FigureRows rows;
  const auto add = [&](std::string_view section, const std::string& name, const Figures& pair) {
    rows.push_back(joined({{"section", section}, {"name", name}}, pair));
  };
  const auto add_all = [&](std::string_view section, const std::vector<Compared>& list) {
    for (const auto& [name, a, b] : list) {
      add(section, name, pair_figures(a, b));
    }
  };
  for (const AskedValue& value : asked_values(found)) {
    add("question",
        std::string(value.key),
        value.a.is_integer ? pair_figures(value.a.number, value.b.number)
                           : Figures{{"a", value.a}, {"b", value.b}});
  }
  for (const auto& [name, ratio] : named_ratios(found)) {
    add("ratio", std::string(name), pair_figures(1, ratio));
  }
  add_all("breakdown_s", compared_parts(found));
  add_all("result", compared_rates(found));
  add_all("memory_bytes", compared_memory(found));
  for (const Contribution& one : found.contributions) {
    add("contribution_s", joined_paths(one), {{"difference", one.time}});
  }
  for (const InputChange& change : found.changes) {
    add("input", change.path, {{"a", value_text(change.from)}, {"b", value_text(change.to)}});
  }
  return rows;
}

}  // namespace

View difference_view(const Difference& found) {
  const Figures head = {{"question", asked_pairs(found)}, {"ratios", ratio_figures(found)}};
  return {.text = comparison_text(found),
          .figures = joined(joined(head, pairs_of(compared_rates(found))),
                            {{"breakdown_s", pairs_of(compared_parts(found))},
                             {"memory_bytes", pairs_of(compared_memory(found))},
                             {"contributions", rows_of(found.contributions, contribution_figures)},
                             {"orders", found.orders},
                             {"sound_orders", found.sound_orders},
                             {"inputs", rows_of(found.changes, input_figures)}}),
          .rows = table_of(found),
          .columns = "section name a b difference",
          .title = fmt::format(
              "{} against {}", step_title(found.a_scenario), step_title(found.b_scenario)),
          .headline = difference_headline(found),
          .plots = difference_plots(found)};
}

}  // namespace titer
