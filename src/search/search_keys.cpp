// The keys of a plan that a search varies: how they are put into a space, and written again.

#include <functional>
#include <tuple>
#include <type_traits>

#include "titer/plan/plan_fields.hpp"
#include "titer/search/search_space.hpp"

namespace titer {
namespace {

/// A key whose values are those of a member of the plan, or what OfPlan makes of it. What the stack
/// says otherwise is none.
template <auto OfSpace, auto OfPlan>
constexpr SearchKey searched(std::string_view name, std::string_view usual) {
  return {.name = name,
          .usual = usual,
          .clear = [](SearchSpace& space) { (space.*OfSpace).clear(); },
          .add =
              [](const Plan& plan, SearchSpace& space) {
                auto& list = space.*OfSpace;
                const auto& value = std::invoke(OfPlan, plan);
                using Searched = typename std::remove_cvref_t<decltype(list)>::value_type;
                if constexpr (std::is_convertible_v<decltype(value), Searched>) {
                  list.push_back(value);
                } else if (value) {
                  list.push_back(*value);
                }
              },
          .plans =
              [](const SearchSpace& space) {
                std::vector<Plan> plans;
                for (const auto& value : space.*OfSpace) {
                  std::invoke(OfPlan, plans.emplace_back()) = value;
                }
                return plans;
              }};
}

constexpr auto kRecomputation = [](auto& plan) {
  return std::tie(plan.recompute, plan.recomputed);
};

using S = SearchSpace;
using P = Plan;
constexpr std::string_view kDivisors = "all that divide what is split";
constexpr std::array kSearchKeys = {
    searched<&S::tensor, &P::tensor>("tensor", kDivisors),
    searched<&S::pipeline, &P::pipeline>("pipeline", kDivisors),
    searched<&S::context, &P::context>("context", "all that leave 256 tokens or more to each rank"),
    searched<&S::expert, &P::expert>("expert", kDivisors),
    searched<&S::expert_tensor, &P::expert_tensor>("expert_tensor", "1, or the tensor degree"),
    searched<&S::virtual_stages, &P::virtual_stages>("virtual_stages",
                                                     "those that share the layers out"),
    searched<&S::layers, &P::layers>(
        "layers", "`even`, and `lighter-ends` where stages do not divide the layers"),
    searched<&S::micro_batch, &P::micro_batch>("micro_batch",
                                               "those that divide a replica's batch"),
    searched<&S::schedule, &P::schedule>("schedule", "all but the sequential one"),
    searched<&S::recompute, kRecomputation>(
        "recompute",
        "`none`, `selective`, `full`; of latent attention also `layer_norm`, `latent_up` and "
        "`activation` together"),
    searched<&S::sequence_parallel, &P::sequence_parallel>("sequence_parallel", "both"),
    searched<&S::sharding, &P::sharding>("sharding", "`none`, `zero1`, `zero2`, `zero3`"),
    searched<&S::rank_order, &P::rank_order>("rank_order",
                                             "those that put groups on the nodes differently"),
    searched<&S::tensor_overlap, &P::tensor_overlap>("tensor_overlap", "all"),
    searched<&S::expert_dispatch, &P::expert_dispatch>("expert_dispatch",
                                                       "all that a degree above 1 may have"),
    searched<&S::expert_overlap, &P::expert_overlap>("expert_overlap", "both, likewise"),
    searched<&S::shared_expert_overlap, &P::shared_expert_overlap>(
        "shared_expert_overlap", "likewise, of models with shared experts"),
    searched<&S::overlap_grad_reduce, &P::overlap_grad_reduce>("overlap_grad_reduce",
                                                               "both where the stack has buckets"),
    searched<&S::overlap_param_gather, &P::overlap_param_gather>("overlap_param_gather",
                                                                 "likewise"),
    searched<&S::offload, &P::offload>("offload", "nothing")};

}  // namespace

std::span<const SearchKey> search_keys() { return kSearchKeys; }

Value SearchKey::value(const Plan& plan) const {
  return find_field(plan_fields(), name)->write(plan);
}

std::vector<Value> SearchKey::values(const SearchSpace& space) const {
  std::vector<Value> values;
  for (const Plan& plan : plans(space)) {
    values.push_back(value(plan));
  }
  return values;
}

}  // namespace titer
