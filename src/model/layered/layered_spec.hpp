#pragma once
// The operations of a layered model as they are written, before their shapes are known.

#include <optional>
#include <string>
#include <vector>

#include "titer/model/layered/layered.hpp"

namespace titer {

enum class Verb : std::uint8_t {
  convolution,
  linear,
  batch_norm,
  relu,
  activation,
  dropout,
  max_pool,
  average_pool,
  global_average_pool,
  branches,
  embedding,
  cross_entropy,
  given,
};

/// An operation given by its numbers.
struct GivenNumbers {
  KernelKind kind = KernelKind::memory;
  double flops = 0;
  double input_gradient_flops = 0;
  double weight_gradient_flops = 0;
  double elements = 0;
  double gradient_elements = 0;
  double saved = 0;
  std::int64_t parameters = 0;
  std::optional<FeatureMap> output{};
  std::optional<LayeredTransfer> forward_transfer{};
  std::optional<LayeredTransfer> backward_transfer{};
};

struct OperationSpec {
  Reader in;  // to complain about it
  Verb verb = Verb::relu;
  std::string name{};
  bool sound = true;                // all that was asked for could be read
  std::vector<std::string> then{};  // what follows at once
  std::int64_t out = 1;
  std::optional<std::int64_t> expected{};  // channels
  Window window{};
  std::int64_t groups = 1;
  bool bias = true;       // unless a batch norm follows at once
  std::int64_t rows = 1;  // of a table
  bool pooled = false;
  bool concatenated = false;  // branches; else added
  std::vector<std::vector<OperationSpec>> branches{};
  GivenNumbers given{};
};

/// With these the numbers of any model stay within 64 bits.
inline constexpr std::int64_t kMostChannels = 1'000'000;
inline constexpr std::int64_t kMostSide = 100'000;
inline constexpr double kMostParameters = 1e12;  // of an operation

/// The list under "operations", if there is one.
[[nodiscard]] std::vector<OperationSpec> read_operations(Reader& in);
/// None where it could not be read.
[[nodiscard]] std::optional<FeatureMap> read_map(Reader& in);

/// What goes from block to block.
struct Boundary {
  FeatureMap map;
  bool gradient = false;  // weights come before it
  bool owed = false;      // a result that is kept by the block that takes it

  friend bool operator==(const Boundary&, const Boundary&) = default;
};

/// Lists the operations of a block for that input; none where a shape is wrong, which it reports.
[[nodiscard]] std::optional<Boundary> trace_operations(std::vector<OperationSpec>& specs,
                                                       const Boundary& input,
                                                       LayeredLayer& into);

}  // namespace titer
