#include "titer/view/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "html_parts.hpp"
#include "html_style.hpp"
#include "plot_drawing.hpp"
#include "plot_style.hpp"
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

/// The value, and what stands behind it in brackets in small.
std::string card(const Figure& figure) {
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

std::string cards(const Figures& headline) {
  std::string text;
  for (const Figure& figure : headline) {
    if (!figure.label.empty() && figure.datum.exists()) {
      text += card(figure);
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

std::string plot_figure(const Plot& plot, std::size_t number) {
  return fmt::format("<figure>\n{}{}</figure>\n",
                     caption(plot.title, plot.note),
                     plot_element(plot, fmt::format("plot-{}", number)));
}

/// An SVG file's element, with its name for those who do not see it.
std::string named_svg(const Drawing& drawing) {
  std::string svg = drawing.svg;
  return svg.insert(std::string_view("<svg").size(),
                    fmt::format(R"( role="img" aria-label="{}")", escaped(drawing.title)));
}

std::string drawing_figure(const Drawing& drawing) {
  std::string picture;
  if (!drawing.svg.empty()) {
    const std::string frame =
        drawing.is_large
            ? fmt::format(R"(<div class="close" role="region" tabindex="0" aria-label="{}">)",
                          escaped(drawing.title))
            : "<div>";
    picture = fmt::format("{}\n{}</div>\n", frame, named_svg(drawing));
  }
  return fmt::format("<figure class=\"paper{}\">\n{}{}</figure>\n",
                     drawing.is_large ? " large" : "",
                     caption(drawing.title, drawing.note),
                     picture);
}

std::string pictures(const View& view) {
  std::string text;
  for (std::size_t i = 0; i < view.plots.size(); ++i) {
    text += plot_figure(view.plots[i], i + 1);
  }
  for (const Drawing& drawing : view.drawings) {
    text += drawing_figure(drawing);
  }
  return text.empty()
             ? text
             : fmt::format(
                   "<section class=\"pictures\" aria-label=\"pictures\">\n{}{}"
                   "</section>\n",
                   view.plots.empty() ? ""
                                      : fmt::format("<svg width=\"0\" height=\"0\" "
                                                    "style=\"position:absolute\" aria-hidden="
                                                    "\"true\">{}</svg>\n",
                                                    kPlotDefinitions),
                   text);
}

/// As they are: an end of line is none of the characters that would be written out.
std::string escaped_lines(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    safe += escaped(line) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return safe;
}

std::string appendix_element(const Appendix& appendix) {
  const std::string file =
      appendix.file.empty() ? "" : fmt::format("<pre>{}</pre>\n", escaped_lines(appendix.file));
  return fmt::format("<details>\n<summary>{}</summary>\n{}{}</details>\n",
                     escaped(appendix.title),
                     parts_of(appendix.text, false).body,
                     file);
}

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

std::string head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n{}\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      kNoNetwork,
      escaped(title),
      html_style());
}

}  // namespace

std::string html_style() { return fmt::format("{}{}", kReportStyle, kPlotStyle); }

std::string html_fragment_of(const View& view) {
  const TextParts parts = parts_of(view.text, view.title.empty(), view.headline);
  return fmt::format(
      "<h2 class=\"question\">{}</h2>\n{}{}{}{}"
      "<section class=\"answer\" aria-label=\"answer\">\n{}</section>\n",
      escaped(capitalized(view.title.empty() ? parts.title : view.title)),
      lead_element(parts),
      cards(view.headline),
      notes_element(parts.notes),
      pictures(view),
      parts.body);
}

std::string html_of(const View& view, const ReportOrigin& origin) {
  const TextParts parts = parts_of(view.text, view.title.empty(), view.headline);
  const std::string title = capitalized(view.title.empty() ? parts.title : view.title);
  return head(title) +
         fmt::format(
             "<body>\n<main>\n<header>\n<p class=\"kind\">Titer</p>\n<h1>{}</h1>\n"
             "{}</header>\n{}{}{}",
             escaped(title),
             lead_element(parts),
             cards(view.headline),
             notes_element(parts.notes),
             pictures(view)) +
         fmt::format(
             "<section class=\"answer\" aria-label=\"answer\">\n{}</section>\n{}{}</main>\n"
             "<script>{}</script>\n</body>\n</html>\n",
             parts.body,
             details(view),
             footer(origin),
             kReportScript);
}

}  // namespace titer
