#pragma once
// How many of the model's layers each of its stages has.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {

enum class LayerRule {
  even,  // every stage as many
  // As many, but one less on the first and one less on the last stage, which have the embedding and
  // the output head besides. [Llama 3 2024, section 3.3.2]
  lighter_ends,
};
inline constexpr std::array<Choice<LayerRule>, 2> kLayerRules = {
    {{"even", LayerRule::even}, {"lighter-ends", LayerRule::lighter_ends}}};

/// By a rule, or a number for each stage of the model, in order. A stage without layers has the
/// embedding or the output head alone, or hands on what it gets.
using LayerSplit = std::variant<LayerRule, std::vector<std::int64_t>>;

[[nodiscard]] inline bool is_even(const LayerSplit& split) {
  const auto* rule = std::get_if<LayerRule>(&split);
  return rule != nullptr && *rule == LayerRule::even;
}

/// The member `layers`: a rule's name or an array of numbers; even if there is none.
[[nodiscard]] LayerSplit read_layers(Reader& in);

/// "lighter-ends"; "[7, 8, 8, 7]"
[[nodiscard]] std::string text_of(const LayerSplit& split);

/// What the split would have to be, if it does not share out so many layers over so many stages.
[[nodiscard]] std::optional<std::string> refusal(const LayerSplit& split,
                                                 std::int64_t layers,
                                                 int stages);

/// Layers of one stage. REQUIRES a split that is not refused.
[[nodiscard]] std::int64_t layers_of(const LayerSplit& split,
                                     int stage,
                                     std::int64_t layers,
                                     int stages);

/// Layers of every stage, as factors of their costs.
void share_out(const LayerSplit& split, std::int64_t layers, std::span<double> of_stages);

/// What else to write where an even split does not work out: "layers": "lighter-ends", or a list.
[[nodiscard]] std::string uneven_offer(std::int64_t layers, int stages);

}  // namespace titer
