#pragma once
// What of other programs' settings changes neither time nor memory of a step, or no more than the
// figures of a stack hold for, by format. What is neither read nor here may change the result.

#include <array>
#include <span>

#include "titer/import/settings.hpp"

namespace titer {

inline constexpr std::string_view kLaunch = "how processes are launched";

/// Whatever the program is: what names itself as of logs, data, checkpoints or lengths.
[[nodiscard]] std::span<const HarmlessSettings> harmless_by_name();
/// Of Megatron-LM, Megatron-Core and what launches them; with dashes as underscores.
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_megatron();
/// Besides, of NeMo's trainer and of the sections of Megatron-Bridge.
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_nemo();
/// Besides, of Megatron-DeepSpeed.
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_megatron_deepspeed();
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_deepspeed();
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_neox();
[[nodiscard]] std::span<const HarmlessSettings> harmless_in_torchtitan();

}  // namespace titer
