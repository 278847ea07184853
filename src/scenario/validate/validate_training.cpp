// What an optimizer's rule does not go with, what adapters do not, and what asks for narrow
// products.
#include <fmt/format.h>

#include "validate_sharding.hpp"

namespace titer {
namespace {

/// What updates matrices as such has each of them whole, on one device.
void check_by_matrix(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(condition, "training.optimizer", scenario.training.optimizer.name, expected);
  };
  check(scenario.model.is_transformer(),
        "expected a transformer, whose hidden layers have matrices");
  const bool orthogonal = scenario.training.optimizer.orthogonal;
  check(plan.sharding == Sharding::none || plan.shards(),
        "expected the sharding none, zero1, zero2 or zero3, whose ranks have whole matrices at "
        "least for their update");
  check(orthogonal || !plan.splits().gradients,
        "expected the sharding none or zero1, whose ranks have whole gradients of matrices");
  check(!plan.offload.optimizer, "expected no plan.offload.optimizer, as its rule is for devices");
  check(!orthogonal || scenario.cluster.chip.rate(DataType::bf16).has_value(),
        "expected a chip that computes in bf16, in which updates are orthogonalised");
}

constexpr WeightRoles kSplitAttention =
    role_bit(WeightRole::query) | role_bit(WeightRole::key) | role_bit(WeightRole::value);
constexpr WeightRoles kMlp =
    role_bit(WeightRole::up) | role_bit(WeightRole::gate) | role_bit(WeightRole::down);
constexpr std::string_view kTargets = "training.adapters.targets";

std::string_view target_words(WeightRoles targets) {
  return targets == kAllLinear ? "all-linear" : "a list";
}

/// The model has the products that they are beside, each a matrix by itself.
void check_targets(const Adapters& adapters, const Transformer& model, Demands& demands) {
  const WeightRoles targets = adapters.targets;
  const bool all = targets == kAllLinear;
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(condition, kTargets, target_words(targets), expected);
  };
  check(!model.experts || (targets & kMlp) == 0,
        "expected query, key, value and output only: adapters of experts are not modelled");
  check((!model.latent && !model.shared_head) || all || (targets & kSplitAttention) == 0,
        "expected all-linear or output: of latent attention queries, keys and values are made "
        "otherwise");
  check(model.gated || all || !adapters.is_target(WeightRole::gate),
        "expected no gate, which this model's MLP has not");
  demands.demand(adapters.rank <= model.hidden / 2, "training.adapters.rank", adapters.rank, [&] {
    return fmt::format("expected at most {}, half of the hidden size", model.hidden / 2);
  });
}

/// Weights that no replica or host has in part.
void check_base(const Scenario& scenario, const Adapters& adapters, Demands& demands) {
  const Plan& plan = scenario.plan;
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(!adapters.base || condition,
                   "training.adapters.base",
                   adapters.base ? name(*adapters.base) : "",
                   expected);
  };
  check(!plan.gathers_every_pass(),
        "expected none: with the sharding zero3 the base is gathered as other weights are");
  check(!plan.offload.weights && plan.sharding != Sharding::data_parallel_root,
        "expected none: the base is fetched as other weights are");
  check(!adapters.quantises() || !scenario.model.is_transformer() ||
            !scenario.model.transformer().experts,
        "expected bf16 or fp16: experts of few bits are not modelled");
}

}  // namespace

void check_optimizer(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  const OptimizerRule& rule = training.optimizer;
  if (rule.by_matrix()) {
    check_by_matrix(scenario, demands);
  }
  const bool adds_norms =
      scenario.model.is_transformer() &&
      (scenario.plan.sharding == Sharding::zero1 || scenario.plan.sharding == Sharding::zero2);
  demands.demand(
      !rule.whole_tensors || !scenario.plan.shards() || adds_norms,
      "training.optimizer",
      rule.name,
      "expected the sharding none, or zero1 or zero2 of a transformer, over whose shards "
      "the norms of whole tensors that its steps need are added up");
  demands.demand(!rule.quantised || !training.state_precision,
                 "training.state_precision",
                 training.state_precision ? name(*training.state_precision) : "",
                 "expected an optimizer whose moments are not quantised already");
  demands.demand(!rule.quantised || training.fused_optimizer,
                 "training.fused_optimizer",
                 "false",
                 "expected true: quantised moments are updated by one kernel");
}

void check_adapters(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  if (!training.adapters) {
    return;
  }
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(condition, "training.adapters", training.adapters->rank, expected);
  };
  const Transformer* transformer = scenario.model.if_transformer();
  check(transformer != nullptr, "expected a transformer, whose layers' products they are beside");
  check(!training.frozen.any(), "expected no frozen_layers: all but adapters are frozen");
  check(scenario.formula == Formula::titer, "expected the formula titer");
  if (transformer != nullptr) {
    check_targets(*training.adapters, *transformer, demands);
  }
  check_base(scenario, *training.adapters, demands);
}

namespace {

bool has_narrow_floats(const Training& training) {
  return training.precision == DataType::fp8 || training.precision == DataType::fp4;
}

void check_fp8_attention(const Scenario& scenario, Demands& demands) {
  if (!scenario.training.fp8_attention) {
    return;
  }
  const auto check = [&](bool condition, std::string_view expected) {
    demands.demand(condition, "training.fp8_attention", "true", expected);
  };
  check(has_narrow_floats(scenario.training), "expected the precision fp8 or fp4");
  check(scenario.model.is_transformer(), "expected a transformer");
  check(scenario.slice().attention == AttentionKernel::flash,
        "expected the attention kernel flash");
  check(scenario.cluster.chip.narrow_attention.has_value(),
        "expected a chip of which attention.fp8 is known");
}

}  // namespace

void check_narrow_products(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  demands.demand(!training.narrow_weights || training.narrow_products(),
                 "training.narrow_weights",
                 training.narrow_weights
                     ? kNarrowWeights[static_cast<std::size_t>(*training.narrow_weights)].name
                     : "",
                 "expected the precision fp8, fp4 or int8, in which weights may be held");
  const std::string_view scaling =
      kNarrowScalings[static_cast<std::size_t>(training.narrow_scaling)].name;
  demands.demand(training.narrow_scaling == NarrowScaling::tensor || has_narrow_floats(training),
                 "training.narrow_scaling",
                 scaling,
                 "expected the precision fp8: only its products scale their numbers");
  demands.demand(
      training.narrow_scaling != NarrowScaling::row || training.precision != DataType::fp4,
      "training.narrow_scaling",
      scaling,
      "expected the precision fp8: numbers of fp4 have scales of blocks");
  check_fp8_attention(scenario, demands);
  demands.demand(!training.transposes_narrow_weights || training.scales_fp8_by_tensor(),
                 "training.transposes_narrow_weights",
                 "true",
                 "expected the precision fp8 with narrow_scaling tensor: blocks and rows have "
                 "other scales than columns");
}

}  // namespace titer
