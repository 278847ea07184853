#pragma once
// What programs take by themselves where a file does not tell. A setting that is not read here
// changes nothing where it says what would be taken without it.

#include <string_view>

namespace titer {

// Each a line for a setting: its name, a blank, and the value, a list as JSON.

[[nodiscard]] std::string_view usual_in_megatron();
[[nodiscard]] std::string_view usual_in_maxtext();
[[nodiscard]] std::string_view usual_in_neox();
[[nodiscard]] std::string_view usual_in_torchtitan();

}  // namespace titer
