#pragma once
// The operations of a layered model as they are written, before their shapes are known.

#include <optional>
#include <string>
#include <vector>

#include "titer/input/fields.hpp"
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

/// An operation given by its numbers, of one sample.
struct GivenNumbers {
  KernelKind kind = KernelKind::memory;
  std::int64_t parameters = 0;
  std::optional<Flops> flops{};
  std::optional<Flops> input_gradient_flops{};
  std::optional<Flops> weight_gradient_flops{};
  double elements = 0;
  std::optional<double> gradient_elements{};
  double saved = 0;
  std::optional<FeatureMap> output{};
  std::optional<LayeredTransfer> forward_transfer{};
  std::optional<LayeredTransfer> backward_transfer{};
  bool sound = true;

  [[nodiscard]] double forward() const { return flops.value_or(Flops{}).si(); }
  /// Two products stand behind the gradient of one without weights.
  [[nodiscard]] double input_gradient() const {
    return input_gradient_flops ? input_gradient_flops->si()
                                : (parameters > 0 ? 1.0 : 2.0) * forward();
  }
  [[nodiscard]] double weight_gradient() const {
    return weight_gradient_flops ? weight_gradient_flops->si() : parameters > 0 ? forward() : 0.0;
  }
};

enum class Join : std::uint8_t { add, concatenate };

/// What is written of an operation; which of it depends on the verb.
struct WrittenOperation {
  Verb verb = Verb::relu;
  std::string name{};
  std::vector<std::string> then{};  // what follows at once
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::optional<std::int64_t> kernel_width{};
  std::optional<std::int64_t> stride_width{};
  std::optional<std::int64_t> padding_width{};
  bool round_up = false;
  std::int64_t rows = 1;  // of a table
  std::int64_t out = 1;
  std::optional<std::int64_t> in{};  // channels that must come
  std::int64_t groups = 1;
  std::optional<bool> bias{};
  bool pooled = false;
  Join join = Join::add;
  GivenNumbers given{};
  bool sound = true;  // all that was asked for could be read

  /// A batch norm that follows takes the mean away, and a bias with it.
  [[nodiscard]] bool has_bias() const {
    return bias.value_or(then.empty() || then.front() != "batch-norm");
  }
  [[nodiscard]] Window window() const {
    return {.rows = {kernel, stride, padding, round_up},
            .columns = {kernel_width.value_or(kernel),
                        stride_width.value_or(stride),
                        padding_width.value_or(padding),
                        round_up}};
  }
};

struct OperationSpec {
  Reader in;  // to complain about it
  WrittenOperation is{};
  bool sound = true;  // and its parts
  std::vector<std::vector<OperationSpec>> branches{};
};

/// With these the numbers of any model stay within 64 bits.
inline constexpr std::int64_t kMostChannels = 1'000'000;
inline constexpr std::int64_t kMostSide = 100'000;
inline constexpr double kMostParameters = 1e12;  // of an operation

/// The list under "operations", if there is one.
[[nodiscard]] std::vector<OperationSpec> read_operations(Reader& in);
/// What may stand there.
[[nodiscard]] Value operations_schema();
[[nodiscard]] Value map_schema();
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
