#include "validate_sharding.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <map>

#include "titer/plan/place/placement.hpp"
#include "titer/units/lists.hpp"
#include "validate_groups.hpp"

namespace titer {
namespace {

void check_servers(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const bool serves = plan.sharding == Sharding::parameter_server;
  demands.demand(!plan.servers || serves,
                 "plan.servers",
                 plan.servers.value_or(0),
                 "expected the sharding parameter-server, which has servers");
  if (!serves) {
    return;
  }
  demands.demand(plan.servers && *plan.servers <= plan.data,
                 "plan.servers",
                 plan.servers ? fmt::format("{}", *plan.servers) : "missing",
                 [&] {
                   return fmt::format("expected a number of servers, no more than the {} workers",
                                      plan.data);
                 });
  demands.demand(plan.devices() == plan.data,
                 "plan.sharding",
                 name(plan.sharding),
                 "expected data parallelism alone: workers have the whole model");
  demands.demand(scenario.cluster.nics > 0, "plan.sharding", name(plan.sharding), [&] {
    return fmt::format("expected a cluster with a network to the servers, which {} has not",
                       scenario.cluster.name);
  });
}

/// Groups of ranks that split among them what is sharded.
void check_shard(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const bool two_ways = placement(plan.schedule) == Placement::two_ways;
  demands.demand(!plan.shard || plan.shards(),
                 "plan.shard",
                 plan.shard.value_or(0),
                 "expected the sharding zero1, zero2 or zero3, which splits something");
  demands.demand(!plan.shard || !two_ways,
                 "plan.shard",
                 plan.shard.value_or(0),
                 "expected a schedule with one copy of the model");
  const std::int64_t among = plan.shard.value_or(1);
  const std::int64_t experts = plan.expert_replicas();
  demands.demand(plan.replicas() % among != 0 || among > experts || experts % among == 0,
                 "plan.shard",
                 among,
                 [&] {
                   return fmt::format(
                       "expected a divisor of the {} ranks that have the same experts", experts);
                 });
}

/// Islands that train by themselves.
void check_local_steps(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (!plan.local_steps) {
    return;
  }
  const LocalSteps& local = *plan.local_steps;
  constexpr std::string_view islands = "plan.local_steps.islands";
  demands.demand(plan.data % local.islands == 0, islands, local.islands, [&] {
    return fmt::format("expected a divisor of the data degree {}", plan.data);
  });
  demands.demand(plan.expert_replicas() % local.islands == 0 || plan.data % local.islands != 0,
                 islands,
                 local.islands,
                 [&] {
                   return fmt::format(
                       "expected a divisor of the {} ranks that have the same experts: each island "
                       "has them all",
                       plan.expert_replicas());
                 });
  demands.demand(!plan.shard,
                 "plan.shard",
                 plan.shard.value_or(0),
                 "expected none: the ranks of an island split what is sharded");
  demands.demand(plan.sharding == Sharding::none || plan.shards(),
                 "plan.sharding",
                 name(plan.sharding),
                 "expected none, zero1, zero2 or zero3, which islands have each for itself");
  demands.demand(placement(plan.schedule) != Placement::two_ways,
                 "plan.schedule",
                 name(plan.schedule),
                 "expected a schedule with one copy of the model, which each island has");
  demands.demand(local.bandwidth || local.latency == Seconds{},
                 "plan.local_steps.latency",
                 format(local.latency),
                 "expected \"bandwidth\" too, of the links between islands");
  demands.demand(scenario.formula == Formula::titer,
                 "formula",
                 "e7",
                 "expected titer: the formula adds up gradients in every step");
  check_place(scenario, "plan.local_steps.state", local.state, demands);
}

/// The collective that adds up gradients does what the sharding needs.
void check_gradient_collective(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (!plan.gradient_collective) {
    return;
  }
  const bool passes = plan.splits().gradients;
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(
        condition, "plan.gradient_collective", name(*plan.gradient_collective), expected);
  };
  switch (*plan.gradient_collective) {
    case GradientCollective::all_reduce:
      check(plan.sharding == Sharding::none || plan.sharding == Sharding::zero1,
            "expected the sharding none or zero1, whose ranks may have all gradients");
      check(!plan.shard, "expected no plan.shard: an all-reduce is of all replicas");
      break;
    case GradientCollective::reduce_scatter:
      check(plan.shards(), "expected the sharding zero1, zero2 or zero3, which splits something");
      break;
    case GradientCollective::reduce:
      check(passes, "expected the sharding zero2 or zero3, whose gradients have an owner each");
      check(scenario.cluster.torus() == nullptr,
            "expected nodes on a network: chains of reduces on a torus are not modelled");
      break;
  }
}

void check_update_broadcasts(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const bool broadcasts =
      scenario.stack.broadcasts_updates && plan.shards() && !plan.splits().weights;
  demands.demand(!broadcasts || scenario.cluster.torus() == nullptr,
                 "stack.broadcasts_updates",
                 "true",
                 "expected nodes on a network: chains of broadcasts on a torus are not modelled");
}

/// One process drives the devices of one node, each with the whole model.
void check_root(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (plan.sharding != Sharding::data_parallel_root) {
    return;
  }
  const auto check = [&](bool condition, const auto& expected) {
    demands.demand(condition, "plan.sharding", name(plan.sharding), expected);
  };
  check(plan.devices() == plan.data && plan.expert == 1,
        "expected data parallelism alone: every device has the whole model");
  const int devices = scenario.cluster.devices_per_node;
  check(plan.data <= devices, [&] {
    return fmt::format(
        "expected at most the {} devices of a node, which one process drives, got {}",
        devices,
        plan.data);
  });
  check(scenario.cluster.torus() == nullptr,
        "expected a node whose devices one process drives, not a torus");
  check(!plan.offload.any(), "expected nothing in plan.offload: the root has all states");
  check(scenario.model.if_dlrm() == nullptr,
        "expected a model with one input for each sample, not a recommendation model");
}

/// Whether ranks that exchange tokens with one another have micro-batches of one size.
bool exchanges_alike(const Plan& plan) {
  const GroupRanks experts = group_ranks(plan, PlanGroup::all_experts);
  const GroupRanks data = group_ranks(plan, PlanGroup::data);
  std::map<std::int64_t, std::int64_t> weights;  // by group
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    const auto rank = static_cast<std::size_t>(data.member(device));
    const std::int64_t weight = plan.batch_shares.weights[rank];
    if (weights.emplace(experts.number(device), weight).first->second != weight) {
      return false;
    }
  }
  return true;
}

