#include "titer/plan/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "titer/units/listed.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostLayers = 1'000'000;

/// What both ends have less than the stages between, together.
constexpr std::int64_t kLessAtTheEnds = 2;

constexpr std::string_view kExpected =
    R"(expected "even", "lighter-ends", an object with "first" or "last", an array of whole )"
    R"(numbers, one for each stage of the model, or a layout such as "Et|(tt|)*30mL")";

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

/// What a rule shares out evenly: so many layers over so many stages, the first of which has what
/// is left over.
struct Evenly {
  std::int64_t layers = 0;
  int stages = 1;

  [[nodiscard]] std::int64_t left() const { return stages > 0 ? layers % stages : 0; }
  [[nodiscard]] std::int64_t of(int stage) const {
    return layers / stages + (stage < left() ? 1 : 0);
  }
};

Evenly evenly(const LayerSplit& split, std::int64_t layers, int stages) {
  if (const auto* ends = std::get_if<EndLayers>(&split)) {
    return {layers - ends->sum(), stages - ends->count()};
  }
  return {is_even(split) ? layers : layers + kLessAtTheEnds, stages};
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

bool allows_lighter_ends(std::int64_t layers, int stages) {
  return layers + kLessAtTheEnds >= stages;
}

std::optional<std::string> refusal_of(LayerRule rule, std::int64_t layers, int stages) {
  const bool even = rule == LayerRule::even;
  if (even ? layers >= stages : allows_lighter_ends(layers, stages)) {
    return std::nullopt;
  }
  return fmt::format("expected the {} layers{} to be no fewer than the {} stages; or {}",
                     layers,
                     even ? "" : fmt::format(" and {} more", kLessAtTheEnds),
                     stages,
                     uneven_offer(layers, stages));
}

std::optional<std::string> refusal_of(const EndLayers& ends, std::int64_t layers, int stages) {
  const Evenly others = evenly(ends, layers, stages);
  const bool alone = others.stages == 0 && others.layers == 0;
  return alone || (others.stages > 0 && others.layers >= others.stages)
             ? std::nullopt
             : std::optional(fmt::format(
                   "expected first and last to leave one of the {} layers or "
                   "more for each of the other {}",
                   layers,
                   counted_text(static_cast<std::uint64_t>(std::max(others.stages, 0)), "stage")));
}

std::optional<std::string> refusal_of(const std::vector<std::int64_t>& numbers,
                                      std::int64_t layers,
                                      int stages) {
  if (numbers.size() != static_cast<std::size_t>(stages)) {
    return fmt::format("expected {}, one for each stage of the model, got {}",
                       counted_text(static_cast<std::uint64_t>(stages), "number"),
                       numbers.size());
  }
  const std::int64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  if (sum != layers) {
    return fmt::format("expected numbers that add up to the {}, got {}, such as {}",
                       counted_text(static_cast<std::uint64_t>(layers), "layer"),
                       sum,
                       nearly_even(layers, stages));
  }
  return std::nullopt;
}

LayerSplit read_ends(const Value& written, Reader& in) {
  auto object = in.object("layers");
  const EndLayers ends{.first = object.maybe_integer("first", 0, kMostLayers),
                       .last = object.maybe_integer("last", 0, kMostLayers)};
  object.finish();
  if (written.members.empty()) {
    in.fail("layers", kExpected);
  }
  return ends;
}

/// A rule's name or a layout, which begins with its embedding.
LayerSplit read_text(const std::string& text, Reader& in) {
  if (!text.starts_with('E')) {
    return in.choice<LayerRule>("layers", kLayerRules);
  }
  LayoutLayers layout = read_layout(text);
  if (!layout.problem.empty()) {
    in.fail("layers", layout.problem);
    return LayerRule::even;
  }
  return std::move(layout.of_stages);
}

}  // namespace

LayerSplit read_layers(Reader& in) {
  const Value* value = in.raw("layers");
  if (value == nullptr || value->kind == Value::Kind::null) {
    return LayerRule::even;
  }
  if (value->kind == Value::Kind::text) {
    return read_text(value->text, in);
  }
  if (value->kind == Value::Kind::object) {
    return read_ends(*value, in);
  }
  auto numbers = value->kind == Value::Kind::array ? numbers_of(*value) : std::nullopt;
  if (!numbers || numbers->empty()) {
    in.fail("layers", kExpected);
    return LayerRule::even;
  }
  return std::move(*numbers);
}

std::string text_of(const LayerSplit& split) {
  if (const auto* rule = std::get_if<LayerRule>(&split)) {
    return std::string(kLayerRules[static_cast<std::size_t>(*rule)].name);
  }
  if (const auto* ends = std::get_if<EndLayers>(&split)) {
    const auto one = [](std::string_view key, const std::optional<std::int64_t>& number) {
      return number ? fmt::format("\"{}\": {}", key, *number) : std::string();
    };
    return fmt::format("{{{}{}{}}}",
                       one("first", ends->first),
                       ends->count() == 2 ? ", " : "",
                       one("last", ends->last));
  }
  return fmt::format("[{}]", fmt::join(std::get<std::vector<std::int64_t>>(split), ", "));
}

std::optional<std::string> refusal(const LayerSplit& split, std::int64_t layers, int stages) {
  return std::visit([&](const auto& how) { return refusal_of(how, layers, stages); }, split);
}

std::int64_t left_over(const LayerSplit& split, std::int64_t layers, int stages) {
  return is_listed(split) ? 0 : evenly(split, layers, stages).left();
}

std::int64_t layers_of(const LayerSplit& split, int stage, std::int64_t layers, int stages) {
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&split)) {
    return (*numbers)[static_cast<std::size_t>(stage)];
  }
  const Evenly others = evenly(split, layers, stages);
  const bool is_first = stage == 0;
  const bool is_last = stage == stages - 1;
  if (const auto* ends = std::get_if<EndLayers>(&split)) {
    const auto told = is_first && ends->first ? ends->first : is_last ? ends->last : std::nullopt;
    return told ? *told : others.of(stage - (ends->first ? 1 : 0));
  }
  const int weights = is_even(split) ? 0 : int{is_first} + int{is_last};  // of embedding and head
  return others.of(stage) - weights;
}

void share_out(const LayerSplit& split, std::int64_t layers, std::span<double> of_stages) {
  const auto stages = static_cast<int>(of_stages.size());
  if (is_even(split) && layers % stages == 0) {
    const std::int64_t each = layers / stages;
    std::ranges::fill(of_stages, static_cast<double>(each));
    return;
  }
  for (int stage = 0; stage < stages; ++stage) {
    of_stages[static_cast<std::size_t>(stage)] =
        static_cast<double>(layers_of(split, stage, layers, stages));
  }
}

std::string shares_text(const LayerSplit& split, std::int64_t layers, int stages) {
  std::string text;
  for (int stage = 0; stage < stages;) {
    const std::int64_t each = layers_of(split, stage, layers, stages);
    int alike = 1;
    while (stage + alike < stages && layers_of(split, stage + alike, layers, stages) == each) {
      ++alike;
    }
    add_listed(text, fmt::format("{} x {}", alike, each));
    stage += alike;
  }
  return text;
}

std::string uneven_offer(std::int64_t layers, int stages) {
  return allows_lighter_ends(layers, stages)
             ? std::string("\"layers\": \"lighter-ends\"")
             : fmt::format("\"layers\": a list of {} such as {}",
                           counted_text(static_cast<std::uint64_t>(stages), "number"),
                           nearly_even(layers, stages));
}

}  // namespace titer
