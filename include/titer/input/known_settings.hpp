#pragma once
// What is known of other programs' settings: configs/settings.

#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

/// What configs/settings knows of a program's settings, by the name of this object in its file:
/// "harmless", "usual", "names" …; null for one that it has not.
[[nodiscard]] Value known_settings(std::string_view program, std::string_view object);

}  // namespace titer
