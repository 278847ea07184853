// What goes to a tower in front of a model, and what of the model is there without it.
#include <fmt/format.h>

#include "titer/model/transformer/tower.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

// Where neither the run nor the tower says: 16 x 16 tokens of Qwen2-VL's.
constexpr std::int64_t kUsualPixels = 448;

}  // namespace

Images Scenario::images() const {
  const Tower* tower = model.if_tower();
  if (tower == nullptr) {
    return {};
  }
  const bool takes_any = tower->image == 0 && !tower->spectra;
  return {.of_sequence = training.images.value_or(1),
          .size = takes_any ? training.image_size.value_or(kUsualPixels) : tower->image};
}

std::int64_t parameters(const Scenario& scenario) {
  const bool is_left_out = scenario.model.if_tower() != nullptr && !scenario.has_tower();
  return parameters(scenario.model) -
         (is_left_out ? tower_parameters(*scenario.model.if_tower()).total() : 0);
}

std::optional<std::string> images_note(const Scenario& scenario) {
  const Tower* tower = scenario.model.if_tower();
  const Training& training = scenario.training;
  const bool needs_size = tower != nullptr && tower->image == 0 && !tower->spectra;
  const bool assumes_size = needs_size && !training.image_size && scenario.has_tower();
  if (tower == nullptr || (training.images && !assumes_size)) {
    return std::nullopt;
  }
  const Images images = scenario.images();
  const std::string of_size =
      tower->spectra ? "" : fmt::format(" of {0} x {0} pixels", images.size);
  return fmt::format("{} is not given: {} {}{}{} with each sequence, {} tokens each",
                     training.images ? "training.image_size" : "training.images",
                     images.of_sequence,
                     tower->spectra ? "sound" : "image",
                     images.of_sequence == 1 ? "" : "s",
                     of_size,
                     tokens_of(*tower, images).returned);
}

}  // namespace titer
