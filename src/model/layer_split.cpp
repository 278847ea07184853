#include "titer/model/layer_split.hpp"

#include <Eigen/Core>
#include <random>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd random_matrix(Index rows, Index columns, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

MatrixXd relu(const MatrixXd& matrix) { return matrix.cwiseMax(0.0); }

double distance(const MatrixXd& a, const MatrixXd& b) { return (a - b).cwiseAbs().maxCoeff(); }

}  // namespace

SplitErrors execute(const SplitProduct& split) {
  ensure(split.inner % split.ranks == 0 && split.columns % split.ranks == 0,
         "ranks have equal parts of a product");
  std::mt19937_64 random(split.seed);
  const MatrixXd input = random_matrix(split.rows, split.inner, random);
  const MatrixXd weights = random_matrix(split.inner, split.columns, random);
  const MatrixXd whole = input * weights;
  const Index width = split.columns / split.ranks;
  const Index depth = split.inner / split.ranks;
  MatrixXd side_by_side(split.rows, split.columns);
  MatrixXd relu_side_by_side(split.rows, split.columns);
  MatrixXd added = MatrixXd::Zero(split.rows, split.columns);
  MatrixXd relu_added = added;
  for (Index rank = 0; rank < split.ranks; ++rank) {
    const MatrixXd of_columns = input * weights.middleCols(rank * width, width);
    side_by_side.middleCols(rank * width, width) = of_columns;
    relu_side_by_side.middleCols(rank * width, width) = relu(of_columns);
    const MatrixXd of_rows =
        input.middleCols(rank * depth, depth) * weights.middleRows(rank * depth, depth);
    added += of_rows;
    relu_added += relu(of_rows);
  }
  return {.columns = distance(side_by_side, whole),
          .columns_relu = distance(relu_side_by_side, relu(whole)),
          .rows = distance(added, whole),
          .rows_relu_first = distance(relu_added, relu(whole))};
}

}  // namespace titer
