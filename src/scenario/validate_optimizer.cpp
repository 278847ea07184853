// What an optimizer's rule does not go with.
#include "validate_sharding.hpp"

namespace titer {
namespace {

/// What orthogonalises the updates of matrices has each of them whole, on one rank.
void check_orthogonal(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(condition, "training.optimizer", scenario.training.optimizer.name, expected);
  };
  check(scenario.model.if_transformer() != nullptr,
        "expected a transformer, whose hidden layers have matrices to orthogonalise");
  check(plan.sharding == Sharding::none || plan.sharding == Sharding::zero1,
        "expected the sharding none or zero1, of which each matrix has one owner");
  check(!plan.offload.optimizer, "expected no plan.offload.optimizer, as its rule is for devices");
  check(scenario.cluster.chip.rate(DataType::bf16).has_value(),
        "expected a chip that computes in bf16, in which updates are orthogonalised");
}

}  // namespace

void check_optimizer(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  const OptimizerRule& rule = training.optimizer;
  if (rule.orthogonal) {
    check_orthogonal(scenario, demands);
  }
  demands.demand(!rule.whole_tensors || !scenario.plan.shards(),
                 "training.optimizer",
                 rule.name,
                 "expected the sharding none: its steps need the norms of whole tensors");
  demands.demand(!rule.quantised || !training.state_precision,
                 "training.state_precision",
                 training.state_precision ? name(*training.state_precision) : "",
                 "expected an optimizer whose moments are not quantised already");
  demands.demand(!rule.quantised || training.fused_optimizer,
                 "training.fused_optimizer",
                 "false",
                 "expected true: quantised moments are updated by one kernel");
}

}  // namespace titer
