#include "titer/report/explain_report.hpp"

#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"

namespace titer {
namespace {

/// A term on two lines: what it is, then how it comes about.
void append(std::string& text, const Term& term) {
  text += "  " + term.name + " = " + term.value + "\n";
  std::string how = term.formula;
  if (!term.numbers.empty()) {
    how += (how.empty() ? "" : "  =  ") + term.numbers;
  }
  if (!term.source.empty()) {
    how += (how.empty() ? "<- " : "   <- ") + term.source;
  }
  text += how.empty() ? "" : "      " + how + "\n";
}

}  // namespace

std::string explain_text(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections) {
    text += (text.empty() ? "" : "\n") + section.title + "\n";
    for (const Term& term : section.terms) {
      append(text, term);
    }
  }
  return text;
}

std::string explain_csv(const std::vector<Section>& sections) {
  std::string text = csv_line({"section", "term", "formula", "numbers", "value", "source"});
  for (const Section& section : sections) {
    for (const Term& term : section.terms) {
      text +=
          csv_line({section.title, term.name, term.formula, term.numbers, term.value, term.source});
    }
  }
  return text;
}

Value explain_json(const std::vector<Section>& sections) {
  Value list = Value::make_array();
  for (const Section& section : sections) {
    Value terms = Value::make_array();
    for (const Term& term : section.terms) {
      Value item = Value::make_object();
      item.add("name", Value(term.name));
      item.add("formula", Value(term.formula));
      item.add("numbers", Value(term.numbers));
      item.add("value", Value(term.value));
      item.add("source", Value(term.source));
      terms.push(std::move(item));
    }
    Value item = Value::make_object();
    item.add("title", Value(section.title));
    item.add("terms", std::move(terms));
    list.push(std::move(item));
  }
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  json.add("sections", std::move(list));
  return json;
}

}  // namespace titer
