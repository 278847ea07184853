#include "titer/step/training.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

constexpr std::int64_t kMost = 1'000'000'000'000;

/// Of the matrices whose second moment is factored: as wide as the model; of a model of other
/// layers, as square ones with the parameters of a layer.
double matrix_width(const Model& model) {
  if (const Transformer* transformer = model.if_transformer()) {
    return static_cast<double>(transformer->hidden);
  }
  const auto layers = static_cast<double>(std::max<std::int64_t>(1, model.layers()));
  return std::sqrt(std::max(1.0, static_cast<double>(parameters(model)) / layers));
}

OptimizerRule read_optimizer(Reader& in, const Model& model) {
  constexpr std::array<Choice<OptimizerRule>, 4> rules = {{{kAdam.name, kAdam},
                                                           {kMomentumSgd.name, kMomentumSgd},
                                                           {kPlainSgd.name, kPlainSgd},
                                                           {kAdafactor.name, kAdafactor}}};
  OptimizerRule rule = in.maybe_choice<OptimizerRule>("optimizer", rules).value_or(kAdam);
  if (rule.factored) {
    rule.state_bytes += factored_bytes(matrix_width(model));
  }
  return rule;
}

/// A number of layers, or a list of them.
FrozenLayers read_frozen(Reader& in) {
  FrozenLayers frozen;
  const Value* value = in.raw("frozen_layers");
  if (value == nullptr || value->kind != Value::Kind::array) {
    frozen.first = in.maybe_integer("frozen_layers", 0, kMost).value_or(0);
    return frozen;
  }
  for (const Value& element : value->items) {
    const bool is_number = element.kind == Value::Kind::number;
    const double number = is_number ? element.number : -1;
    if (number < 0 || number > static_cast<double>(kMost) || number != std::floor(number)) {
      in.fail("frozen_layers", "expected how many, or an array of layers numbered from 0");
      return {};
    }
    frozen.others.push_back(static_cast<std::int64_t>(number));
  }
  std::sort(frozen.others.begin(), frozen.others.end());
  return frozen;
}

}  // namespace

Training read_training(Reader& in, const Model& model) {
  Training training;
  training.global_batch = in.integer("global_batch", 1, kMost);
  const Transformer* transformer = model.if_transformer();
  training.sequence = in.maybe_integer("sequence", 1, kMost)
                          .value_or(transformer != nullptr ? transformer->max_sequence : 1);
  training.attended_length = in.maybe_number("attended_length", 1, 1e12);
  training.precision = in.maybe_choice<DataType>("precision", kDataTypes).value_or(DataType::bf16);
  training.optimizer = read_optimizer(in, model);
  training.gradient_precision = in.maybe_choice<DataType>("gradient_precision", kDataTypes);
  training.weight_precision = in.maybe_choice<DataType>("weight_precision", kDataTypes);
  training.state_precision = in.maybe_choice<DataType>("state_precision", kDataTypes);
  training.master_precision = in.maybe_choice<DataType>("master_precision", kDataTypes);
  training.gradient_messages = in.maybe_choice<DataType>("gradient_messages", kDataTypes);
  training.weight_messages = in.maybe_choice<DataType>("weight_messages", kDataTypes);
  training.fused_optimizer = in.flag("fused_optimizer", true);
  training.frozen = read_frozen(in);
  in.finish();
  return training;
}

}  // namespace titer
