#pragma once
// How many of the model's layers each of its stages has.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {

/// What does not go into all stages alike is on the first of those that a rule shares out to, a
/// layer each. [DeepSpeed, partition_uniform; TorchTitan, generate_llm_fqn_per_model_part]
enum class LayerRule {
  even,  // every stage as many
  // As many, but one less on the first and one less on the last stage, which have the embedding and
  // the output head besides. [Llama 3 2024, section 3.3.2]
  lighter_ends,
};
inline constexpr std::array<Choice<LayerRule>, 2> kLayerRules = {
    {{"even", LayerRule::even}, {"lighter-ends", LayerRule::lighter_ends}}};

/// So many on the first and on the last stage of the model, where they are told; the others are
/// shared out evenly. [Megatron-Core, num_layers_in_first_pipeline_stage]
struct EndLayers {
  std::optional<std::int64_t> first{};
  std::optional<std::int64_t> last{};

  [[nodiscard]] std::int64_t sum() const { return first.value_or(0) + last.value_or(0); }
  [[nodiscard]] int count() const { return (first ? 1 : 0) + (last ? 1 : 0); }
  friend auto operator<=>(const EndLayers&, const EndLayers&) = default;
};

/// By a rule, or a number for each stage of the model, in order. A stage without layers has the
/// embedding or the output head alone, or hands on what it gets.
using LayerSplit = std::variant<LayerRule, EndLayers, std::vector<std::int64_t>>;

[[nodiscard]] inline bool is_even(const LayerSplit& split) {
  const auto* rule = std::get_if<LayerRule>(&split);
  return rule != nullptr && *rule == LayerRule::even;
}

/// Whether it is of one number of stages only.
[[nodiscard]] inline bool is_listed(const LayerSplit& split) {
  return std::holds_alternative<std::vector<std::int64_t>>(split);
}

/// The member `layers`: a rule's name, what the ends have, an array of numbers or a layout; even if
/// there is none.
[[nodiscard]] LayerSplit read_layers(Reader& in);

/// What a layout says: layers of every stage of the model, or what was expected.
struct LayoutLayers {
  std::vector<std::int64_t> of_stages{};
  std::string problem{};
};

/// Stages divided by "|", of E (embedding), t (a layer), m (a module for a further token) and L
/// (output head and loss); "t*3" and "(tt|)*29" repeat. How many modules there are the model says.
/// [Megatron-Core, PipelineParallelLayerLayout]
[[nodiscard]] LayoutLayers read_layout(std::string_view layout);

/// "lighter-ends"; "{"first": 7}"; "[7, 8, 8, 7]"
[[nodiscard]] std::string text_of(const LayerSplit& split);

/// What the split would have to be, if it does not share out so many layers over so many stages.
[[nodiscard]] std::optional<std::string> refusal(const LayerSplit& split,
                                                 std::int64_t layers,
                                                 int stages);

/// Layers that do not go into all stages alike that a rule shares out to. REQUIRES a split that is
/// not refused.
[[nodiscard]] std::int64_t left_over(const LayerSplit& split, std::int64_t layers, int stages);

/// Layers of one stage. REQUIRES a split that is not refused.
[[nodiscard]] std::int64_t layers_of(const LayerSplit& split,
                                     int stage,
                                     std::int64_t layers,
                                     int stages);

/// Layers of every stage, as factors of their costs.
void share_out(const LayerSplit& split, std::int64_t layers, std::span<double> of_stages);

/// "13 x 4, 3 x 3": stages after one another with so many layers each.
[[nodiscard]] std::string shares_text(const LayerSplit& split, std::int64_t layers, int stages);

/// What else to write where there are more stages than layers: "layers": "lighter-ends", or a list.
[[nodiscard]] std::string uneven_offer(std::int64_t layers, int stages);

}  // namespace titer
