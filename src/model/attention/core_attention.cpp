#include "core_attention.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

class CoreBuilder {
 public:
  CoreBuilder(LayerBuilder& layer, const CoreAttention& attention)
      : layer_(layer),
        slice_(layer.slice()),
        view_(attention.view),
        seen_(attention.attended.value_or(attention.view.length * attended_share(attention.view)) +
              attention.entries),
        columns_(attention.attended.value_or(attention.view.length) * with_entries(attention)),
        modules_(attention.modules),
        freed_by_(attention.freed_by),
        queries_(layer.tokens() * attention.widths.query * layer.element()),
        keys_(key_tokens(attention) * attention.widths.key * layer.element()),
        values_(key_tokens(attention) * attention.widths.value * layer.element()),
        outputs_(layer.tokens() * attention.widths.output * layer.element()),
        exchanged_(attention.exchanged
                       ? *attention.exchanged * attention.widths.key * layer.element()
                       : keys_ + values_),
        widths_(attention.widths) {
    if (attention.attended) {
      return;  // no part of them is anywhere else
    }
    const auto context = static_cast<double>(slice_.context);
    switch (slice_.context_method) {
      case ContextMethod::ring:
      case ContextMethod::all_gather:
        parts_ = context;
        break;
      case ContextMethod::ulysses:
        head_ranks_ = context;
        break;
      case ContextMethod::hierarchical:
        head_ranks_ = static_cast<double>(slice_.context_inner);
        parts_ = context / head_ranks_;
        break;
    }
    keys_ = copies() * keys_;
    values_ = copies() * values_;
    exchanged_ = copies() * exchanged_;
  }

  void add() {
    if (head_ranks_ > 1) {
      add_head_scatter();
    }
    if (gathers()) {
      add_gather();
    }
    if (slice_.attention == AttentionKernel::flash) {
      if (slice_.fp8_attention) {
        add_conversions();
      }
      add_flash();
      if (goes_around()) {
        add_sums();
      }
    } else {
      add_materialised();
    }
    if (head_ranks_ > 1) {
      add_head_gather();
    }
  }

 private:
  [[nodiscard]] static double with_entries(const CoreAttention& attention) {
    return attention.entry_tokens > 0 ? 1.0 + 1.0 / attention.entry_tokens : 1.0;
  }
  [[nodiscard]] double key_tokens(const CoreAttention& attention) const {
    return attention.attended ? static_cast<double>(slice_.micro_batch) * *attention.attended
                              : layer_.tokens() * with_entries(attention);
  }
  [[nodiscard]] bool gathers() const {
    return parts_ > 1 && slice_.context_method == ContextMethod::all_gather;
  }
  [[nodiscard]] bool goes_around() const { return parts_ > 1 && !gathers(); }
  [[nodiscard]] Operation begin(std::string_view name) const {
    return {.name = name, .modules = modules_, .freed_by = freed_by_};
  }
  /// Where there are fewer key-value heads than ranks to share them, these get copies.
  [[nodiscard]] double copies() const {
    const double heads = static_cast<double>(layer_.model().kv_heads) / layer_.tensor();
    return layer_.model().latent ? 1.0 : std::max(1.0, head_ranks_ / std::max(1.0, heads));
  }
  [[nodiscard]] LayerGroup head_group() const {
    return parts_ > 1 ? LayerGroup::context_inner : LayerGroup::context;
  }

  /// From all heads of a part of the sequence to all parts of some heads. [Ulysses 2023]
  void add_head_scatter() { exchange_heads("head scatter", queries_ + (keys_ + values_)); }
  void add_head_gather() { exchange_heads("head gather", outputs_); }
  void exchange_heads(std::string_view name, Bytes sent) {
    Operation op = begin(name);
    op.forward = LayerBuilder::memory(2.0 * sent);
    op.input_gradient = op.forward;
    op.forward_transfer = {Collective::all_to_all, sent, head_group()};
    op.backward_transfer = op.forward_transfer;
    layer_.add(op);
  }

  /// The keys and values of all parts, put in order; of their gradients the sums.
  void add_gather() {
    Operation op = begin("key and value gather");
    const Bytes all = parts_ * exchanged_;
    op.forward = LayerBuilder::memory(2.0 * all);
    op.input_gradient = op.forward;
    op.forward_transfer = {Collective::all_gather, all, LayerGroup::context};
    op.backward_transfer = {Collective::reduce_scatter, all, LayerGroup::context};
    op.working = all;
    layer_.add(op);
  }

