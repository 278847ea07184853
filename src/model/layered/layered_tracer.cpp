#include "layered_tracer.hpp"

#include <algorithm>

namespace titer {
namespace {

std::string shape_of(const FeatureMap& map) {
  return std::to_string(map.channels) + " x " + std::to_string(map.height) + " x " +
         std::to_string(map.width);
}

}  // namespace

bool refuse(OperationSpec& spec, std::string_view key, const std::string& expected) {
  spec.in.fail(key, "expected " + expected);
  return false;
}

Tracer::Tracer(const Boundary& input, LayeredLayer& layer) : layer_(layer), owed_(input.owed) {
  layer.operations.clear();
  layer.input = input.map;
}

Tracer::Tensor Tracer::tensor(const FeatureMap& map, bool gradient) {
  kept_.push_back(false);
  return {.map = map, .gradient = gradient, .number = kept_.size() - 1};
}

Tracer::Tensor Tracer::input(const Boundary& input) {
  const Tensor first = tensor(input.map, input.gradient);
  kept_[first.number] = input.owed;
  return first;
}

bool Tracer::run(std::vector<OperationSpec>& specs, Tensor& at) {
  return std::ranges::all_of(specs,
                             [&](OperationSpec& spec) { return spec.sound && step(spec, at); });
}

Boundary Tracer::finish(const Tensor& at) {
  layer_.output = at.map;
  if (owed_ && !layer_.operations.empty()) {
    layer_.operations.front().saved.input += layer_.input.elements();
  }
  const bool owed = ends_in_relu_ && at.gradient;
  if (owed) {
    layer_.operations.back().saved.output = 0;
  }
  return {.map = at.map, .gradient = at.gradient, .owed = owed};
}

bool Tracer::step(OperationSpec& spec, Tensor& at) {
  ends_in_relu_ = false;
  switch (spec.is.verb) {
    case Verb::convolution:
      return convolution(spec, at);
    case Verb::linear:
      return linear(spec, at);
    case Verb::batch_norm:
      return batch_norm(spec, at);
    case Verb::relu:
    case Verb::activation:
    case Verb::dropout:
      return pixel_by_pixel(spec, at);
    case Verb::max_pool:
    case Verb::average_pool:
      return pool(spec, at);
    case Verb::global_average_pool:
      return global_pool(spec, at);
    case Verb::branches:
      return branches(spec, at);
    case Verb::embedding:
      return embedding(spec, at);
    case Verb::cross_entropy:
      return cross_entropy(spec, at);
    case Verb::given:
      return given(spec, at);
  }
  return false;
}

void Tracer::keep_input(LayeredOperation& op, const Tensor& at) {
  if (!kept_[at.number]) {
    op.saved.input += at.map.elements();
    kept_[at.number] = true;
  }
}

void Tracer::push(LayeredOperation op, Tensor& at, bool gradient) {
  at = tensor(op.output, gradient);
  layer_.operations.push_back(std::move(op));
}

void Tracer::product(LayeredOperation op, double flops, Tensor& at) {
  const LayeredPass pass = {
      .flops = flops, .moved = {.input = op.input.elements(), .output = op.output.elements()}};
  op.kind = KernelKind::matrix;
  op.weights = static_cast<double>(op.parameters);
  op.forward = op.weight_gradient = pass;
  op.input_gradient = at.gradient ? pass : LayeredPass{};
  keep_input(op, at);
  push(std::move(op), at, true);
}

bool Tracer::branches(OperationSpec& spec, Tensor& at) {
  const auto count = static_cast<double>(spec.branches.size());
  if (at.gradient) {
    // The gradients of the branches are added: each after the first is read, and the sum is read
    // and written.
    LayeredOperation fork{.name = "fork", .input = at.map, .output = at.map};
    fork.input_gradient.moved.input = 3.0 * (count - 1.0) * at.map.elements();
    layer_.operations.push_back(std::move(fork));
  }
  std::vector<Tensor> ends;
  for (std::vector<OperationSpec>& branch : spec.branches) {
    ends.push_back(at);
    if (!run(branch, ends.back())) {
      return false;
    }
  }
  ends_in_relu_ = false;
  at.gradient = std::ranges::any_of(ends, [](const Tensor& t) { return t.gradient; });
  return spec.is.join == Join::concatenate ? concatenate(spec, ends, at) : add(spec, ends, at);
}

bool Tracer::add(OperationSpec& spec, const std::vector<Tensor>& ends, Tensor& at) {
  for (const Tensor& end : ends) {
    if (end.map != ends.front().map) {
      return refuse(spec,
                    "join",
                    "ends of one shape to be added, not " + shape_of(ends.front().map) + " and " +
                        shape_of(end.map));
    }
  }
  LayeredOperation op{.name = "add", .input = ends.front().map, .output = ends.front().map};
  // Two are read and one is written for each after the first. The gradient goes to all as it is.
  op.forward.moved.output = 3.0 * static_cast<double>(ends.size() - 1) * op.output.elements();
  push(std::move(op), at, at.gradient);
  return true;
}

bool Tracer::concatenate(OperationSpec& spec, const std::vector<Tensor>& ends, Tensor& at) {
  FeatureMap map = ends.front().map;
  map.channels = 0;
  for (const Tensor& end : ends) {
    if (end.map.height != map.height || end.map.width != map.width) {
      return refuse(spec,
                    "join",
                    "ends of as many rows and columns to be concatenated, not " +
                        shape_of(ends.front().map) + " and " + shape_of(end.map));
    }
    map.channels += end.map.channels;
  }
  if (map.channels > kMostChannels) {
    return refuse(spec, "join", "at most " + std::to_string(kMostChannels) + " channels");
  }
  LayeredOperation op{.name = "concatenate", .input = map, .output = map};
  op.forward.moved.output = 2.0 * map.elements();
  op.input_gradient.moved.output = at.gradient ? 2.0 * map.elements() : 0.0;
  push(std::move(op), at, at.gradient);
  return true;
}

std::optional<Boundary> trace_operations(std::vector<OperationSpec>& specs,
                                         const Boundary& input,
                                         LayeredLayer& into) {
  Tracer tracer(input, into);
  Tracer::Tensor at = tracer.input(input);
  return tracer.run(specs, at) ? std::optional(tracer.finish(at)) : std::nullopt;
}

}  // namespace titer
