#pragma once
// Reading the file of a name with what it starts from.

#include <filesystem>

#include "titer/scenario/source.hpp"

namespace titer {

/// The file's document. A chip, cluster, network or stack with a "base" (a name or file of its
/// kind) and what it changes of it is made whole: the base with its changes. Not inherited are
/// name, title, notes and calibration. Inherited figures say whose they are ("as X: …") and count
/// as extrapolated, unless the file says that both are the same silicon. Figures that follow others
/// (scenario/followed_figures.hpp) have their values. Throws InputError with the place of a base or
/// figure that is unknown, or that leads back to itself.
[[nodiscard]] Document load_whole(const DataKind& kind, const std::filesystem::path& path);
/// The same of a shipped name or a path, but that such figures say what they follow and have no
/// value.
[[nodiscard]] Document load_open(const DataKind& kind, std::string_view name_or_file);

/// Throws InputError with the value's place.
[[noreturn]] void refuse(const Document& document, const Value& value, std::string_view message);

}  // namespace titer
