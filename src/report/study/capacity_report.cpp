#include "titer/report/study/capacity_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "capacity_figures.hpp"
#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

std::string asked_text(const CapacityQuestion& question) {
  std::string text;
  if (question.tokens) {
    add_listed(text, short_count(*question.tokens) + " tokens");
  }
  if (question.deadline) {
    add_listed(text, "in " + day_words(*question.deadline) + chance_words(question));
  }
  if (question.budget) {
    add_listed(text, "for " + money(question, *question.budget));
  }
  add_listed(text,
             "batch " + std::string(kBatchRules[static_cast<std::size_t>(question.batch)].name));
  if (question.batch_slack > 0 && question.batch == BatchRule::fixed) {
    text += fmt::format(" but for {} where devices do not share it out",
                        percent_text(question.batch_slack));
  }
  text += "\nfailures: " + failures_words(question);
  text += "\nprices: " + prices_words(question, true);
  for (const std::string& missing : missing_words(question)) {
    text += "\n  not known: " + missing;
  }
  for (const std::string& beside : beside_words(question)) {
    text += "\n" + beside;
  }
  return text + "\n";
}

/// The plan begins where its column does.
TextView points_text(const CapacityQuestion& question, const CapacityResult& result) {
  FigureRows rows;
  std::string without;
  Grade weakest = Grade::fitted;
  for (const CapacityPoint& point : result.points) {
    if (point.has_plan()) {
      rows.push_back(point_figures(question, point));
      weakest = std::max(weakest, point.planned.step.grade);
    } else {
      without += fmt::format("  {} devices: {}\n", point.devices, point.planned.problem);
    }
  }
  TextView text;
  if (!rows.empty()) {
    text.table(rows, question.reliability ? "rrl" : "rl")
        .add(fmt::format("\nbasis: {} figures\n", name(weakest)));
  }
  return without.empty() ? text : text.add((rows.empty() ? "" : "\n") + ("no plan\n" + without));
}

std::string lost_text(const CapacityPoint& point) {
  const LostTime& lost = point.goodput.lost;
  const BreakingJob& job = point.goodput.job;
  return fmt::format(
      "  a failure every {}, a checkpoint of {} every {}\n"
      "  of its time {} trains; checkpoints {}, work done again {}, restarts {}, slow devices {}, "
      "too few nodes {}\n",
      format(job.rates.mtbf()),
      format(point.goodput.checkpoint_size),
      format(point.goodput.checkpoint_interval),
      percent_text(point.goodput.fraction),
      percent_text(lost.checkpoints),
      percent_text(lost.rework),
      percent_text(lost.restarts),
      percent_text(lost.slow_devices),
      percent_text(lost.too_few_nodes));
}

constexpr const char* kInTime = "90 % in time";
/// An answer that is one of the points.
struct NamedPoint {
  std::string label;
  std::optional<std::size_t> point;
  std::string words{};  // of its days and costs
  std::string also{};   // labels of those that are the same
};

/// Of the fewest with a later deadline: how many runs keep that one.
std::string later_words(const CapacityQuestion& question, const CapacityResult& result) {
  CapacityQuestion later = question;
  *later.deadline += kLater;
  CapacityPoint point = result.points[*result.later];
  point.spread = result.later_spread;
  return cost_words(later, point);
}

/// Those that say the same of the same devices are one.
std::vector<NamedPoint> joined_points(std::span<const NamedPoint> named) {
  std::vector<NamedPoint> rows;
  for (const NamedPoint& one : named) {
    const auto same = std::ranges::find_if(rows, [&](const NamedPoint& row) {
      return one.point && row.point == one.point && row.words == one.words;
    });
    if (same == rows.end()) {
      rows.push_back(one);
    } else {
      add_listed(same->also, one.label);
    }
  }
  return rows;
}

std::vector<NamedPoint> named_points(const CapacityQuestion& question,
                                     const CapacityResult& result) {
  std::string more;
  if (result.more) {
    const double share = static_cast<double>(result.points[*result.more].devices) /
                             static_cast<double>(result.points[*result.fewest].devices) -
                         1;
    more = fmt::format("{:.0f} % more devices", 100 * share);
  }
  std::vector<NamedPoint> named = {
      {"fewest devices", result.fewest},
      {kInTime, result.certain},
      {"a week later", result.later},
      {more, result.more},
      {question.deadline ? "cheapest within the deadline" : "cheapest", result.cheapest},
      {"fastest", result.fastest}};
  for (NamedPoint& one : named) {
    if (one.point) {
      one.words = one.point == result.later ? later_words(question, result)
                                            : cost_words(question, result.points[*one.point]);
    }
  }
  return joined_points(named);
}

/// "256 devices, 61.2 days": of the fewest, or of the fastest where none will do.
std::string faster_network_words(const CapacityResult& result, bool in_brackets = false) {
  const auto by_time = [](const CapacityPoint& a, const CapacityPoint& b) {
    return a.has_plan() && (!b.has_plan() || a.whole_time() < b.whole_time());
  };
  const CapacityPoint& point = result.fewest ? result.points[*result.fewest]
                                             : *std::ranges::min_element(result.points, by_time);
  return fmt::format(fmt::runtime(in_brackets ? "{} devices ({} days)" : "{} devices, {} days"),
                     point.devices,
                     days(*result.faster_network));
}
constexpr const char* kFasterNetworkLabel = "a network twice as fast";
static_assert(kFasterNetwork == 2);

