// A mixture of experts on one rank. [GShard 2020; Megatron-Core, token_dispatcher.py]
#include "model/layer/expert_tokens.hpp"

namespace titer {
namespace {

constexpr Modules kActivation = bits(Module::moe, Module::activation);
constexpr Modules kShared = bits(Module::moe, Module::shared_experts);

class ExpertBuilder {
 public:
  ExpertBuilder(LayerBuilder& layer, const Experts& experts)
      : layer_(layer),
        experts_(experts),
        slice_(layer.slice()),
        hidden_(layer.hidden()),
        element_(layer.element()),
        tokens_(layer, experts) {}

  void add() {
    add_router();
    if (experts_.latent > 0) {
      add_latent();
    }
    layer_.begin(LayerPart::experts);
    if (tokens_.are_gathered()) {
      tokens_.add_gather();
      add_products();
      tokens_.add_scatter();
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
  void add_router() {
    layer_.replicated_product({.name = "router",
                               .inner = hidden_,
                               .columns = static_cast<double>(experts_.count),
                               .modules = kMoe,
                               .freed_by = layer_.input_norm(),
                               .narrow = false});
    // Probabilities in fp32: scores read twice, for the sum and the best, and written.
    Operation choice = expert_operation("choice of experts");
    const Bytes scores =
        layer_.outer_tokens() * static_cast<double>(experts_.count) * size_of(DataType::fp32);
    choice.saved = scores + tokens_.mask();
    choice.forward = LayerBuilder::memory(3.0 * scores + tokens_.mask());
    choice.input_gradient = choice.forward;
    choice.backward_transfer = tokens_.result_gather();
    layer_.add(choice);
  }

  /// To what experts work on; the router keeps its input.  [Megatron-Core 0.16, fc1_latent_proj]
  void add_latent() {
    layer_.replicated_product({.name = "experts' latent",
                               .inner = hidden_,
                               .columns = tokens_.width(),
                               .modules = kMoe,
                               .freed_by = layer_.input_norm(),
                               .keeps_input = false});
  }
  /// And from what they return back.
  void add_hidden() {
    layer_.replicated_product({.name = "experts' hidden state",
                               .inner = tokens_.width(),
                               .columns = hidden_,
                               .modules = kMoe,
                               .freed_by = kMoe});
  }

  /// Each token to the ranks of its experts and back.
  void add_exchanged() {
    tokens_.add_permutation();
    if (has_aside()) {
      add_aside([&] { add_shared_input(); });
    }
    tokens_.add_sort();
    add_products();
    tokens_.add_return();
    if (has_aside()) {
      add_aside([&] { add_shared_output(); });
    }
    tokens_.add_sum();
  }

  void add_products() {
    const double gates = layer_.model().gated ? 2.0 : 1.0;
    const double width = static_cast<double>(experts_.ffn) / tokens_.parts();
    const bool fused = slice_.fused_experts;
    Operation up = expert_operation(layer_.model().gated ? "expert gate and up" : "expert up");
    grouped(up, {.inner = tokens_.width(), .columns = gates * width, .casts_gradient = !fused});
    up.matrices.front().columns = width;
    up.matrices.front().count *= gates;
    layer_.add(up);

    Operation activation = expert_operation("expert activation");
    activation.modules = kActivation;
    if (!slice_.weighs_outputs) {  // the probabilities to weigh them by
      activation.saved = tokens_.here() * size_of(DataType::fp32);
    }
    if (fused) {
      layer_.fused_activation(activation, tokens_.here() * width);
    } else {
      layer_.activation(activation, tokens_.here() * width);
    }

    Operation down = expert_operation("expert down");
    down.freed_by = kActivation;
    grouped(down, {.inner = width, .columns = tokens_.width(), .casts_input = !fused});
    if (slice_.expert_tensor > 1 && !tokens_.are_gathered()) {
      const Bytes all = tokens_.here() * tokens_.width() * element_;
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
    const Bytes x = tokens_.here() * tokens_.width() * element_;
    const Bytes wide = tokens_.here() * tokens_.width() * size_of(DataType::fp32);
    Operation op = expert_operation("expert biases");
    op.forward = LayerBuilder::memory(2.0 * x + 6.0 * wide, KernelMaker::operators);
    op.input_gradient = LayerBuilder::memory(2.0 * x + 8.0 * wide, KernelMaker::operators);
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
      layer_.add(layer_.conversion(op.modules,
                                   {.inputs = p.casts_input ? tokens_.here() * p.inner : 0.0,
                                    .outputs = p.casts_gradient ? tokens_.here() * p.columns : 0.0,
                                    .weights = count * p.inner * p.columns}));
    }
    layer_.multiply(op, {tokens_.here() / count, p.inner, p.columns, count, narrow, true});
    op.loops = slice_.fused_experts ? 1.0 : count;
    op.saved = tokens_.here() * p.inner * layer_.kept(narrow);
    op.weight_input = op.saved;
    op.output_gradient = tokens_.here() * p.columns * layer_.kept_gradient(narrow);
  }

  /// Whether the dense MLP has a stream of its own: its first product and activation beside the
  /// tokens' way to the experts, its second beside their way back; the same of their gradients.
  /// [Megatron-Core 0.9 and later, --moe-shared-expert-overlap: shared_experts.py]
  [[nodiscard]] bool has_aside() const {
    return slice_.shared_aside && experts_.shared_ffn > 0 && tokens_.dispatch().exists() &&
           !tokens_.are_gathered();
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
  Bytes element_;
  ExpertTokens tokens_;
};

}  // namespace

void add_experts(LayerBuilder& layer, const Experts& experts) {
  ExpertBuilder(layer, experts).add();
}

}  // namespace titer
