#pragma once
// What a release of training software can do of all that plans may ask for, as its documents and
// source tell (configs/stacks/<name>.json, "abilities"). No prediction depends on it: searches stay
// inside, and an answer about a plan outside says so.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/plan/plan.hpp"

namespace titer {

/// Named as the keys of plans that they are about. Where the software's file says nothing of a key
/// there is no limit.
struct Abilities {
  template <class T>
  using Some = std::optional<std::vector<T>>;

  // The largest degrees: 1 where it has none of it.
  std::optional<std::int64_t> tensor;
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> expert;
  std::optional<std::int64_t> pipeline;
  std::optional<std::int64_t> virtual_stages;  // of schedules that interleave
  Some<std::size_t> schedule;                  // by their places in the list
  Some<Recompute> recompute;
  Some<Sharding> sharding;
  Some<Sharding> sharding_with_pipeline;  // with more than one stage; otherwise as above
  Some<Sharding> sharding_with_tensor;
  Some<std::string> offload;  // "weights", "optimizer", "activations"
  Some<TensorOverlap> tensor_overlap;
  Some<PipelineSend> pipeline_send;
  Some<DataType> precision;                    // of training
  std::optional<bool> tensor_beyond_kv_heads;  // a tensor degree above the key-value heads
  std::optional<bool> sequence_parallel;
  Some<ExpertDispatch> expert_dispatch;  // beside the stack's own
  std::optional<bool> expert_overlap;
  Some<Recompute> expert_overlap_recompute;   // beside which it has that
  Some<std::string> expert_overlap_schedule;  // of more than one stage; by their words
  std::optional<bool> shared_expert_overlap;
  std::optional<bool> fused_experts;
  std::optional<bool> overlap_grad_reduce;
  std::optional<bool> overlap_param_gather;
};

/// "abilities" of a stack's object, which names its source; no limits where it has none.
[[nodiscard]] Abilities read_abilities(Reader& stack);

/// What decides about an ability, as searches choose it step by step.
enum class PlanPart { degrees, layer, schedule, state, sends };

/// Whether the software can do this part of a plan.
[[nodiscard]] bool is_able(const Abilities& abilities, const Plan& plan, PlanPart part);
/// "schedule dualpipev", "sharding zero3 with pipeline 4": all that the software does not have.
[[nodiscard]] std::vector<std::string> missing_abilities(const Abilities& abilities,
                                                         const Plan& plan);

}  // namespace titer
