// The numbers of each operation.
#include "layered_tracer.hpp"

namespace titer {
namespace {

bool channels_match(OperationSpec& spec, double channels) {
  if (spec.is.in && static_cast<double>(*spec.is.in) != channels) {
    return refuse(spec,
                  "in",
                  "the " + std::to_string(static_cast<std::int64_t>(channels)) +
                      " that come from the operation before");
  }
  return true;
}

bool few_parameters(OperationSpec& spec, double parameters) {
  return parameters <= kMostParameters || refuse(spec, "out", "at most 10^12 parameters");
}

std::optional<FeatureMap> slide(OperationSpec& spec, const FeatureMap& map) {
  const std::optional<FeatureMap> output = spec.is.window().output(map);
  if (!output) {
    static_cast<void>(refuse(spec,
                             "kernel",
                             "no more than the " + std::to_string(map.height) + " rows and " +
                                 std::to_string(map.width) + " columns that it gets"));
  } else if (output->height > kMostSide || output->width > kMostSide) {
    static_cast<void>(refuse(
        spec, "padding", "a result of at most " + std::to_string(kMostSide) + " rows and columns"));
    return std::nullopt;
  }
  return output;
}

}  // namespace

bool Tracer::convolution(OperationSpec& spec, Tensor& at) {
  if (!channels_match(spec, static_cast<double>(at.map.channels))) {
    return false;
  }
  if (at.map.channels % spec.is.groups != 0) {
    return refuse(
        spec, "groups", "a divisor of the " + std::to_string(at.map.channels) + " channels in");
  }
  const Window window = spec.is.window();
  const double taps = static_cast<double>(window.rows.kernel * window.columns.kernel);
  const auto inner = static_cast<double>(at.map.channels) / static_cast<double>(spec.is.groups);
  if (!few_parameters(spec, static_cast<double>(spec.is.out) * inner * taps) ||
      !slide(spec, at.map)) {
    return false;
  }
  const Convolution made = {.input = at.map,
                            .out_channels = spec.is.out,
                            .window = window,
                            .groups = spec.is.groups,
                            .bias = spec.is.has_bias()};
  product({.name = spec.is.name,
           .input = at.map,
           .output = made.output(),
           .parameters = made.parameters(),
           .products = static_cast<double>(spec.is.groups),
           .partitioning = Partitioning::halo,
           .window = window},
          made.forward_flops(),
          at);
  return true;
}

/// Of the whole input as a vector.
bool Tracer::linear(OperationSpec& spec, Tensor& at) {
  const double inner = at.map.elements();
  const double weights = inner * static_cast<double>(spec.is.out);
  if (!channels_match(spec, inner) || !few_parameters(spec, weights)) {
    return false;
  }
  product(
      {.name = spec.is.name,
       .input = at.map,
       .output = {.channels = spec.is.out},
       .parameters = static_cast<std::int64_t>(weights) + (spec.is.has_bias() ? spec.is.out : 0),
       .products = 1,
       .partitioning = Partitioning::gathered},
      2.0 * weights,
      at);
  return true;
}

/// Reads its input for the sums, and again for the result. The gradients of scale and shift come
/// with the input's: sums over both, then the result. [Ioffe and Szegedy 2015]
bool Tracer::batch_norm(OperationSpec& spec, Tensor& at) {
  const double size = at.map.elements();
  LayeredOperation op{.name = spec.is.name, .input = at.map, .output = at.map};
  op.partitioning = Partitioning::statistics;
  op.parameters = 2 * at.map.channels;
  op.weights = static_cast<double>(op.parameters);
  op.forward.moved = {.input = 2.0 * size, .output = size};
  op.input_gradient.moved = {.input = 3.0 * size, .output = 2.0 * size};
  op.saved_once = 2.0 * 4.0 * static_cast<double>(at.map.channels);  // mean, deviation in fp32
  keep_input(op, at);
  push(std::move(op), at, true);
  return true;
}

bool Tracer::pixel_by_pixel(const OperationSpec& spec, Tensor& at) {
  const double size = at.map.elements();
  LayeredOperation op{.name = spec.is.name, .input = at.map, .output = at.map};
  op.forward.moved = {.input = size, .output = size};
  if (at.gradient) {
    op.input_gradient.moved = {.input = size, .output = size};
  }
  if (spec.is.verb == Verb::dropout) {
    op.forward.moved.bytes = size;
    op.input_gradient.moved.bytes = op.saved.bytes = at.gradient ? size : 0;
  } else if (at.gradient) {
    op.input_gradient.moved.input += size;  // what is kept
  }
  if (spec.is.verb == Verb::activation && at.gradient) {
    keep_input(op, at);
  }
  push(std::move(op), at, at.gradient);
  if (spec.is.verb == Verb::relu && at.gradient) {
    layer_.operations.back().saved.output = size;
    kept_[at.number] = true;
    ends_in_relu_ = true;
  }
  return true;
}

bool Tracer::pool(OperationSpec& spec, Tensor& at) {
  const std::optional<FeatureMap> output = slide(spec, at.map);
  if (!output) {
    return false;
  }
  LayeredOperation op{.name = spec.is.name, .input = at.map, .output = *output};
  op.partitioning = Partitioning::halo;
  op.window = spec.is.window();
  const double places = spec.is.verb == Verb::max_pool ? 8.0 * output->elements() : 0.0;
  op.forward.moved = {.input = at.map.elements(), .output = output->elements(), .bytes = places};
  if (at.gradient) {
    op.input_gradient.moved = op.forward.moved;
    op.saved.bytes = places;
  }
  push(std::move(op), at, at.gradient);
  return true;
}

bool Tracer::global_pool(const OperationSpec& spec, Tensor& at) {
  LayeredOperation op{
      .name = spec.is.name, .input = at.map, .output = {.channels = at.map.channels}};
  op.partitioning = Partitioning::summed;
  op.forward.moved = {.input = op.input.elements(), .output = op.output.elements()};
  if (at.gradient) {
    op.input_gradient.moved = op.forward.moved;
  }
  push(std::move(op), at, at.gradient);
  return true;
}

/// Every element of its input is the number of a row.
bool Tracer::embedding(OperationSpec& spec, Tensor& at) {
  const double numbers = at.map.elements();
  const double width = static_cast<double>(spec.is.out);
  const double channels = spec.is.pooled ? width : numbers * width;
  if (channels > static_cast<double>(kMostChannels)) {
    return refuse(spec, "out", "at most " + std::to_string(kMostChannels) + " channels in all");
  }
  if (!few_parameters(spec, static_cast<double>(spec.is.rows) * width)) {
    return false;
  }
  LayeredOperation op{.name = spec.is.name,
                      .input = at.map,
                      .output = {.channels = static_cast<std::int64_t>(channels)}};
  op.parameters = spec.is.rows * spec.is.out;
  op.saved.bytes = 8.0 * numbers;  // 64-bit row numbers
  op.forward.moved = {.output = numbers * width + channels, .bytes = op.saved.bytes};
  // Rows are added into the fp32 gradient of the table: read, add, write.
  op.weight_gradient.moved = {.output = channels, .bytes = 2.0 * 4.0 * numbers * width};
  push(std::move(op), at, true);
  return true;
}

/// Softmax and cross-entropy of every pixel in one: logarithms of the probabilities in fp32 are
/// kept.
bool Tracer::cross_entropy(const OperationSpec& spec, Tensor& at) {
  const double classes = at.map.elements();
  LayeredOperation op{.name = spec.is.name, .input = at.map, .output = at.map};
  op.output.channels = 1;
  op.forward.moved = {.input = classes, .bytes = 4.0 * classes};
  if (at.gradient) {
    op.input_gradient.moved = op.forward.moved;
    op.saved.bytes = 4.0 * classes;
  }
  push(std::move(op), at, at.gradient);
  return true;
}

bool Tracer::given(const OperationSpec& spec, Tensor& at) {
  const GivenNumbers& numbers = spec.is.given;
  LayeredOperation op{.name = spec.is.name,
                      .kind = numbers.kind,
                      .input = at.map,
                      .output = numbers.output.value_or(at.map)};
  op.parameters = numbers.parameters;
  op.weights = static_cast<double>(op.parameters);
  op.saved.input = numbers.saved;
  op.forward = {.flops = numbers.forward(), .moved = {.input = numbers.elements}};
  if (at.gradient) {
    op.input_gradient = {.flops = numbers.input_gradient(),
                         .moved = {.input = numbers.gradient_elements.value_or(numbers.elements)}};
  }
  if (op.parameters > 0) {
    op.weight_gradient = {.flops = numbers.weight_gradient(),
                          .moved = {.input = numbers.gradient_elements.value_or(numbers.elements)}};
  }
  op.forward_transfer = numbers.forward_transfer;
  op.backward_transfer = numbers.backward_transfer;
  push(std::move(op), at, at.gradient || numbers.parameters > 0);
  return true;
}

}  // namespace titer
