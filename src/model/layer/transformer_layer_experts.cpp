// A mixture of experts on one rank. [GShard 2020; Megatron-Core, token_dispatcher.py]
#include "model/layer_builder.hpp"

namespace titer {
namespace {

constexpr Modules kMoe = bit(Module::moe);
constexpr Modules kActivation = bits(Module::moe, Module::activation);
constexpr Modules kShared = bits(Module::moe, Module::shared_experts);

class ExpertBuilder {
 public:
  ExpertBuilder(LayerBuilder& layer, const Experts& experts)
      : layer_(layer),
        experts_(experts),
        slice_(layer.slice()),
        hidden_(layer.hidden()),
        width_(static_cast<double>(experts.token_width(layer.model().hidden))),
        element_(layer.element()),
        // The tensor-parallel ranks share the tokens out, also without sequence parallelism.
        tokens_(layer.tokens() / layer.tensor()),
        routed_(tokens_ * static_cast<double>(experts.per_token) * slice_.expert_kept),
        received_(tokens_ * static_cast<double>(experts.per_token) * slice_.expert_load),
        sent_(slice_.expert_sent * received_),
        parts_(static_cast<double>(slice_.expert_tensor)),
        local_tokens_(parts_ * received_) {}

  void add() {
    add_router();
    if (experts_.latent > 0) {
      add_latent();
    }
    layer_.begin(LayerPart::experts);
    if (gathers()) {
      add_gather();
      add_products();
      add_scatter();
    } else {
      add_exchanged();
    }
    if (experts_.latent > 0) {
      add_hidden();
    }
    if (experts_.shared_ffn > 0) {
      add_shared();
    }
  }

 private:
  /// Without sequence parallelism every rank needs all tokens' results, and their gradients.
  [[nodiscard]] Transfer result_gather() const {
    if (slice_.tensor == 1 || slice_.sequence_parallel) {
      return {};
    }
    return {Collective::all_gather, layer_.tokens() * width_ * element_};
  }
  [[nodiscard]] Operation begin(std::string_view name) const {
    return {.name = name, .modules = kMoe, .freed_by = kMoe};
  }

  void add_router() {
    layer_.replicated_product({.name = "router",
                               .inner = hidden_,
                               .columns = static_cast<double>(experts_.count),
                               .modules = kMoe,
                               .freed_by = layer_.input_norm(),
                               .narrow = false});
    // Probabilities in fp32: scores read twice, for the sum and the best, and written.
    Operation choice = begin("choice of experts");
    const Bytes scores =
        layer_.outer_tokens() * static_cast<double>(experts_.count) * size_of(DataType::fp32);
    choice.saved = scores + mask();
    choice.forward = LayerBuilder::memory(3.0 * scores + mask());
    choice.input_gradient = choice.forward;
    choice.backward_transfer = result_gather();
    layer_.add(choice);
  }

  /// To what experts work on; the router keeps its input.  [Megatron-Core 0.16, fc1_latent_proj]
  void add_latent() {
    layer_.replicated_product({.name = "experts' latent",
                               .inner = hidden_,
                               .columns = width_,
                               .modules = kMoe,
                               .freed_by = layer_.input_norm(),
                               .keeps_input = false});
  }
  /// And from what they return back.
  void add_hidden() {
    layer_.replicated_product({.name = "experts' hidden state",
                               .inner = width_,
                               .columns = hidden_,
                               .modules = kMoe,
                               .freed_by = kMoe});
  }

  /// Each token to the ranks of its experts and back.
  void add_exchanged() {
    add_permutation();
    if (has_aside()) {
      add_aside([&] { add_shared_input(); });
    }
    add_sort();
    add_products();
    add_return();
    if (has_aside()) {
      add_aside([&] { add_shared_output(); });
    }
    add_sum();
  }

