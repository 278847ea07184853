#pragma once
// One accelerator as its data file describes it (configs/chips/<name>.json).

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "titer/hardware/data_type.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/hardware/fit_errors.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// Dense matrix rate for one data type, and how much of it large and small products reach. Where a
/// product's extents are not known, one of F operations takes (F + saturation) / (plateau * peak).
struct MatrixRate {
  FlopsPerSecond peak;
  double plateau = 1.0;
  Flops saturation;
  Grade grade = Grade::extrapolated;  // of the plateau
};

/// A memory and what a long streaming kernel gets of its bandwidth.
struct MemoryTier {
  Bytes capacity;
  BytesPerSecond bandwidth;
  double efficiency = 1.0;
  Grade grade = Grade::extrapolated;  // of the efficiency
};

/// How products are cut into tiles and these shared out; see hardware/tiles.hpp for the formula.
struct Tiling {
  double units = 1;         // multiprocessors: each works on one tile at a time
  BytesPerSecond feed{};    // of operands from the cache to all units together
  BytesPerSecond store{};   // of finished tiles from all units together
  double partial_wave = 1;  // share of a last wave's idle units that is lost
  Seconds split{};          // of adding up the parts of tiles whose inner extent is cut
  double grouped = 1;       // share of the rate of a product that those of a group in one reach
  double unaligned = 1;     // likewise of one whose matrices' rows begin off multiples of 16 bytes
  std::optional<double> unaligned_batch{};  // likewise of batches of such; as `unaligned` if unset
  Grade grade = Grade::extrapolated;        // of `feed`
};

/// How fused attention is cut into tiles of queries, likewise.
struct AttentionTiling {
  double softmax = 0;                 // operations that a score costs beside its products
  double wide_heads = 1;              // share of the plateau that heads wider than 160 reach
  double edge = 0;                    // keys that a tile computes in vain at an edge of its mask
  double smallest_tile = 128;         // queries
  bool packs_groups = false;          // queries of one group of heads share tiles
  Seconds start{};                    // of a tile
  double partial_wave = 1;            // share of the longest tile that all others wait for
  double backward = 1;                // rate of the backward kernel over the forward kernel's
  Grade grade = Grade::extrapolated;  // of `softmax`
};

/// A backward kernel with figures of its own: tiles of keys go over the queries that attend to
/// them.
struct AttentionBackward {
  double plateau = 1;       // share of the matrix peak
  double wide_heads = 1;    // of it, as forward
  double softmax = 0;       // operations that a score costs beside its products
  double edge = 0;          // queries that a tile computes in vain at an edge of the mask
  Seconds start{};          // of a tile
  double partial_wave = 1;  // share of the longest tile that all others wait for
  Seconds others{};         // of the kernels before and behind it
  Bytes traffic{};          // of theirs, for an element of the queries
};

/// Fused attention with products in fp8: times over those in 16 bits. Exponentials are the same,
/// and probabilities are converted besides.
struct NarrowAttention {
  double forward = 1;
  double backward = 1;
  // Of heads of 160 elements and more, as of multi-head latent attention; otherwise as others.
  std::optional<double> wide_forward{};
  std::optional<double> wide_backward{};

  [[nodiscard]] double time_ratio(bool is_backward, bool is_wide) const {
    const double usual = is_backward ? backward : forward;
    return is_wide ? (is_backward ? wide_backward : wide_forward).value_or(usual) : usual;
  }
};

/// Clocks under power and heat: a burst runs at the plateau, and after a while at a share of it.
///   t' = t / (1 - (1 - share) t / (t + onset)) for a product of t,  t / share in a long run.
struct SustainedClock {
  double share = 1;
  Seconds onset{};
  Grade grade = Grade::extrapolated;  // of the share
};

class MeasuredProducts;

struct Chip {
  std::string name;
  std::string title;
  std::string vendor;
  int year = 0;
  std::array<std::optional<MatrixRate>, kDataTypes.size()> matrix;  // index: DataType
  double attention_plateau = 1.0;  // share of the matrix peak that fused attention reaches
  std::optional<Tiling> tiling{};
  std::optional<AttentionTiling> attention_tiling{};
  std::optional<AttentionBackward> attention_backward{};
  double flash_2 = 1.0;  // rate of FlashAttention 2, written for A100, over that of its own
  std::optional<NarrowAttention> narrow_attention{};
  SustainedClock sustained{};
  MemoryTier memory;
  Seconds launch_floor;   // least time of one kernel on the device
  Seconds graph_start{};  // what a graph of kernels takes beside them; only measurements have it
  std::string scale_up_link;
  std::optional<BytesPerSecond> scale_up;       // per chip, one direction
  std::optional<BytesPerSecond> scale_up_pair;  // between one pair of chips
  std::optional<BytesPerSecond> host_link;
  std::optional<Watts> power;
  // Products in fp8 read operands by columns as well as by rows: nobody needs a transposed copy.
  bool reads_narrow_columns = false;
  std::shared_ptr<const MeasuredProducts> measured_products{};  // in 16 bits; null: none known
  FitErrors fit_errors{};                                       // of kernels
  EvidenceList evidence;

  [[nodiscard]] const std::optional<MatrixRate>& rate(DataType type) const {
    return matrix[static_cast<std::size_t>(type)];
  }
  /// The format of blocks that its products in fp4 read: NVIDIA's own, or that of the Open Compute
  /// Project.
  [[nodiscard]] std::string_view fp4_name() const { return vendor == "NVIDIA" ? "nvfp4" : "mxfp4"; }
};

/// Reads a chip file's object; problems go to the reader's collection.
[[nodiscard]] Chip read_chip(Reader& in);

/// The data types that the chip has a matrix rate for: "fp16, bf16".
[[nodiscard]] std::string data_type_names(const Chip& chip);

}  // namespace titer
