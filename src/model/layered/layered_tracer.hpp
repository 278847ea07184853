#pragma once
// Goes through a block's operations with the shapes that they get.

#include <string>
#include <string_view>
#include <vector>

#include "layered_spec.hpp"

namespace titer {

/// Complains about the value of `key` of an operation; false, for short.
bool refuse(OperationSpec& spec, std::string_view key, const std::string& expected);

class Tracer {
 public:
  Tracer(const Boundary& input, LayeredLayer& layer);

  /// A result on its way, by its place among all of the block.
  struct Tensor {
    FeatureMap map;
    bool gradient = false;
    std::size_t number = 0;
  };

  [[nodiscard]] Tensor input(const Boundary& input);
  /// False where a shape is wrong.
  [[nodiscard]] bool run(std::vector<OperationSpec>& specs, Tensor& at);
  /// What the block before left to be kept is kept; what is left at the end is for the next one.
  [[nodiscard]] Boundary finish(const Tensor& at);

 private:
  [[nodiscard]] bool step(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool convolution(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool linear(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool batch_norm(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool pixel_by_pixel(const OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool pool(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool global_pool(const OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool branches(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool add(OperationSpec& spec, const std::vector<Tensor>& ends, Tensor& at);
  [[nodiscard]] bool concatenate(OperationSpec& spec, const std::vector<Tensor>& ends, Tensor& at);
  [[nodiscard]] bool embedding(OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool cross_entropy(const OperationSpec& spec, Tensor& at);
  [[nodiscard]] bool given(const OperationSpec& spec, Tensor& at);

  /// The three products of an operation with weights, of as many FLOPs each.
  void product(LayeredOperation op, double flops, Tensor& at);
  /// Its input is kept unless an operation before keeps it.
  void keep_input(LayeredOperation& op, const Tensor& at);
  /// The operation's output is what comes next.
  void push(LayeredOperation op, Tensor& at, bool gradient);
  [[nodiscard]] Tensor tensor(const FeatureMap& map, bool gradient);

  LayeredLayer& layer_;
  std::vector<bool> kept_;  // of the block's tensors
  bool owed_;
  bool ends_in_relu_ = false;
};

}  // namespace titer
