#include "titer/ask/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learned.hpp"
#include "report_parts.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/report/network/network_comparison_report.hpp"
#include "titer/report/study/capacity_report.hpp"
#include "titer/report/study/capacity_table_report.hpp"
#include "titer/report/study/course_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/whatif/network_comparison.hpp"

namespace titer {
namespace {

/// The same finder, which tells the request how many numbers of devices are through.
PlanFinder counted(const PlanFinder& plan,
                   const CapacityRequest& request,
                   const CapacityQuestion& asked) {
  if (!request.progress) {
    return plan;
  }
  return [&plan, &request, done = std::size_t{0}, of = asked.devices.size()](
             const CapacityQuestion& question, std::int64_t devices) mutable {
    PlannedStep step = plan(question, devices);
    request.progress(++done, of);
    return step;
  };
}

constexpr std::string_view kPrices = "prices";

/// Whether models and clusters are compared, by more than changes to the scenario of one run and
/// prices, which may be of networks.
bool asks_for_rows(const CompareRequest& request) {
  return !is_asked(request.table) || request.search || request.sort != "asked" ||
         request.best_of != "all" ||
         !std::ranges::all_of(request.table.changes, [](const Assignment& change) {
           return change.path == kPrices || scenario_part(change.path).has_value();
         });
}

/// What networks cost by the prices among the changes, which are taken out; empty without any.
std::optional<NetworkPrices> network_prices(Asked& asked) {
  std::optional<NetworkPrices> prices;
  for (const Assignment& change : asked.changes) {
    if (change.path == kPrices) {
      const Economy economy = load_economy(change.value.text);
      if (!economy.network) {
        throw InputError(fmt::format(
            "{}: {}: expected \"network\" in them, what ports of switches and links cost and draw",
            change.source,
            economy.name));
      }
      prices = economy.network;
    }
  }
  std::erase_if(asked.changes, [](const Assignment& change) { return change.path == kPrices; });
  return prices;
}

Answer networks_answer(const CompareRequest& request) {
  if (asks_for_rows(request)) {
    throw InputError(
        "--topology, --oversubscription and --failed-links compare networks of one RUN: expected "
        "it, and none of the options that compare models and clusters");
  }
  Asked asked = request.table;
  const std::optional<NetworkPrices> prices = network_prices(asked);
  const ScenarioSource source = source_of(asked);
  const Scenario scenario = source.read();
  const std::vector<NetworkVariant> variants =
      network_variants({.topologies = request.topologies,
                        .oversubscriptions = request.oversubscriptions,
                        .failed_links = request.failed_links});
  View view = network_comparison_view(scenario, compare_networks(source, variants, prices));
  add_asked(request.table, scenario, view);
  add_notes(answer_notes(source, scenario), view);
  return {.view = std::move(view)};
}

}  // namespace

Answer ask(const CapacityRequest& request) {
  Asked asked = request.question;
  const Learned learned = learn_from(request.measured, kCapacityData, asked);
  const CapacityQuestion question = resolved(
      asked,
      [&](const std::string& name) { return load_capacity(name, asked.changes); },
      [&](const Document& document) { return read_capacity(document, asked.changes); });
  const PlanFinder plan =
      request.search ? searched_plans(request.threads) : PlanFinder(scaled_plan);
  const CapacityResult result = find_capacity(question, counted(plan, request, question));
  View view = capacity_view(question, result);
  add_asked(asked, Figures(), view);
  add_notes(capacity_notes(question, result), view);
  if (request.search) {
    add_notes(carried_notes(question.scenario), view);
  }
  add_notes(learned.notes, view);
  return {.view = std::move(view), .good = result.possible()};
}

Answer ask(const CompareRequest& request) {
  if (!request.topologies.empty() || !request.oversubscriptions.empty() ||
      !request.failed_links.empty()) {
    return networks_answer(request);
  }
  TableOrder order{.by = chosen("--sort", request.sort, kRowOrders),
                   .best_of = chosen("--best-of", request.best_of, kBestOf)};
  if (order.best_of != BestOf::all && order.by == RowOrder::as_asked) {
    order.by = RowOrder::days;
  }
  Asked asked = request.table;
  if (!is_asked(asked)) {
    asked.what = Document{.root = Value::make_object(), .sources = {}};
  }
  const CapacityTable table = resolved(
      asked,
      [&](const std::string& name) { return load_capacity_table(name, asked.changes); },
      [&](const Document& document) { return read_capacity_table(document, asked.changes); });
  const bool is_searched = request.search || !table.has_run;
  std::vector<CapacityRow> rows =
      find_rows(table,
                is_searched ? searched_plans(request.threads) : PlanFinder(scaled_plan),
                [&](std::size_t done) {
                  if (request.progress) {
                    request.progress(done, table.cases.size());
                  }
                });
  sort_rows(order.by, rows);
  keep_best(order.best_of, order.by, rows);
  const bool is_good = std::ranges::any_of(rows, &CapacityRow::possible);
  View view = capacity_table_view(table, rows, order);
  add_asked(asked, Figures(), view);
  return {.view = std::move(view), .good = is_good};
}

Answer ask(const CourseRequest& request) {
  const Asked& asked = request.course;
  const Course course = resolved(
      asked,
      [&](const std::string& name) { return load_course(name, asked.changes); },
      [&](const Document& document) {
        expect_no_run(kCourseData, document, "course", "");
        return read_course(document, "course", asked.changes);
      });
  const CourseResult result = follow(course, request.fidelity);
  View view = course_view(course, result);
  add_asked(asked, {{"course", course.title}}, view);
  add_notes(course.notes, view);
  return {.view = std::move(view), .good = too_large(result).empty()};
}

}  // namespace titer
