#include "titer/report/study/capacity_table_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capacity_figures.hpp"
#include "capacity_table_headline.hpp"
#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr NumberStyle kWholeMegawattHours = {.format = "{:.0f}", .scale = 1 / 3.6e9};
constexpr NumberStyle kWholeTons = {.format = "{:.0f}", .scale = 1e-3};
constexpr NumberStyle kWholeGibibytes = {.format = "{:.0f}", .scale = 1.0 / (1 << 30)};

/// Whether something is not the same of all questions.
template <class Of>
bool differs(const CapacityTable& table, const Of& of) {
  std::set<decltype(of(*table.cases.front().question))> seen;
  for (const CapacityCase& one : table.cases) {
    if (one.question) {
      seen.insert(of(*one.question));
    }
  }
  return seen.size() > 1;
}

const CapacityQuestion& first_question(const CapacityTable& table) {
  return *std::ranges::find_if(table.cases, [](const CapacityCase& one) {
            return one.question.has_value();
          })->question;
}

double deadline_of(const CapacityQuestion& question) {
  return question.deadline.value_or(Seconds{}).si();
}

std::string prices_of(const CapacityQuestion& question) {
  return question.economy ? question.economy->name : "";
}

/// What tells rows apart for people.
Figures identity(const CapacityTable& table, const CapacityRow& row) {
  const CapacityCase& one = *row.of;
  Figures figures = {{"", one.model, "model"}, {"", one.cluster, "cluster"}};
  const auto stack = [](const CapacityQuestion& question) { return question.scenario.stack.name; };
  if (differs(table, stack)) {
    figures.push_back({"", one.stack, "stack"});
  }
  if (differs(table, prices_of)) {
    figures.push_back({"", one.question ? prices_of(*one.question) : "", "prices"});
  }
  if (differs(table, deadline_of)) {
    figures.push_back(
        {"", one.question ? Datum(days(*one.question->deadline)) : Datum(), "by day"});
  }
  return figures;
}

/// What is decided by; of a row without a plan there is only why.
Figures answer_columns(const CapacityTable& table, const CapacityRow& row) {
  Datum devices;
  Datum spare;  // which are paid, too
  Datum time;
  Datum range;
  Datum chance;
  KnownBill bill;
  if (row.point) {
    const CapacityPoint& point = *row.point;
    devices = point.devices;
    spare = row.of->question->reliability ? Datum(point.spare_devices) : Datum();
    time = Datum(point.time, days(point.time));
    bill = point.bill.value_or(KnownBill());
    if (point.spread) {
      range = days_range(*point.spread);
      chance = Datum(point.spread->in_time, kWholePercent);
    }
  }
  const CapacityQuestion& question = first_question(table);  // all are paid in one currency
  const Datum dollars = money_datum(question, bill.dollars);
  return joined(identity(table, row),
                {{"", devices, "devices"},
                 if_any({"", spare, "spare"}),
                 {"", time, "days"},
                 if_any({"", range, "10-90 %"}),
                 if_any({"", chance, "in time"}),
                 if_any({"", dollars, question.currency.words()}),
                 if_any({"", Datum(bill.energy, kWholeMegawattHours), "MWh"}),
                 if_any({"", Datum(bill.kilograms_co2e, kWholeTons), "t CO2e"}),
                 if_any({"", or_blank(said(row.miss)), kNoHeading})});
}

/// What an hour of a device costs by the question's prices, whoever gave it.
Datum hour_price(const CapacityQuestion& question, const Currency& currency) {
  const DevicePrice* price =
      question.economy ? known_price(*question.economy, question.scenario.cluster.chip) : nullptr;
  constexpr NumberStyle amount = {.format = "{:.4g}"};
  return price == nullptr ? Datum() : Datum(currency.amount_of(price->dollars_per_hour), amount);
}

