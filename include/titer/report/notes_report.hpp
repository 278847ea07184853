#pragma once
// What an answer has to say beside its numbers (answer_notes()), in any view of it. Where there is
// nothing to say a view is as without.

#include <span>
#include <string>
#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

/// "note: …", a line each.
[[nodiscard]] std::string notes_text(std::span<const std::string> notes);
/// A table with a last column `notes`, the same in every row.
[[nodiscard]] std::string csv_with_notes(std::string_view csv, std::span<const std::string> notes);
/// Adds the list `notes` to an object.
void add_notes(std::span<const std::string> notes, Value& json);

}  // namespace titer
