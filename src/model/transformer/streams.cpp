#include "streams.hpp"

namespace titer {
namespace {

double count_of(const Transformer& model) { return real(model.streams); }
double width_of(const Transformer& model) { return count_of(model) * real(model.hidden); }
/// Weights of a token: of what a branch reads, of what it returns, and of each for each.
std::int64_t weights_of_branch(const Transformer& model) {
  return (2 + model.streams) * model.streams;
}

/// Of one hidden state.
Bytes state_bytes(const LayerBuilder& layer) {
  return layer.outer_tokens() * layer.hidden() * layer.element();
}

/// A product for the weights, and the sum that they weigh.
void add_sum(LayerBuilder& layer, std::int64_t weights) {
  const double n = count_of(layer.model());
  layer.replicated_product({.name = "weights of streams",
                            .inner = width_of(layer.model()),
                            .columns = real(weights),
                            .narrow = false});
  const Bytes x = state_bytes(layer);
  Operation sum{.name = "sum of streams"};
  sum.forward = LayerBuilder::memory((n + 1.0) * x);
  sum.input_gradient = LayerBuilder::memory((2.0 * n + 1.0) * x);
  layer.add(sum);
}

}  // namespace

std::int64_t stream_parameters(const Transformer& model) {
  constexpr std::int64_t scales = 3;  // of the weights of each use
  const std::int64_t weights = weights_of_branch(model);
  return has_streams(model) ? weights * (model.streams * model.hidden + 1) + scales : 0;
}

std::int64_t last_stream_parameters(const Transformer& model) {
  return has_streams(model) ? model.streams * (model.streams * model.hidden + 1) + 1 : 0;
}

double stream_products(const Transformer& model) {
  return has_streams(model) ? real(weights_of_branch(model)) * width_of(model) : 0.0;
}

double last_stream_products(const Transformer& model) {
  return has_streams(model) ? count_of(model) * width_of(model) : 0.0;
}

void begin_streams(LayerBuilder& layer) {
  const double n = count_of(layer.model());
  Operation copies{.name = "streams"};
  copies.forward = LayerBuilder::memory((n + 1.0) * state_bytes(layer));
  copies.input_gradient = copies.forward;
  layer.add(copies);
}

void read_streams(LayerBuilder& layer) { add_sum(layer, weights_of_branch(layer.model())); }

/// The product of the weights keeps the streams; beside them what the branch returned is kept.
void add_to_streams(LayerBuilder& layer, std::string_view name) {
  const double n = count_of(layer.model());
  const Bytes x = state_bytes(layer);
  Operation op{.name = name, .saved = x};
  op.forward = LayerBuilder::memory((2.0 * n + 1.0) * x);
  op.input_gradient = LayerBuilder::memory((3.0 * n + 2.0) * x);
  layer.add(op);
}

void end_streams(LayerBuilder& layer) { add_sum(layer, layer.model().streams); }

}  // namespace titer
