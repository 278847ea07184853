#pragma once
// The time of one product and of one fused attention from its extents, by tiles.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "titer/hardware/chip.hpp"

namespace titer {

/// Elements of a head of attention, beyond which kernels are others.
inline constexpr double kWideHead = 160;

/// Of a product: C[rows, columns] = A[rows, inner] B[inner, columns], `count` times. Of fused
/// attention: `rows` queries, each attending to `columns` keys on average, heads of `inner`
/// elements (the mean of a query's and a value's), `count` sequences and heads. No rows: unknown.
struct KernelShape {
  /// Which extent of a product tokens are along: the one that parts of a sequence cut.
  enum class Tokens : std::uint8_t { rows, inner };

  float rows = 0;
  float columns = 0;
  float inner = 0;
  float count = 1;
  float group = 1;         // attention: heads of queries with the same keys
  std::uint8_t edges = 0;  // attention: of its mask; 0: none, 1: causal, 2: a window
  bool backward = false;   // attention
  bool grouped = false;    // products of unequal extents in one kernel, such as experts'
  bool padded = false;     // products whose kernel brings its operands into line, as convolutions
  Tokens tokens = Tokens::rows;

  [[nodiscard]] constexpr bool known() const { return rows > 0; }
  /// A share of the tokens.
  [[nodiscard]] constexpr KernelShape part(double share) const {
    KernelShape shape = *this;
    float& extent = tokens == Tokens::rows ? shape.rows : shape.inner;
    extent *= static_cast<float>(share);
    return shape;
  }
};

/// Products in tiles of a x b results, of the tile shape that takes least:
///   t = W max(2 a b k / (eta P / U), e (a + b) k / (feed / U)) + W e a b / (store / U)
/// k: inner extent; e: bytes of an operand; U: units; eta P: plateau rate. T tiles are w = T / U
/// waves, W = w + partial_wave (ceil(w) - w), at least 1. Where T < U, the inner extent may be cut
/// so that all units work, into s = U / T parts of at least 256: W = w in the first term, but
/// `split` and the s sums of every result, 8 bytes each through `feed`, come on top. Grouped
/// products do as at `grouped` of the plateau and of `feed`. Where an extent that no tokens are
/// along is no multiple of 16 bytes, rows of the matrices begin where units cannot fetch them
/// whole, and the product of 16-bit or narrower numbers does as at `unaligned` of both, one of a
/// batch as at `unaligned_batch`.
class ProductTiles {
 public:
  /// REQUIRES chip.tiling, chip.rate(type).
  ProductTiles(const Chip& chip, DataType type);

  [[nodiscard]] Seconds time(const KernelShape& shape) const;

 private:
  struct Tile {
    std::size_t rows;     // place of its sides in 64, 128, 256
    std::size_t columns;  // likewise
    double step;          // seconds for one of the inner extent
    double done;          // seconds to store it
  };

  [[nodiscard]] bool is_aligned(const KernelShape& shape) const;

  std::array<Tile, 8> tiles_;
  std::int64_t aligned_;  // elements in 16 bytes
  double wave_;           // of one tile
  double partial_wave_;
  double grouped_;
  double unaligned_;
  double unaligned_batch_;
  double split_;
  double sum_;  // seconds for one sum of one result
};

/// Forward: every tile of q queries goes over the keys that it attends to, and those that an edge
/// of the mask makes it compute in vain:
///   tile = (columns + edges edge) q (4 d + softmax) / (eta_a P / U) + start
/// d: head width, a multiple of 32. All tiles take T tile / U and partial_wave of the longest one
/// that others wait for, and no less than the longest. Backward: as many times longer as it has
/// more operations, at `backward` of the rate; where the chip has figures of the backward kernel,
/// by its tiles of 128 keys likewise,
///   tile = (columns + edges edge) 128 (10 d + softmax) / (plateau P / U) + start
/// with five products of 2 d operations for each score, and behind `others` and its traffic.
class AttentionTiles {
 public:
  /// REQUIRES chip.tiling, chip.attention_tiling, chip.rate(type).
  AttentionTiles(const Chip& chip, DataType type);

  [[nodiscard]] Seconds time(const KernelShape& shape, Flops flops) const;

 private:
  /// What of tiles is the same forward and backward.
  struct Pass {
    double rate;  // of a unit
    double softmax;
    double edge;
    double start;
    double partial_wave;
  };
  /// So many sequences and heads of so many rows each, in tiles; `operations` for a score and an
  /// element of a head.
  [[nodiscard]] double tiles_time(const Pass& pass,
                                  const KernelShape& shape,
                                  double tile,
                                  double group,
                                  double operations) const;
  [[nodiscard]] double forward_time(const KernelShape& shape) const;
  [[nodiscard]] double backward_time(const KernelShape& shape, double operations) const;

  AttentionTiling figures_;
  std::optional<AttentionBackward> backward_;
  double units_;
  double unit_rate_;           // of narrow heads
  double backward_unit_rate_;  // likewise
  double memory_rate_;
};

}  // namespace titer