  [[nodiscard]] bool gathers() const {
    return slice_.gathers_tokens && slice_.expert * slice_.expert_tensor > 1;
  }
  /// Tokens of all ranks that have all experts between them.
  [[nodiscard]] double gathered_tokens() const {
    return tokens_ * static_cast<double>(slice_.expert) * parts_;
  }
  /// All of them with their probabilities, and which experts they go to, to every rank: each takes
  /// out what its own experts compute. Backward what they return as gradients is put among zeros,
  /// and added up on the way to the tokens' own ranks.
  void add_gather() {
    const auto count = static_cast<double>(experts_.count);
    const Bytes token = width_ * element_ + count * size_of(DataType::fp32);
    const Bytes all = gathered_tokens() * width_ * element_;
    const Bytes local = local_tokens_ * width_ * element_;
    Operation gather = begin("token gather");
    gather.forward_transfer = {Collective::all_gather,
                               gathered_tokens() * (token + count * Bytes::from_si(1.0)),
                               LayerGroup::all_experts};
    gather.backward_transfer = {
        Collective::reduce_scatter, gathered_tokens() * token, LayerGroup::all_experts};
    layer_.add(gather);
    Operation op = begin("permutation");
    op.saved = local_tokens_ * Bytes::from_si(8.0);  // places
    op.forward = LayerBuilder::memory(2.0 * local);
    op.input_gradient = LayerBuilder::memory(3.0 * local + all);
    op.working = all;
    op.awaited = !experts_.routing.padded;
    layer_.add(op);
  }
  /// The other way round.
  void add_scatter() {
    const Bytes all = gathered_tokens() * width_ * element_;
    const Bytes local = local_tokens_ * width_ * element_;
    Operation op = begin("combination");
    if (slice_.weighs_outputs) {
      op.saved = local + local_tokens_ * size_of(DataType::fp32);
    }
    op.forward = LayerBuilder::memory(3.0 * local + all);
    op.input_gradient = LayerBuilder::memory((slice_.weighs_outputs ? 3.0 : 2.0) * local);
    op.working = all;
    op.forward_transfer = {Collective::reduce_scatter, all, LayerGroup::all_experts};
    op.backward_transfer = {Collective::all_gather, all, LayerGroup::all_experts};
    layer_.add(op);
    if (result_gather().exists()) {
      Operation sum = begin("sum of experts");
      sum.forward_transfer = result_gather();
      layer_.add(sum);
    }
  }

  /// Copies of the tokens in the order of their experts, and on to these. Where further copies are
  /// made by those that get them, the exchange itself puts the tokens in order.
  void add_permutation() {
    Operation op = begin("permutation");
    const Bytes copies = copies_here() ? routed_ * width_ * element_ : Bytes{};
    op.saved = tokens_ * static_cast<double>(experts_.per_token) * Bytes::from_si(4.0);  // places
    op.forward = is_dense() ? masked() : LayerBuilder::memory(tokens_ * width_ * element_ + copies);
    op.input_gradient = op.forward;
    op.working = routed_ * slice_.expert_sent * width_ * element_;
    op.forward_transfer = dispatch();
    op.backward_transfer = op.forward_transfer;
    op.awaited = !experts_.routing.padded;
    layer_.add(op);
  }
  [[nodiscard]] Transfer dispatch() const {
    if (slice_.expert == 1) {
      return {};
    }
    return {Collective::all_to_all, sent_ * width_ * element_, LayerGroup::expert};
  }
  [[nodiscard]] bool copies_here() const { return slice_.expert == 1 || slice_.expert_sent == 1.0; }

  [[nodiscard]] bool is_dense() const { return experts_.routing.dense_group.has_value(); }
  /// Places of all experts for one group of tokens.
  [[nodiscard]] double places() const {
    if (!is_dense()) {
      return 0;
    }
    const auto group = static_cast<double>(*experts_.routing.dense_group);
    const double each =
        capacity_of(experts_.routing, group, experts_.count, experts_.per_token).value_or(0.0);
    return static_cast<double>(experts_.count) * each;
  }
  /// The weights by which tokens are in places; that they are in them is told by these.
  [[nodiscard]] Bytes mask() const { return tokens_ * places() * element_; }
  /// Tokens times the mask, or what is in the places times it.  [GShard 2020, Algorithm 2]
  [[nodiscard]] Kernel masked() const {
    const auto group = static_cast<double>(*experts_.routing.dense_group);
    return layer_.matrix(
        {.rows = places(), .inner = group, .columns = width_, .count = tokens_ / group});
  }

