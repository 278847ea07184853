#pragma once
// Settings as the files of each kind of software.

#include <span>
#include <string>
#include <string_view>

#include "launch_settings.hpp"

namespace titer {

/// "--tensor-model-parallel-size 8", "--bf16"; "" of a switch that is off.
[[nodiscard]] std::string argument_text(const LaunchSetting& setting);
/// A value as YAML, TOML and JSON have it alike: "llama3", 8, true, [128, 0].
[[nodiscard]] std::string value_text(const Value& value);

/// A shell script that starts pretrain_gpt.py, or pretrain_mamba.py of a hybrid; as a batch script
/// for Slurm. `about`: lines that say what it is.
[[nodiscard]] std::string megatron_script(const Scenario& scenario,
                                          std::string_view about,
                                          bool slurm);
[[nodiscard]] std::string yaml_text(std::span<const LaunchSetting> settings,
                                    std::string_view about);
[[nodiscard]] std::string toml_text(std::span<const LaunchSetting> settings,
                                    std::string_view about);
[[nodiscard]] std::string json_text(std::span<const LaunchSetting> settings);

}  // namespace titer
