#include "titer/report/evidence/import_report.hpp"

#include <fmt/format.h>

#include "titer/model/transformer/tower.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// "gated-delta in 36 layers"
std::string mixed(const Transformer& model, const Mixer& mixer) {
  std::int64_t layers = 0;
  for (const LayerRun& run : model.runs()) {
    const LayerKind& kind = model.kinds[static_cast<std::size_t>(run.kind)];
    layers += kind.tokens == TokenMixing::mixer ? run.count : 0;
  }
  return fmt::format(
      "{} in {} layers", kMixerKinds[static_cast<std::size_t>(mixer.kind)].name, layers);
}

std::string shape(const Transformer& model) {
  std::string text = fmt::format("{} layers, hidden {}", model.layers, model.hidden);
  if (model.has_attention()) {
    text += fmt::format(", {} heads", model.heads);
  }
  if (model.latent) {
    text += " (latent attention)";
  } else if (model.shared_head) {
    text += " (one of keys, which are the values)";
  } else if (model.kv_heads != model.heads) {
    text += fmt::format(" ({} of keys and values)", model.kv_heads);
  }
  if (model.mixer) {
    text += ", " + mixed(model, *model.mixer);
  }
  if (model.experts) {
    text += fmt::format(", {} of {} experts", model.experts->per_token, model.experts->count);
  }
  text += model.denoiser ? ", of patches" : fmt::format(", vocabulary {}", model.vocabulary);
  return model.tower ? text + fmt::format("; a tower of {} layers, hidden {}",
                                          model.tower->encoder.layers,
                                          model.tower->encoder.hidden)
                     : text;
}

/// "tensor 4, pipeline 2, …": keys with their values, in their order.
std::string settings_text(const Value& object) {
  const std::string text = listed(object.members, [](const auto& member) {
    return member.first + " " + bare_text(member.second);
  });
  return text.empty() ? "none" : text;
}

void add(std::string& text, std::string_view label, const std::string& what) {
  text += fmt::format("{:<12}{}\n", label, what);
}

}  // namespace

std::string import_summary(const Transformer& model, const ImportedRun& imported) {
  const ImportFigures figures = import_figures(model, imported);
  const auto tokens = static_cast<double>(figures.sequence);
  std::string text;
  add(text, "model", model.name + ": " + shape(model));
  add(text, "from", imported.format);
  add(text,
      "parameters",
      grouped_digits(figures.parameters) +
          (figures.active == figures.parameters
               ? ""
               : fmt::format(" ({} of them for a token)", grouped_digits(figures.active))));
  add(text,
      "forward",
      fmt::format("a token {} ({} causal), a sequence of {} {} ({} causal)",
                  format(figures.forward_full / tokens),
                  format(figures.forward_causal / tokens),
                  figures.sequence,
                  format(figures.forward_full),
                  format(figures.forward_causal)));
  add(text, "plan", settings_text(imported.plan));
  add(text, "training", settings_text(imported.training));
  add(text,
      "memory",
      fmt::format("weights {}, {} gradients {}, optimizer {} on a device of pipeline rank {}, "
                  "which has {:.4g} parameters; activations come with `titer run`",
                  format(figures.weights),
                  name(figures.gradient),
                  format(figures.gradients),
                  format(figures.optimizer),
                  figures.rank,
                  figures.on_device));
  return text;
}

std::string import_remarks(const ImportedRun& imported) {
  std::string text;
  const auto add_lines = [&](std::string_view label, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      text += fmt::format("{}: {}\n", label, line);
    }
  };
  if (!imported.used.empty()) {
    add_lines("used", {listed(imported.used)});
  }
  add_lines("known to be harmless", imported.harmless);
  add_lines("assumed", imported.assumed);
  if (!imported.stack.empty()) {
    add_lines("implied", {"stack " + imported.stack + ", by the format"});
  }
  add_lines("left open", imported.open);
  add_lines("may change the result, left out", imported.unread);
  return text;
}

}  // namespace titer
