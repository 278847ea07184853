#include "titer/report/network/network_comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/plot/network_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "report/step/step_remarks.hpp"
#include "report/study/capacity_figures.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr NumberStyle kPlain = {.format = "{:g}"};

std::string busy_words(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

/// "leaf - spine 78 % (mean 41 %)"
std::string tier_words(const TierLoad& tier) {
  return fmt::format("{} {} (mean {})", tier.tier, busy_words(tier.most), busy_words(tier.mean));
}

Figures tier_figures(const TierLoad& tier) {
  return {{"tier", tier.tier},
          {"lanes", tier.lanes},
          {"busy_most", tier.most},
          {"busy_mean", tier.mean}};
}

Datum dollars(double amount) { return {amount, short_count(amount)}; }

/// What the network costs, for programs in the same row as its step.
Figures purchase_figures(const NetworkStep& one) {
  if (!one.purchase) {
    return {};
  }
  const NetworkPurchase& purchase = *one.purchase;
  const NetworkParts& parts = purchase.parts;
  Datum bisection;
  Datum of_bisection;
  if (purchase.bisection) {
    bisection = purchase.bisection->bandwidth;
    const double gigabytes = purchase.bisection->bandwidth.si() / 1e9;
    of_bisection = dollars(purchase.cost.dollars / gigabytes);
  }
  return {{"switches", parts.switches, "switches"},
          {"nic_ports", parts.nic_ports, "NIC ports"},
          {"network_dollars", dollars(purchase.cost.dollars), "dollars"},
          {"network_power_w", purchase.cost.power, "power"},
          {"dollars_per_port", dollars(purchase.dollars_per_port()), "dollars a port"},
          {"power_per_port_w", purchase.power_per_port(), "power a port"},
          {"bisection_Bps", bisection, "bisection"},
          {"dollars_per_bisection_GBps", of_bisection, "dollars per GB/s of it"},
          {"dollars_per_token_per_s",
           one.step ? dollars(purchase.dollars_per_rate(one.step->tokens_per_s)) : Datum(),
           "dollars per token/s"}};
}

/// A row for each network that is built otherwise, whatever of it fails.
TextView purchases_text(const std::vector<NetworkStep>& steps) {
  FigureRows rows;
  std::vector<NetworkVariant> seen;
  for (const NetworkStep& one : steps) {
    NetworkVariant built = one.variant;
    built.failed_links.reset();
    if (one.purchase && !includes(seen, built)) {
      seen.push_back(built);
      rows.push_back(joined({{"", one.topology, "topology"},
                             if_any({"", Datum(built.oversubscription, kPlain), "down:up"})},
                            purchase_figures(one)));
    }
  }
  if (rows.empty()) {
    return {};
  }
  return TextView(
             "\nwhat all of each network costs to buy and draws; of a token/s the run's share "
             "of its ports\n")
      .table(rows);
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
      if_any({"port_Bps", Datum(one.port)}),
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
  for (Figure& figure : purchase_figures(one)) {
    figure.label.clear();
    figures.push_back(std::move(figure));
  }
  return joined(figures, {if_any({"problem", said(one.problem)})});
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
            .figures = joined({{"title", title}}, asked),
            .rows = rows,
            .columns =
                "topology oversubscription failed_links routing port_Bps iteration_time_s slower "
                "exposed_communication_s tensor_comm_s context_comm_s expert_comm_s "
                "pipeline_comm_s data_comm_s host_comm_s hottest_tier hottest_busy switches "
                "nic_ports network_dollars network_power_w dollars_per_port power_per_port_w "
                "bisection_Bps dollars_per_bisection_GBps dollars_per_token_per_s problem"};
  const auto any = [&](const auto& has) { return std::ranges::any_of(steps, has); };
  const bool has_ratio =
      any([](const NetworkStep& one) { return one.variant.oversubscription.has_value(); });
  const bool has_failed =
      any([](const NetworkStep& one) { return one.variant.failed_links.has_value(); });
  const bool has_routing = any([](const NetworkStep& one) { return !one.routing.empty(); });
  view.text.table(
      rows,
      fmt::format(
          "l{}{}{}rrrl", has_ratio ? "r" : "", has_failed ? "r" : "", has_routing ? "l" : ""));
  std::string remarks;
  for (const NetworkStep& one : steps) {
    const std::string line = one.port ? fmt::format("  {}: NICs of {}, limited by ports of {}\n",
                                                    one.topology,
                                                    gigabits_text(scenario.cluster.nic_bandwidth),
                                                    gigabits_text(*one.port))
                                      : "";
    remarks += remarks.find(line) == remarks.npos ? line : "";
  }
  const auto has_no_ratio = [](const NetworkStep& one) { return !one.variant.oversubscription; };
  if (has_ratio && any(has_no_ratio)) {
    remarks += "  down:up -: only fat trees and rails have an oversubscription\n";
  }
  view.text.add(remarks).append(purchases_text(steps));
  const auto answered =
      std::ranges::find_if(steps, [](const NetworkStep& one) { return one.step.has_value(); });
  view.text.add(fmt::format("\nbasis: {}, of {}\n",
                            evidence_words(*answered->step),
                            answered == steps.begin() ? "the first" : answered->topology));
  view.figures.push_back({"networks", rows});
  view.plots = network_comparison_plots(steps);
  view.headline = network_comparison_headline(steps);
  return view;
}

}  // namespace titer
