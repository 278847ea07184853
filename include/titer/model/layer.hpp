#pragma once
// What one device does for one micro-batch in one layer: a short list of operations, each with its
// kernels, the bytes it keeps for the backward pass and the communication it asks for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/hardware/kernel.hpp"

namespace titer {

/// Among whom the collectives of a layer are.
enum class LayerGroup : std::uint8_t {
  tensor,
  context,        // the parts of a sequence
  expert,         // ranks with different experts
  expert_tensor,  // ranks with parts of the same experts
  data,           // all that have the same place in the model (tables split over devices)
  context_inner,  // of the hierarchical context method: neighbouring ranks of `context`
  context_outer,  // likewise: ranks with the same place in these neighbourhoods
  all_experts,    // `expert` times `expert_tensor`: that have all experts between them
};
inline constexpr std::size_t kLayerGroups = 8;

/// A collective. Size: the full result (of an all-to-all: what one rank has to send, its own part
/// included). No size: no transfer.
struct Transfer {
  Collective kind = Collective::all_reduce;
  Bytes size;
  LayerGroup group = LayerGroup::tensor;

  [[nodiscard]] constexpr bool exists() const { return size > Bytes{}; }
};

/// The parts of a layer that a plan may name to be recomputed, as bits.
/// [Megatron-LM, --recompute-modules]
enum class Module : std::uint16_t {
  core_attention = 1 << 0,
  layer_norm = 1 << 1,
  latent_up = 1 << 2,   // up-projections of latent attention
  mlp = 1 << 3,         // a dense layer's
  moe = 1 << 4,         // router to combination
  activation = 1 << 5,  // the experts' activation function
  shared_experts = 1 << 6,
  attention = 1 << 7,  // all of it, projections included
  // What compilers compute again by results rather than by modules.  [MaxText, remat_policy]
  attention_result = 1 << 8,  // core attention, of which not even the result is kept
  attention_output = 1 << 9,  // its projection, and the sum that the MLP reads
  mlp_activation = 1 << 10,   // a dense layer's
};
using Modules = std::uint16_t;
[[nodiscard]] constexpr Modules bit(Module module) { return static_cast<Modules>(module); }
template <class... Some>
[[nodiscard]] constexpr Modules bits(Some... modules) {
  return static_cast<Modules>((0 | ... | bit(modules)));
}

/// The parts of a layer whose launches software captures together in a graph.
/// [Megatron-Core, --cuda-graph-scope: attn, mamba, mlp, moe_router, moe]
enum class LayerPart : std::uint8_t {
  outside,    // of the layers: embedding and output head
  attention,  // with its norm and residual addition
  mixer,      // likewise
  mlp,        // of a dense layer, likewise
  router,     // norm and choice of experts, and the experts that every token goes through
  experts,    // what the chosen ones do, and the ways there and back
};
inline constexpr std::size_t kLayerParts = 6;
using LayerPartSet = std::uint8_t;
[[nodiscard]] constexpr LayerPartSet bit(LayerPart part) {
  return static_cast<LayerPartSet>(1U << static_cast<unsigned>(part));
}

/// Weights of a hidden layer on one rank: so many matrices of rows x columns, Y = X W.
struct WeightMatrix {
  double rows = 0;
  double columns = 0;
  double count = 0;

  [[nodiscard]] constexpr double parameters() const { return count * rows * columns; }
};

/// One operation of a layer on one rank.
struct Operation {
  std::string_view name;
  Kernel forward{};
  Kernel input_gradient{};
  Kernel weight_gradient{};  // only operations with weights
  Bytes saved{};             // kept from the forward to the backward pass
  Bytes core_saved{};        // likewise, but not if one of `modules` is recomputed
  Bytes working{};           // needed beside these while it runs, and no longer
  // A weight gradient that is put off needs these until it is done, and nothing else: of `saved`
  // the operation's input, and the gradient of its output, whole if the input gradient gathered it.
  Bytes weight_input{};
  Bytes output_gradient{};
  Modules modules = 0;   // which it is part of: recomputing one of them repeats its forward pass
  Modules freed_by = 0;  // recomputing one of these frees `saved`; full recomputation always does

  // Of recomputation by operation: what is kept of its result, and how much of its forward kernel
  // is repeated for the rest.
  Bytes kept_result{};
  double repeated = 1.0;

  Transfer forward_transfer{};   // after (row split) or before (column split) the forward kernel
  Transfer backward_transfer{};  // of the input gradient
  // A column-split product's backward transfers can run beside its own gradient kernels: its
  // input gradient's beside the weight gradient, the re-gather of its input (sequence
  // parallelism) beside the input gradient.
  Transfer regather_transfer{};
  bool column_split = false;
  // Its forward and backward transfers run beside its own kernels (ring attention).
  bool beside = false;
  // What it multiplies by, matrices side by side apart; no tables. Of routed experts: each of them.
  std::array<WeightMatrix, 3> matrices{};
  bool of_experts = false;
  bool is_adapter = false;  // trained beside weights that are not
  bool ends_layer = false;  // no gradient is made of its result, but the next layer's input is kept

  LayerPart part = LayerPart::outside;
  // Forward, the host reads what the operations before it have found, such as how many tokens each
  // expert gets, before it launches this one.
  bool awaited = false;
  bool brings_offset = false;  // forward, the host sends a number that it adds along, and waits
  bool begins_batch = false;   // the host brings the micro-batch before its forward kernel
  // On a stream of its own, beside the exchange of the operation before it and its like.
  bool aside = false;
  // Of a loop over experts: as many kernels as one after another, forward and for each gradient.
  double loops = 1;

  [[nodiscard]] bool is_part_of(Module module) const { return (modules & bit(module)) != 0; }
};

/// The operations of one layer, in forward order.
using OperationList = std::vector<Operation>;

}  // namespace titer