  /// What came from several ranks in the order of the experts here.
  void add_sort() {
    if (slice_.expert == 1 && slice_.expert_tensor == 1) {
      return;
    }
    Operation op = begin("expert sort");
    const Bytes all = local_tokens_ * width_ * element_;
    op.forward = LayerBuilder::memory(slice_.expert_sent * all + all);
    op.input_gradient = op.forward;
    if (slice_.expert_tensor > 1) {
      op.forward_transfer = {Collective::all_gather, all, LayerGroup::expert_tensor};
      op.backward_transfer = {Collective::reduce_scatter, all, LayerGroup::expert_tensor};
    }
    layer_.add(op);
  }

  void add_products() {
    const double gates = layer_.model().gated ? 2.0 : 1.0;
    const double width = static_cast<double>(experts_.ffn) / parts_;
    const bool fused = slice_.fused_experts;
    Operation up = begin(layer_.model().gated ? "expert gate and up" : "expert up");
    grouped(up, {.inner = width_, .columns = gates * width, .casts_gradient = !fused});
    up.matrices.front().columns = width;
    up.matrices.front().count *= gates;
    layer_.add(up);

    Operation activation = begin("expert activation");
    activation.modules = kActivation;
    if (!slice_.weighs_outputs) {  // the probabilities to weigh them by
      activation.saved = local_tokens_ * size_of(DataType::fp32);
    }
    if (fused) {
      layer_.fused_activation(activation, local_tokens_ * width);
    } else {
      layer_.activation(activation, local_tokens_ * width);
    }

    Operation down = begin("expert down");
    down.freed_by = kActivation;
    grouped(down, {.inner = width, .columns = width_, .casts_input = !fused});
    if (slice_.expert_tensor > 1 && !gathers()) {
      const Bytes all = local_tokens_ * width_ * element_;
      down.forward_transfer = {Collective::reduce_scatter, all, LayerGroup::expert_tensor};
      down.backward_transfer = {Collective::all_gather, all, LayerGroup::expert_tensor};
    }
    layer_.add(down);
    if (layer_.model().biases.mlp) {
      add_output_bias();
    }
  }

  /// Of each expert by itself, weighed by the probabilities: bias times probability, the sum and
  /// putting the experts together in fp32, and back to the activations' type; backward the
  /// gradients of biases and probabilities are products and sums in fp32.
  /// [Megatron-Core 0.15 to 0.19, experts.py: _apply_bias]
  void add_output_bias() {
    const Bytes x = local_tokens_ * width_ * element_;
    const Bytes wide = local_tokens_ * width_ * size_of(DataType::fp32);
    Operation op = begin("expert biases");
    op.forward = LayerBuilder::memory(2.0 * x + 6.0 * wide);
    op.input_gradient = LayerBuilder::memory(2.0 * x + 8.0 * wide);
    op.loops = static_cast<double>(experts_.count) / static_cast<double>(slice_.expert);
    layer_.add(op);
  }

  struct Grouped {
    double inner = 0;
    double columns = 0;
    bool casts_input = true;     // by an operation of its own
    bool casts_gradient = true;  // of its output, likewise
  };
  /// One kernel for the products of all experts here, which reads all their weights.
  void grouped(Operation& op, const Grouped& p) {
    const bool narrow = layer_.has_narrow_products();
    const double count = static_cast<double>(experts_.count) / static_cast<double>(slice_.expert);
    if (narrow) {
      layer_.cast(op.modules,
                  {.inputs = p.casts_input ? local_tokens_ * p.inner : 0.0,
                   .outputs = p.casts_gradient ? local_tokens_ * p.columns : 0.0,
                   .weights = count * p.inner * p.columns});
    }
    layer_.multiply(op, {local_tokens_ / count, p.inner, p.columns, count, narrow, true});
    op.loops = slice_.fused_experts ? 1.0 : count;
    op.saved = local_tokens_ * p.inner * layer_.kept(narrow);
    op.weight_input = op.saved;
    op.output_gradient = local_tokens_ * p.columns * layer_.kept_gradient(narrow);
  }

