#pragma once
// The matrices of hidden layers that a rank trains, for optimizers that update them as such.

#include <span>
#include <vector>

#include "titer/model/adapters.hpp"
#include "titer/plan/memory/optimizer.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

struct RankMatrices {
  std::vector<WeightMatrix> dense;
  std::vector<WeightMatrix> experts;

  [[nodiscard]] DeviceParameters parameters() const;
};

/// Of all stages that a rank of the pipeline has; of what tensor parallelism splits its part.
[[nodiscard]] RankMatrices trained_matrices(const ModelBlocks& blocks,
                                            const StageBlocks& stages,
                                            int rank);

/// Of the same stages those beside adapters. REQUIRES a plan that splits no weights over replicas.
[[nodiscard]] RankMatrices frozen_matrices(const ModelBlocks& blocks,
                                           const StageBlocks& stages,
                                           int rank);
[[nodiscard]] Bytes quantised_bytes(const RankMatrices& matrices, BaseFormat format);

/// A matrix as an optimizer with a preconditioner sees it: so many blocks, and of each its sides, 0
/// where nothing is kept of one.
struct MatrixBlocks {
  double count = 1;
  double rows = 0;
  double columns = 0;
  double row_side = 0;
  double column_side = 0;
};
[[nodiscard]] MatrixBlocks blocks_of(const Preconditioner& rule, const WeightMatrix& matrix);
/// All that is kept of the matrices for their updates.
[[nodiscard]] Bytes matrix_states(const ParameterBytes& parameter,
                                  std::span<const WeightMatrix> matrices);

/// Each has one owner among `ranks`: those of the owner with most parameters. They are given out by
/// their size, the largest first, each to the rank that has least.
/// [Megatron-Core, layer-wise distributed optimizer]
[[nodiscard]] std::vector<WeightMatrix> busiest_owner(std::span<const WeightMatrix> matrices,
                                                      int ranks);

}  // namespace titer
