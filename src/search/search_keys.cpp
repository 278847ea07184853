// The keys of a plan that a search varies: how they are put into a space, and written again.

#include "titer/search/search_space.hpp"

namespace titer {
namespace {

template <auto Member>
constexpr auto kClear = [](SearchSpace& space) { (space.*Member).clear(); };

/// A key whose values are those of a member of the plan.
template <auto OfSpace, auto OfPlan>
constexpr auto kAdd =
    [](const Plan& plan, SearchSpace& space) { (space.*OfSpace).push_back(plan.*OfPlan); };

/// All values of a member of the space, each as a plan writes it.
template <auto OfSpace, auto OfPlan, auto AsValue>
constexpr auto kValues = [](const SearchSpace& space) {
  std::vector<Value> values;
  for (const auto& value : space.*OfSpace) {
    Plan plan;
    plan.*OfPlan = value;
    values.push_back(AsValue(plan));
  }
  return values;
};

template <auto OfPlan>
constexpr auto kInteger = [](const Plan& plan) { return Value(plan.*OfPlan); };
template <auto OfPlan>
constexpr auto kName = [](const Plan& plan) { return Value(name(plan.*OfPlan)); };
/// Of what the stack says otherwise.
template <auto OfSpace, auto OfPlan>
constexpr auto kAddGiven = [](const Plan& plan, SearchSpace& space) {
  if (plan.*OfPlan) {
    (space.*OfSpace).push_back(*(plan.*OfPlan));
  }
};
template <auto OfPlan>
constexpr auto kMaybeFlag =
    [](const Plan& plan) { return plan.*OfPlan ? Value(*(plan.*OfPlan)) : Value(); };

template <auto OfSpace, auto OfPlan>
constexpr SearchKey degree(std::string_view name) {
  return {name,
          kClear<OfSpace>,
          kAdd<OfSpace, OfPlan>,
          kInteger<OfPlan>,
          kValues<OfSpace, OfPlan, kInteger<OfPlan>>};
}
template <auto OfSpace, auto OfPlan>
constexpr SearchKey named(std::string_view name) {
  return {name,
          kClear<OfSpace>,
          kAdd<OfSpace, OfPlan>,
          kName<OfPlan>,
          kValues<OfSpace, OfPlan, kName<OfPlan>>};
}
template <auto OfSpace, auto OfPlan>
constexpr SearchKey maybe_flag(std::string_view name) {
  return {name,
          kClear<OfSpace>,
          kAddGiven<OfSpace, OfPlan>,
          kMaybeFlag<OfPlan>,
          kValues<OfSpace, OfPlan, kMaybeFlag<OfPlan>>};
}

Value expert_tensor_value(const Plan& plan) {
  return plan.expert_tensor ? Value(*plan.expert_tensor) : Value();
}

Value sequence_parallel_value(const Plan& plan) { return plan.sequence_parallel; }

/// With cp even where there is only one rank of it: one name for one order.
Value rank_order_value(const Plan& plan) {
  Plan named;
  named.rank_order = plan.rank_order;
  named.context = 2;
  return rank_order_name(named);
}

Value tensor_overlap_value(const Plan& plan) {
  return plan.tensor_overlap ? Value(name(*plan.tensor_overlap)) : Value();
}

Value offload_value(const Plan& plan) {
  if (!plan.offload.any()) {
    return {};
  }
  Value value = Value::make_object();
  const auto add = [&](std::string key, const std::optional<HostPlace>& where) {
    if (where) {
      value.add(std::move(key), Value(name(*where)));
    }
  };
  add("weights", plan.offload.weights);
  add("optimizer", plan.offload.optimizer);
  add("activations", plan.offload.activations);
  if (!plan.offload.prefetch) {
    value.add("prefetch", false);
  }
  return value;
}

using S = SearchSpace;
using P = Plan;
constexpr std::array<SearchKey, 16> kSearchKeys = {{
    degree<&S::tensor, &P::tensor>("tensor"),
    degree<&S::pipeline, &P::pipeline>("pipeline"),
    degree<&S::context, &P::context>("context"),
    degree<&S::expert, &P::expert>("expert"),
    {"expert_tensor",
     kClear<&S::expert_tensor>,
     kAdd<&S::expert_tensor, &P::expert_tensor>,
     expert_tensor_value,
     kValues<&S::expert_tensor, &P::expert_tensor, expert_tensor_value>},
    degree<&S::virtual_stages, &P::virtual_stages>("virtual_stages"),
    degree<&S::micro_batch, &P::micro_batch>("micro_batch"),
    named<&S::schedule, &P::schedule>("schedule"),
    named<&S::recompute, &P::recompute>("recompute"),
    {"sequence_parallel",
     kClear<&S::sequence_parallel>,
     kAdd<&S::sequence_parallel, &P::sequence_parallel>,
     sequence_parallel_value,
     kValues<&S::sequence_parallel, &P::sequence_parallel, sequence_parallel_value>},
    named<&S::sharding, &P::sharding>("sharding"),
    {"rank_order",
     kClear<&S::rank_order>,
     kAdd<&S::rank_order, &P::rank_order>,
     rank_order_value,
     kValues<&S::rank_order, &P::rank_order, rank_order_value>},
    {"tensor_overlap",
     kClear<&S::tensor_overlap>,
     kAddGiven<&S::tensor_overlap, &P::tensor_overlap>,
     tensor_overlap_value,
     kValues<&S::tensor_overlap, &P::tensor_overlap, tensor_overlap_value>},
    maybe_flag<&S::overlap_grad_reduce, &P::overlap_grad_reduce>("overlap_grad_reduce"),
    maybe_flag<&S::overlap_param_gather, &P::overlap_param_gather>("overlap_param_gather"),
    {"offload",
     kClear<&S::offload>,
     kAdd<&S::offload, &P::offload>,
     offload_value,
     kValues<&S::offload, &P::offload, offload_value>},
}};

}  // namespace

std::span<const SearchKey> search_keys() { return kSearchKeys; }

}  // namespace titer
