#include "titer/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "launch_text.hpp"
#include "read_back.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/settled_plan.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::array<ToldElsewhere, 3> kBesideDeepspeed = {
    {{"plan.recompute", "the model: gradient_checkpointing_enable()"},
     {"plan.attention", "the model: attn_implementation"},
     {"training.sequence", "the data"}}};

using Settings = std::vector<LaunchSetting> (*)(const Scenario&);

struct Software {
  LaunchFormat format;
  std::string_view name;
  Settings settings;
  std::string_view file;  // a name that tells the format
  std::span<const ToldElsewhere> elsewhere{};
  bool tells_devices = true;
};
constexpr std::array<Software, 6> kSoftware = {
    {{LaunchFormat::megatron, "Megatron-LM", megatron_settings, "pretrain.sh"},
     {LaunchFormat::slurm, "Megatron-LM", megatron_settings, "pretrain.sh"},
     {LaunchFormat::nemo, "NeMo", nemo_settings, "nemo.yaml"},
     {LaunchFormat::megatron_bridge, "Megatron-Bridge", bridge_settings, "bridge.yaml", {}, false},
     {LaunchFormat::torchtitan, "torchtitan", torchtitan_settings, "titan.toml"},
     {LaunchFormat::deepspeed,
      "DeepSpeed",
      deepspeed_settings_of,
      "deepspeed.json",
      kBesideDeepspeed,
      false}}};

const Software& software_of(LaunchFormat format) {
  return kSoftware[static_cast<std::size_t>(format)];
}

/// What makes a file of the settings.
std::string text_of(LaunchFormat format, const Scenario& scenario, std::string_view about) {
  const std::vector<LaunchSetting> settings = launch_settings(format, scenario);
  switch (format) {
    case LaunchFormat::nemo:
    case LaunchFormat::megatron_bridge:
      return yaml_text(settings, about);
    case LaunchFormat::torchtitan:
      return toml_text(settings, about);
    case LaunchFormat::deepspeed:
      return json_text(settings);
    default:
      return megatron_script(scenario, about, format == LaunchFormat::slurm);
  }
}

std::string about_text(const Scenario& scenario) {
  return fmt::format("{} on {} x {}, written by titer export",
                     scenario.model.title(),
                     scenario.plan.devices(),
                     scenario.cluster.chip.title);
}

/// What the scenario has at a path into its plan or training.
Value meant_value(const Scenario& scenario, std::string_view path) {
  const std::string_view key = path.substr(path.find('.') + 1);
  return path.starts_with("plan.") ? find_field(plan_fields(), key)->write(settled_plan(scenario))
                                   : find_field(training_fields(), key)->write(scenario.training);
}

bool names_model(const std::vector<LaunchSetting>& settings) {
  return includes(settings, "model.name", &LaunchSetting::name);
}

std::vector<std::string> told_elsewhere(LaunchFormat format, const Scenario& scenario) {
  const Software& software = software_of(format);
  const LaunchNodes nodes = launch_nodes(scenario);
  std::vector<std::string> lines;
  if (format == LaunchFormat::deepspeed) {
    lines.push_back(
        fmt::format("model {}: its config.json, beside this file", scenario.model.name()));
  }
  if (format == LaunchFormat::torchtitan && !names_model(launch_settings(format, scenario))) {
    lines.push_back(
        fmt::format("model {}: model.name and model.flavor, which are those of torchtitan's code",
                    scenario.model.name()));
  }
  if (!software.tells_devices || format == LaunchFormat::torchtitan) {
    lines.push_back(fmt::format("{} devices: torchrun --nnodes {} --nproc-per-node {}",
                                scenario.plan.devices(),
                                nodes.nodes,
                                nodes.devices_per_node));
  }
  for (const ToldElsewhere& told : software.elsewhere) {
    const Value value = meant_value(scenario, told.path);
    lines.push_back(fmt::format("{} {}: {}",
                                told.path,
                                value.kind == Value::Kind::text ? value.text : to_json(value, 0),
                                told.where));
  }
  return lines;
}

