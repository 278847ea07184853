#pragma once
// An answer, as it is read: by people, as a table and as a tree. All three are made of the same
// figures.

#include <functional>
#include <string>
#include <vector>

#include "titer/view/plot.hpp"
#include "titer/view/text_view.hpp"

namespace titer {

/// Added figures leave it as it is; a changed meaning raises it.
inline constexpr int kFormatVersion = 1;

/// A picture that is no chart, as SVG; or why there is none.
struct Drawing {
  std::string title;
  std::string svg;
  std::string note = {};
  bool is_large = false;  // is looked at from close by
};

/// What is read beside an answer by whoever wants to know where it comes from.
struct Appendix {
  std::string title;
  TextView text;
  std::string file = {};  // the contents of one, shown as they are
};

struct View {
  TextView text;
  Figures figures;      // the tree
  FigureRows rows;      // the table
  std::string columns;  // of csv_of()
  /// What was asked, in the same columns whatever the answer: of each row of the table, so that
  /// tables of several questions can stand below one another.
  Figures asked = {};
  /// Write table and tree in place of these, where they have too many rows to be held as figures.
  std::function<std::string(const Figures& asked)> long_csv = {};
  std::function<std::string()> long_json = {};
  // For reports:
  std::string title = {};        // where the text's first line is none
  Figures headline = {};         // what is read first: figures with labels
  std::vector<Plot> plots = {};  // for pictures, too
  std::vector<Drawing> drawings = {};
  std::vector<Appendix> appendices = {};

  [[nodiscard]] std::string as_text(const TextStyle& style = {}) const { return text.write(style); }
  /// Of what was asked there is always a column of notes, last.
  [[nodiscard]] std::string as_csv() const;
  [[nodiscard]] Value as_json() const;
  /// As it is printed.
  [[nodiscard]] std::string json_text() const;
};

/// Where a report comes from.
struct ReportOrigin {
  std::string command;  // to be typed, to make it again
  std::string version;  // of the program
};
/// An answer as a report, one HTML file that needs no other and no network: headline, notes,
/// pictures, then all that the text has, appendices and the tree. It is well-formed XML, too. The
/// same view and origin are the same bytes.
[[nodiscard]] std::string html_of(const View& view, const ReportOrigin& origin);

/// The tree of an answer, with the version of its figures in front.
[[nodiscard]] Value answer_json(const Figures& figures);

/// "note: …", a line each.
[[nodiscard]] std::string notes_text(const std::vector<std::string>& notes);
/// The list of them; left out where there are none.
[[nodiscard]] Figure notes_figure(const std::vector<std::string>& notes);
/// All of them in the last column of a table; left out where there are none.
[[nodiscard]] Figure notes_column(const std::vector<std::string>& notes);
/// What is to be said beside an answer, in each view of it. Without notes it is as it was.
void add_notes(const std::vector<std::string>& notes, View& view);
/// The list of them in an object.
void add_notes(const std::vector<std::string>& notes, Value& json);

}  // namespace titer
