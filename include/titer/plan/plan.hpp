#pragma once
// How a model is laid over devices: parallel degrees, schedule, recomputation, sharding, rank
// order.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/model/transformer.hpp"
#include "titer/plan/layers.hpp"
#include "titer/plan/schedule.hpp"
#include "titer/plan/stack.hpp"

namespace titer {

enum class Recompute {
  none,
  selective,  // core attention: scores, softmax, dropout, context [Korthikanti 2022]
  full,       // every layer from its input
};
inline constexpr std::array<Choice<Recompute>, 3> kRecomputes = {
    {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}}};
[[nodiscard]] constexpr std::string_view name(Recompute recompute) {
  return kRecomputes[static_cast<std::size_t>(recompute)].name;
}

/// What data-parallel ranks split among them. [Rajbhandari 2020]
enum class Sharding {
  none,
  zero1,  // optimizer state: gradients are reduce-scattered, parameters gathered
};
inline constexpr std::array<Choice<Sharding>, 2> kShardings = {
    {{"none", Sharding::none}, {"zero1", Sharding::zero1}}};
[[nodiscard]] constexpr std::string_view name(Sharding sharding) {
  return kShardings[static_cast<std::size_t>(sharding)].name;
}

enum class Dimension { tensor, data, pipeline };

struct Plan {
  std::int64_t pipeline = 1;        // p
  std::int64_t tensor = 1;          // t
  std::int64_t data = 1;            // d
  std::int64_t virtual_stages = 1;  // v
  std::int64_t micro_batch = 1;     // b
  LayerSplit layers = LayerRule::even;
  Schedule schedule = OneForwardOneBackward{};
  Recompute recompute = Recompute::none;
  bool sequence_parallel = false;
  Sharding sharding = Sharding::none;
  // Neighbouring ranks first: "tp-dp-pp" puts a tensor group on neighbouring devices.
  std::array<Dimension, 3> rank_order = {Dimension::tensor, Dimension::data, Dimension::pipeline};
  std::optional<AttentionKernel> attention{};     // otherwise the model's
  std::optional<int> micro_batch_group{};         // of interleaving; otherwise p
  std::optional<TensorOverlap> tensor_overlap{};  // these four: otherwise the stack's
  std::optional<PipelineSend> pipeline_send{};
  std::optional<bool> overlap_grad_reduce{};
  std::optional<bool> overlap_param_gather{};

  [[nodiscard]] std::int64_t devices() const { return pipeline * tensor * data; }
  [[nodiscard]] std::int64_t degree(Dimension dimension) const;
};

[[nodiscard]] Plan read_plan(Reader& in);
/// "tp-dp-pp"
[[nodiscard]] std::string rank_order_name(const Plan& plan);

}  // namespace titer
