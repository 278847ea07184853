#include "titer/report/step/explain_report.hpp"

namespace titer {
namespace {

/// A term on two lines: what it is, then how it comes about.
std::string term_text(const Term& term) {
  std::string how = term.formula;
  if (!term.numbers.empty()) {
    how += (how.empty() ? "" : "  =  ") + term.numbers;
  }
  if (!term.source.empty()) {
    how += (how.empty() ? "<- " : "   <- ") + term.source;
  }
  return "  " + term.name + " = " + term.value + "\n" + (how.empty() ? "" : "      " + how + "\n");
}

Figures term_figures(const Term& term) {
  return {{"name", term.name},
          {"formula", term.formula},
          {"numbers", term.numbers},
          {"value", term.value},
          {"source", term.source}};
}

Figures section_figures(const Section& section) {
  return {{"title", section.title}, {"terms", rows_of(section.terms, term_figures)}};
}

}  // namespace

View explain_view(const std::vector<Section>& sections) {
  View view{.text = {},
            .figures = {{"sections", rows_of(sections, section_figures)}},
            .rows = {},
            .columns = "section term=name formula numbers value source"};
  for (const Section& section : sections) {
    view.text.add((view.text.empty() ? "" : "\n") + section.title + "\n");
    for (const Term& term : section.terms) {
      view.text.add(term_text(term));
      view.rows.push_back(joined({{"section", section.title}}, term_figures(term)));
    }
  }
  return view;
}

}  // namespace titer