/// "3609 MWh (1322 t CO2e)"; empty where it is not known.
std::string energy_words(const CapacityPoint& point) {
  if (!point.bill || !point.bill->energy || !point.bill->kilograms_co2e) {
    return "";
  }
  return fmt::format("{:.0f} MWh ({:.0f} t CO2e)",
                     point.bill->energy->si() / 3.6e9,
                     *point.bill->kilograms_co2e / 1e3);
}

/// Behind the fewest devices, where there are some, which are the first.
void add_energy(const CapacityResult& result, Figures& figures) {
  if (result.fewest) {
    figures.insert(
        figures.begin() + 1,
        {"", said(energy_words(result.points[*result.fewest])), "their energy and carbon"});
  }
}

/// No answer is one, too.
Figures answers_headline(const CapacityQuestion& question, const CapacityResult& result) {
  Figures figures;
  for (const NamedPoint& one : named_points(question, result)) {
    if (one.point) {
      const CapacityPoint& point = result.points[*one.point];
      std::string label = one.label;
      add_listed(label, one.also);
      figures.push_back({"", fmt::format("{} devices ({})", point.devices, one.words), label});
    }
  }
  add_energy(result, figures);
  if (result.faster_network) {
    figures.push_back({"", faster_network_words(result, true), kFasterNetworkLabel});
  }
  if (result.most) {
    const CapacityPoint& most = result.points[*result.most];
    figures.push_back(
        {"",
         fmt::format("{} tokens (on {} devices)", short_count(*most.possible), most.devices),
         question.budget ? "most for the budget" : "most in time"});
  }
  if (result.fewest && question.against) {
    for (const std::string& line : against_words(question, result.points[*result.fewest])) {
      figures.push_back({"", line, "at other prices"});
    }
  }
  for (const std::string& miss : result.misses) {
    figures.push_back({"", miss, "no number of devices will do"});
  }
  return figures;
}

/// What the devices of the answer cost another way, and what its time is lost to.
TextView details_text(const CapacityQuestion& question, const CapacityPoint& point) {
  TextView text;
  const std::vector<std::string> others = against_words(question, point);
  text.add(others.empty() ? "" : "\nat other prices\n");
  for (const std::string& line : others) {
    text.add("  " + line + "\n");
  }
  if (question.reliability) {
    text.add(fmt::format("\nwith {} devices\n", point.devices) + lost_text(point));
  }
  return text;
}

/// "1024 devices, 41.2 days (also cheapest)". REQUIRES a point.
std::string named_words(const CapacityResult& result, const NamedPoint& one) {
  return fmt::format("{} devices, {}{}",
                     result.points[*one.point].devices,
                     one.words,
                     one.also.empty() ? "" : " (also " + one.also + ")");
}

std::string_view most_label(const CapacityQuestion& question) {
  if (!question.budget) {
    return "most in time";
  }
  return question.deadline ? "most for budget, in time" : "most for budget";
}

TextView answers_text(const CapacityQuestion& question, const CapacityResult& result) {
  std::vector<Row> rows;
  for (const NamedPoint& one : named_points(question, result)) {
    if (one.point) {
      rows.push_back({one.label, named_words(result, one)});
    } else if (one.label == kInTime && result.fewest && question.deadline &&
               result.points[*result.fewest].spread) {
      rows.push_back({one.label, "none"});
    }
  }
  if (result.faster_network) {
    rows.push_back({kFasterNetworkLabel, faster_network_words(result)});
  }
  if (result.most) {
    const CapacityPoint& most = result.points[*result.most];
    rows.push_back(
        {std::string(most_label(question)),
         fmt::format("{} tokens on {} devices", short_count(*most.possible), most.devices)});
  }
  TextView text;
  text.lines(rows, "ll", "");
  for (const std::string& miss : result.misses) {
    text.add(miss + "\n");
  }
  if (const auto& detailed = result.fewest ? result.fewest : result.most) {
    text.append(details_text(question, result.points[*detailed]));
  }
  return text;
}

TextView years_text(const CapacityQuestion& question, const FigureRows& years) {
  if (years.empty()) {
    return {};
  }
  return TextView(
             fmt::format("\nfewest devices in time, year by year: {} times the tokens, devices "
                         "{} times as fast for their price\n",
                         question.growth->demand,
                         question.growth->performance))
      .table(years);
}

}  // namespace

View capacity_view(const CapacityQuestion& question, const CapacityResult& result) {
  const auto of_point = [&](const CapacityPoint& point) { return point_figures(question, point); };
  const auto of_year = [&](const CapacityYear& year) {
    return year_figures(question, result, year);
  };
  const FigureRows points = rows_of(result.points, of_point);
  const FigureRows years = rows_of(result.years, of_year);
  const Figures asked = question_figures(question);
  const double margin = memory_margin(result);
  View view{.text = capacity_title(question) + "\ntraining: " + training_words(question.scenario) +
                    "\nplans: " + memory_margin_words(margin) + "\n" + asked_text(question) + "\n",
            .figures = {{"title", capacity_title(question)}},
            .rows = rows_of(points, [&](const Figures& point) { return joined(point, asked); }),
            .columns = capacity_columns(question),
            .headline = answers_headline(question, result),
            .plots = capacity_plots(question, result)};
  view.text.append(points_text(question, result)).add("\n");
  view.text.append(answers_text(question, result)).append(years_text(question, years));
  view.figures = joined(joined(view.figures, asked),
                        {{"memory_margin", margin},
                         {"missing", missing_words(question)},
                         {"points", points},
                         {"answers", answer_figures(result)},
                         {"misses", result.misses},
                         {"years", years}});
  return view;
}

}  // namespace titer
