#include "titer/view/view.hpp"

#include <algorithm>

#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::string_view kNotes = "notes";

/// Behind those that are there already.
void merge(Figures& figures, Figure notes) {
  const auto known = std::ranges::find(figures, kNotes, &Figure::key);
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

/// The columns of its table, one of notes among them.
std::string with_notes(const View& view) {
  const std::string columns = view.columns.empty() ? column_names(view.rows) : view.columns;
  return (" " + columns + " ").find(" notes ") == std::string::npos ? columns + " notes" : columns;
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
  return if_any({"notes", notes.empty() ? Datum() : listed(notes, "; ")});
}

std::string View::as_csv() const {
  if (long_csv) {
    return long_csv(asked);
  }
  return csv_of(rows, asked.empty() ? columns : with_notes(*this), asked);
}

Value View::as_json() const {
  return long_json ? parse_json(long_json(), "answer").root : answer_json(figures);
}

std::string View::json_text() const {
  return long_json ? long_json() : to_json(answer_json(figures)) + "\n";
}

Value answer_json(const Figures& figures) {
  return json_of(joined({{"format_version", kFormatVersion}}, figures));
}

void add_notes(const std::vector<std::string>& notes, View& view) {
  if (notes.empty()) {
    return;
  }
  view.text = TextView(notes_text(notes) + "\n").append(view.text);
  merge(view.figures, notes_figure(notes));
  view.columns = with_notes(view);
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
