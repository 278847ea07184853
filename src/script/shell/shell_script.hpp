#pragma once
// A shell script as commands: what bash would make of it before it runs anything.

#include <string>
#include <vector>

#include "shell_text.hpp"

namespace titer::shell {

struct Command;
using Commands = std::vector<Command>;

/// NAME=value, NAME+=value, NAME=( … ); as written, with its quotes.
struct Assignment {
  std::string name;
  bool appends = false;
  bool is_array = false;
  std::vector<Text> values{};  // one, unless of an array
};

/// What cat <<END > name writes.
struct HereDocument {
  Text text;
  bool expands = true;  // END is not quoted
};

/// Of an if (a condition; none is the else) or a case (patterns).
struct Branch {
  Commands condition;
  std::vector<Text> patterns;
  Commands body;
};

struct Command {
  enum class Kind { simple, conditional, choice, list, loop, group, function };
  /// How it follows the one before it.
  enum class Joint { next, and_then, or_else, piped };

  Kind kind = Kind::simple;
  Joint joint = Joint::next;
  Origin at{};
  std::vector<Assignment> assignments{};
  std::vector<Text> words{};       // as written; of a case what is chosen by, of a list its items
  std::vector<Branch> branches{};  // of a loop one, with the condition
  std::vector<Text> counts{};      // of for (( … )): what is done before it and after each turn
  std::string name{};  // of a function, of what a list goes over; of a loop its first word
  Commands body{};
  std::vector<HereDocument> documents{};
  Text writes_to{};  // a file that it is redirected to
  bool appends = false;
};

/// Throws InputError for a quote, bracket or parenthesis that is not closed; a word that should
/// close something and never comes is taken to stand at the end.
[[nodiscard]] Commands parse_script(const Text& text, const std::string& source);

}  // namespace titer::shell
