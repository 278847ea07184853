#include "difference_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::string_view kDevicesKey = "devices";
constexpr std::string_view kModelKey = "model";

std::int64_t tokens_of(const Scenario& scenario) {
  return scenario.training.global_batch * scenario.training.sequence;
}

/// Changed inputs of the model, which may go by the same name in both.
std::ptrdiff_t model_changes(const Difference& found) {
  return std::ranges::count_if(found.changes, [](const InputChange& change) {
    return scenario_part(change.path) == ScenarioPart::model;
  });
}

std::string differing_text(const AskedValue& value, const Difference& found) {
  const std::string a = bare_text(value.a);
  const std::string b = bare_text(value.b);
  if (value.key == kModelKey && a == b) {
    return fmt::format("model {} in both, {} of its inputs not the same", a, model_changes(found));
  }
  return fmt::format("{} {} in A, {} in B", value.words, a, b);
}

/// Of B over A.
struct DifferenceRatios {
  double time = 1;
  double device_time = 1;
  double time_per_token = 1;
  double device_time_per_token = 1;
};

DifferenceRatios ratios_of(const Difference& found) {
  const auto per_a = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(b) / static_cast<double>(a);
  };
  const double devices = per_a(found.a_scenario.plan.devices(), found.b_scenario.plan.devices());
  const double tokens = per_a(tokens_of(found.a_scenario), tokens_of(found.b_scenario));
  const double time = found.b.iteration_time / found.a.iteration_time;
  return {.time = time,
          .device_time = time * devices,
          .time_per_token = time / tokens,
          .device_time_per_token = time * devices / tokens};
}

/// "1.06 times as long"
std::string ratio_text(double ratio) {
  return ratio < 1 ? fmt::format("{:.3g} times as fast", 1 / ratio)
                   : fmt::format("{:.3g} times as long", ratio);
}

std::string device_seconds_text(double ratio) {
  return fmt::format(", {:.3g} times the device-seconds", ratio);
}

std::string headline(const Difference& found, const DifferenceRatios& ratio) {
  const std::int64_t a = found.a_scenario.plan.devices();
  const std::int64_t b = found.b_scenario.plan.devices();
  const std::string a_time = format(found.a.iteration_time);
  const std::string b_time = format(found.b.iteration_time);
  if (a != b) {
    return fmt::format("B takes {} on {} devices where A takes {} on {}: {}{}\n",
                       b_time,
                       b,
                       a_time,
                       a,
                       ratio_text(ratio.time),
                       device_seconds_text(ratio.device_time));
  }
  return ratio.time == 1
             ? fmt::format("both take {}\n", a_time)
             : fmt::format(
                   "B takes {} where A takes {}: {}\n", b_time, a_time, ratio_text(ratio.time));
}

/// What is to be done in a step, where it is not the same.
std::string work_text(const Difference& found) {
  std::string text;
  for (const AskedValue& value : asked_values(found)) {
    if (value.differs && value.key != kDevicesKey) {
      add_listed(text, differing_text(value, found), "; ");
    }
  }
  return text.empty() ? "" : "not the same work: " + text + "\n";
}

}  // namespace

std::vector<AskedValue> asked_values(const Difference& found) {
  const Scenario& a = found.a_scenario;
  const Scenario& b = found.b_scenario;
  const auto words = [](std::string_view text) { return Value(text); };
  std::vector<AskedValue> values = {
      {kDevicesKey, "devices", a.plan.devices(), b.plan.devices()},
      {kModelKey, "model", a.model.title(), b.model.title()},
      {"tokens_per_step", "tokens per step", tokens_of(a), tokens_of(b)},
      {"sequence", "sequence", a.training.sequence, b.training.sequence},
      {"precision",
       "precision",
       words(a.training.precision_name(a.cluster.chip)),
       words(b.training.precision_name(b.cluster.chip))}};
  for (AskedValue& value : values) {
    value.differs = value.a.text != value.b.text || value.a.integer != value.b.integer ||
                    (value.key == kModelKey && model_changes(found) > 0);
  }
  return values;
}

std::array<std::pair<std::string_view, double>, 4> named_ratios(const Difference& found) {
  const DifferenceRatios ratio = ratios_of(found);
  return {{{"iteration_time", ratio.time},
           {"device_seconds", ratio.device_time},
           {"iteration_time_per_token", ratio.time_per_token},
           {"device_seconds_per_token", ratio.device_time_per_token}}};
}

std::string verdict_text(const Difference& found) {
  const DifferenceRatios ratio = ratios_of(found);
  std::string text = headline(found, ratio) + work_text(found);
  if (ratio.time_per_token == ratio.time) {
    return text;
  }
  const bool same_devices = ratio.device_time == ratio.time;
  return text + "per token B takes " + ratio_text(ratio.time_per_token) +
         (same_devices ? "" : device_seconds_text(ratio.device_time_per_token)) + "\n";
}

}  // namespace titer