  /// Keys and values that go around, and backward their gradients with them; or that are gathered
  /// again for the backward pass. `first` and `last` of the operations of core attention.
  void send_around(Operation& first) const {
    if (!goes_around()) {
      return;
    }
    const Bytes all = parts_ * exchanged_;
    const LayerGroup group = head_ranks_ > 1 ? LayerGroup::context_outer : LayerGroup::context;
    first.beside = true;
    first.forward_transfer = {Collective::all_gather, all, group};
    first.backward_transfer = {Collective::all_gather, 2.0 * all, group};
    first.working = 2.0 * exchanged_;  // a block that comes and one that goes
  }
  void gather_again(Operation& last) const {
    if (gathers()) {
      last.working = parts_ * exchanged_;
      last.backward_transfer = {Collective::all_gather, last.working, LayerGroup::context};
    }
  }

  /// Around a kernel in fp8: what goes into it is converted, and what comes out of it; backward
  /// their gradients.  [Transformer Engine, fp8_dpa]
  /// As much is kept as in 16 bits: measured peaks of such runs leave no room for less.
  void add_conversions() {
    Operation op = begin("attention cast");
    const double both = 1.0 + size_of(DataType::fp8) / layer_.element();
    op.forward = LayerBuilder::memory(both * (queries_ + (keys_ + values_) + outputs_));
    op.input_gradient = op.forward;
    layer_.add(op);
  }

  /// One fused kernel: tiles that no token attends to are skipped; the backward kernel repeats the
  /// scores, five products instead of two. [Dao 2022, 2023]
  void add_flash() {
    const double heads = static_cast<double>(layer_.model().heads) / layer_.tensor();
    const Bytes log_sums =
        layer_.tokens() * heads * size_of(DataType::fp32);  // one per row and head
    Operation op = begin("flash attention");
    op.saved = queries_ + (keys_ + values_);
    op.core_saved = log_sums;
    op.kept_result = outputs_ + log_sums;
    op.repeated = 0;
    // What the output projection keeps is not what this kernel wrote; a gate keeps that itself.
    const bool has_copy = layer_.keeps_narrow_inputs() && !layer_.keeps_narrow_results();
    if (head_ranks_ > 1 || (has_copy && !layer_.model().attention_gate)) {
      op.core_saved += outputs_;
    }
    const double busiest = slice_.context_balanced ? 1.0 : busiest_part(view_, parts_);
    const double columns = widths_.query + widths_.output;
    const Flops flops = Flops::from_si(2.0 * layer_.tokens() * seen_ * columns * busiest);
    op.forward = {.kind = KernelKind::attention,
                  .flops = flops,
                  .bytes = queries_ + outputs_ + (keys_ + values_) + log_sums,
                  .narrow = slice_.fp8_attention,
                  .shape = shape()};
    // Scores, and gradients of queries and keys; gradients of probabilities and values.
    const double repeated = (3.0 * widths_.query + 2.0 * widths_.output) / columns;
    op.input_gradient = {.kind = KernelKind::attention,
                         .flops = repeated * flops,
                         .bytes = 2.0 * (queries_ + outputs_) + 2.0 * (keys_ + values_) + log_sums,
                         .narrow = slice_.fp8_attention,
                         .shape = op.forward.shape};
    op.input_gradient.shape.backward = true;
    send_around(op);
    gather_again(op);
    layer_.add(op);
  }

  /// What fused kernels get of each block of keys and values that comes by is added to the sum of
  /// those before, weighed anew, and so are backward the gradients of queries and of the block. The
  /// last part of a causal sequence sees all blocks. [Transformer Engine, context_parallel.py]
  void add_sums() {
    Operation op = begin("sums over blocks");
    op.forward = LayerBuilder::memory(3.0 * parts_ * outputs_);
    op.input_gradient = LayerBuilder::memory(3.0 * parts_ * (queries_ + (keys_ + values_)));
    op.repeated = 0;
    layer_.add(op);
  }

  /// Of the busiest rank's part of the sequences. Where that is the last one, its queries all see
  /// about as many keys, and none twice the mean, as the last ones of a whole sequence do.
  [[nodiscard]] KernelShape shape() const {
    const Transformer& model = layer_.model();
    const double busiest = slice_.context_balanced ? 1.0 : busiest_part(view_, parts_);
    const double heads = static_cast<double>(slice_.micro_batch * model.heads) / layer_.tensor();
    const bool windowed = view_.window < view_.chunk;
    const bool whole = slice_.context_balanced ||
                       view_.chunk * parts_ <= view_.length;  // as where there is one part
    const int edges = windowed ? 2 : (view_.causal && whole ? 1 : 0);
    return {.rows = static_cast<float>(view_.length / parts_),
            .columns = static_cast<float>(seen_ * busiest),
            .inner = static_cast<float>((widths_.query_head + widths_.value_head) / 2.0),
            .count = static_cast<float>(heads / head_ranks_),
            .group = static_cast<float>(widths_.query / widths_.key),
            .edges = static_cast<std::uint8_t>(edges)};
  }

