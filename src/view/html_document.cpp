#include <fmt/format.h>

#include "html_parts.hpp"
#include "titer/units/blanks.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr std::size_t kFiguresInShort = 4;  // of an answer, in the summary

/// With all headings one level deeper: they are parts of what has more of them.
std::string deeper(std::string html) {
  for (std::size_t at = html.find('<'); at != html.npos; at = html.find('<', at + 1)) {
    const std::size_t name = at + (html[at + 1] == '/' ? 2 : 1);
    if (html[name] == 'h' && (html[name + 1] == '2' || html[name + 1] == '3')) {
      ++html[name + 1];
    }
  }
  return html;
}

/// A paragraph for each line.
std::string paragraphs(std::string_view text) {
  std::string elements;
  for (const std::string_view line : words_of(text, "\n")) {
    elements += fmt::format("<p>{}</p>\n", escaped(line));
  }
  return elements;
}

std::string figures_in_short(const Figures& headline) {
  std::string text;
  std::size_t left = kFiguresInShort;
  for (const Figure& figure : headline) {
    if (left > 0 && !figure.label.empty() && figure.datum.exists()) {
      text += card_element(figure);
      --left;
    }
  }
  return text.empty() ? text : fmt::format("<dl>\n{}</dl>\n", text);
}

std::string title_of(const AnsweredQuestion& answer, const ViewElements& elements) {
  return answer.question.empty() ? elements.title : escaped(answer.question);
}

std::string verdict(const AnsweredQuestion& answer) {
  return answer.is_good ? "" : "<p class=\"no\">The answer is no.</p>\n";
}

std::string summary_item(const AnsweredQuestion& answer,
                         const ViewElements& elements,
                         std::size_t number) {
  return fmt::format("<li><a href=\"#answer-{}\">{}</a>\n{}{}{}</li>\n",
                     number,
                     title_of(answer, elements),
                     verdict(answer),
                     paragraphs(answer.text),
                     figures_in_short(answer.view.headline));
}

std::string article(const AnsweredQuestion& answer,
                    const ViewElements& elements,
                    std::size_t number,
                    std::size_t of) {
  return fmt::format(
      "<article id=\"answer-{0}\" aria-labelledby=\"question-{0}\">\n"
      "<header>\n<p class=\"kind\"><a href=\"#summary\">{0} of {1}</a></p>\n"
      "<h2 id=\"question-{0}\">{2}</h2>\n{3}{4}{5}</header>\n{6}{7}{8}"
      "<p class=\"again\">To answer it again:</p>\n<pre>{9}</pre>\n</article>\n",
      number,
      of,
      title_of(answer, elements),
      answer.question.empty() ? "" : fmt::format("<p class=\"title\">{}</p>\n", elements.title),
      verdict(answer) + paragraphs(answer.text),
      elements.lead,
      deeper(elements.figures),
      deeper(elements.answer),
      deeper(elements.details),
      escaped(answer.command));
}

}  // namespace

std::string html_of(const AnswerDocument& document, const ReportOrigin& origin) {
  std::string summary;
  std::string articles;
  bool has_plots = false;
  for (std::size_t i = 0; i < document.answers.size(); ++i) {
    const AnsweredQuestion& answer = document.answers[i];
    const ViewElements elements = elements_of(answer.view, fmt::format("answer-{}-", i + 1));
    summary += summary_item(answer, elements, i + 1);
    articles += article(answer, elements, i + 1, document.answers.size());
    has_plots = has_plots || !answer.view.plots.empty();
  }
  return page_of({.title = escaped(document.title),
                  .lead = paragraphs(document.text),
                  .body = fmt::format("<nav id=\"summary\" aria-labelledby=\"in-short\">\n"
                                      "<h2 id=\"in-short\">In short</h2>\n<ol>\n{}</ol>\n</nav>\n",
                                      summary) +
                          articles + appendix_element(document.questions),
                  .has_plots = has_plots},
                 origin);
}

}  // namespace titer
