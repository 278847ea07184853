#include "titer/model/dlrm/dlrm.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr Bytes kIndex = Bytes::from_si(8);     // int64, of a row
constexpr Bytes kRowState = Bytes::from_si(4);  // of row-wise AdaGrad
constexpr Bytes kGradient = Bytes::from_si(4);  // of a row of a data-parallel table

/// Weights and biases of an MLP.
std::int64_t mlp_parameters(std::int64_t input, const std::vector<std::int64_t>& widths) {
  std::int64_t sum = 0;
  for (const std::int64_t width : widths) {
    sum += (input + 1) * width;
    input = width;
  }
  return sum;
}

double mlp_flops(std::int64_t input, const std::vector<std::int64_t>& widths) {
  double sum = 0;
  for (const std::int64_t width : widths) {
    sum += 2 * static_cast<double>(input) * static_cast<double>(width);
    input = width;
  }
  return sum;
}

/// A whole table, or a part of one by columns.
struct Piece {
  double columns = 0;
  double pooling = 0;
};

/// Sizes that the bytes of a look-up follow from.
struct Sizes {
  Bytes entry;  // of a table
  Bytes value;  // of an activation
  Bytes state;  // of a row, in the optimizer

  /// Rows read, with their indices, and sums written.
  [[nodiscard]] Bytes lookup(double rows, double sums, double columns) const {
    return rows * (columns * entry + kIndex) + sums * (columns * value);
  }
  /// Gradients of the sums read, rows read and written.
  [[nodiscard]] Bytes update(double rows, double sums, double columns) const {
    return sums * (columns * value) + rows * (2 * (columns * entry + state) + kIndex);
  }
};

Sizes sizes_of(const Dlrm& model, DataType type) {
  return {.entry = size_of(model.table_type),
          .value = size_of(type),
          .state = model.row_wise_adagrad ? kRowState : Bytes{}};
}

std::vector<Piece> pieces_of(const Dlrm& model) {
  std::vector<Piece> pieces;
  const auto dim = static_cast<double>(model.dim);
  for (const EmbeddingTable& table : model.tables) {
    const bool whole = table.placement == TablePlacement::table_wise;
    if (whole || table.placement == TablePlacement::column_wise) {
      const auto parts = whole ? 1 : table.parts;
      pieces.insert(pieces.end(),
                    static_cast<std::size_t>(parts),
                    Piece{.columns = dim / static_cast<double>(parts), .pooling = table.pooling});
    }
  }
  return pieces;
}

/// Deals the pieces out; what the devices' sums of them are, the largest of each kind.
TableLoad deal_out(const Dlrm& model, const DlrmBatch& batch) {
  std::vector<Piece> pieces = pieces_of(model);
  std::ranges::stable_sort(pieces, [](const Piece& a, const Piece& b) {
    return a.pooling * a.columns > b.pooling * b.columns;
  });
  const Sizes sizes = sizes_of(model, batch.type);
  using Device = std::pair<double, int>;  // bytes that it looks up, its number
  std::priority_queue<Device, std::vector<Device>, std::greater<>> least;
  for (int device = 0; device < batch.devices; ++device) {
    least.emplace(0, device);
  }
  std::vector<TableLoad> loads(static_cast<std::size_t>(batch.devices));
  TableLoad most;
  Bytes received;  // by every device: the vectors of its samples
  for (const Piece& piece : pieces) {
    const int device = least.top().second;
    least.pop();
    TableLoad& load = loads[static_cast<std::size_t>(device)];
    const double rows = batch.samples * piece.pooling;
    load.lookup += sizes.lookup(rows, batch.samples, piece.columns);
    load.update += sizes.update(rows, batch.samples, piece.columns);
    load.all_to_all += batch.samples * (piece.columns * sizes.value);
    received += batch.own_samples() * (piece.columns * sizes.value);
    most.lookup = std::max(most.lookup, load.lookup);
    most.update = std::max(most.update, load.update);
    most.all_to_all = std::max(most.all_to_all, load.all_to_all);
    least.emplace(load.lookup.si(), device);
  }
  most.all_to_all = std::max(most.all_to_all, received);
  return most;
}

}  // namespace

DlrmParameters dlrm_parameters(const Dlrm& model) {
  DlrmParameters count{.bottom = mlp_parameters(model.dense_features, model.bottom),
                       .top = mlp_parameters(model.interaction_width(), model.top)};
  for (const EmbeddingTable& table : model.tables) {
    count.tables += table.rows * model.dim;
  }
  return count;
}

std::int64_t parameters(const Dlrm& model) { return dlrm_parameters(model).total(); }

DlrmFlops forward_flops(const Dlrm& model) {
  const auto n = static_cast<double>(model.vectors());
  return {.bottom = Flops::from_si(mlp_flops(model.dense_features, model.bottom)),
          .interaction = Flops::from_si(2 * n * n * static_cast<double>(model.dim)),
          .top = Flops::from_si(mlp_flops(model.interaction_width(), model.top))};
}

TableLoad table_load(const Dlrm& model, const DlrmBatch& batch) {
  ensure(batch.devices >= 1 && batch.samples > 0, "a batch has samples, on a device");
  TableLoad load = deal_out(model, batch);
  const Sizes sizes = sizes_of(model, batch.type);
  const auto dim = static_cast<double>(model.dim);
  for (const EmbeddingTable& table : model.tables) {
    const double looked_up = batch.own_samples() * table.pooling;  // on each device
    if (table.placement == TablePlacement::row_wise) {
      load.lookup += sizes.lookup(looked_up, batch.samples, dim);
      load.update += sizes.update(looked_up, batch.samples, dim);
      load.reduce_scatter += batch.samples * (dim * sizes.value);
    } else if (table.placement == TablePlacement::data_parallel) {
      // Its gradient is as large as the table, whatever the batch.
      load.lookup += sizes.lookup(looked_up, batch.own_samples(), dim);
      const auto rows = static_cast<double>(table.rows);
      load.update += 2 * (rows * (dim * sizes.entry + sizes.state)) + rows * (dim * kGradient);
    }
  }
  return load;
}

}  // namespace titer
