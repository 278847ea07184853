#pragma once
// Products of a chip that somebody measured, beside what its figures say of them.

#include <memory>
#include <vector>

#include "titer/hardware/tiles.hpp"

namespace titer {

/// C[rows, columns] = A[rows, inner] B[inner, columns] in 16 bits, in a burst.
struct MeasuredProduct {
  double rows = 1;
  double columns = 1;
  double inner = 1;
  double ratio = 1;  // time measured, over that by the chip's figures
};

/// A product of the same extents takes what was measured. Others are as far off as the nearest
/// measured ones: with d_i, the distance in ln of the extents,
///   ln ratio = e^(-d_1 / 3) sum(w_i ln ratio_i) / sum(w_i),  w_i = 1 / (0.1 + d_i),  i = 1 … 4
/// so that far from all of them the figures stand.
class MeasuredProducts {
 public:
  /// Of equal extents the last counts. REQUIRES at least one, and positive numbers.
  explicit MeasuredProducts(const std::vector<MeasuredProduct>& products);
  ~MeasuredProducts();
  MeasuredProducts(const MeasuredProducts&) = delete;
  MeasuredProducts& operator=(const MeasuredProducts&) = delete;

  struct Found {
    double ratio = 1;
    double distance = 0;  // of the nearest, in ln of the extents; 0: measured itself
  };
  /// REQUIRES shape.known().
  [[nodiscard]] Found find(const KernelShape& shape) const;

 private:
  struct Index;
  std::unique_ptr<const Index> index_;
};

}  // namespace titer