/// Of a row with a plan.
Figures plan_line(const CapacityTable& table, const CapacityRow& row) {
  const CapacityPoint& point = *row.point;
  const Scenario& scenario = *point.planned.scenario;
  const StepResult& step = point.planned.step;
  const Training& training = scenario.training;
  const auto& paid_in = first_question(table).currency;
  const auto sequence = [](const CapacityQuestion& question) {
    return question.scenario.training.sequence;
  };
  const std::string batch = differs(table, sequence)
                                ? fmt::format("{} x {}", training.global_batch, training.sequence)
                                : fmt::format("{}", training.global_batch);
  const std::string memory = Datum(step.memory_peak, kWholeGibibytes).words() + "/" +
                             Datum(step.memory_capacity, kWholeGibibytes).words();
  return joined(identity(table, row),
                {{"", short_plan(scenario.plan), "plan"},
                 {"", batch, "batch"},
                 {"", Datum(step.mfu, kPercent), "MFU"},
                 {"", memory, "GiB"},
                 {"", name(step.grade), "basis"},
                 if_any({"", hour_price(*row.of->question, paid_in), paid_in.words() + "/h"})});
}

Figures figures_of(const CapacityRow& row) {
  const CapacityCase& one = *row.of;
  Figures figures;
  if (one.question) {
    const Figures asked = question_figures(*one.question);
    if (row.point) {
      const StepResult& step = row.point->planned.step;
      figures = joined({{"fits", true},
                        {"memory_peak_bytes", whole_bytes(step.memory_peak)},
                        {"memory_capacity_bytes", whole_bytes(step.memory_capacity)}},
                       point_figures(*one.question, *row.point));
    }
    // The batch of a plan may be another than what was asked for.
    const auto is_said = [&](const Figure& figure) {
      return includes(figures, figure.key, &Figure::key);
    };
    Figures others;
    std::ranges::copy_if(
        asked, std::back_inserter(others), [&](const Figure& figure) { return !is_said(figure); });
    figures = joined(others, figures);
  } else {
    figures = {{"model", one.model}, {"cluster", one.cluster}, {"stack", one.stack}};
  }
  return joined(figures,
                {{"possible", row.possible()},
                 if_any({"miss", said(row.miss)}),
                 if_any({"reason", said(row.reason)})});
}

/// "3 models x 2 clusters"
std::string title(const CapacityTable& table) {
  std::set<std::string> models;
  std::set<std::string> clusters;
  for (const CapacityCase& one : table.cases) {
    models.insert(one.model);
    clusters.insert(one.cluster);
  }
  return fmt::format(
      "{} on {}",
      models.size() == 1 ? *models.begin() : counted_text(models.size(), "model"),
      clusters.size() == 1 ? *clusters.begin() : counted_text(clusters.size(), "cluster"));
}

std::string asked_words(const CapacityTable& table) {
  const CapacityQuestion& question = first_question(table);
  std::string text = short_count(*question.tokens) + " tokens";
  if (question.deadline && !differs(table, deadline_of)) {
    text += " in " + day_words(*question.deadline);
  }
  text += chance_words(question);
  if (question.budget) {
    text += " for " + money(question, *question.budget);
  }
  const bool is_open = question.devices.empty();
  return text + (is_open ? "; the fewest devices, of usual sizes, that will do" : "");
}

std::string training_text(const CapacityTable& table) {
  const auto words = [](const CapacityQuestion& question) {
    return training_words(question.scenario);
  };
  if (!differs(table, words)) {
    return words(first_question(table));
  }
  const auto but_stack = [&](const CapacityQuestion& question) {
    const std::string text = words(question);
    return text.substr(0, text.find("; stack "));
  };
  return differs(table, but_stack)
             ? "not the same of all: batch and sequence stand beside the plans"
             : but_stack(first_question(table)) + "; stacks of the clusters";
}

std::string plans_text(const CapacityRows& rows) {
  const auto planned =
      std::ranges::find_if(rows, [](const CapacityRow& row) { return row.point.has_value(); });
  return planned == rows.end() ? "none"
                               : memory_margin_words(planned->point->planned.memory_margin);
}

