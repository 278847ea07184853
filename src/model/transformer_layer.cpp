#include "titer/model/transformer_layer.hpp"

#include <algorithm>

namespace titer {
namespace {

/// A product of doubles: two admitted integers may exceed 64 bits together.
double tokens_of(const Slice& slice) {
  return static_cast<double>(slice.micro_batch) * static_cast<double>(slice.sequence);
}

/// Bytes that one pass of an element-wise operation moves, in elements of the layer's data type
/// plus single bytes (dropout masks), and the byte counts of the shapes that recur.
class LayerBuilder {
 public:
  /// Fills `list` anew.
  LayerBuilder(const Transformer& model, const Slice& slice, OperationList& list)
      : list_(list),
        model_(model),
        slice_(slice),
        element_(size_of(slice.type)),
        tensor_(static_cast<double>(slice.tensor)),
        tokens_(tokens_of(slice)),
        // Outside the tensor-parallel products, sequence parallelism splits the tokens over ranks;
        // without it each rank repeats the work on all tokens.
        outer_tokens_(slice.sequence_parallel ? tokens_ / tensor_ : tokens_),
        hidden_(static_cast<double>(model.hidden)) {
    list.clear();
  }

  void norm(std::string_view name) {
    const Bytes x = outer_tokens_ * hidden_ * element_;
    Operation op{.name = name, .saved = x};
    op.forward = memory(2.0 * x);
    op.input_gradient = memory(3.0 * x);
    list_.add(op);
  }

  /// Y = X A with A's columns split: the ranks need all of X. [Shoeybi 2019: operator f]
  void column_product(std::string_view name, double inner, double columns, double saved_width) {
    Operation op{.name = name, .saved = outer_tokens_ * saved_width * element_};
    product(op, inner, columns / tensor_);
    op.weight_input = op.saved;  // with sequence parallelism gathered again for the weight gradient
    op.output_gradient = tokens_ * columns / tensor_ * element_;
    const Bytes full = tokens_ * inner * element_;
    op.column_split = true;
    if (slice_.tensor > 1 && slice_.sequence_parallel) {
      op.forward_transfer = {Collective::all_gather, full};
      op.backward_transfer = {Collective::reduce_scatter, full};
      op.regather_transfer = {Collective::all_gather, full};
    } else if (slice_.tensor > 1) {
      op.backward_transfer = {Collective::all_reduce, full};
    }
    list_.add(op);
  }

  /// Y = X A with A's rows split: the ranks' partial sums are added. [Shoeybi 2019: operator g]
  void row_product(std::string_view name, double rows, double columns) {
    Operation op{.name = name, .saved = tokens_ * rows / tensor_ * element_};
    product(op, rows / tensor_, columns);
    const Bytes full = tokens_ * columns * element_;
    op.weight_input = op.saved;
    op.output_gradient = full;
    if (slice_.tensor > 1 && slice_.sequence_parallel) {
      op.forward_transfer = {Collective::reduce_scatter, full};
      op.backward_transfer = {Collective::all_gather, full};
    } else if (slice_.tensor > 1) {
      op.forward_transfer = {Collective::all_reduce, full};
    }
    list_.add(op);
  }

  void rotary() {
    const double width = static_cast<double>(model_.query_width() + model_.kv_width()) / tensor_;
    Operation op{.name = "rotary positions"};
    op.forward = memory(2.0 * tokens_ * width * element_);
    op.input_gradient = op.forward;
    list_.add(op);
  }

  void attention() {
    if (slice_.attention == AttentionKernel::flash) {
      flash_attention();
    } else {
      materialised_attention();
    }
  }

  /// Bias, dropout and residual addition after a row-split product, in one fused kernel.
  void residual(std::string_view name) {
    const double mask = model_.dropout ? 1.0 : 0.0;
    const Bytes x = outer_tokens_ * hidden_ * element_;
    const Bytes m = outer_tokens_ * hidden_ * mask * Bytes::from_si(1.0);
    Operation op{.name = name, .saved = m};
    op.forward = memory(3.0 * x + m);
    op.input_gradient = memory(2.0 * x + m);
    list_.add(op);
  }

  /// GELU on f columns, or SiLU(gate) * up on 2 f.
  void activation() {
    const Bytes f = tokens_ * static_cast<double>(model_.ffn) / tensor_ * element_;
    const double inputs = model_.gated ? 2.0 : 1.0;
    Operation op{.name = model_.gated ? "gated activation" : "activation", .saved = inputs * f};
    op.forward = memory((inputs + 1.0) * f);
    op.input_gradient = memory((2.0 * inputs + 1.0) * f);
    list_.add(op);
  }

