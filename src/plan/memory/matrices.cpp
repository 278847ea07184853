#include "titer/plan/memory/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace titer {
namespace {

double parameters_of(const std::vector<WeightMatrix>& matrices) {
  return std::accumulate(
      matrices.begin(), matrices.end(), 0.0, [](double sum, const WeightMatrix& matrix) {
        return sum + matrix.parameters();
      });
}

/// Matrices that are trained, of a frozen block adapters alone, or those that are not.
void add_matrices(const Block& block, double blocks, bool trained, RankMatrices& sum) {
  for (const Operation& op : block.operations) {
    if ((op.is_adapter || block.has_gradients()) != trained) {
      continue;
    }
    for (WeightMatrix matrix : op.matrices) {
      if (matrix.count > 0) {
        matrix.count *= blocks;
        (op.of_experts ? sum.experts : sum.dense).push_back(matrix);
      }
    }
  }
}

RankMatrices rank_matrices(const ModelBlocks& blocks,
                           const StageBlocks& stages,
                           int rank,
                           bool trained) {
  RankMatrices sum;
  for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
    const int stage = stages.of(rank, chunk);
    const std::span<const double> kinds = stages.kinds(stage);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if (kinds[kind] > 0) {
        add_matrices(blocks.kinds[kind], kinds[kind], trained, sum);
      }
    }
    if (stage == stages.last()) {  // modules that predict further tokens
      add_matrices(blocks.head, 1, trained, sum);
    }
  }
  return sum;
}

}  // namespace

DeviceParameters RankMatrices::parameters() const {
  return {.dense = parameters_of(dense), .experts = parameters_of(experts)};
}

RankMatrices trained_matrices(const ModelBlocks& blocks, const StageBlocks& stages, int rank) {
  return rank_matrices(blocks, stages, rank, true);
}

RankMatrices frozen_matrices(const ModelBlocks& blocks, const StageBlocks& stages, int rank) {
  return rank_matrices(blocks, stages, rank, false);
}

Bytes quantised_bytes(const RankMatrices& matrices, BaseFormat format) {
  Bytes sum;
  for (const auto* of : {&matrices.dense, &matrices.experts}) {
    for (const WeightMatrix& matrix : *of) {
      sum += quantised_bytes(format, matrix);
    }
  }
  return sum;
}

MatrixBlocks blocks_of(const Preconditioner& rule, const WeightMatrix& matrix) {
  const auto parts = [&](double extent) {
    return rule.in_blocks ? std::ceil(extent / rule.most) : 1.0;
  };
  const double down = parts(matrix.rows);
  const double across = parts(matrix.columns);
  const auto side = [&](double extent) { return extent <= rule.most ? extent : 0.0; };
  MatrixBlocks blocks{.count = matrix.count * down * across,
                      .rows = matrix.rows / down,
                      .columns = matrix.columns / across};
  blocks.row_side = side(blocks.rows);
  blocks.column_side = side(blocks.columns);
  return blocks;
}

Bytes matrix_states(const ParameterBytes& parameter, std::span<const WeightMatrix> matrices) {
  constexpr double kept = 2;  // the sums, and what is made of them
  Bytes sum;
  for (const WeightMatrix& matrix : matrices) {
    sum += matrix.parameters() * parameter.matrix.value_or(Bytes{});
    if (parameter.sides && matrix.count > 0) {
      const MatrixBlocks blocks = blocks_of(*parameter.sides, matrix);
      const double numbers =
          blocks.row_side * blocks.row_side + blocks.column_side * blocks.column_side;
      sum += kept * blocks.count * numbers * size_of(DataType::fp32);
    }
  }
  return sum;
}

std::vector<WeightMatrix> busiest_owner(std::span<const WeightMatrix> matrices, int ranks) {
  std::vector<WeightMatrix> sorted(matrices.begin(), matrices.end());
  if (ranks == 1) {
    return sorted;
  }
  std::ranges::stable_sort(sorted, [](const WeightMatrix& a, const WeightMatrix& b) {
    return a.rows * a.columns > b.rows * b.columns;
  });
  const auto owners = static_cast<std::size_t>(ranks);
  std::vector<std::vector<WeightMatrix>> owned(owners, std::vector<WeightMatrix>(sorted.size()));
  using Load = std::pair<double, std::size_t>;  // of an owner
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::size_t owner = 0; owner < owners; ++owner) {
    loads.emplace(0.0, owner);
  }
  Load most{0.0, 0};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const WeightMatrix one{.rows = sorted[i].rows, .columns = sorted[i].columns, .count = 1};
    for (double given = 0; given < sorted[i].count; ++given) {
      Load least = loads.top();
      loads.pop();
      WeightMatrix& held = owned[least.second][i];
      held = {.rows = one.rows, .columns = one.columns, .count = held.count + 1};
      least.first += one.parameters();
      most = std::max(most, least, [](const Load& a, const Load& b) { return a.first < b.first; });
      loads.push(least);
    }
  }
  return owned[most.second];
}

}  // namespace titer
