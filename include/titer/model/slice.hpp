#pragma once
// What of a model one rank works on at a time.

#include <cstdint>
#include <optional>

#include "titer/hardware/data_type.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/adapters.hpp"

namespace titer {

/// Whether the s x s attention scores go through memory, or stay inside one fused kernel.
enum class AttentionKernel { materialised, flash };
inline constexpr std::array<Choice<AttentionKernel>, 2> kAttentionKernels = {
    {{"materialised", AttentionKernel::materialised}, {"flash", AttentionKernel::flash}}};
[[nodiscard]] constexpr std::string_view name(AttentionKernel kernel) {
  return kAttentionKernels[static_cast<std::size_t>(kernel)].name;
}

/// How ranks that have parts of a sequence attend to the others' parts.
enum class ContextMethod {
  ring,          // keys and values go around, beside the attention to those that came before
  all_gather,    // they are gathered first [Llama 3 2024, section 3.3.2]
  ulysses,       // all-to-all: from all heads of a part to all parts of some heads
  hierarchical,  // ulysses among `context_inner` neighbouring ranks, a ring over these groups
};
inline constexpr std::array<Choice<ContextMethod>, 4> kContextMethods = {
    {{"ring", ContextMethod::ring},
     {"all-gather", ContextMethod::all_gather},
     {"ulysses", ContextMethod::ulysses},
     {"hierarchical", ContextMethod::hierarchical}}};
[[nodiscard]] constexpr std::string_view name(ContextMethod method) {
  return kContextMethods[static_cast<std::size_t>(method)].name;
}

/// How tokens reach their experts and what these return the tokens.
enum class ExpertDispatch {
  all_to_all,    // a copy for each expert that a token goes to
  deduplicated,  // one for each rank, or each node across nodes; what a rank's or node's experts
                 // return is added up there [DeepEP 2025; Megatron-Core, flex dispatcher]
  all_gather,    // all tokens to all ranks that have experts, and sums of what these return back
                 // [Megatron-Core, MoEAllGatherTokenDispatcher]
};
inline constexpr std::array<Choice<ExpertDispatch>, 3> kExpertDispatches = {
    {{"all-to-all", ExpertDispatch::all_to_all},
     {"deduplicated", ExpertDispatch::deduplicated},
     {"all-gather", ExpertDispatch::all_gather}}};
[[nodiscard]] constexpr std::string_view name(ExpertDispatch dispatch) {
  return kExpertDispatches[static_cast<std::size_t>(dispatch)].name;
}

/// What goes with each sequence to a tower in front of a language model.
struct Images {
  std::int64_t of_sequence = 0;  // images, or sounds
  std::int64_t size = 0;         // pixels along each side, where the tower takes any

  friend bool operator==(const Images&, const Images&) = default;
};

/// One rank's part of a micro-batch, and how it computes.
struct Slice {
  std::int64_t micro_batch = 1;  // sequences
  std::int64_t sequence = 0;     // tokens each, on all ranks together
  Images images{};
  std::int64_t tensor = 1;  // t
  // Images are cut into t / image_columns rows of so many parts.
  std::int64_t image_columns = 1;
  bool sequence_parallel = false;
  DataType type = DataType::bf16;  // of activations and products
  AttentionKernel attention = AttentionKernel::flash;
  std::int64_t softmax_heads = 1;  // fused softmax takes a multiple of (StackKernels)
  // Documents packed into a sequence attend to themselves only: sum L_i^2 / sum L_i, where it is
  // not the sequence.
  std::optional<double> attended_length{};
  std::int64_t context = 1;  // cp: each rank has sequence / cp tokens of every sequence
  ContextMethod context_method = ContextMethod::ring;
  std::int64_t context_inner = 1;  // of the hierarchical method
  bool context_balanced = true;    // each rank has an early and a late part of a causal sequence
  std::int64_t expert = 1;         // ep
  std::int64_t expert_tensor = 1;  // etp
  // Tokens that the busiest rank's experts compute, over those that each would if all got as many
  // and none were dropped: what its products, memory and the all-to-all go by; and the share of a
  // token's k experts that it is sent to, on average.
  double expert_load = 1.0;
  double expert_kept = 1.0;
  // Copies of a token that go to its experts' ranks, over those that these experts compute; all
  // without de-duplication.
  double expert_sent = 1.0;
  bool gathers_tokens = false;  // every rank with experts gets all tokens instead
  // What experts return is weighed when it is back, and kept for that; else their activations are,
  // which keeps the weights only.  [Megatron-Core before and from 0.12]
  bool weighs_outputs = false;
  // Beside narrow products, what activations are applied to and gradients that weights' gradients
  // wait with are kept in their type, and what attention returns in 12 bits, once.  [DeepSeek-V3
  // 2024, section 3.3.3]
  bool narrow_results = false;
  bool fuses_casts = false;    // conversions cost nothing beside what makes the numbers
  bool casts_again = false;    // inputs are kept as they were, and converted anew backward
  bool casts_apart = false;    // copies by rows and by columns are made by a pass each
  bool casts_weights = false;  // for each product, of weights that are held wide
  // Of narrow products numbers have a scale for each row: all ranks of a tensor group convert what
  // they have gathered of tokens.  [torchao, rowwise]
  bool scales_rows = false;
  bool transposes_weights = false;         // of narrow products, for those of the backward pass
  bool reads_columns = false;              // they need no copies of operands by columns
  bool shared_aside = false;               // experts of all tokens, beside the tokens' way
  bool fused_experts = false;              // their products make their activations and casts
  bool narrow_logits = false;              // the output layer's product is as narrow as the others
  bool fp8_attention = false;              // products of fused attention are in fp8
  bool fp8_activation_inputs = false;      // by conversions of their own, whatever products read
  std::optional<DataType> product_type{};  // of what products with weights read; fp8 training
  std::optional<Bytes> kept_input{};       // of a number of their input; otherwise as they read it
  std::optional<Adapters> adapters{};      // trained instead of the weights
  std::optional<Bytes> logit{};  // while the loss is computed; otherwise 6 bytes at 16 bits
};

}  // namespace titer
