#include "scenario_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/search/search.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"

namespace titer {

namespace {

/// ", adapters of rank 16, base nf4: 41943040 of 8072204288 parameters are trained".
std::string adapter_words(const Scenario& scenario) {
  const std::optional<Adapters>& adapters = scenario.training.adapters;
  if (!adapters) {
    return "";
  }
  const std::int64_t trained = adapter_parameters(scenario);
  return fmt::format(", adapters of rank {}{}: {} of {} parameters are trained",
                     adapters->rank,
                     adapters->base ? fmt::format(", base {}", name(*adapters->base)) : "",
                     trained,
                     parameters(scenario) + trained);
}

/// " with 2 images of 448 pixels".
std::string image_words(const Scenario& scenario) {
  const Images images = scenario.images();
  if (images.of_sequence == 0) {
    return "";
  }
  const char* const plural = images.of_sequence == 1 ? "" : "s";
  return images.size == 0
             ? fmt::format(" with {} sound{}", images.of_sequence, plural)
             : fmt::format(
                   " with {} image{} of {} pixels", images.of_sequence, plural, images.size);
}

/// "devices 8-15 H200 SXM, speed 0.5": what is not as the cluster's file says.
std::string device_words(const Conditions& conditions, const DeviceCondition& device) {
  std::string text = device.first == device.last
                         ? fmt::format("device {}", device.first)
                         : fmt::format("devices {}-{}", device.first, device.last);
  if (device.chip) {
    text += " " + conditions.chips[*device.chip].title;
  }
  const auto add = [&](std::string_view key, double slower) {
    text += slower == 1 ? "" : fmt::format(" {} {:.3g}", key, 1 / slower);
  };
  add("speed", device.compute);
  add("node_bandwidth", device.node);
  add("network_bandwidth", device.network);
  return text;
}

}  // namespace

std::string condition_words(const Conditions& conditions) {
  constexpr std::size_t most_devices = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(conditions.devices.size(), most_devices); ++i) {
    add_listed(text, device_words(conditions, conditions.devices[i]));
  }
  if (conditions.devices.size() > most_devices) {
    add_listed(text, fmt::format("{} ranges more", conditions.devices.size() - most_devices));
  }
  const auto add_jitter = [&](std::string_view key, const std::optional<Jitter>& jitter) {
    if (jitter) {
      add_listed(text, fmt::format("{} {:.3g} %", key, 100 * jitter->deviation));
    }
  };
  add_jitter("compute_jitter", conditions.compute_jitter);
  add_jitter("transfer_jitter", conditions.transfer_jitter);
  if (const auto& some = conditions.stragglers) {
    add_listed(
        text, fmt::format("stragglers {:.3g} % x {:.3g}", 100 * some->probability, some->slowdown));
  }
  return text;
}

std::string batch_words(const Scenario& scenario) {
  const Training& training = scenario.training;
  return !scenario.model.is_transformer()
             ? fmt::format("batch {} samples", training.global_batch)
             : fmt::format("batch {} x {} tokens", training.global_batch, training.sequence);
}

std::string training_words(const Scenario& scenario) {
  const std::string conditions = condition_words(scenario.conditions);
  const bool by_rows = scenario.training.narrow_scaling == NarrowScaling::row;
  return fmt::format("{}{}, {}{}, gradients {}, {}{}{}; stack {}{}",
                     batch_words(scenario),
                     image_words(scenario),
                     scenario.training.precision_name(scenario.cluster.chip),
                     by_rows ? " scaled by rows" : "",
                     name(scenario.gradient_type()),
                     scenario.training.optimizer.name,
                     scenario.training.frozen_tower ? ", tower frozen" : "",
                     adapter_words(scenario),
                     scenario.stack.name,
                     conditions.empty() ? "" : "; conditions: " + conditions);
}

std::string memory_margin_words(double margin) {
  if (margin == 0) {
    return fmt::format("no memory kept free, though predicted memory is {:.0f} % off on average",
                       100 * kMemoryError);
  }
  return fmt::format("keeps {:.3g} % of memory free{}",
                     100 * margin,
                     margin == kMemoryError ? ", the error of predicted memory" : "");
}

std::string signed_text(Seconds time) { return (time > Seconds{} ? "+" : "") + format(time); }

std::string bar_words(std::string_view before,
                      const std::optional<ErrorBar>& bar,
                      std::string_view after) {
  return bar ? fmt::format("{}four of five between {} and {}{}",
                           before,
                           format(bar->low),
                           format(bar->high),
                           after)
             : "";
}

std::string expected_words(const ErrorBar& bar, Seconds measured) {
  return fmt::format("four of five are expected between {} and {}: this is {}",
                     format(bar.low),
                     format(bar.high),
                     bar.low <= measured && measured <= bar.high
                         ? "one of them"
                         : "none of them, so something is not as the run says");
}

std::string evidence_words(const StepResult& step) {
  return fmt::format("{} figures{}", name(step.grade), bar_words("; ", step.error_bar));
}

std::string time_words(const StepResult& step) {
  return format(step.iteration_time) + bar_words(" (", step.error_bar, ")");
}

}  // namespace titer
