// What adapters add to a layer, and what weights take that are kept in few bits.
#include <algorithm>

#include "layer_builder.hpp"

namespace titer {
namespace {

/// The operations of an adapter, by the role of the matrix that it is beside.
struct AdapterNames {
  std::string_view in;
  std::string_view out;
  std::string_view sum;
};
constexpr std::array<AdapterNames, kWeightRoles> kNames = {
    {{"adapter in", "adapter out", "adapter sum"},
     {"query adapter in", "query adapter out", "query adapter sum"},
     {"key adapter in", "key adapter out", "key adapter sum"},
     {"value adapter in", "value adapter out", "value adapter sum"},
     {"output adapter in", "output adapter out", "output adapter sum"},
     {"up adapter in", "up adapter out", "up adapter sum"},
     {"gate adapter in", "gate adapter out", "gate adapter sum"},
     {"down adapter in", "down adapter out", "down adapter sum"}}};

const AdapterNames& names_of(WeightRole role) { return kNames[static_cast<std::size_t>(role)]; }

}  // namespace

void LayerBuilder::add(const Operation& op, const Product& product, Split split) {
  if (!slice_.adapters || product.is_table) {
    add(op);
    return;
  }
  if (slice_.adapters->quantises()) {
    add_dequantisation(op);
  }
  add(op);
  if (split != Split::rows && product.keeps_input) {
    keeps_shared_ = false;
  }
  const Product::Parts& parts = product.parts;
  const Product::Part whole{.role = WeightRole::other, .columns = product.columns};
  const auto is_target = [&](const Product::Part& part) {
    return part.columns > 0 && slice_.adapters->is_target(part.role);
  };
  if (slice_.adapters->fused && parts[1].columns > 0) {
    if (std::ranges::any_of(parts, is_target)) {
      add_adapter(product, whole, split);
    }
    return;
  }
  if (parts.front().columns == 0 && is_target(whole)) {
    add_adapter(product, whole, split);
  }
  for (const Product::Part& part : parts) {
    if (is_target(part)) {
      add_adapter(product, part, split);
    }
  }
}

/// Read as they are kept, written as products read them, in both passes. [Dettmers et al. 2023]
void LayerBuilder::add_dequantisation(const Operation& product) {
  Operation op{.name = "dequantisation", .modules = product.modules};
  Bytes kept;
  for (const WeightMatrix& matrix : product.matrices) {
    kept += quantised_bytes(*slice_.adapters->base, matrix);
    op.working += matrix.parameters() * element_;
  }
  op.forward = memory(kept + op.working);
  op.input_gradient = op.forward;
  add(op);
}

/// Y += (X A) B, scaled. Of a product whose columns are split B's are, too, and every rank has A;
/// of one whose rows are split A's are, and every rank has B. [PEFT; Megatron-Bridge]
void LayerBuilder::add_adapter(const Product& product, const Product::Part& part, Split split) {
  add(adapter_in(product, part.role, split));
  const Operation out = adapter_out(product, part, split);
  add(out);
  // Scaled: read, write; added: two read, one written. Backward its scaling.
  Operation sum{.name = names_of(part.role).sum, .modules = product.modules};
  sum.forward = memory(5.0 * out.output_gradient);
  sum.input_gradient = memory(2.0 * out.output_gradient);
  sum.is_adapter = true;
  add(sum);
  const std::int64_t rank = slice_.adapters->rank;
  const std::int64_t in = static_cast<std::int64_t>(product.inner) * rank;
  const std::int64_t back = rank * static_cast<std::int64_t>(part.columns);
  adapters_.split += split == Split::columns ? back : (split == Split::rows ? in : 0);
  adapters_.replicated += split == Split::none ? in + back : (split == Split::rows ? back : in);
}

/// X is kept for A, which the frozen weights beside it do not need; once for all that read it.
Operation LayerBuilder::adapter_in(const Product& product, WeightRole role, Split split) {
  const auto rank = static_cast<double>(slice_.adapters->rank);
  const bool is_row = split == Split::rows;
  const double inner = is_row ? product.inner / tensor_ : product.inner;
  const double rows = split == Split::none ? outer_tokens_ : tokens_;
  Operation op{.name = names_of(role).in, .modules = product.modules, .freed_by = product.freed_by};
  multiply(op, {rows, inner, rank});
  op.output_gradient = rows * rank * element_;
  op.is_adapter = true;
  const bool is_kept = !is_row && keeps_shared_;
  if (!is_kept) {
    op.saved = (is_row ? tokens_ : outer_tokens_) * inner * element_;
    op.weight_input = op.saved;
    keeps_shared_ = keeps_shared_ || !is_row;
  }
  if (split == Split::columns && !is_kept && slice_.tensor > 1 && slice_.sequence_parallel) {
    op.column_split = true;
    op.regather_transfer = {Collective::all_gather, tokens_ * product.inner * element_};
  }
  if (is_row && slice_.tensor > 1) {
    const Bytes partial = tokens_ * rank * element_;
    op.forward_transfer = {
        slice_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce, partial};
    op.backward_transfer =
        slice_.sequence_parallel ? Transfer{Collective::all_gather, partial} : Transfer{};
  }
  return op;
}

Operation LayerBuilder::adapter_out(const Product& product,
                                    const Product::Part& part,
                                    Split split) {
  const auto rank = static_cast<double>(slice_.adapters->rank);
  const bool is_column = split == Split::columns;
  const double columns = is_column ? part.columns / tensor_ : part.columns;
  const double rows = is_column ? tokens_ : outer_tokens_;
  Operation op{
      .name = names_of(part.role).out, .modules = product.modules, .freed_by = product.modules};
  multiply(op, {rows, rank, columns});
  op.saved = rows * rank * element_;
  op.weight_input = op.saved;
  op.output_gradient = rows * columns * element_;
  op.is_adapter = true;
  if (is_column && slice_.tensor > 1) {  // of partial sums, which every rank's A needs whole
    op.column_split = true;
    op.backward_transfer = {Collective::all_reduce, op.saved};
  }
  return op;
}

}  // namespace titer