/// Data-parallel ranks with micro-batches of different sizes.
void check_shares(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const BatchShares& shares = plan.batch_shares;
  if (shares.weights.empty()) {
    return;
  }
  const auto check = [&](bool condition, const std::string& expected) {
    demands.demand(condition, "plan.batch_shares", shares.text(), expected);
  };
  const auto refused = shares.refusal(plan.micro_batch, plan.data);
  check(!refused, refused.value_or(""));
  if (shares.even()) {
    return;
  }
  check(!plan.gathers_every_pass() && !plan.reduces_every_pass() &&
            plan.sharding != Sharding::data_parallel_root,
        fmt::format("expected equal shares with the sharding {}, whose ranks meet in every pass",
                    name(plan.sharding)));
  const bool exchanges = has_own_expert_groups(plan) && !refused && has_countable_devices(plan);
  check(!exchanges || exchanges_alike(plan),
        "expected equal shares of ranks that have all experts or tables between them, which "
        "exchange tokens in every pass");
}

bool may_have(std::optional<DataType> type, std::initializer_list<DataType> known) {
  return !type || includes(known, *type);
}

}  // namespace

void check_sharding(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  check_servers(scenario, demands);
  check_shard(scenario, demands);
  check_local_steps(scenario, demands);
  check_gradient_collective(scenario, demands);
  check_update_broadcasts(scenario, demands);
  check_root(scenario, demands);
  check_shares(scenario, demands);
  const bool two_ways = placement(plan.schedule) == Placement::two_ways;
  demands.demand(!two_ways || (plan.sharding != Sharding::zero2 && !plan.gathers_every_pass()),
                 "plan.sharding",
                 name(plan.sharding),
                 [&] {
                   return fmt::format(
                       "expected none or zero1: the schedule {} has two copies of the model",
                       name(plan.schedule));
                 });
  demands.demand(
      plan.reduce_every_pass || plan.sharding == Sharding::zero2 || plan.gathers_every_pass(),
      "plan.reduce_every_pass",
      "false",
      "expected the sharding zero2 or zero3, whose gradients are reduced by every pass");
  const bool gathers = plan.gathers_every_pass();
  demands.demand(gathers || plan.reshard_after_forward,
                 "plan.reshard_after_forward",
                 "false",
                 "expected the sharding zero3, whose parameters are gathered by every pass");
  demands.demand(gathers || plan.prefetch,
                 "plan.prefetch",
                 "false",
                 "expected the sharding zero3, whose parameters are gathered by every pass");
}

void check_types(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  const auto check = [&](std::string_view key,
                         const std::optional<DataType>& type,
                         std::initializer_list<DataType> known,
                         std::string_view expected) {
    demands.demand(may_have(type, known), key, type ? name(*type) : "", expected);
  };
  using enum DataType;
  check("training.weight_precision",
        training.weight_precision,
        {fp32, fp16, bf16},
        "expected fp32, fp16 or bf16: narrower products read copies of them");
  check("training.state_precision",
        training.state_precision,
        {fp32, fp16, bf16, fp8, int8},
        "expected fp32, fp16, bf16, fp8 or int8");
  check("training.master_precision",
        training.master_precision,
        {fp32, fp16, bf16},
        "expected fp32, fp16 or bf16");
  const auto narrower =
      [&](std::string_view key, const std::optional<DataType>& type, DataType kept) {
        demands.demand(!type || size_of(*type) <= size_of(kept), key, type ? name(*type) : "", [&] {
          return fmt::format("expected a type no wider than {}, which is kept", name(kept));
        });
      };
  narrower("training.gradient_messages", training.gradient_messages, scenario.gradient_type());
  narrower("training.weight_messages", training.weight_messages, training.weight_type());
}

void check_frozen(const Scenario& scenario, Demands& demands) {
  const FrozenLayers& frozen = scenario.training.frozen;
  const std::int64_t layers = scenario.model.layers();
  const std::int64_t most = frozen.others.empty() ? frozen.first : frozen.others.back() + 1;
  if (most <= layers) {
    return;  // of every plan that a search looks at, without a text
  }
  demands.demand(
      false,
      "training.frozen_layers",
      frozen.others.empty() ? frozen.first : frozen.others.back(),
      frozen.others.empty()
          ? fmt::format("expected no more than the {} layers of {}", layers, scenario.model.name())
          : fmt::format(
                "expected layers of {}, numbered 0 to {}", scenario.model.name(), layers - 1));
}

}  // namespace titer
