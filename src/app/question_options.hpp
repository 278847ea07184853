#pragma once
// A question's options on the command line.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/option.hpp"

namespace CLI {
class App;
}

namespace titer {

class QuestionOptions {
 public:
  /// Adds `--key` for each option, but those that are not on the command line.
  QuestionOptions(CLI::App& app, std::vector<OptionWords> options);

  /// What was given, as a file would ask it; mistakes in it name the program's subcommand.
  [[nodiscard]] Document document() const;
  /// The same as words of a command, each behind a blank.
  [[nodiscard]] std::string typed() const;

 private:
  struct Given {
    OptionWords words;
    std::string text;
    std::vector<std::string> texts;
    bool flag = false;
  };

  std::string command_;
  std::vector<std::unique_ptr<Given>> given_;  // where the parser puts what it finds
};

/// How a choice is called.
template <class E, std::size_t N>
[[nodiscard]] constexpr std::string_view word_of(const std::array<Choice<E>, N>& choices, E value) {
  for (const Choice<E>& choice : choices) {
    if (choice.value == value) {
      return choice.name;
    }
  }
  return {};
}

/// `--format`, one of `choices`.
template <auto Member, const auto& choices>
[[nodiscard]] constexpr auto format_option(std::string_view about = "text, csv or json",
                                           std::string_view usual = "text") {
  return options::choice<Member, choices>("format", "FORMAT", about).or_else(usual);
}
/// `--out`.
template <auto Member>
[[nodiscard]] constexpr auto out_option(
    std::string_view about = "write to this file, whole or not at all") {
  return options::text<Member>("out", "FILE", about);
}

/// The options of a request, added to a subcommand; request() is what was given.
template <class R>
class RequestOptions {
 public:
  RequestOptions(CLI::App& app, std::span<const Option<R>> table)
      : table_(table.begin(), table.end()), options_(app, words_of(table)) {}
  [[nodiscard]] R request() const {
    return read_request(std::span<const Option<R>>(table_), options_.document());
  }
  [[nodiscard]] std::string typed() const { return options_.typed(); }

 private:
  std::vector<Option<R>> table_;
  QuestionOptions options_;
};

}  // namespace titer
