#pragma once
// A recommendation model: dense features through a bottom MLP, sparse ones through embedding
// tables, the dot products of all these vectors, a top MLP.  [Naumov et al. 2019, "DLRM"; Mudigere
// et al. 2022, "ZionEX"]

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "titer/hardware/data_type.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/blocks.hpp"
#include "titer/model/slice.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// How a table lies on the devices, each of which has its part of the batch in the MLPs.
enum class TablePlacement : std::uint8_t {
  table_wise,     // whole on one device: pooled vectors go around in an all-to-all
  row_wise,       // rows spread over all: partial sums of all samples are reduce-scattered
  column_wise,    // parts of the columns on a device each, as so many narrower tables
  data_parallel,  // whole on every device: its gradient is all-reduced
};
inline constexpr std::array<Choice<TablePlacement>, 4> kTablePlacements = {
    {{"table-wise", TablePlacement::table_wise},
     {"row-wise", TablePlacement::row_wise},
     {"column-wise", TablePlacement::column_wise},
     {"data-parallel", TablePlacement::data_parallel}}};
[[nodiscard]] constexpr std::string_view name(TablePlacement placement) {
  return kTablePlacements[static_cast<std::size_t>(placement)].name;
}

struct EmbeddingTable {
  std::int64_t rows = 0;
  double pooling = 1;  // rows that a sample looks up and adds up, on average
  TablePlacement placement = TablePlacement::table_wise;
  std::int64_t parts = 1;  // of a column-wise one
};

struct Dlrm {
  std::string name;
  std::string title{};
  std::string source{};
  std::int64_t dense_features = 0;
  std::vector<std::int64_t> bottom;  // widths of the layers' outputs, the last one is `dim`
  std::vector<std::int64_t> top;
  std::int64_t dim = 0;  // columns of every table
  std::vector<EmbeddingTable> tables;
  DataType table_type = DataType::fp32;
  bool row_wise_adagrad = false;  // a number in fp32 for every row; else plain SGD

  /// n vectors that interact: a table's each, and the bottom MLP's.
  [[nodiscard]] std::int64_t vectors() const {
    return static_cast<std::int64_t>(tables.size()) + 1;
  }
  /// What the top MLP reads: the bottom MLP's vector, and n (n-1) / 2 products.
  [[nodiscard]] std::int64_t interaction_width() const {
    return dim + vectors() * (vectors() - 1) / 2;
  }
};

/// Keys: name, title, source, dense_features, bottom, top, dim, tables [{rows, count, pooling,
/// placement, parts}], table_type, row_wise_adagrad. `count` tables alike are written once.
[[nodiscard]] Dlrm read_dlrm(Reader& in);

/// Weights and biases.
struct DlrmParameters {
  std::int64_t bottom = 0;
  std::int64_t top = 0;
  std::int64_t tables = 0;

  [[nodiscard]] std::int64_t total() const { return bottom + top + tables; }
};
[[nodiscard]] DlrmParameters dlrm_parameters(const Dlrm& model);
[[nodiscard]] std::int64_t parameters(const Dlrm& model);

/// Of one sample, forward, a multiply-add as two operations; look-ups are none. The products of all
/// n x n pairs are computed, as one batched product, though about half of them are used.
struct DlrmFlops {
  Flops bottom;
  Flops interaction;
  Flops top;

  [[nodiscard]] Flops total() const { return bottom + interaction + top; }
};
[[nodiscard]] DlrmFlops forward_flops(const Dlrm& model);

/// A step of `samples` on all devices together, activations and gradients of such a type.
struct DlrmBatch {
  int devices = 1;
  double samples = 0;
  DataType type = DataType::fp32;

  [[nodiscard]] double own_samples() const { return samples / devices; }
};

/// What tables make a device do in a step: each the most that any device has. Whole
/// tables and parts by columns are dealt out, the one with the most look-ups first, each to the
/// device that has the least until then.
struct TableLoad {
  Bytes lookup;          // moved in memory by the forward look-ups: rows, indices, sums
  Bytes update;          // by the backward pass: gradients, rows read and written
  Bytes all_to_all;      // handed out or received, own part included; each way, forward and back
  Bytes reduce_scatter;  // partial sums of row-wise tables; their gradients are gathered likewise
};
[[nodiscard]] TableLoad table_load(const Dlrm& model, const DlrmBatch& batch);

/// Its blocks in the order that they run: tables, bottom MLP, interaction, top MLP. The tables are
/// on the slice's `expert` ranks, which exchange vectors in its expert group; of a micro-batch each
/// rank has all micro_batch x sequence samples.
void list_blocks(const Dlrm& model, const Slice& slice, ModelBlocks& into);

}  // namespace titer
