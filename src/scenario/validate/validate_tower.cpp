// What a tower in front of a model asks of a plan, and of the sequences that its images are in; and
// what a denoiser asks of them.
#include <fmt/format.h>

#include "titer/model/transformer/denoiser.hpp"
#include "validate_groups.hpp"

namespace titer {
namespace {

void check_tower_widths(const Tower& tower, std::int64_t t, Demands& demands) {
  demands.demand(tower.encoder.heads % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the tower's {} attention heads", tower.encoder.heads);
  });
  demands.demand(tower.encoder.ffn % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the tower's MLP width {}", tower.encoder.ffn);
  });
  for (const std::int64_t width : tower.projector.widths) {
    demands.demand(width % t == 0, "plan.tensor", t, [&] {
      return fmt::format("expected a divisor of the projector's width {}", width);
    });
  }
}

void check_images(const Scenario& scenario, const Tower& tower, Demands& demands) {
  const Training& training = scenario.training;
  const Images images = scenario.images();
  const bool reads_size = tower.image == 0 && !tower.spectra;
  demands.demand(reads_size || !training.image_size || tower.image == training.image_size,
                 "training.image_size",
                 training.image_size.value_or(0),
                 [&] {
                   return tower.spectra ? std::string("expected none: the model hears sounds")
                                        : fmt::format(
                                              "expected the {} pixels that the positions of this "
                                              "model's tower are for",
                                              tower.image);
                 });
  if (tower.attended != Attended::no) {
    demands.demand(images.of_sequence > 0,
                   "training.images",
                   images.of_sequence,
                   "expected at least 1, since layers of this model attend to nothing else");
    return;
  }
  const std::int64_t each = tokens_of(tower, images).returned;
  const bool fits = images.of_sequence <= training.sequence / each;
  demands.demand(fits, "training.images", images.of_sequence, [&] {
    return fmt::format("expected images of {} tokens each to be part of a sequence of {} tokens",
                       each,
                       training.sequence);
  });
}

}  // namespace

void check_tower(const Scenario& scenario, Demands& demands) {
  const Training& training = scenario.training;
  const Tower* tower = scenario.model.if_tower();
  if (tower == nullptr) {
    const auto none = [&](bool is_given, std::string_view key, std::int64_t value) {
      demands.demand(!is_given, key, value, "expected a model with a tower of images or sounds");
    };
    none(training.images.has_value(), "training.images", training.images.value_or(0));
    none(training.image_size.has_value(), "training.image_size", training.image_size.value_or(0));
    none(training.frozen_tower, "training.frozen_tower", 1);
    return;
  }
  check_images(scenario, *tower, demands);
  if (!scenario.has_tower()) {
    return;
  }
  check_tower_widths(*tower, scenario.plan.tensor, demands);
  demands.demand(scenario.formula == Formula::titer,
                 "formula",
                 "e7",
                 "expected titer, or training.images 0: the formula knows equal layers only");
}

void check_denoiser(const Scenario& scenario, Demands& demands) {
  const Transformer* model = scenario.model.if_transformer();
  if (model == nullptr || !model->denoiser) {
    return;
  }
  const std::int64_t text = joins_text(*model) ? model->denoiser->text->tokens : 0;
  demands.demand(
      scenario.training.sequence > text, "training.sequence", scenario.training.sequence, [&] {
        return fmt::format("expected more than the {} tokens of text that are part of it", text);
      });
  demands.demand(scenario.formula == Formula::titer,
                 "formula",
                 "e7",
                 "expected titer: the formula knows models with a vocabulary only");
}

}  // namespace titer
