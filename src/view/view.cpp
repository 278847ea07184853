#include "titer/view/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titer {

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

Figure notes_figure(const std::vector<std::string>& notes) {
  return if_any({"notes", notes.empty() ? Datum() : Datum(notes)});
}

Figure notes_column(const std::vector<std::string>& notes) {
  return if_any({"notes", notes.empty() ? Datum() : fmt::format("{}", fmt::join(notes, "; "))});
}

void add_notes(const std::vector<std::string>& notes, View& view) {
  if (notes.empty()) {
    return;
  }
  view.text = TextView(notes_text(notes) + "\n").append(view.text);
  view.figures.push_back(notes_figure(notes));
  view.columns = (view.columns.empty() ? column_names(view.rows) : view.columns) + " notes";
  for (Figures& row : view.rows) {
    row.push_back(notes_column(notes));
  }
}

void add_notes(const std::vector<std::string>& notes, Value& json) {
  if (!notes.empty()) {
    json.add("notes", Datum(notes).value());
  }
}

}  // namespace titer