std::string order_text(const TableOrder& order) {
  const std::string_view by = kRowOrders[static_cast<std::size_t>(order.by)].name;
  if (order.best_of != BestOf::all) {
    return fmt::format("rows: the best of each {} by {}\n",
                       kBestOf[static_cast<std::size_t>(order.best_of)].name,
                       by);
  }
  return order.by == RowOrder::as_asked ? "" : fmt::format("rows: by {}\n", by);
}

/// Why rows have no answer, and what bills lack, each once.
std::string remarks(const CapacityRows& rows) {
  std::vector<std::string> lines;
  for (const CapacityRow& row : rows) {
    if (!row.reason.empty()) {
      lines.push_back(fmt::format("{} on {}: {}", row.of->model, row.of->cluster, row.reason));
    }
  }
  for (const CapacityRow& row : rows) {
    for (const std::string& missing :
         row.of->question ? missing_words(*row.of->question) : std::vector<std::string>()) {
      lines.push_back("not known: " + missing);
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += text.find("  " + line + "\n") == std::string::npos ? "  " + line + "\n" : "";
  }
  return text.empty() ? "" : "\n" + text;
}

std::vector<std::string> notes_of_rows(const CapacityTable& table, const CapacityRows& rows) {
  ScenarioNotes notes;
  for (const CapacityRow& row : rows) {
    const std::string by = differs(table, deadline_of) && row.of->question
                               ? " by day " + days(*row.of->question->deadline)
                               : "";
    notes.add(fmt::format("{} on {}{}", row.of->model, row.of->cluster, by), row.notes);
  }
  std::vector<std::string> lines = table.assumed;
  std::ranges::move(notes.lines(), std::back_inserter(lines));
  return lines;
}

TextView tables(const CapacityTable& table, const CapacityRows& rows) {
  FigureRows answers;
  FigureRows plans;
  std::string aligns;
  for (const CapacityRow& row : rows) {
    answers.push_back(answer_columns(table, row));
    if (row.point) {
      plans.push_back(plan_line(table, row));
    }
  }
  const std::size_t names = identity(table, rows.front()).size();
  const bool has_days = differs(table, deadline_of);
  aligns = std::string(names - (has_days ? 1 : 0), 'l') + (has_days ? "r" : "");
  TextView text;
  text.table(answers, aligns + "rrrrrrr");
  if (!plans.empty()) {
    text.add("\nplans\n").table(plans, aligns + "lrrrlr");
  }
  return text;
}

}  // namespace

View capacity_table_view(const CapacityTable& table,
                         const CapacityRows& rows,
                         const TableOrder& order) {
  const CapacityQuestion& question = first_question(table);
  const FigureRows figures = rows_of(rows, figures_of);
  View view{
      .text = title(table) + ": " + asked_words(table) + "\ntraining: " + training_text(table) +
              "\nplans: " + plans_text(rows) + "\nfailures: " + failures_words(question) +
              "\nprices: " +
              (differs(table, prices_of) ? "of each row its own" : prices_words(question, false)) +
              "\n" + order_text(order) + "\n",
      .figures = {{"title", title(table)}, {"rows", figures}},
      .rows = figures,
      .columns = std::string(kCapacityColumns) +
                 " possible miss fits grade memory_peak_bytes memory_capacity_bytes reason",
      .title = title(table),
      .headline = joined(
          {{"",
            fmt::format(
                "{} of {}",
                std::ranges::count_if(rows, [](const CapacityRow& row) { return row.possible(); }),
                rows.size()),
            "combinations that will do"}},
          best_rows(rows)),
      .plots = capacity_table_plots(rows)};
  view.text.append(tables(table, rows)).add(remarks(rows));
  add_notes(notes_of_rows(table, rows), view);
  return view;
}

}  // namespace titer
