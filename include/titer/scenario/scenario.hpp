#pragma once
// One question: this model, on this cluster, laid out by this plan, trained like this.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/model/model.hpp"
#include "titer/plan/memory/memory.hpp"
#include "titer/plan/place/cluster.hpp"
#include "titer/plan/plan.hpp"
#include "titer/plan/stack.hpp"
#include "titer/scenario/conditions.hpp"
#include "titer/scenario/training.hpp"

namespace titer {

/// The seeds' formula and what it needs beyond the scenario (estimate/e7.hpp).
struct E7Options {
  std::optional<double> utilization;                 // u
  std::optional<BytesPerSecond> tensor_bandwidth;    // C_TP; otherwise the link's own
  std::optional<BytesPerSecond> pipeline_bandwidth;  // C_PP
  std::optional<BytesPerSecond> data_bandwidth;      // C_DP
};

enum class Formula {
  titer,  // every kernel and collective by itself
  e7,     // T_iter = T_comp + T_TP + T_PP + T_DP + T_bubble, equations E7 to E9
};
inline constexpr std::array<Choice<Formula>, 2> kFormulas = {
    {{"titer", Formula::titer}, {"e7", Formula::e7}}};

struct Scenario {
  Model model;
  Cluster cluster;
  Stack stack;
  Plan plan;
  Training training;
  Formula formula = Formula::titer;
  E7Options e7;
  Conditions conditions;

  /// m = gb / (b d). [seeds, notation of E6 to E9]
  [[nodiscard]] std::int64_t micro_batches() const {
    return training.global_batch / (plan.micro_batch * plan.data);
  }
  [[nodiscard]] PipelineShape shape() const;
  /// Of the model and what of it is trained: "dense", "mixture of experts with adapters".
  [[nodiscard]] std::string_view kind() const;
  /// What makes devices differ, or times random, by its key; nothing where all devices are alike.
  [[nodiscard]] std::optional<std::string_view> unlike() const {
    if (!conditions.uniform()) {
      return "conditions";
    }
    return plan.batch_shares.even() ? std::nullopt
                                    : std::optional<std::string_view>("plan.batch_shares");
  }
  [[nodiscard]] Slice slice() const;
  /// What goes with each sequence to a tower in front of the model; nothing where there is none.
  [[nodiscard]] Images images() const;
  /// Whether the run has such a tower: of texts only it has not.
  [[nodiscard]] bool has_tower() const { return images().of_sequence > 0; }
  /// Whether tensor-parallel ranks have parts of the same images, and gradients of all weights.
  [[nodiscard]] bool cuts_images() const {
    return model.if_layered() != nullptr && plan.tensor > 1;
  }
  [[nodiscard]] DataType gradient_type() const {
    return training.gradient_precision.value_or(stack.gradient_type(training.precision));
  }
  [[nodiscard]] TensorTypes tensor_types() const;
  /// Weights in the type of narrow products, where the training has such.
  [[nodiscard]] std::optional<NarrowCopies> narrow_copies() const;
  /// Per number of a gradient that travels, and of a weight.
  [[nodiscard]] Bytes gradient_message() const {
    return message_bytes(training.gradient_messages.value_or(gradient_type()));
  }
  [[nodiscard]] Bytes weight_message() const;
  /// Whether weights travel in the type of narrow products, and whether each product has its
  /// weights converted.
  [[nodiscard]] bool gathers_narrow_weights() const;
  [[nodiscard]] bool casts_weights() const;
  [[nodiscard]] TensorOverlap tensor_overlap() const {
    return plan.tensor_overlap.value_or(stack.tensor_overlap);
  }
  [[nodiscard]] ExpertDispatch expert_dispatch() const {
    return plan.expert_dispatch.value_or(stack.expert_dispatch);
  }
  [[nodiscard]] PipelineSend pipeline_send() const {
    const bool interleaved = plan.virtual_stages > 1;
    return plan.pipeline_send.value_or(
        interleaved ? stack.interleaved_send.value_or(stack.pipeline_send) : stack.pipeline_send);
  }
  [[nodiscard]] bool overlap_grad_reduce() const {
    return plan.overlap_grad_reduce.value_or(stack.overlap_grad_reduce);
  }
  /// By the buckets of the gradients; a stack does so where the plan shards.
  [[nodiscard]] bool overlap_param_gather() const {
    return plan.overlap_param_gather.value_or(stack.overlap_param_gather && overlap_grad_reduce() &&
                                              plan.sharding == Sharding::zero1);
  }
};

/// A value that does not go with the others: its dotted path, the value, and what was expected.
struct Violation {
  std::string path;
  std::string value;
  std::string expected;

  [[nodiscard]] std::string text() const { return path + ": " + value + ": " + expected; }
};

/// The blocks of its model on one rank, frozen ones apart.
void scenario_blocks(const Scenario& scenario, ModelBlocks& blocks);

/// Of its model, without a tower that has nothing to do.
[[nodiscard]] std::int64_t parameters(const Scenario& scenario);
/// Of its adapters, on all ranks together; none without them.
[[nodiscard]] std::int64_t adapter_parameters(const Scenario& scenario);

/// Everything that stops the scenario from being computed; empty when it is sound. Running out of
/// memory is an answer, not a violation.
[[nodiscard]] std::vector<Violation> validate(const Scenario& scenario);

}  // namespace titer
