#include "titer/report/network/network_comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/step/scenario_words.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr NumberStyle kPlain = {.format = "{:g}"};

/// "leaf - spine 78 % (mean 41 %)"
std::string tier_words(const TierLoad& tier) {
  return fmt::format("{} {:.2g} % (mean {:.2g} %)", tier.tier, 100 * tier.most, 100 * tier.mean);
}

Figures tier_figures(const TierLoad& tier) {
  return {{"tier", tier.tier},
          {"lanes", tier.lanes},
          {"busy_most", tier.most},
          {"busy_mean", tier.mean}};
}

Figures step_figures(const NetworkStep& one, const NetworkStep& first) {
  Datum time;
  Datum slower;
  Datum exposed;
  if (one.step) {
    time = one.step->iteration_time;
    exposed = one.exposed_communication();
    slower = first.step
                 ? Datum(one.step->iteration_time / first.step->iteration_time - 1, kSignedPercent)
                 : Datum();
  }
  const std::string remark = one.problem.empty() ? listed(one.tiers, tier_words) : one.problem;
  Figures figures = {
      {"topology", one.topology, "topology"},
      if_any({"oversubscription", Datum(one.variant.oversubscription, kPlain), "down:up"}),
      if_any({"failed_links", Datum(one.variant.failed_links, kPlain), "failed"}),
      if_any({"routing", said(one.routing), "routing"}),
      {"iteration_time_s", time, "step"},
      {"slower", slower, "against the first"},
      {"exposed_communication_s", exposed, "exposed comm"},
      {"", or_blank(said(remark)), "links busy at the most"}};
  if (one.step) {
    for (const BreakdownPart& part : kBreakdownParts) {
      if (part.name.ends_with("_comm")) {
        figures.push_back({fmt::format("{}_s", part.name), one.step->breakdown.*part.value});
      }
    }
  }
  if (!one.tiers.empty()) {
    figures.push_back({"hottest_tier", one.tiers.front().tier});
    figures.push_back({"hottest_busy", one.tiers.front().most});
    figures.push_back({"tiers", rows_of(one.tiers, tier_figures)});
  }
  return joined(figures,
                {if_any({"problem", said(one.problem)}), if_any({"untraced", said(one.untraced)})});
}

}  // namespace

View network_comparison_view(const Scenario& scenario, const std::vector<NetworkStep>& steps) {
  const FigureRows rows =
      rows_of(steps, [&](const NetworkStep& one) { return step_figures(one, steps.front()); });
  const std::string title = fmt::format("{} on {} x {} ({}), networks compared",
                                        scenario.model.title(),
                                        scenario.plan.devices(),
                                        scenario.cluster.chip.title,
                                        scenario.cluster.name);
  const Figures asked = asked_columns(scenario);
  View view{.text = title + "\ntraining: " + training_words(scenario) +
                    "\nfidelity network: transfers share the links; their algorithms are the "
                    "fastest there\n\n",
            .figures = joined({{"format_version", kFormatVersion}, {"title", title}}, asked),
            .rows = rows,
            .columns =
                "topology oversubscription failed_links routing iteration_time_s slower "
                "exposed_communication_s tensor_comm_s context_comm_s expert_comm_s "
                "pipeline_comm_s data_comm_s host_comm_s hottest_tier hottest_busy problem "
                "untraced"};
  const NetworkVariant& variant = steps.front().variant;
  const bool has_routing =
      std::ranges::any_of(steps, [](const NetworkStep& one) { return !one.routing.empty(); });
  view.text.table(rows,
                  fmt::format("l{}{}{}rrrl",
                              variant.oversubscription ? "r" : "",
                              variant.failed_links ? "r" : "",
                              has_routing ? "l" : ""));
  std::string remarks;
  for (const NetworkStep& one : steps) {
    const std::string line = "  no loads of links: " + one.untraced + "\n";
    remarks += one.untraced.empty() || remarks.find(line) != remarks.npos ? "" : line;
  }
  view.text.add(remarks);
  view.figures.push_back({"networks", rows});
  return view;
}

}  // namespace titer
