#include "titer/view/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "html_parts.hpp"
#include "html_style.hpp"
#include "plot_drawing.hpp"
#include "plot_style.hpp"
#include "titer/units/blanks.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongCard = 26;  // of a value in a card, which is words rather than a number

/// Nothing from elsewhere: neither to load nor to send.
constexpr std::string_view kNoNetwork =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; )"
    R"(style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>)";

/// A line may end behind the points of a path, which has no blanks.
std::string breakable(std::string_view words) {
  if (words.find(' ') != words.npos) {
    return escaped(words);
  }
  std::string text;
  while (!words.empty()) {
    const std::size_t point = std::min(words.find('.'), words.size() - 1);
    text += escaped(words.substr(0, point + 1));
    words.remove_prefix(point + 1);
    text += words.empty() || std::isdigit(static_cast<unsigned char>(words.front())) != 0
                ? ""
                : "<wbr/>";
  }
  return text;
}

}  // namespace

std::string card_element(const Figure& figure) {
  const std::string words = figure.datum.words();
  const std::size_t bracket = words.ends_with(')') ? words.find(" (") : words.npos;
  const std::string value = words.substr(0, bracket);
  const std::string rest =
      bracket == words.npos ? "" : words.substr(bracket + 2, words.size() - bracket - 3);
  return fmt::format("<div><dt>{}</dt><dd{}>{}{}</dd></div>\n",
                     escaped(figure.label),
                     value.size() > kLongCard ? R"( class="words")" : "",
                     breakable(value),
                     rest.empty() ? "" : fmt::format("<small>{}</small>", escaped(rest)));
}

namespace {

std::string cards(const Figures& headline) {
  std::string text;
  for (const Figure& figure : headline) {
    if (!figure.label.empty() && figure.datum.exists()) {
      text += card_element(figure);
    }
  }
  return text.empty() ? text : fmt::format("<dl class=\"cards\">\n{}</dl>\n", text);
}

/// The lines below the title.
std::string lead_element(const TextParts& parts) {
  std::string lead;
  for (const std::string& line : parts.lead) {
    lead += line_element(line);
  }
  return fmt::format("<div class=\"lead\">\n{}</div>\n", lead);
}

std::string notes_element(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += fmt::format("<li>{}</li>\n", escaped(note));
  }
  return text.empty() ? text
                      : fmt::format(
                            "<aside class=\"notes\" aria-label=\"notes\">\n<h2>To be known"
                            "</h2>\n<ul>\n{}</ul>\n</aside>\n",
                            text);
}

std::string caption(const std::string& title, const std::string& note) {
  return fmt::format("<figcaption><h2>{}</h2>{}</figcaption>\n",
                     escaped(title),
                     note.empty() ? "" : fmt::format("<p>{}</p>", escaped(note)));
}

std::string plot_figure(const Plot& plot, const std::string& id) {
  return fmt::format(
      "<figure>\n{}{}</figure>\n", caption(plot.title, plot.note), plot_element(plot, id));
}

/// With this before all identifiers of an SVG file, which others in the document may have, too.
std::string with_own_ids(std::string_view svg, std::string_view prefix) {
  std::string own;
  while (!svg.empty()) {
    std::size_t end = svg.npos;
    for (const std::string_view before : {R"( id=")", "url(#"}) {
      const std::size_t found = svg.find(before);
      end = found == svg.npos ? end : std::min(end, found + before.size());
    }
    own += svg.substr(0, end);
    own += end == svg.npos ? "" : prefix;
    svg.remove_prefix(std::min(end, svg.size()));
  }
  return own;
}

/// An SVG file's element, with its name for those who do not see it.
std::string named_svg(const Drawing& drawing, std::string_view prefix) {
  std::string svg = with_own_ids(drawing.svg, prefix);
  return svg.insert(std::string_view("<svg").size(),
                    fmt::format(R"( role="img" aria-label="{}")", escaped(drawing.title)));
}

std::string drawing_figure(const Drawing& drawing, std::string_view prefix) {
  std::string picture;
  if (!drawing.svg.empty()) {
    const std::string frame =
        drawing.is_large
            ? fmt::format(R"(<div class="close" role="region" tabindex="0" aria-label="{}">)",
                          escaped(drawing.title))
            : "<div>";
    picture = fmt::format("{}\n{}</div>\n", frame, named_svg(drawing, prefix));
  }
  return fmt::format("<figure class=\"paper{}\">\n{}{}</figure>\n",
                     drawing.is_large ? " large" : "",
                     caption(drawing.title, drawing.note),
                     picture);
}

std::string pictures(const View& view, const std::string& prefix) {
  std::string text;
  for (std::size_t i = 0; i < view.plots.size(); ++i) {
    text += plot_figure(view.plots[i], fmt::format("{}plot-{}", prefix, i + 1));
  }
  for (const Drawing& drawing : view.drawings) {
    text += drawing_figure(drawing, prefix);
  }
  return text.empty() ? text
                      : fmt::format(
                            "<section class=\"pictures\" aria-label=\"pictures\">\n{}"
                            "</section>\n",
                            text);
}

/// As they are: an end of line is none of the characters that would be written out.
std::string escaped_lines(std::string_view text) {
  std::string safe;
  for (const std::string_view line : divided(text, "\n")) {
    safe += escaped(line) + "\n";
  }
  return safe;
}

}  // namespace