  /// Back to the tokens' own ranks.
  void add_return() {
    Operation back = begin("combination");
    back.forward = LayerBuilder::memory((received_ + sent_) * width_ * element_);
    back.input_gradient = back.forward;
    back.forward_transfer = dispatch();
    back.backward_transfer = back.forward_transfer;
    back.working = received_ * width_ * element_;
    if (dispatch().exists() || slice_.expert_tensor > 1) {
      layer_.add(back);
    }
  }
  /// What a token's experts returned is added up: by the exchange itself where that has sent it
  /// once to several.
  void add_sum() {
    const Bytes returned = slice_.expert_sent * routed_ * width_ * element_;
    Operation sum = begin("sum of experts");
    sum.saved = slice_.weighs_outputs
                    ? returned + routed_ * size_of(DataType::fp32)  // outputs and probabilities
                    : Bytes{};
    sum.forward =
        LayerBuilder::memory((copies_here() ? returned : Bytes{}) + tokens_ * width_ * element_);
    sum.input_gradient =
        LayerBuilder::memory(sum.forward.bytes + (slice_.weighs_outputs ? returned : Bytes{}));
    if (is_dense()) {  // the gradients of what experts return, and of the mask
      sum.forward = masked();
      sum.input_gradient = sum.forward;
      sum.input_gradient.flops = 2.0 * sum.forward.flops;
      sum.input_gradient.bytes = 2.0 * sum.forward.bytes;
    }
    sum.forward_transfer = result_gather();
    layer_.add(sum);
  }

  /// Whether the dense MLP has a stream of its own: its first product and activation beside the
  /// tokens' way to the experts, its second beside their way back; the same of their gradients.
  /// [Megatron-Core 0.9 and later, --moe-shared-expert-overlap: shared_experts.py]
  [[nodiscard]] bool has_aside() const {
    return slice_.shared_aside && experts_.shared_ffn > 0 && dispatch().exists() && !gathers();
  }
  template <class Add>
  void add_aside(const Add& add) {
    layer_.put_aside(true);
    add();
    layer_.put_aside(false);
  }

  /// A dense MLP that every token goes through beside its own experts. The router keeps its input.
  void add_shared() {
    // Graphs of the router's part have the MLP, unless it is beside exchanges, which none has.
    if (!has_aside()) {
      layer_.begin(LayerPart::router);
      add_shared_input();
      add_shared_output();
    }
    const Bytes x = layer_.outer_tokens() * hidden_ * element_;
    Operation sum{.name = "sum with shared experts", .modules = kShared, .freed_by = kShared};
    sum.saved = experts_.shared_gate ? x : Bytes{};  // what the gate weighs
    sum.forward = LayerBuilder::memory(3.0 * x);
    sum.input_gradient = LayerBuilder::memory(2.0 * x);
    layer_.add(sum);
    layer_.begin(LayerPart::experts);
  }
  void add_shared_input() {
    const double width = static_cast<double>(experts_.shared_ffn);
    const double gates = layer_.model().gated ? 2.0 : 1.0;
    layer_.column_product({.name = layer_.model().gated ? "shared gate and up" : "shared up",
                           .inner = hidden_,
                           .columns = gates * width,
                           .modules = kShared,
                           .freed_by = layer_.input_norm(),
                           .keeps_input = false,
                           .parts = gate_and_up(layer_.model(), width)});
    layer_.activation({.name = "shared activation", .modules = kShared, .freed_by = kShared},
                      layer_.tokens() * width / layer_.tensor());
  }
  void add_shared_output() {
    layer_.row_product({.name = "shared down",
                        .inner = static_cast<double>(experts_.shared_ffn),
                        .columns = hidden_,
                        .modules = kShared,
                        .freed_by = kShared,
                        .parts = {{{WeightRole::down, hidden_}}}});
    if (experts_.shared_gate) {
      layer_.replicated_product({.name = "shared experts' gate",
                                 .inner = hidden_,
                                 .columns = 1.0,
                                 .modules = kShared,
                                 .freed_by = layer_.input_norm(),
                                 .keeps_input = false,
                                 .narrow = false});
    }
  }

  LayerBuilder& layer_;
  const Experts& experts_;
  const Slice& slice_;
  double hidden_;
  double width_;  // of a token at the experts
  Bytes element_;
  double tokens_;    // that this rank sends to experts
  double routed_;    // their copies, one for each expert
  double received_;  // copies for the experts of the busiest rank
  double sent_;      // of these, those that come from other ranks
  double parts_;
  double local_tokens_;  // those of all ranks with parts of the same experts
};

}  // namespace

void add_experts(LayerBuilder& layer, const Experts& experts) {
  ExpertBuilder(layer, experts).add();
}

}  // namespace titer
