// The part of validate() that is about plans on a torus.

#include <fmt/format.h>

#include "titer/plan/place/torus_place.hpp"
#include "validate_groups.hpp"

namespace titer {

void check_torus(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const Cluster& cluster = scenario.cluster;
  const Torus& torus = *cluster.torus();
  const bool is_alone = cluster.network_protocols.empty();
  demands.demand(is_alone,
                 "cluster.network",
                 cluster.name,
                 "expected a torus of all the devices there are: tori that a network joins are not "
                 "modelled");
  const Torus* slice = torus.of(plan.devices());
  demands.demand(
      slice != nullptr,
      "cluster.slice",
      [&] { return torus_name(torus); },
      [&] {
        const std::string degrees =
            fmt::format("pipeline x tensor x context x data = {} x {} x {} x {}",
                        plan.pipeline,
                        plan.tensor,
                        plan.context,
                        plan.data);
        return torus.slices.empty()
                   ? fmt::format("expected a torus of the plan's {} chips, not of {}: {}",
                                 plan.devices(),
                                 torus.devices(),
                                 degrees)
                   : fmt::format("{} ({})", no_slice_text(cluster, plan.devices()), degrees);
      });
  const bool one_copy = placement(plan.schedule) != Placement::two_ways;
  demands.demand(one_copy,
                 "plan.schedule",
                 name(plan.schedule),
                 "expected a schedule with one copy of the model: where the ranks of two lie on a "
                 "torus is not modelled");
  const bool has_groups = !refused_order(plan) && plan.stage_devices() % plan.expert_ranks() == 0 &&
                          plan.context % plan.context_inner == 0 &&
                          plan.replicas() % plan.shard.value_or(1) == 0;
  if (!is_alone || slice == nullptr || !has_groups) {
    return;
  }
  if (const auto misfit = torus_misfit(plan, *slice)) {
    demands.demand(false, misfit->path, misfit->degree, misfit->expected);
  }
}

}  // namespace titer