  /// Scores, softmax, dropout and context as kernels of their own, all scores through memory.
  void add_materialised() {
    const Transformer& model = layer_.model();
    const double heads = static_cast<double>(slice_.micro_batch * model.heads) / layer_.tensor();
    const double rows = view_.length / static_cast<double>(slice_.context);
    const double columns = columns_;
    const Bytes scores = heads * rows * columns * layer_.element();
    const Bytes mask = heads * rows * columns * Bytes::from_si(1.0);

    Operation qk = begin("attention scores");
    qk.saved = queries_ + keys_;
    qk.forward = layer_.matrix({rows, widths_.query_head, columns, heads});
    qk.input_gradient =
        twice(layer_.matrix({rows, columns, widths_.query_head, heads}));  // dQ and dK
    send_around(qk);
    layer_.add(qk);
    add_softmax(scores, heads);
    if (model.dropout) {
      Operation drop = begin("attention dropout");
      drop.core_saved = mask + scores;
      drop.forward = LayerBuilder::memory(2.0 * scores + mask);
      drop.input_gradient = LayerBuilder::memory(2.0 * scores + mask);
      layer_.add(drop);
    }
    Operation av = begin("attention context");
    av.saved = values_;
    av.forward = layer_.matrix({rows, columns, widths_.value_head, heads});
    av.input_gradient =
        twice(layer_.matrix({rows, widths_.value_head, columns, heads}));  // dP and dV
    gather_again(av);
    layer_.add(av);
  }

  /// Fused with scale and mask where there is a kernel for so many heads.
  void add_softmax(Bytes scores, double heads) {
    const bool is_wide = layer_.element() >= size_of(DataType::fp32);
    if (slice_.softmax_heads > 1 &&
        (is_wide || std::fmod(heads, static_cast<double>(slice_.softmax_heads)) != 0)) {
      add_softmax_in_steps(scores);
      return;
    }
    Operation softmax = begin("softmax");
    softmax.core_saved = scores;
    softmax.forward = LayerBuilder::memory(2.0 * scores);
    softmax.input_gradient = LayerBuilder::memory(3.0 * scores);
    layer_.add(softmax);
  }
  /// [Megatron-LM, FusedScaleMaskSoftmax.forward_torch_softmax]
  void add_softmax_in_steps(Bytes scores) {
    const Bytes wide = size_of(DataType::fp32) / layer_.element() * scores;
    const auto add_step = [&](std::string_view name, Bytes forward, Bytes backward, Bytes kept) {
      Operation op = begin(name);
      op.core_saved = kept;
      op.forward = LayerBuilder::memory(forward);
      op.input_gradient = LayerBuilder::memory(backward);
      layer_.add(op);
    };
    const bool converts = scores < wide;
    if (converts) {
      add_step("scores to fp32", scores + wide, scores + wide, {});
    }
    add_step("scale of scores", 2.0 * wide, 2.0 * wide, {});
    add_step("mask of scores", 2.0 * wide, 2.0 * wide, {});
    add_step("softmax", 2.0 * wide, 3.0 * wide, wide);
    if (converts) {
      // What dropout makes of them is kept instead.
      const Bytes kept = layer_.model().dropout ? Bytes{} : scores;
      add_step("probabilities from fp32", scores + wide, scores + wide, kept);
    }
  }

  [[nodiscard]] static Kernel twice(const Kernel& kernel) {
    Kernel two = kernel;
    two.flops = 2.0 * kernel.flops;
    two.bytes = 2.0 * kernel.bytes;
    two.shape.count = 2.0F * kernel.shape.count;
    return two;
  }

  LayerBuilder& layer_;
  const Slice& slice_;
  const View& view_;
  double seen_;     // tokens that one attends to, on average
  double columns_;  // of a whole matrix of scores
  Modules modules_;
  Modules freed_by_;
  Bytes queries_;
  Bytes keys_;
  Bytes values_;
  Bytes outputs_;
  Bytes exchanged_;  // of keys and values
  const AttentionWidths& widths_;
  double parts_ = 1;       // of a sequence, among which keys and values are exchanged
  double head_ranks_ = 1;  // ranks that share the heads
};

}  // namespace

void add_core_attention(LayerBuilder& layer, const CoreAttention& attention) {
  CoreBuilder(layer, attention).add();
}

}  // namespace titer
