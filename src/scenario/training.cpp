#include "titer/scenario/training.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

constexpr Range kPositive = {1, 1e12};
constexpr Range kCount = {0, 1e12};

/// Of the matrices whose second moment is factored: as wide as the model; of a model of other
/// layers, as square ones with the parameters of a layer.
double matrix_width(const Model& model) {
  if (const Transformer* transformer = model.if_transformer()) {
    return static_cast<double>(transformer->hidden);
  }
  const auto layers = static_cast<double>(std::max<std::int64_t>(1, model.layers()));
  return std::sqrt(std::max(1.0, static_cast<double>(parameters(model)) / layers));
}

using T = Training;

void read_optimizer(const Field<T>& own, Reader& in, T& training) {
  training.optimizer = in.maybe_choice<OptimizerRule>(own.key, kOptimizers).value_or(kAdam);
}

/// Number formats of products, and what brings its own scales with it by the name that it has
/// there.
struct Precision {
  DataType type = DataType::bf16;
  NarrowScaling scaling = NarrowScaling::tensor;
};
constexpr auto kPrecisions = [] {
  std::array<Choice<Precision>, kDataTypes.size() + 3> choices{};
  for (std::size_t i = 0; i < kDataTypes.size(); ++i) {
    choices[i] = {kDataTypes[i].name, {kDataTypes[i].value}};
  }
  choices[kDataTypes.size()] = {"mxfp8", {DataType::fp8, NarrowScaling::block}};
  choices[kDataTypes.size() + 1] = {"nvfp4", {DataType::fp4}};
  choices[kDataTypes.size() + 2] = {"mxfp4", {DataType::fp4}};
  return choices;
}();

void read_precision(const Field<T>& own, Reader& in, T& training) {
  const auto precision = in.maybe_choice<Precision>(own.key, kPrecisions);
  if (!precision) {
    return;
  }
  training.precision = precision->type;
  if (precision->scaling == NarrowScaling::block) {
    training.narrow_scaling = NarrowScaling::block;
    const Value* scaling = in.raw("narrow_scaling");
    const auto is_other = [&](const Choice<NarrowScaling>& choice) {
      return choice.value != NarrowScaling::block && choice.name == scaling->text;
    };
    if (scaling != nullptr && std::ranges::any_of(kNarrowScalings, is_other)) {
      in.fail(
          own.key,
          "mxfp8 has a scale for each block; expected fp8 with narrow_scaling " + scaling->text);
    }
  }
}

/// A number of layers, or a list of them.
void read_frozen(const Field<T>& own, Reader& in, T& training) {
  const Value* value = in.raw(own.key);
  if (value == nullptr || value->kind != Value::Kind::array) {
    training.frozen.first = fields::read_integer(own.key, kCount, own.required, in).value_or(0);
    return;
  }
  FrozenLayers frozen;
  for (const Value& element : value->items) {
    const bool is_number = element.kind == Value::Kind::number;
    const double number = is_number ? element.number : -1;
    if (number < 0 || number > kCount.most || number != std::floor(number)) {
      in.fail(own.key, "expected how many, or an array of layers numbered from 0");
      return;
    }
    frozen.others.push_back(static_cast<std::int64_t>(number));
  }
  std::ranges::sort(frozen.others);
  training.frozen = std::move(frozen);
}

Value frozen_schema(const Field<T>& /*own*/) {
  return schema::either(
      {schema::figure(schema::integer(kCount)), schema::list_of(schema::integer(kCount))});
}

