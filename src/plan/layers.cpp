#include "titer/plan/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace titer {
namespace {

constexpr std::int64_t kMostLayers = 1'000'000;

/// What both ends have less than the stages between, together.
constexpr std::int64_t kLessAtTheEnds = 2;

std::optional<std::vector<std::int64_t>> numbers_of(const Value& list) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : list.items) {
    if (!item.is_integer || item.integer < 0 || item.integer > kMostLayers) {
      return std::nullopt;
    }
    numbers.push_back(item.integer);
  }
  return numbers;
}

/// With a full number on both ends; REQUIRES lighter ends to work out for these numbers.
std::int64_t between_the_ends(std::int64_t layers, int stages) {
  return (layers + kLessAtTheEnds) / stages;
}

bool allows_lighter_ends(std::int64_t layers, int stages) {
  return (layers + kLessAtTheEnds) % stages == 0;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// "13 x 5 and 8 x 4": a number for each stage, as even as can be.
std::string nearly_even(std::int64_t layers, int stages) {
  const std::int64_t fewer = layers / stages;
  const std::int64_t with_one_more = layers % stages;
  if (with_one_more == 0) {
    return fmt::format("{} x {}", stages, fewer);
  }
  return fmt::format(
      "{} x {} and {} x {}", with_one_more, fewer + 1, stages - with_one_more, fewer);
}

std::optional<std::string> refusal_of(LayerRule rule, std::int64_t layers, int stages) {
  if (rule == LayerRule::lighter_ends) {
    return allows_lighter_ends(layers, stages)
               ? std::nullopt
               : std::optional(fmt::format("expected the {} layers and {} more to be a multiple of "
                                           "the {} stages; or {}",
                                           layers,
                                           kLessAtTheEnds,
                                           stages,
                                           uneven_offer(layers, stages)));
  }
  return layers % stages == 0
             ? std::nullopt
             : std::optional(fmt::format("expected the {} stages to divide the {} layers; or {}",
                                         stages,
                                         layers,
                                         uneven_offer(layers, stages)));
}

}  // namespace

LayerSplit read_layers(Reader& in) {
  const Value* value = in.raw("layers");
  if (value == nullptr || value->kind == Value::Kind::null) {
    return LayerRule::even;
  }
  if (value->kind == Value::Kind::text) {
    return in.choice<LayerRule>("layers", kLayerRules);
  }
  auto numbers = value->kind == Value::Kind::array ? numbers_of(*value) : std::nullopt;
  if (!numbers || numbers->empty()) {
    in.fail("layers",
            "expected \"even\", \"lighter-ends\" or an array of whole numbers, one for each stage "
            "of the model");
    return LayerRule::even;
  }
  return std::move(*numbers);
}

std::string text_of(const LayerSplit& split) {
  if (const auto* rule = std::get_if<LayerRule>(&split)) {
    return std::string(kLayerRules[static_cast<std::size_t>(*rule)].name);
  }
  return fmt::format("[{}]", fmt::join(std::get<std::vector<std::int64_t>>(split), ", "));
}

std::optional<std::string> refusal(const LayerSplit& split, std::int64_t layers, int stages) {
  if (const auto* rule = std::get_if<LayerRule>(&split)) {
    return refusal_of(*rule, layers, stages);
  }
  const auto& numbers = std::get<std::vector<std::int64_t>>(split);
  if (numbers.size() != static_cast<std::size_t>(stages)) {
    return fmt::format("expected {}, one for each stage of the model, got {}",
                       counted(stages, "number"),
                       numbers.size());
  }
  const std::int64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  if (sum != layers) {
    return fmt::format("expected numbers that add up to the {}, got {}, such as {}",
                       counted(layers, "layer"),
                       sum,
                       nearly_even(layers, stages));
  }
  return std::nullopt;
}

std::int64_t layers_of(const LayerSplit& split, int stage, std::int64_t layers, int stages) {
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&split)) {
    return (*numbers)[static_cast<std::size_t>(stage)];
  }
  if (std::get<LayerRule>(split) == LayerRule::even) {
    return layers / stages;
  }
  return between_the_ends(layers, stages) - (stage == 0 ? 1 : 0) - (stage == stages - 1 ? 1 : 0);
}

void share_out(const LayerSplit& split, std::int64_t layers, std::span<double> of_stages) {
  const auto stages = static_cast<int>(of_stages.size());
  if (is_even(split)) {
    const std::int64_t each = layers_of(split, 0, layers, stages);
    std::fill(of_stages.begin(), of_stages.end(), static_cast<double>(each));
    return;
  }
  for (int stage = 0; stage < stages; ++stage) {
    of_stages[static_cast<std::size_t>(stage)] =
        static_cast<double>(layers_of(split, stage, layers, stages));
  }
}

std::string uneven_offer(std::int64_t layers, int stages) {
  return allows_lighter_ends(layers, stages) ? std::string("\"layers\": \"lighter-ends\"")
                                             : fmt::format("\"layers\": a list of {} such as {}",
                                                           counted(stages, "number"),
                                                           nearly_even(layers, stages));
}

}  // namespace titer
