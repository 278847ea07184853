#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "html_parts.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/svg.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::string_view kNote = "note: ";
constexpr std::size_t kLongestKey = 20;  // "training" of "training: …"
constexpr std::size_t kManyColumns = 9;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::vector<Row> pairs_of(const Figures& figures) {
  std::vector<Row> rows;
  for (const Figure& figure : figures) {
    if (!figure.label.empty() && figure.datum.exists()) {
      rows.push_back({figure.label, figure.datum.words()});
    }
  }
  return rows;
}

/// A cell of bar_text(): how long it is, and which way it goes.
std::string bar_cell(std::string_view marks) {
  const double width = 100.0 * static_cast<double>(marks.size()) / static_cast<double>(kBarMarks);
  const bool is_less = marks.starts_with('-');
  return fmt::format(R"(<td class="bar" aria-hidden="true"><i{} style="width:{:.3g}%"></i></td>)",
                     is_less ? R"( class="less")" : "",
                     width);
}

/// `scope`: of a heading; "" for other cells.
std::string cell_element(const std::string& cell, char align, std::string_view scope) {
  if (align == 'b' && scope != "col") {
    return bar_cell(cell);
  }
  constexpr std::size_t short_words = 32;  // that a narrow screen does not break
  const std::string_view number = align == 'r'                 ? " class=\"n\""
                                  : cell.size() <= short_words ? " class=\"s\""
                                                               : "";
  return scope.empty() ? fmt::format("<td{}>{}</td>", number, escaped(cell))
                       : fmt::format("<th scope=\"{}\"{}>{}</th>", scope, number, escaped(cell));
}

std::string row_element(const Row& row, std::string_view aligns, bool is_heading) {
  std::string text;
  for (std::size_t column = 0; column < row.size(); ++column) {
    const char align = column < aligns.size() ? aligns[column] : 'r';
    const std::string_view scope = is_heading ? "col" : column == 0 ? "row" : "";
    text += cell_element(row[column], align, scope);
  }
  return fmt::format("<tr>{}</tr>\n", text);
}

class TextReader {
 public:
  TextReader(bool is_titled, const Figures& headline)
      : headline_(pairs_of(headline)), is_lead_(is_titled) {}

  TextParts read(const TextView& text) {
    for (const TextView::Block& block : text.blocks()) {
      if (const auto* table = std::get_if<TextView::Table>(&block)) {
        add_table(*table);
      } else {
        for (const std::string_view line : divided(std::get<std::string>(block), "\n")) {
          add_line(line);
        }
      }
    }
    end_lines();
    return std::move(parts_);
  }

 private:
  void add_line(std::string_view line) {
    if (line.starts_with(kNote)) {
      parts_.notes.emplace_back(line.substr(kNote.size()));
    } else if (indent_of(line) == line.size()) {
      is_lead_ = is_lead_ && parts_.title.empty();
      end_lines();
    } else if (is_lead_ && parts_.title.empty()) {
      parts_.title = line;
    } else if (is_lead_) {
      parts_.lead.emplace_back(line.substr(indent_of(line)));
    } else {
      pending_.emplace_back(line);
    }
  }

  void add_table(const TextView::Table& table) {
    if (is_lead_ && !parts_.lead.empty() && table.has_heading) {
      pending_.push_back(parts_.lead.back());  // it heads the table
      parts_.lead.pop_back();
    }
    is_lead_ = false;
    std::string heading;
    if (!pending_.empty() && indent_of(pending_.back()) == 0) {
      heading = pending_.back();
      pending_.pop_back();
    }
    end_lines();
    if (!heading.empty()) {
      parts_.body += heading_element(heading);
    }
    const bool is_known =
        std::ranges::all_of(table.rows, [&](const Row& row) { return includes(headline_, row); });
    if (table.has_heading || !is_known) {
      parts_.body += table_element(table, heading.empty() ? "figures" : heading);
    }
  }

  /// Writes the lines that belong together: those farther in are items below the one before.
  void end_lines() {
    std::size_t item = 0;  // how far in the items are; 0: no list is open
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const std::string& line = pending_[i];
      const std::size_t indent = indent_of(line);
      const std::string_view words = std::string_view(line).substr(indent);
      if (indent > 0 && item > 0 && indent > item) {
        parts_.body.resize(parts_.body.size() - std::string_view("</li>\n").size());
        parts_.body += fmt::format("<span class=\"more\">{}</span></li>\n", escaped(words));
        continue;
      }
      if (indent > 0) {
        parts_.body += item == 0 ? "<ul class=\"lines\">\n" : "";
        item = indent;
        parts_.body += line_element(words, "li");
        continue;
      }
      parts_.body += item > 0 ? "</ul>\n" : "";
      item = 0;
      const bool heads = i + 1 < pending_.size() && indent_of(pending_[i + 1]) > 0;
      parts_.body += heads ? heading_element(words) : line_element(words);
    }
    parts_.body += item > 0 ? "</ul>\n" : "";
    pending_.clear();
  }

  std::vector<Row> headline_;
  TextParts parts_;
  bool is_lead_;
  std::vector<std::string> pending_;
};

}  // namespace

std::string capitalized(std::string_view words) {
  std::string text(words);
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text;
}

TextParts parts_of(const TextView& text, bool is_titled, const Figures& headline) {
  return TextReader(is_titled, headline).read(text);
}

std::string heading_element(std::string_view line, std::string_view element) {
  while (line.ends_with(':')) {
    line.remove_suffix(1);
  }
  std::size_t end = line.size();
  for (const std::string_view between : {" (", ": ", "; "}) {
    end = std::min(end, line.find(between));
  }
  std::string_view rest = line.substr(end);
  const bool in_brackets = rest.starts_with(" (") && rest.ends_with(')');
  if (!rest.empty()) {
    rest.remove_prefix(rest.starts_with(" (") && !in_brackets ? 1 : 2);
    rest.remove_suffix(in_brackets ? 1 : 0);
  }
  return fmt::format("<{0}>{1}</{0}>\n{2}",
                     element,
                     escaped(capitalized(line.substr(0, end))),
                     rest.empty() ? "" : fmt::format("<p class=\"of\">{}</p>\n", escaped(rest)));
}

std::string line_element(std::string_view line, std::string_view element) {
  const std::size_t colon = line.find(": ");
  const bool has_key = colon <= kLongestKey;
  if (!has_key) {
    return fmt::format("<{0}>{1}</{0}>\n", element, escaped(line));
  }
  return fmt::format("<{0}><b>{1}:</b>{2}</{0}>\n",
                     element,
                     escaped(line.substr(0, colon)),
                     escaped(line.substr(colon + 1)));
}

std::string table_element(const TextView::Table& table, std::string_view name) {
  const std::size_t columns = table.rows.empty() ? 0 : table.rows.front().size();
  const std::size_t headings = table.has_heading ? 1 : 0;
  std::string head;
  std::string body;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    (row < headings ? head : body) += row_element(table.rows[row], table.aligns, row < headings);
  }
  return fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table{}>\n"
      "{}{}</table>\n</div>\n",
      escaped(name),
      columns >= kManyColumns ? " class=\"many\"" : "",
      head.empty() ? "" : fmt::format("<thead>{}</thead>\n", head),
      body.empty() ? "" : fmt::format("<tbody>\n{}</tbody>\n", body));
}

}  // namespace titer