  void embedding() {
    const Bytes x = tokens_ * hidden_ * element_;
    const Bytes ids = tokens_ * Bytes::from_si(8.0);  // 64-bit token ids
    const Bytes mask = model_.dropout ? outer_tokens_ * hidden_ * Bytes::from_si(1.0) : Bytes{};
    Operation op{.name = "embedding", .saved = ids + mask};
    op.forward = memory(2.0 * x + mask);
    // The gradient of a look-up adds rows into the fp32 table: read, add, write.
    op.weight_gradient = memory(x + 2.0 * tokens_ * hidden_ * size_of(DataType::fp32));
    op.weight_input = ids;
    op.output_gradient = x;
    if (slice_.tensor > 1) {
      op.forward_transfer = {
          slice_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce, x};
    }
    if (slice_.tensor > 1 && slice_.sequence_parallel) {
      op.backward_transfer = {Collective::all_gather, x};
    }
    list_.add(op);
  }

  /// Softmax cross-entropy over a vocabulary split over ranks, in fp32.
  void cross_entropy() {
    const double elements =
        tokens_ * static_cast<double>(model_.padded_vocabulary(slice_.tensor)) / tensor_;
    const Bytes fp32 = elements * size_of(DataType::fp32);
    const Bytes low = elements * element_;
    Operation op{.name = "cross-entropy", .saved = fp32};
    // Up-cast; maximum; subtract; exponentiate and sum; divide: each reads, most write.
    op.forward = memory(low + fp32 + fp32 + 3.0 * 2.0 * fp32);
    op.input_gradient = memory(2.0 * fp32 + low);
    if (slice_.tensor > 1) {
      // Maximum, the target's logit and the sum of exponentials: one fp32 number per token each.
      op.forward_transfer = {Collective::all_reduce, 3.0 * tokens_ * size_of(DataType::fp32)};
    }
    list_.add(op);
  }

 private:
  [[nodiscard]] static Kernel memory(Bytes bytes) {
    return {.kind = KernelKind::memory, .flops = {}, .bytes = bytes};
  }

  /// C[rows, columns] = A[rows, inner] B[inner, columns], `count` times: 2 m n k FLOPs each.
  [[nodiscard]] Kernel matrix(double rows, double inner, double columns, double count = 1) const {
    return {.kind = KernelKind::matrix,
            .flops = Flops::from_si(2.0 * count * rows * inner * columns),
            .bytes = count * (rows * inner + inner * columns + rows * columns) * element_};
  }

  /// The three products of a layer with weights: Y = X A, dX = dY A^T, dA += X^T dY (into fp32).
  void product(Operation& op, double inner, double columns) const {
    op.forward = matrix(tokens_, inner, columns);
    op.input_gradient = matrix(tokens_, columns, inner);
    op.weight_gradient = matrix(inner, tokens_, columns);
    op.weight_gradient.bytes +=
        inner * columns * (2.0 * size_of(DataType::fp32) - element_);  // read and write the sum
  }

  /// Scores, softmax, dropout and context as kernels of their own, scores through memory.
  void materialised_attention() {
    const double heads = static_cast<double>(slice_.micro_batch * model_.heads) / tensor_;
    const auto s = static_cast<double>(slice_.sequence);
    const auto d = static_cast<double>(model_.head_dim);
    const Bytes scores = heads * s * s * element_;
    const Bytes mask = heads * s * s * Bytes::from_si(1.0);
    const Bytes queries = tokens_ * static_cast<double>(model_.query_width()) / tensor_ * element_;
    const Bytes keys = tokens_ * static_cast<double>(model_.kv_width()) / tensor_ * element_;

    Operation qk{.name = "attention scores", .saved = queries + keys, .core_attention = true};
    qk.forward = matrix(s, d, s, heads);
    qk.input_gradient = twice(matrix(s, s, d, heads));  // dQ and dK
    list_.add(qk);
    Operation softmax{.name = "softmax", .core_saved = scores, .core_attention = true};
    softmax.forward = memory(2.0 * scores);  // fused with scale and causal mask
    softmax.input_gradient = memory(3.0 * scores);
    list_.add(softmax);
    if (model_.dropout) {
      Operation drop{
          .name = "attention dropout", .core_saved = mask + scores, .core_attention = true};
      drop.forward = memory(2.0 * scores + mask);
      drop.input_gradient = memory(2.0 * scores + mask);
      list_.add(drop);
    }
    Operation av{.name = "attention context", .saved = keys, .core_attention = true};
    av.forward = matrix(s, s, d, heads);
    av.input_gradient = twice(matrix(s, d, s, heads));  // dP and dV
    list_.add(av);
  }

