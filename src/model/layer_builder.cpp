#include "layer_builder.hpp"

#include <algorithm>

namespace titer {

LayerBuilder::LayerBuilder(const Transformer& model, const Slice& slice, OperationList& list)
    : model_(model),
      slice_(slice),
      list_(list),
      element_(size_of(slice.type)),
      product_element_(size_of(slice.product_type.value_or(slice.type))),
      tensor_(static_cast<double>(slice.tensor)),
      tokens_(tokens_of(slice)),
      outer_tokens_(slice.sequence_parallel ? tokens_ / tensor_ : tokens_),
      hidden_(static_cast<double>(model.hidden)) {}

Kernel LayerBuilder::matrix(const Extent& e) const {
  return {.kind = KernelKind::matrix,
          .flops = Flops::from_si(2.0 * e.count * e.rows * e.inner * e.columns),
          .bytes = e.count * ((e.rows * e.inner + e.inner * e.columns) * operand(e.narrow) +
                              e.rows * e.columns * element_),
          .narrow = e.narrow,
          .shape = {.rows = static_cast<float>(e.rows),
                    .columns = static_cast<float>(e.columns),
                    .inner = static_cast<float>(e.inner),
                    .count = static_cast<float>(e.count),
                    .grouped = e.grouped}};
}

void LayerBuilder::multiply(Operation& op, const Extent& e) const {
  op.matrices.front() = {.rows = e.inner, .columns = e.columns, .count = e.count};
  op.of_experts = e.grouped;
  op.forward = matrix(e);
  op.input_gradient = matrix({e.rows, e.columns, e.inner, e.count, e.narrow, e.grouped});
  op.weight_gradient = matrix({e.inner, e.rows, e.columns, e.count, e.narrow, e.grouped});
  op.weight_gradient.shape.tokens = KernelShape::Tokens::inner;
  op.weight_gradient.bytes += e.count * e.inner * e.columns *
                              (2.0 * size_of(DataType::fp32) - element_);  // read and write the sum
}

LayerBuilder::Conversions LayerBuilder::conversions() const {
  if (slice_.fuses_casts) {
    return {};
  }
  // Before numbers of fp4 their largest is looked for, by a pass of its own: one scale of the whole
  // stands above those of blocks.  [Transformer Engine, NVFP4 recipe]
  const double reads = slice_.product_type == DataType::fp4 ? 2.0 : 1.0;
  const Bytes by_rows = reads * element_ + product_element_;
  // A pass that scales columns has them written one behind the other first.  [torchao,
  // roofline_utils.py]
  const Bytes by_columns = by_rows + (slice_.scales_rows ? element_ : Bytes{});
  // A copy by columns is for the weight gradient, where there is one.
  const bool needs_columns = !slice_.adapters && !slice_.reads_columns;
  const Bytes along = slice_.casts_apart ? by_columns : product_element_;
  return {by_rows, by_columns, by_rows + (needs_columns ? along : Bytes{})};
}

Operation LayerBuilder::conversion(Modules modules, const Narrowed& numbers) const {
  const Conversions of = conversions();
  Operation op{.name = "cast", .modules = modules};
  op.forward = memory(numbers.inputs * (slice_.casts_again ? of.by_rows : of.both));
  op.input_gradient = memory(numbers.outputs * of.both);
  if (slice_.casts_again && !slice_.adapters) {
    op.weight_gradient = memory(numbers.inputs * of.by_columns);
  }
  if (slice_.casts_weights) {
    op.forward.bytes += numbers.weights * of.by_rows;
    op.input_gradient.bytes += numbers.weights * of.by_columns;
  }
  if (slice_.transposes_weights) {
    const Bytes copy = numbers.weights * product_element_;
    op.input_gradient.bytes += 2.0 * copy;
    op.working = copy;
  }
  return op;
}

/// Of products in a narrow type one copy of the input is kept, by columns, as the weight gradient
/// reads it, unless it is converted anew.
Operation LayerBuilder::begin(const Product& p, double rows) {
  Operation op{
      .name = p.name, .modules = p.modules, .freed_by = p.freed_by, .ends_layer = p.ends_layer};
  const bool has_copy = is_narrow(p) && keeps_narrow_inputs();
  op.saved = p.keeps_input || has_copy ? rows * p.kept.value_or(kept(is_narrow(p))) : Bytes{};
  op.weight_input = op.saved;
  return op;
}

void LayerBuilder::set_matrices(Operation& op, const Product& p, double ranks) {
  const double rows = op.matrices.front().rows;
  if (p.is_table) {
    op.matrices = {};
  }
  for (std::size_t i = 0; i < p.parts.size() && p.parts[i].columns > 0; ++i) {
    op.matrices[i] = {.rows = rows, .columns = p.parts[i].columns / ranks, .count = 1};
  }
}

/// Where a layer is recomputed by operation, the results of its first, third ... product are kept.
void LayerBuilder::keep_every_second(const Product& p, Operation& op) {
  double kept = 0;
  double all = 0;
  const auto count = [&](double columns) {
    kept += products_ % 2 == 0 ? columns : 0.0;
    all += columns;
    products_ += columns > 0 ? 1 : 0;
  };
  if (p.parts.front().columns == 0) {
    count(p.columns);
  } else {
    std::ranges::for_each(p.parts, [&](const Product::Part& part) { count(part.columns); });
  }
  op.repeated = 1.0 - kept / all;
  op.kept_result = kept / all * op.output_gradient;
}

void LayerBuilder::norm(Operation op, double width, double kept_width) {
  op.saved = outer_tokens_ * kept_width * element_;
  const Bytes x = outer_tokens_ * width * element_;
  op.forward = memory(2.0 * x);
  op.input_gradient = memory(3.0 * x);
  add(op);
}

void LayerBuilder::column_product(const Product& p) {
  const bool narrow = is_narrow(p);
  const bool gathers = slice_.tensor > 1 && slice_.sequence_parallel;
  // With sequence parallelism the input is gathered again for the weight gradient.
  Operation op = begin(p, outer_tokens_ * p.inner);
  multiply(op, {tokens_, p.inner, p.columns / tensor_, 1, narrow});
  set_matrices(op, p, tensor_);
  op.output_gradient = tokens_ * p.columns / tensor_ * element_;
  op.column_split = true;
  keep_every_second(p, op);
  op.output_gradient = tokens_ * p.columns / tensor_ * kept_gradient(narrow);
  const double full = tokens_ * (p.inner + p.carried);
  if (gathers) {
    op.regather_transfer = {Collective::all_gather, tokens_ * p.inner * gathered_number(narrow)};
  }
  if (gathers && !p.shares_transfers) {
    op.forward_transfer = {Collective::all_gather, full * gathered_number(narrow)};
    op.backward_transfer = {Collective::reduce_scatter, full * element_};
  } else if (slice_.tensor > 1 && !p.shares_transfers) {
    op.backward_transfer = {Collective::all_reduce, full * element_};
  }
  if (narrow) {
    Operation cast = conversion(p.modules,
                                {.inputs = converted_tokens() * p.inner,
                                 .outputs = tokens_ * p.columns / tensor_,
                                 .weights = p.inner * p.columns / tensor_});
    if (slice_.scales_rows) {  // behind the gather, so that no product is beside it
      cast.column_split = true;
      std::swap(cast.forward_transfer, op.forward_transfer);
      std::swap(cast.regather_transfer, op.regather_transfer);
    }
    add(cast);
  }
  add(op, p, Split::columns);
}

void LayerBuilder::row_product(const Product& p) {
  const bool narrow = is_narrow(p);
  const double inputs = tokens_ * p.inner / tensor_;
  Operation op = begin(p, inputs);
  multiply(op, {tokens_, p.inner / tensor_, p.columns, 1, narrow});
  const Bytes full = tokens_ * p.columns * element_;
  op.output_gradient = full;
  keep_every_second(p, op);
  op.output_gradient = tokens_ * p.columns * kept_gradient(narrow);
  if (slice_.tensor > 1 && slice_.sequence_parallel && !p.shares_transfers) {
    op.forward_transfer = {Collective::reduce_scatter, full};
    op.backward_transfer = {Collective::all_gather, tokens_ * p.columns * gathered_number(narrow)};
    op.kept_result = outer_tokens_ * p.columns * element_;  // of the sum, whatever was its part
  } else if (slice_.tensor > 1 && !p.shares_transfers) {
    op.forward_transfer = {Collective::all_reduce, full};
  }
  if (narrow) {
    Operation cast = conversion(p.modules,
                                {.inputs = inputs,
                                 .outputs = converted_tokens() * p.columns,
                                 .weights = p.inner / tensor_ * p.columns});
    if (slice_.scales_rows) {
      std::swap(cast.backward_transfer, op.backward_transfer);
    }
    add(cast);
  }
  add(op, p, Split::rows);
}

void LayerBuilder::replicated_product(const Product& p) {
  const bool narrow = is_narrow(p);
  if (narrow) {
    add(conversion(p.modules,
                   {.inputs = outer_tokens_ * p.inner,
                    .outputs = outer_tokens_ * p.columns,
                    .weights = p.inner * p.columns}));
  }
  Operation op = begin(p, outer_tokens_ * p.inner);
  multiply(op, {outer_tokens_, p.inner, p.columns, 1, narrow});
  op.output_gradient = outer_tokens_ * p.columns * element_;
  keep_every_second(p, op);
  op.output_gradient = outer_tokens_ * p.columns * kept_gradient(narrow);
  add(op, p, Split::none);
}

void LayerBuilder::residual(std::string_view name, double branches, bool ends_layer) {
  const double mask = model_.dropout ? 1.0 : 0.0;
  const Bytes x = outer_tokens_ * hidden_ * element_;
  const Bytes m = outer_tokens_ * hidden_ * mask * Bytes::from_si(1.0);
  Operation op{.name = name, .saved = m, .ends_layer = ends_layer};
  op.forward = memory((branches + 2.0) * x + m);
  op.input_gradient = memory(2.0 * x + m);
  add(op);
}

void LayerBuilder::activation(Operation op, double elements) {
  const Bytes f = elements * element_;
  const double inputs = model_.gated ? 2.0 : 1.0;
  if (model_.clamped) {
    // Each half by itself, then one behind the other again; backward the input tells which
    // gradients go through.
    Operation clamp{.name = "clamp", .modules = op.modules, .freed_by = op.freed_by};
    clamp.saved = inputs * f;
    clamp.forward = memory(4.0 * inputs * f, KernelMaker::operators);
    clamp.input_gradient = memory(5.0 * inputs * f, KernelMaker::operators);
    add(clamp);
    op.brings_offset = true;  // such models take silu-like(gate) (up + 1)
    op.freed_by = static_cast<Modules>(op.freed_by | op.modules);
  }
  op.forward = memory((inputs + 1.0) * f);
  op.input_gradient = memory((2.0 * inputs + 1.0) * f);
  if (slice_.fp8_activation_inputs) {
    constexpr Bytes fp8 = size_of(DataType::fp8);
    op.saved += inputs * elements * fp8;
    op.forward.bytes += inputs * elements * (element_ + fp8);
    op.input_gradient.bytes += inputs * elements * (element_ + fp8);
  } else {
    op.saved += activation_input(elements);
  }
  add(op);
}

void LayerBuilder::fused_activation(Operation op, double elements) {
  op.saved += activation_input(elements);
  add(op);
}

Bytes LayerBuilder::activation_input(double elements) const {
  const double inputs = model_.gated ? 2.0 : 1.0;
  return inputs * elements * (keeps_narrow_results() ? product_element_ : element_);
}

void LayerBuilder::pass_over(std::string_view name, double elements, double kept) {
  const Bytes x = elements * element_;
  Operation op{.name = name, .saved = kept * element_};
  op.forward = memory(2.0 * x);
  op.input_gradient = memory((kept > 0 ? 3.0 : 2.0) * x);
  add(op);
}

void LayerBuilder::first_product(std::string_view name, const Extent& extent, bool has_gradient) {
  Operation op{.name = name};
  multiply(op, extent);
  op.matrices = {};
  op.saved = extent.rows * extent.inner * element_;
  op.weight_input = op.saved;
  op.output_gradient = extent.rows * extent.columns * element_;
  op.kept_result = op.output_gradient;
  op.repeated = 0;
  if (!has_gradient) {
    op.input_gradient = {};
  }
  add(op);
}

void LayerBuilder::embedding(std::string_view name) {
  const Bytes x = tokens_ * hidden_ * element_;
  const Bytes ids = tokens_ * Bytes::from_si(8.0);  // 64-bit token ids
  const Bytes mask = model_.dropout ? outer_tokens_ * hidden_ * Bytes::from_si(1.0) : Bytes{};
  Operation op{.name = name, .saved = ids + mask};
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
  add(op);
}

void LayerBuilder::cross_entropy(std::string_view name) {
  const double elements =
      tokens_ * static_cast<double>(model_.padded_vocabulary(slice_.tensor)) / tensor_;
  const Bytes fp32 = elements * size_of(DataType::fp32);
  const Bytes low = elements * element_;
  Operation op{.name = name, .saved = fp32};
  if (slice_.logit) {  // the gradient is as wide as the logits
    const Bytes all = elements * *slice_.logit;
    op.saved = std::min(fp32, std::max(Bytes{}, all - low));
    op.working = std::max(Bytes{}, all - op.saved);
  }
  // Up-cast; maximum; subtract; exponentiate and sum; divide: each reads, most write.
  op.forward = memory(low + fp32 + fp32 + 3.0 * 2.0 * fp32, KernelMaker::loss);
  op.input_gradient = memory(2.0 * fp32 + low, KernelMaker::loss);
  if (slice_.tensor > 1) {
    // Maximum, the target's logit and the sum of exponentials: one fp32 number per token each.
    op.forward_transfer = {Collective::all_reduce, 3.0 * tokens_ * size_of(DataType::fp32)};
  }
  add(op);
}

}  // namespace titer
