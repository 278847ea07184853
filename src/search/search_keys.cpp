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
constexpr SearchKey searched(std::string_view name) {
  return {.name = name,
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
constexpr std::array kSearchKeys = {
    searched<&S::tensor, &P::tensor>("tensor"),
    searched<&S::pipeline, &P::pipeline>("pipeline"),
    searched<&S::context, &P::context>("context"),
    searched<&S::expert, &P::expert>("expert"),
    searched<&S::expert_tensor, &P::expert_tensor>("expert_tensor"),
    searched<&S::virtual_stages, &P::virtual_stages>("virtual_stages"),
    searched<&S::micro_batch, &P::micro_batch>("micro_batch"),
    searched<&S::schedule, &P::schedule>("schedule"),
    searched<&S::recompute, kRecomputation>("recompute"),
    searched<&S::sequence_parallel, &P::sequence_parallel>("sequence_parallel"),
    searched<&S::sharding, &P::sharding>("sharding"),
    searched<&S::rank_order, &P::rank_order>("rank_order"),
    searched<&S::tensor_overlap, &P::tensor_overlap>("tensor_overlap"),
    searched<&S::overlap_grad_reduce, &P::overlap_grad_reduce>("overlap_grad_reduce"),
    searched<&S::overlap_param_gather, &P::overlap_param_gather>("overlap_param_gather"),
    searched<&S::offload, &P::offload>("offload")};

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
