#include "titer/view/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace titer {
namespace {

constexpr std::string_view kNotes = "notes";

/// Behind those that are there already.
void merge(Figures& figures, Figure notes) {
  const auto known = std::find_if(
      figures.begin(), figures.end(), [](const Figure& figure) { return figure.key == kNotes; });
  if (known == figures.end()) {
    figures.push_back(std::move(notes));
  } else if (!known->datum.exists()) {
    known->datum = std::move(notes.datum);
  } else if (known->datum.value().kind == Value::Kind::text) {
    known->datum = known->datum.value().text + "; " + notes.datum.value().text;
  } else {
    Value all = known->datum.value();
    for (const Value& note : notes.datum.value().items) {
      all.push(note);
    }
    known->datum = Datum(std::move(all));
  }
}

}  // namespace

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
  merge(view.figures, notes_figure(notes));
  view.columns = view.columns.empty() ? column_names(view.rows) : view.columns;
  const std::string columns = " " + view.columns + " ";
  view.columns += columns.find(" notes ") == columns.npos ? " notes" : "";
  for (Figures& row : view.rows) {
    merge(row, notes_column(notes));
  }
}

void add_notes(const std::vector<std::string>& notes, Value& json) {
  if (!notes.empty()) {
    json.add("notes", Datum(notes).value());
  }
}

}  // namespace titer
