#include "titer/report/notes_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "titer/report/table.hpp"

namespace titer {

std::string notes_text(std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

std::string csv_with_notes(std::string_view csv, std::span<const std::string> notes) {
  if (notes.empty()) {
    return std::string(csv);
  }
  const std::string cell = csv_line({fmt::format("{}", fmt::join(notes, "; "))});
  std::string text;
  bool quoted = false;
  bool is_first = true;
  for (const char c : csv) {
    quoted = quoted != (c == '"');
    if (c == '\n' && !quoted) {
      text += is_first ? ",notes\n" : "," + cell;
      is_first = false;
    } else {
      text += c;
    }
  }
  return text;
}

void add_notes(std::span<const std::string> notes, Value& json) {
  if (notes.empty()) {
    return;
  }
  Value lines = Value::make_array();
  for (const std::string& note : notes) {
    lines.push(Value(note));
  }
  json.add("notes", std::move(lines));
}

}  // namespace titer
