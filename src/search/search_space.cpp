#include "titer/search/search_space.hpp"

#include <algorithm>
#include <numeric>

namespace titer {
namespace {

constexpr std::int64_t kLeastTokens = 256;  // of a sequence on a context-parallel rank
// Much memory for little time, of latent attention.  [DeepSeek-V3 2024, section 3.2.3;
// Megatron-Core, recompute_modules of its recipes]
constexpr Modules kCheapModules = bits(Module::layer_norm, Module::latent_up, Module::activation);

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i == 0) {
      list.push_back(i);
      if (i != number / i) {
        list.push_back(number / i);
      }
    }
  }
  std::ranges::sort(list);
  return list;
}

/// The divisors of any of these numbers, of which `keep` (number) says that they may work.
template <class Keep>
std::vector<std::int64_t> divisors_of(std::span<const std::int64_t> numbers, const Keep& keep) {
  std::vector<std::int64_t> list;
  for (const std::int64_t number : numbers) {
    for (const std::int64_t divisor : divisors(number)) {
      if (keep(divisor)) {
        list.push_back(divisor);
      }
    }
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

/// All but what has only one rank at work, which makes no plan better. The usual one first: it is
/// the plainest.
std::vector<Schedule> all_schedules() {
  std::vector<Schedule> list = {Schedule()};
  for (const ScheduleEntry* entry : schedule_entries()) {
    if (!entry->by_one_rank && entry != &list.front().entry()) {
      list.emplace_back(*entry);
    }
  }
  return list;
}

/// All permutations, the usual one first.
std::vector<std::array<Dimension, kDimensions>> all_orders() {
  std::array<Dimension, kDimensions> order = Plan{}.rank_order;
  std::array<std::size_t, kDimensions> at = {0, 1, 2, 3};
  std::vector<std::array<Dimension, kDimensions>> list;
  do {
    std::array<Dimension, kDimensions> next{};
    for (std::size_t i = 0; i < kDimensions; ++i) {
      next[i] = order[at[i]];
    }
    list.push_back(next);
  } while (std::next_permutation(at.begin(), at.end()));
  return list;
}

void fill_degrees(const Scenario& scenario,
                  std::span<const std::int64_t> devices,
                  SearchSpace& space) {
  const std::int64_t sequence = scenario.training.sequence;
  const std::int64_t layers = scenario.model.layers();
  const Transformer* transformer = scenario.model.if_transformer();
  space.pipeline = divisors_of(devices, [&](std::int64_t p) { return p <= layers; });
  space.layers = {scenario.plan.layers};
  if (std::holds_alternative<LayerRule>(scenario.plan.layers)) {
    space.layers = {LayerRule::even, LayerRule::lighter_ends};
  }
  space.virtual_stages.resize(static_cast<std::size_t>(layers));
  std::iota(space.virtual_stages.begin(), space.virtual_stages.end(), 1);
  space.micro_batch = divisors(scenario.training.global_batch);
  space.expert_tensor = {std::nullopt};
  if (transformer == nullptr) {
    const bool cuts = scenario.model.if_layered() != nullptr;
    space.tensor = divisors_of(devices, [&](std::int64_t t) {
      return t == 1 || (cuts && t <= scenario.cluster.devices_per_node);
    });
    space.context = {1};
    space.expert = cuts ? std::vector<std::int64_t>{1}
                        : divisors_of(devices, [](std::int64_t /*ep*/) { return true; });
    return;
  }
  space.tensor = divisors_of(devices, [&](std::int64_t t) { return transformer->heads % t == 0; });
  space.context = divisors_of(devices, [&](std::int64_t cp) {
    return cp == 1 || (sequence % cp == 0 && sequence / cp >= kLeastTokens);
  });
  space.expert = {1};
  if (transformer->experts) {
    const std::int64_t experts = transformer->experts->count;
    space.expert = divisors_of(devices, [&](std::int64_t ep) { return experts % ep == 0; });
    space.expert_tensor.emplace_back(1);
  }
}

void fill_exchanges(const Scenario& scenario, SearchSpace& space) {
  space.expert_dispatch = {std::nullopt};
  space.expert_overlap = {false};
  space.shared_expert_overlap = {false};
  const Transformer* transformer = scenario.model.if_transformer();
  if (transformer == nullptr || !transformer->experts) {
    return;
  }
  for (const Choice<ExpertDispatch>& dispatch : kExpertDispatches) {
    if (dispatch.value != scenario.stack.expert_dispatch) {
      space.expert_dispatch.emplace_back(dispatch.value);
    }
  }
  space.expert_overlap.push_back(true);
  if (transformer->experts->shared_ffn > 0) {
    space.shared_expert_overlap.push_back(true);
  }
}

}  // namespace

SearchSpace full_space(const Scenario& scenario, std::span<const std::int64_t> devices) {
  const bool has_layers = scenario.model.is_transformer();
  const bool has_buckets = scenario.stack.bucket(1) > 0;
  SearchSpace space;
  fill_degrees(scenario, devices, space);
  fill_exchanges(scenario, space);
  space.sequence_parallel = {false};
  space.recompute = {{Recompute::none, 0}, {Recompute::full, 0}};
  if (has_layers) {
    space.sequence_parallel.push_back(true);
    space.recompute.insert(space.recompute.begin() + 1, {Recompute::selective, 0});
  }
  const Transformer* transformer = scenario.model.if_transformer();
  if (transformer != nullptr && (transformer->latent || transformer->shared_head)) {
    space.recompute.insert(space.recompute.begin() + 1, {Recompute::modules, kCheapModules});
  }
  space.tensor_overlap = {TensorOverlap::none, TensorOverlap::bulk, TensorOverlap::ring};
  space.rank_order = all_orders();
  space.schedule = all_schedules();
  space.sharding = {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3};
  if (scenario.plan.servers) {
    space.sharding.push_back(Sharding::parameter_server);
  }
  space.offload = {
      {.prefetch = scenario.plan.offload.prefetch}};  // others where they are asked for
  space.overlap_grad_reduce = {false};
  space.overlap_param_gather = {false};
  if (has_buckets) {
    space.overlap_grad_reduce.push_back(true);
    space.overlap_param_gather.push_back(true);
  }
  return space;
}

}  // namespace titer