/// What is read of the text again, or why it cannot be.
std::vector<std::string> lost_of(LaunchFormat format,
                                 const Scenario& scenario,
                                 const std::string& text) {
  const Software& software = software_of(format);
  ImportOptions options{.defines = {}, .devices = {}, .vocabulary = {}, .base = {}};
  if (!software.tells_devices) {
    options.devices = scenario.plan.devices();
  }
  if (format == LaunchFormat::torchtitan && !names_model(launch_settings(format, scenario))) {
    options.base = *scenario.model.if_transformer();
  }
  try {
    const ImportedRun read = import_text(text, std::string(software.file), options);
    std::vector<std::string> lost = lost_keys(scenario, read, software.elsewhere);
    lost.insert(lost.end(), read.unread.begin(), read.unread.end());
    return lost;
  } catch (const InputError& error) {
    return error.lines;
  }
}

/// As users write it: an argument, or a line of the file.
std::string written_setting(LaunchFormat format, const LaunchSetting& setting) {
  const bool is_argument = format == LaunchFormat::megatron || format == LaunchFormat::slurm;
  return is_argument ? argument_text(setting)
                     : fmt::format("{}={}", setting.name, value_text(setting.value));
}

const Value* value_in(const std::vector<LaunchSetting>& settings, const std::string& name) {
  const auto found = std::ranges::find(settings, name, &LaunchSetting::name);
  return found == settings.end() ? nullptr : &found->value;
}

}  // namespace

std::string_view software_name(LaunchFormat format) { return software_of(format).name; }

std::optional<LaunchFormat> launch_format(std::string_view stack) {
  constexpr std::array<std::pair<std::string_view, LaunchFormat>, 8> stacks = {
      {{"megatron-lm", LaunchFormat::megatron},
       {"megatron-core", LaunchFormat::megatron},
       {"megascale", LaunchFormat::megatron},
       {"nemo", LaunchFormat::nemo},
       {"megatron-bridge", LaunchFormat::megatron_bridge},
       {"torchtitan", LaunchFormat::torchtitan},
       {"torchtitan-compiled", LaunchFormat::torchtitan},
       {"deepspeed", LaunchFormat::deepspeed}}};
  const auto* found =
      std::ranges::find_if(stacks, [&](const auto& known) { return known.first == stack; });
  return found == stacks.end() ? std::nullopt : std::optional(found->second);
}

std::vector<LaunchSetting> launch_settings(LaunchFormat format, const Scenario& scenario) {
  if (!scenario.model.is_transformer()) {
    throw InputError(fmt::format("model: {}: expected a transformer, as {} trains",
                                 scenario.model.name(),
                                 software_name(format)));
  }
  if (scenario.has_tower() && format != LaunchFormat::deepspeed) {
    throw InputError(fmt::format(
        "model: {}: expected no tower in front of it, which {} has scripts of its own for; "
        "training.images=0 is the language model alone",
        scenario.model.name(),
        software_name(format)));
  }
  if (scenario.model.if_transformer()->denoiser && format != LaunchFormat::deepspeed) {
    throw InputError(fmt::format(
        "model: {}: expected a model of texts: {} has scripts of its own for what denoises images",
        scenario.model.name(),
        software_name(format)));
  }
  return software_of(format).settings(scenario);
}

std::vector<std::string> changed_settings(LaunchFormat format,
                                          const Scenario& before,
                                          const Scenario& after) {
  const std::vector<LaunchSetting> old_settings = launch_settings(format, before);
  const std::vector<LaunchSetting> new_settings = launch_settings(format, after);
  std::vector<std::string> changes;
  for (const LaunchSetting& setting : new_settings) {
    const Value* old = value_in(old_settings, setting.name);
    if (old == nullptr || to_json(*old, 0) != to_json(setting.value, 0)) {
      changes.push_back(written_setting(format, setting));
    }
  }
  for (const LaunchSetting& setting : old_settings) {
    if (value_in(new_settings, setting.name) == nullptr) {
      changes.push_back("without " + written_setting(format, setting));
    }
  }
  return changes;
}

LaunchFile launch_file(LaunchFormat format, const Scenario& scenario) {
  LaunchFile file;
  file.text = text_of(format, scenario, about_text(scenario));
  file.elsewhere = told_elsewhere(format, scenario);
  file.lost = lost_of(format, scenario, file.text);
  return file;
}

}  // namespace titer
