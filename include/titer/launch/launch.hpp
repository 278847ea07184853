#pragma once
// A scenario as other software takes it: the settings of its launcher, the inverse of room import.
// What is written is read back and compared, so that nothing is lost in silence.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

enum class LaunchFormat : std::uint8_t {
  megatron,         // a shell script with the arguments of Megatron-LM
  slurm,            // the same as a batch script
  nemo,             // YAML of NeMo's model and trainer
  megatron_bridge,  // YAML of Megatron-Bridge's sections
  torchtitan,       // TOML
  deepspeed,        // JSON, which is of a model that a HuggingFace config.json tells
};
inline constexpr std::array<Choice<LaunchFormat>, 6> kLaunchFormats = {
    {{"megatron", LaunchFormat::megatron},
     {"slurm", LaunchFormat::slurm},
     {"nemo", LaunchFormat::nemo},
     {"megatron-bridge", LaunchFormat::megatron_bridge},
     {"torchtitan", LaunchFormat::torchtitan},
     {"deepspeed", LaunchFormat::deepspeed}}};
/// The software itself: "Megatron-LM".
[[nodiscard]] std::string_view software_name(LaunchFormat format);

/// What the shipped stack of this name reads; nothing where it is none of these.
[[nodiscard]] std::optional<LaunchFormat> launch_format(std::string_view stack);

/// A setting by the path that it has in the file: "tensor_model_parallel_size",
/// "parallelism.tensor_parallel_degree".
struct LaunchSetting {
  std::string name;
  Value value;
};

/// All settings that say what the scenario asks for, as far as the format has any.
[[nodiscard]] std::vector<LaunchSetting> launch_settings(LaunchFormat format,
                                                         const Scenario& scenario);
/// Settings that differ between two scenarios, as the software's users write them:
/// "--micro-batch-size 2", "activation_checkpoint.mode = full"; "without --sequence-parallel".
[[nodiscard]] std::vector<std::string> changed_settings(LaunchFormat format,
                                                        const Scenario& before,
                                                        const Scenario& after);

struct LaunchFile {
  std::string text;
  /// What else must be told, and to whom: "training.sequence 2048: to the data".
  std::vector<std::string> elsewhere;
  /// What the format cannot say, and what would be run instead: "plan.schedule: zb-v: would be
  /// 1f1b". Nothing that changes neither time nor memory.
  std::vector<std::string> lost;
};
/// Throws InputError for a model that is no transformer.
[[nodiscard]] LaunchFile launch_file(LaunchFormat format, const Scenario& scenario);

}  // namespace titer
