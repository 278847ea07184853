#pragma once
// What a report is put together from: texts and trees as elements of HTML.

#include <string>
#include <string_view>
#include <vector>

#include "titer/view/html.hpp"

namespace titer {

/// What people read, taken apart.
struct TextParts {
  std::string title;              // its first line, as it is
  std::vector<std::string> lead;  // the lines below it, as they are
  std::vector<std::string> notes;
  std::string body;  // all others, as elements
};
/// `is_titled`: the first line is a title, and those below it tell of what. `headline`: a table of
/// nothing but these pairs is left out.
[[nodiscard]] TextParts parts_of(const TextView& text,
                                 bool is_titled,
                                 const Figures& headline = {});

/// With a capital at its begin.
[[nodiscard]] std::string capitalized(std::string_view words);
/// A text's heading, and what stands in its brackets or behind its colon.
[[nodiscard]] std::string heading_element(std::string_view line, std::string_view element = "h2");
/// One line, the word before a colon at its begin in bold.
[[nodiscard]] std::string line_element(std::string_view line, std::string_view element = "p");
/// Rows, the first perhaps headings; `aligns` of text_table(). `name`: for those who do not see it.
[[nodiscard]] std::string table_element(const TextView::Table& table, std::string_view name);

/// A figure with its label: the value, and what stands behind it in brackets in small.
[[nodiscard]] std::string card_element(const Figure& figure);
/// What need not be read, behind its title.
[[nodiscard]] std::string appendix_element(const Appendix& appendix);

/// An answer's parts, as elements.
struct ViewElements {
  std::string title;  // escaped
  std::string lead;
  std::string figures;  // headline, notes and pictures
  std::string answer;
  std::string details;  // appendices and the tree
};
/// `prefix`: of all identifiers in it, unless it is alone in its document.
[[nodiscard]] ViewElements elements_of(const View& view, const std::string& prefix);

/// A document: `title` is escaped, all else elements.
struct PageParts {
  std::string title;
  std::string lead;
  std::string body;
  bool has_plots = false;
};
[[nodiscard]] std::string page_of(const PageParts& parts, const ReportOrigin& origin);

/// All figures of a tree, as tables.
[[nodiscard]] std::string tree_elements(const Figures& figures);

}  // namespace titer
