// What an optimizer takes that orthogonalises the updates of matrices.

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

Seconds time_of(const Scenario& scenario, const std::vector<WeightMatrix>& owned) {
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
  if (!scenario.training.optimizer.orthogonal) {
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