  /// One fused kernel: causal tiles above the diagonal are skipped; the backward kernel repeats the
  /// scores, five products instead of two. [Dao 2022, 2023]
  void flash_attention() {
    const auto s = static_cast<double>(slice_.sequence);
    const double width = static_cast<double>(model_.query_width()) / tensor_;
    const double pairs = model_.causal ? 0.5 : 1.0;
    const Bytes queries = tokens_ * width * element_;
    const Bytes keys = tokens_ * static_cast<double>(model_.kv_width()) / tensor_ * element_;
    const Bytes log_sums = tokens_ * static_cast<double>(model_.heads) / tensor_ *
                           size_of(DataType::fp32);  // one per row and head
    Operation op{.name = "flash attention",
                 .saved = queries + 2.0 * keys,
                 .core_saved = log_sums,
                 .core_attention = true};
    const Flops flops = Flops::from_si(4.0 * tokens_ * s * width * pairs);
    op.forward = {KernelKind::attention, flops, 2.0 * queries + 2.0 * keys + log_sums};
    op.input_gradient = {KernelKind::attention, 2.5 * flops, 4.0 * queries + 4.0 * keys + log_sums};
    list_.add(op);
  }

  [[nodiscard]] static Kernel twice(const Kernel& kernel) {
    return {kernel.kind, 2.0 * kernel.flops, 2.0 * kernel.bytes};
  }

  OperationList& list_;
  const Transformer& model_;
  const Slice& slice_;
  Bytes element_;
  double tensor_;
  double tokens_;
  double outer_tokens_;
  double hidden_;
};

void add_layer(const Transformer& model, const Slice& slice, OperationList& list) {
  const auto h = static_cast<double>(model.hidden);
  const auto q = static_cast<double>(model.query_width());
  const auto kv = static_cast<double>(model.kv_width());
  const auto f = static_cast<double>(model.ffn);
  LayerBuilder layer(model, slice, list);
  layer.norm("attention norm");
  layer.column_product("query, key, value", h, q + 2.0 * kv, h);
  if (model.positions == Positions::rotary) {
    layer.rotary();
  }
  layer.attention();
  layer.row_product("attention output", q, h);
  layer.residual("attention residual");
  layer.norm("MLP norm");
  layer.column_product(model.gated ? "MLP gate and up" : "MLP up", h, model.gated ? 2.0 * f : f, h);
  layer.activation();
  layer.row_product("MLP down", f, h);
  layer.residual("MLP residual");
}

void add_embedding(const Transformer& model, const Slice& slice, OperationList& list) {
  LayerBuilder(model, slice, list).embedding();
}

void add_head(const Transformer& model, const Slice& slice, OperationList& list) {
  const auto h = static_cast<double>(model.hidden);
  LayerBuilder layer(model, slice, list);
  layer.norm("final norm");
  layer.column_product("logits", h, static_cast<double>(model.padded_vocabulary(slice.tensor)), h);
  layer.cross_entropy();
}

}  // namespace

void list_operations(const Transformer& model, const Slice& slice, ModelOperations& into) {
  add_layer(model, slice, into.layer);
  add_embedding(model, slice, into.embedding);
  add_head(model, slice, into.head);
}

OperationList transformer_layer(const Transformer& model, const Slice& slice) {
  OperationList list;
  add_layer(model, slice, list);
  return list;
}

OperationList embedding(const Transformer& model, const Slice& slice) {
  OperationList list;
  add_embedding(model, slice, list);
  return list;
}

OperationList output_head(const Transformer& model, const Slice& slice) {
  OperationList list;
  add_head(model, slice, list);
  return list;
}

Bytes saved_bytes(const OperationList& operations, bool with_core_attention) {
  Bytes sum;
  for (const Operation& op : operations) {
    sum += op.saved + (with_core_attention ? op.core_saved : Bytes{});
  }
  return sum;
}

Bytes weight_gradient_bytes(const OperationList& operations) {
  Bytes sum;
  for (const Operation& op : operations) {
    sum += op.weight_input + op.output_gradient;
  }
  return sum;
}

Bytes layer_input_bytes(const Transformer& model, const Slice& slice) {
  const double split = slice.sequence_parallel ? static_cast<double>(slice.tensor) : 1.0;
  return tokens_of(slice) * static_cast<double>(model.hidden) / split * size_of(slice.type);
}

}  // namespace titer
