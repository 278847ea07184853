#pragma once
// A layer's product y = f(X A) on several ranks, by columns or by rows of A, executed on random
// numbers: what can be split without sending anything before f, and what cannot.
// [seed equations E17, E18; Shoeybi et al. 2019]

#include <cstdint>

namespace titer {

/// X is rows x inner, A inner x columns.
struct SplitProduct {
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
  std::int64_t ranks = 2;  // divide inner and columns
  std::uint64_t seed = 1;
};

/// The largest difference of an element from what one rank alone gets.
struct SplitErrors {
  double columns = 0;       // y = [X A_0, X A_1, …]  [E17]
  double columns_relu = 0;  // ReLU(X A) = [ReLU(X A_0), ReLU(X A_1), …]  [E18: y'']
  double rows = 0;          // y = X_0 A_0 + X_1 A_1 + …: the sum is an all-reduce  [E18]
  // ReLU(X_0 A_0) + ReLU(X_1 A_1) + … is another function: not small.  [E18: y']
  double rows_relu_first = 0;
};

/// REQUIRES ranks that divide inner and columns.
[[nodiscard]] SplitErrors execute(const SplitProduct& split);

}  // namespace titer
