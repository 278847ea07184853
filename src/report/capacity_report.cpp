#include "titer/report/capacity_report.hpp"

#include <fmt/format.h>

#include <array>

#include "capacity_names.hpp"
#include "scenario_words.hpp"
#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr Seconds kDay = Seconds::from_si(86400);
constexpr Joules kMegawattHour = Joules::from_si(3.6e9);

/// "15.6T", "1.2M": four digits.
std::string short_count(double count) {
  constexpr std::array<std::pair<std::string_view, double>, 4> sizes = {
      {{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"k", 1e3}}};
  for (const auto& [name, size] : sizes) {
    if (count >= 0.99995 * size) {
      return fmt::format("{:.4g}{}", count / size, name);
    }
  }
  return fmt::format("{:.4g}", count);
}

std::string days(Seconds time) { return fmt::format("{:.1f}", time / kDay); }
/// Four digits, whole above a thousand.
std::string rounded(double number) {
  return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

/// "t8 p16 d128 v8 b1 full": what tells plans of a question apart.
std::string short_plan(const Plan& plan) {
  std::string text = fmt::format("t{} p{} d{}", plan.tensor, plan.pipeline, plan.data);
  if (plan.context > 1) {
    text += fmt::format(" cp{}", plan.context);
  }
  if (plan.expert > 1) {
    text += fmt::format(" ep{}", plan.expert);
  }
  if (plan.virtual_stages > 1) {
    text += fmt::format(" v{}", plan.virtual_stages);
  }
  return text + fmt::format(" b{} {}", plan.micro_batch, recompute_name(plan));
}

std::string prices_text(const CapacityQuestion& question) {
  const Economy& economy = *question.economy;
  std::string text = economy.name;
  if (!economy.title.empty()) {
    text += fmt::format(" ({}), {}", economy.date, economy.title);
  }
  if (const DevicePrice* price = known_price(economy, question.scenario.cluster.chip)) {
    text += fmt::format("; {:.4g} dollars for an hour of a device", price->dollars_per_hour);
  }
  return text + (economy.draw ? "; electricity of " + economy.grid.name : "");
}

std::string asked_text(const CapacityQuestion& question) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (question.tokens) {
    add(short_count(*question.tokens) + " tokens");
  }
  if (question.deadline) {
    add("in " + days(*question.deadline) + " days");
  }
  if (question.budget) {
    add("for " + short_count(*question.budget) + " dollars");
  }
  add("batch " + std::string(kBatchRules[static_cast<std::size_t>(question.batch)].name));
  text += "\nfailures: ";
  text += question.reliability ? fmt::format("{} ({}), {}",
                                             question.reliability->name,
                                             question.reliability->date,
                                             question.reliability->title)
                               : "none (--reliability NAME)";
  text += "\nprices: ";
  text += question.economy ? prices_text(question) : "none (--prices NAME)";
  for (const BillGap& gap : question_gaps(question)) {
    text += "\n  not known: " + gap_words(question, gap);
  }
  return text + "\n";
}

Row headings(const CapacityQuestion& question) {
  Row row = {"devices", "plan", "iteration"};
  if (question.reliability) {
    row.insert(row.begin() + 1, "spare");
    row.emplace_back("goodput");
  }
  if (!question.tokens) {
    row.emplace_back("tokens");
  }
  row.emplace_back("days");
  if (question.reliability && question.tokens) {
    row.emplace_back("10-90 %");
  }
  row.emplace_back("device-hours");
  if (question.economy) {
    row.insert(row.end(), {"dollars", "MWh", "t CO2e"});
  }
  return row;
}

Row point_row(const CapacityQuestion& question, const CapacityPoint& point) {
  Row row = {std::to_string(point.devices),
             short_plan(point.planned.scenario->plan),
             format(point.planned.step.iteration_time)};
  if (question.reliability) {
    row.insert(row.begin() + 1, std::to_string(point.spare_devices));
    row.push_back(percent_text(point.goodput.fraction));
  }
  if (!question.tokens) {
    row.push_back(short_count(point.tokens));
  }
  row.push_back(days(point.time));
  if (question.reliability && question.tokens) {
    row.push_back(point.spread
                      ? fmt::format("{}-{}", days(point.spread->low), days(point.spread->high))
                      : "-");
  }
  row.push_back(short_count(point.device_time() / kHour));
  if (point.bill) {
    const KnownBill& bill = *point.bill;
    row.push_back(bill.dollars ? short_count(*bill.dollars) : "");
    row.push_back(bill.energy ? rounded(*bill.energy / kMegawattHour) : "");
    row.push_back(bill.kilograms_co2e ? rounded(*bill.kilograms_co2e / 1000) : "");
  }
  return row;
}

