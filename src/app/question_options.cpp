#include "question_options.hpp"

#include <CLI/CLI.hpp>

#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// "--accept-unknown", or "files" of what stands without its name.
std::string name_of(const OptionWords& option) {
  return dashed(option).substr(option.is_first ? 2 : 0);
}

/// As JSON has a number; what is none stays a text, which is refused where it is read.
Value number_in(const std::string& text) {
  const Value value = parse_assignment("n=" + text).value;
  return value.kind == Value::Kind::number ? value : Value(text);
}

bool is_list(OptionKind kind) { return kind == OptionKind::texts || kind == OptionKind::changes; }

}  // namespace

QuestionOptions::QuestionOptions(CLI::App& app, std::vector<OptionWords> options)
    : command_("titer " + app.get_name()) {
  for (const OptionWords& words : options) {
    Given& given = *given_.emplace_back(std::make_unique<Given>());
    given.words = words;
    const std::string name = name_of(words);
    const std::string about(words.about);
    CLI::Option* option = nullptr;
    if (words.kind == OptionKind::flag) {
      option = app.add_flag(name, given.flag, about);
    } else if (is_list(words.kind)) {
      option = app.add_option(name, given.texts, about);
      if (!words.is_first) {
        option->take_all()->allow_extra_args(false);
      }
    } else {
      option = app.add_option(name, given.text, about);
    }
    option->type_name(std::string(words.type))->required(words.is_needed);
    if (!words.usual.empty()) {
      option->default_str(std::string(words.usual));
    }
    if (!words.beside.empty()) {
      option->needs(app.get_option(dashed({.key = words.beside, .type = {}, .about = {}})));
    }
  }
}

Document QuestionOptions::document() const {
  Document document{.root = Value::make_object(), .sources = {command_}};
  const auto add = [&](const OptionWords& words, Value value) {
    value.origin = {.source = static_cast<int>(document.sources.size())};
    document.sources.push_back(command_ + " " + name_of(words));
    document.root.add(std::string(words.key), std::move(value));
  };
  for (const auto& given : given_) {
    const OptionKind kind = given->words.kind;
    if (given->flag) {
      add(given->words, Value(true));
    } else if (is_list(kind) && !given->texts.empty()) {
      Value list = Value::make_array();
      for (const std::string& text : given->texts) {
        list.push(Value(text));
      }
      add(given->words, std::move(list));
    } else if (!given->text.empty()) {
      const bool is_number = kind == OptionKind::integer || kind == OptionKind::number;
      add(given->words, is_number ? number_in(given->text) : Value(given->text));
    }
  }
  document.root.origin.source = 0;
  return document;
}

std::string QuestionOptions::typed() const {
  std::string words;
  for (const auto& given : given_) {
    const std::string name = given->words.is_first ? "" : " " + dashed(given->words);
    words += given->flag ? name : "";
    words += given->text.empty() ? "" : name + " " + shell_word(given->text);
    for (const std::string& text : given->texts) {
      words += name + " " + shell_word(text);
    }
  }
  return words;
}

}  // namespace titer