std::string appendix_element(const Appendix& appendix) {
  const std::string file =
      appendix.file.empty() ? "" : fmt::format("<pre>{}</pre>\n", escaped_lines(appendix.file));
  return fmt::format("<details>\n<summary>{}</summary>\n{}{}</details>\n",
                     escaped(appendix.title),
                     parts_of(appendix.text, false).body,
                     file);
}

namespace {

std::string details(const View& view) {
  std::string text;
  for (const Appendix& appendix : view.appendices) {
    text += appendix_element(appendix);
  }
  const std::string tree = tree_elements(view.figures);
  return text + (tree.empty()
                     ? ""
                     : fmt::format("<details>\n<summary>All figures, as programs read them"
                                   "</summary>\n<p>In SI units, by the names that they have "
                                   "in JSON.</p>\n{}</details>\n",
                                   tree));
}

std::string footer(const ReportOrigin& origin) {
  return fmt::format(
      "<footer>\n<p>Made by titer {}. To make it again:</p>\n<pre>{}</pre>\n</footer>\n",
      escaped(origin.version),
      escaped(origin.command));
}

/// What all charts of a document refer to.
std::string definitions(bool are_needed) {
  return are_needed ? fmt::format(
                          "<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
                          "aria-hidden=\"true\">{}</svg>\n",
                          kPlotDefinitions)
                    : "";
}

}  // namespace

ViewElements elements_of(const View& view, const std::string& prefix) {
  const TextParts parts = parts_of(view.text, view.title.empty(), view.headline);
  return {.title = escaped(capitalized(view.title.empty() ? parts.title : view.title)),
          .lead = lead_element(parts),
          .figures = cards(view.headline) + notes_element(parts.notes) + pictures(view, prefix),
          .answer = fmt::format("<section class=\"answer\" aria-label=\"answer\">\n{}</section>\n",
                                parts.body),
          .details = details(view)};
}

std::string page_of(const PageParts& parts, const ReportOrigin& origin) {
  return fmt::format(
             "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
             "<head>\n<meta charset=\"utf-8\"/>\n{}\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
             "<title>{}</title>\n<style>{}</style>\n</head>\n",
             kNoNetwork,
             parts.title,
             html_style()) +
         fmt::format(
             "<body>\n{}<main>\n<header>\n<p class=\"kind\">Titer</p>\n<h1>{}</h1>\n"
             "{}</header>\n{}{}</main>\n<script>{}</script>\n</body>\n</html>\n",
             definitions(parts.has_plots),
             parts.title,
             parts.lead,
             parts.body,
             footer(origin),
             report_script());
}

std::string html_style() { return fmt::format("{}{}", report_style(), kPlotStyle); }

std::string html_fragment_of(const View& view) {
  const ViewElements elements = elements_of(view, "");
  return fmt::format("{}<h2 class=\"question\">{}</h2>\n{}{}{}",
                     definitions(!view.plots.empty()),
                     elements.title,
                     elements.lead,
                     elements.figures,
                     elements.answer);
}

std::string html_of(const View& view, const ReportOrigin& origin) {
  const ViewElements elements = elements_of(view, "");
  return page_of({.title = elements.title,
                  .lead = elements.lead,
                  .body = elements.figures + elements.answer + elements.details,
                  .has_plots = !view.plots.empty()},
                 origin);
}

}  // namespace titer