/// The plan begins where its column does.
std::vector<Align> aligns(const CapacityQuestion& question) {
  std::vector<Align> columns(question.reliability ? 2 : 1, Align::right);
  columns.push_back(Align::left);
  return columns;
}

std::string table_text(const CapacityQuestion& question, const CapacityResult& result) {
  std::vector<Row> rows = {headings(question)};
  std::string without;
  for (const CapacityPoint& point : result.points) {
    if (point.has_plan()) {
      rows.push_back(point_row(question, point));
    } else {
      without += fmt::format("  {} devices: {}\n", point.devices, point.planned.problem);
    }
  }
  const std::string table = rows.size() > 1 ? text_table(rows, aligns(question)) : "";
  return table + (without.empty() || table.empty() ? "" : "\n") +
         (without.empty() ? "" : "no plan\n" + without);
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

/// Of the simulated runs, where a deadline lies between their 10 and 90 %.
std::string chance_text(const CapacityQuestion& question, const CapacityPoint& point) {
  const bool straddles = question.deadline && point.spread && point.spread->in_time &&
                         point.spread->low <= *question.deadline &&
                         point.spread->high > *question.deadline;
  return straddles
             ? fmt::format(", only {} of the runs in time", percent_text(*point.spread->in_time))
             : "";
}

Row answer_row(const CapacityQuestion& question,
               std::string_view label,
               const CapacityPoint& point) {
  std::string text = fmt::format("{} devices, {} days", point.devices, days(point.time));
  if (point.bill && point.bill->dollars) {
    text += fmt::format(", {} dollars", short_count(*point.bill->dollars));
  }
  return {std::string(label), text + chance_text(question, point)};
}

std::string answers_text(const CapacityQuestion& question, const CapacityResult& result) {
  std::vector<Row> rows;
  const auto add = [&](std::string_view label, const std::optional<std::size_t>& point) {
    if (point) {
      rows.push_back(answer_row(question, label, result.points[*point]));
    }
  };
  add("fewest devices", result.fewest);
  add("90 % in time", result.certain);
  if (result.fewest && question.deadline && question.reliability && !result.certain) {
    rows.push_back({"90 % in time", "none"});
  }
  add(question.deadline ? "cheapest within the deadline" : "cheapest", result.cheapest);
  add("fastest", result.fastest);
  if (result.most) {
    const CapacityPoint& most = result.points[*result.most];
    rows.push_back(
        {question.budget ? "most for budget" : "most in time",
         fmt::format("{} tokens on {} devices", short_count(*most.possible), most.devices)});
  }
  std::string text = rows.empty() ? "" : text_table(rows, {Align::left, Align::left}, "");
  for (const std::string& miss : result.misses) {
    text += miss + "\n";
  }
  const auto& detailed = result.fewest ? result.fewest : result.most;
  if (detailed && question.reliability) {
    const CapacityPoint& point = result.points[*detailed];
    text += fmt::format("\nwith {} devices\n", point.devices) + lost_text(point);
  }
  return text;
}

std::string years_text(const CapacityQuestion& question, const CapacityResult& result) {
  if (result.years.empty()) {
    return "";
  }
  std::vector<Row> rows = {{"year", "tokens", "devices", "days", "dollars"}};
  for (const CapacityYear& year : result.years) {
    Row row = {std::to_string(year.year), short_count(year.tokens), "more", "-", "-"};
    if (year.point) {
      row[2] = std::to_string(result.points[*year.point].devices);
      row[3] = days(year.time);
      row[4] = year.dollars ? short_count(*year.dollars) : "-";
    }
    rows.push_back(std::move(row));
  }
  return fmt::format(
             "\nfewest devices in time, year by year: {} times the tokens, devices {} times as "
             "fast "
             "for their price\n",
             question.growth->demand,
             question.growth->performance) +
         text_table(rows);
}

}  // namespace

std::string capacity_text(const CapacityQuestion& question, const CapacityResult& result) {
  return capacity_title(question) + "\ntraining: " + training_words(question.scenario) +
         "\nplans: " + memory_margin_words(memory_margin(result)) + "\n" + asked_text(question) +
         "\n" + table_text(question, result) + "\n" + answers_text(question, result) +
         years_text(question, result);
}

}  // namespace titer
