// What an optimizer takes that orthogonalises the updates of matrices, or preconditions them.

#include <algorithm>

#include "titer/cost/sync_cost.hpp"
#include "titer/plan/memory/matrices.hpp"

namespace titer {
namespace {

constexpr DataType kProducts = DataType::bf16;
constexpr double kSteps = 5;

/// C = b C' + A B, n x k times k x m; C' where it is added to is read too.
Kernel product(double n, double k, double m, bool adds) {
  const double numbers = n * k + k * m + (adds ? 2.0 : 1.0) * n * m;
  return {.kind = KernelKind::matrix,
          .flops = Flops::from_si(2.0 * n * k * m),
          .bytes = numbers * size_of(kProducts),
          .shape = {.rows = static_cast<float>(n),
                    .columns = static_cast<float>(m),
                    .inner = static_cast<float>(k)}};
}

/// Newton-Schulz: A = X X', B = b A + c A A, X = a X + B X, of X with its shorter side first.
/// [Jordan et al. 2024]
Seconds orthogonalisation(const WeightMatrix& matrix, const KernelClock& clock) {
  const double n = std::min(matrix.rows, matrix.columns);
  const double m = std::max(matrix.rows, matrix.columns);
  return kSteps * (clock.time(product(n, m, n, false)) + clock.time(product(n, n, n, true)) +
                   clock.time(product(n, n, m, true)));
}

/// A kernel for each step of the rule: the moment, what is to be orthogonalised (Nesterov's), its
/// norm, its scaling, and the addition to the weights and to the copy that the model uses.
Seconds passes(const Scenario& scenario, double parameters) {
  constexpr double kernels = 5;
  const TensorTypes types = scenario.tensor_types();
  const Bytes weight = size_of(types.weight);
  const Bytes master = std::max(weight, size_of(types.master));
  const Bytes each = 2.0 * size_of(types.gradient) + 3.0 * momentum_bytes(types) +
                     5.0 * size_of(kProducts) + 2.0 * master + written_copies(types);
  const MemoryClock clock(scenario.cluster.chip);
  return clock.time(parameters * each) + (kernels - 1) * clock.launch_floor();
}

/// In the widest type that the chip multiplies.
class Preconditioning {
 public:
  explicit Preconditioning(const Scenario& scenario)
      : rule_(*scenario.training.optimizer.preconditioner),
        clock_(scenario.cluster.chip, type_of(scenario.cluster.chip)),
        passes_(scenario.cluster.chip),
        adam_(update_bytes(scenario)),
        element_(size_of(DataType::fp32)) {}

  /// Of one matrix: products of each block with its sides, Adam's step, and what is made of sides.
  [[nodiscard]] Seconds time(WeightMatrix matrix) const {
    matrix.count = 1;
    const MatrixBlocks blocks = blocks_of(rule_, matrix);
    const auto side = [&](double extent, double other) {
      if (extent == 0) {
        return Seconds{};
      }
      return rule_.products * product_time(extent, extent, other) +
             1 / rule_.every * cubes_time(extent);
    };
    return blocks.count *
           (side(blocks.row_side, blocks.columns) + side(blocks.column_side, blocks.rows) +
            passes_.time(blocks.rows * blocks.columns * adam_));
  }

 private:
  [[nodiscard]] static DataType type_of(const Chip& chip) {
    return chip.rate(DataType::fp32) ? DataType::fp32 : DataType::bf16;
  }
  [[nodiscard]] Seconds product_time(double n, double k, double m) const {
    return clock_.time({.kind = KernelKind::matrix,
                        .flops = Flops::from_si(2.0 * n * k * m),
                        .bytes = (n * k + k * m + n * m) * element_,
                        .shape = {.rows = static_cast<float>(n),
                                  .columns = static_cast<float>(m),
                                  .inner = static_cast<float>(k)}});
  }
  /// At the pace of products, which decompositions are mostly made of.
  [[nodiscard]] Seconds cubes_time(double n) const {
    return rule_.cubes / 2.0 * product_time(n, n, n);
  }

  Preconditioner rule_;
  KernelClock clock_;
  MemoryClock passes_;
  Bytes adam_;
  Bytes element_;
};

Seconds preconditioning(const Scenario& scenario, const std::vector<WeightMatrix>& owned) {
  const Preconditioning clock(scenario);
  Seconds sum;
  for (const WeightMatrix& matrix : owned) {
    if (matrix.count > 0) {
      sum += matrix.count * clock.time(matrix);
    }
  }
  return sum;
}

Seconds time_of(const Scenario& scenario, const std::vector<WeightMatrix>& owned) {
  if (scenario.training.optimizer.preconditioner) {
    return preconditioning(scenario, owned);
  }
  const KernelClock clock(scenario.cluster.chip, kProducts);
  Seconds sum;
  for (const WeightMatrix& matrix : owned) {
    if (matrix.count > 0) {
      sum += matrix.count *
             (orthogonalisation(matrix, clock) + passes(scenario, matrix.rows * matrix.columns));
    }
  }
  return sum;
}

}  // namespace

MatrixUpdate matrix_update(const Scenario& scenario, const StepCosts& costs, int rank) {
  if (!scenario.training.optimizer.by_matrix()) {
    return {};
  }
  const RankMatrices all = trained_matrices(costs.blocks, costs.contents, rank);
  const bool shares = scenario.plan.shards();
  const auto owners = [&](const SyncGroup& group) { return shares ? group.group.ranks() : 1; };
  const SyncGroups& groups = costs.groups;
  return {.parameters = all.parameters(),
          .time = time_of(scenario, busiest_owner(all.dense, owners(groups.dense_shard))) +
                  time_of(scenario, busiest_owner(all.experts, owners(groups.expert_shard)))};
}

}  // namespace titer
