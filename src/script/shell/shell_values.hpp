#pragma once
// What a script's words come to with what it sets: expansions, arithmetic and tests. What the
// script does not tell stays as it is written: ${NAME}, $( … ).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell_text.hpp"

namespace titer::shell {

struct Reference;

/// A condition that nothing in the file decides, and what was compared there.
struct Question {
  Origin at{};
  std::string condition{};             // as written
  std::string variable{};              // whose value would decide it; "" where none would
  std::vector<std::string> answers{};  // values that it is compared with
};

struct Variable {
  std::vector<Text> items;  // one, unless it is an array
  bool is_array = false;
  /// Set where its value is another one in every branch of an open question.
  std::optional<Question> depends_on{};
  std::vector<std::string> flags{};  // that it holds in one of the branches
};

using Variables = std::map<std::string, Variable, std::less<>>;

/// Of what a script sets, and what is set from outside. Values are handed on as text.
struct Scope {
  std::string source;  // the name of its file
  Variables variables;
  /// What the caller sets; nothing in the script changes these.
  const std::map<std::string, std::string, std::less<>>* defines = nullptr;
  /// Of the function that is called; none at the outermost, whose arguments nobody knows.
  std::optional<std::vector<Text>> arguments{};
  std::size_t shifted = 0;  // that many of the outermost's are gone

  [[nodiscard]] const std::string* defined(std::string_view name) const;
  [[nodiscard]] const Variable* find(std::string_view name) const;
  void set(const std::string& name, Variable value);
};

/// What a reference means, without its operation; nothing where that is not known.
[[nodiscard]] std::optional<Variable> value_of(Scope& scope, const Reference& to);

/// Whether it is an array whose items have names: ([350M]=24 [7B]=32).
[[nodiscard]] bool has_names(const Variable& array);
/// "350M" of the item [350M]=24.
[[nodiscard]] std::string name_of_item(const Text& item);

/// Words as commands get them: with values put in, split where they are not quoted, quotes away.
[[nodiscard]] std::vector<Text> expand_words(Scope& scope, const Text& written);
/// The same unsplit, as a value of an assignment.
[[nodiscard]] Text expand_text(Scope& scope, const Text& written);
/// The same as eval gets it: quotes within values stay, and lines of values are joined.
[[nodiscard]] Text expand_command(Scope& scope, const Text& written);
/// Of a here-document, in which quotes stand for themselves.
[[nodiscard]] Text expand_document(Scope& scope, const Text& written);

/// Words of a text that was handed on without quotes around it.
[[nodiscard]] std::vector<Text> split_words(const Text& text);

/// Leaves of words that come from a value what stands before a pipe, a redirection or whatever else
/// ends a command; true if there was one. A shell that is given them as words would hand these
/// signs to the program, which knows none of them: they are meant for a shell, as in a text for
/// eval.
bool end_command(std::vector<Text>& words);

/// Integer arithmetic as in $(( … )); names are variables. Empty where something is not known.
[[nodiscard]] std::optional<std::int64_t> calculate(Scope& scope, std::string_view expression);

/// Whether a text still refers to something that the script does not tell.
[[nodiscard]] bool is_open(std::string_view text);

/// A value that an expression gives a variable: i = 0, i++, i += 2.
struct Counted {
  std::string name;
  std::int64_t value = 0;
};
/// Of the expressions between commas, in order, as far as their values are known; empty where an
/// expression gives none or its value is not known.
[[nodiscard]] std::optional<std::vector<Counted>> counted(Scope& scope, std::string_view list);

/// Whether all of a text is what the pattern with its * and ? stands for.
[[nodiscard]] bool fits(std::string_view text, std::string_view pattern);

/// What ${NAME…} makes of a value by what stands after the name: cut ends (%, %%, #, ##),
/// replacements (/, //), slices (:1:2) and cases (,, and ^^). Empty where that is not followed.
[[nodiscard]] std::optional<Text> changed(Scope& scope,
                                          const Text& value,
                                          std::string_view operation);

/// What a test comes to.
struct Verdict {
  enum class Kind { yes, no, open };
  Kind kind = Kind::open;
  bool is_guess = false;  // about files, or what is not set: as at a first start
  Question question{};    // of an open one
};
/// The words of a command from "[", "[[", "test" or "((" on, as written.
[[nodiscard]] Verdict judge(Scope& scope, const std::vector<Text>& words, Origin at);
[[nodiscard]] bool is_test(const std::vector<Text>& words);
/// Whether a word of a case is what the pattern stands for; open where it is not known.
[[nodiscard]] Verdict::Kind matches(Scope& scope, const Text& subject, const Text& pattern);

}  // namespace titer::shell