constexpr std::array kTrainingFields = {
    fields::integer<&T::global_batch>("global_batch", kPositive, "gb: sequences per iteration")
        .needed(),
    fields::integer<&T::sequence>(
        "sequence", kPositive, "s: tokens per sequence; sweeps and searches must say it")
        .or_else("the model's longest, which the answer notes"),
    fields::number<&T::attended_length>(
        "attended_length", kPositive, "of documents packed into a sequence: sum L² / sum L")
        .or_else("the sequence"),
    fields::number<&T::input_rate>(
        "input_rate",
        {1e-6, 1e12},
        "samples per second that a host reads and prepares beside the steps, which wait where they "
        "are faster; waiting is the breakdown's `input`")
        .or_else("enough"),
    fields::special<T, &T::precision>(
        "precision",
        {read_precision,
         [](const Field<T>& /*own*/) { return schema::one_of<Precision>(kPrecisions); },
         [](const T& training) { return Value(name(training.precision)); }},
        "of products; `fp8`, `fp4`: of products with weights, the rest in `bf16`; `mxfp8` is `fp8` "
        "with narrow_scaling `block`, `nvfp4` and `mxfp4` are `fp4`"),
    fields::special<T, &T::optimizer>(
        "optimizer",
        {read_optimizer,
         [](const Field<T>& /*own*/) { return schema::one_of<OptimizerRule>(kOptimizers); },
         [](const T& training) { return Value(training.optimizer.name); }},
        "the rule of the update; `sgd` has momentum; of hidden layers' matrices `muon` "
        "orthogonalises updates, `shampoo` and `soap` precondition them, and are `adam` for the "
        "rest"),
    fields::choice<&T::gradient_precision, kDataTypes>("gradient_precision",
                                                       "number format of gradients")
        .or_else("the stack's for this precision"),
    fields::choice<&T::weight_precision, kDataTypes>("weight_precision", "number format of weights")
        .or_else("as activations"),
    fields::choice<&T::state_precision, kDataTypes>("state_precision",
                                                    "number format of the optimizer's moments")
        .or_else("`fp32`"),
    fields::choice<&T::master_precision, kDataTypes>(
        "master_precision", "number format of the weights that are updated")
        .or_else("`fp32`"),
    fields::choice<&T::gradient_messages, kDataTypes>(
        "gradient_messages", "number format of gradients on the way (quantised)")
        .or_else("that of the gradients"),
    fields::choice<&T::weight_messages, kDataTypes>(
        "weight_messages", "number format of weights on the way (quantised)")
        .or_else("that of the weights"),
    fields::choice<&T::narrow_weights, kNarrowWeights>(
        "narrow_weights",
        "what is held of weights in the type of narrow products (fp8, fp4, int8): nothing, as they "
        "are `cast` "
        "for each; what is `gathered` of them; copies `beside` them; these `instead` of them")
        .or_else("the stack's for this precision"),
    fields::choice<&T::narrow_scaling, kNarrowScalings>(
        "narrow_scaling",
        "of fp8: one scale for a `tensor`, for a `row`, or for a `block` of 32 numbers (mxfp8)")
        .stands_alone(false),  // the precision may say it, too
    fields::flag<&T::transposes_narrow_weights>(
        "transposes_narrow_weights",
        "of fp8 with one scale for a tensor: weights are transposed for each backward product, and "
        "no transposed copy of them is kept (Transformer Engine's "
        "`keep_fp8_weight_transpose_cache` "
        "off); nothing on chips whose products read columns, too"),
    fields::flag<&T::narrow_logits>("narrow_logits",
                                    "the output layer's product is as narrow as the others "
                                    "(Megatron-Core's `fp8_output_proj`)"),
    fields::flag<&T::fp8_attention>("fp8_attention",
                                    "products of fused attention are in fp8, too, between "
                                    "conversions (Megatron-Core's `fp8_dot_product_attention`)"),
    fields::flag<&T::fp8_activation_inputs>(
        "fp8_activation_inputs",
        "what activation functions read is kept in fp8 for the backward pass, and converted twice "
        "(Megatron-Core's `activation_func_fp8_input_store`)"),
    fields::flag<&T::fused_optimizer>("fused_optimizer", "the update is one kernel"),
    fields::special<T, &T::frozen>("frozen_layers",
                                   {read_frozen, frozen_schema, nullptr},
                                   "layers that are not trained: the "
                                   "first so many, or a list")
        .stands_alone(true),
    fields::object<&T::adapters, adapter_fields>(
        "adapters", "low-rank adapters (LoRA) that are trained instead of the model's weights"),
    fields::integer<&T::images>("images",
                                {0, 1e6},
                                "of each sequence, to the tower in front of the model; 0: texts "
                                "only, without the tower")
        .or_else("1 where there is a tower, which the answer notes"),
    fields::integer<&T::image_size>(
        "image_size", {1, 20'000}, "pixels along each side of an image, for a tower that takes any")
        .or_else("448 where it takes any, which the answer notes"),
    fields::flag<&T::frozen_tower>("frozen_tower",
                                   "the tower is not trained, but for its projector")};

}  // namespace

std::span<const Field<Training>> training_fields() { return kTrainingFields; }

Training read_training(Reader& in, const Model& model) {
  Training training;
  read_fields(training_fields(), in, training);
  if (training.sequence == 0) {
    const Transformer* transformer = model.if_transformer();
    training.sequence = transformer != nullptr ? transformer->max_sequence : 1;
  }
  if (training.optimizer.factored) {
    const double width = matrix_width(model);  // those of layers are no less high, adapters less
    const double height = training.adapters ? static_cast<double>(training.adapters->rank) : width;
    training.optimizer.state_bytes += factored_bytes(height, width);
  }
  return training;
}

}  // namespace titer
