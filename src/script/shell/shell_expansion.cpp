// Values put into words.

#include <algorithm>

#include "shell_reference.hpp"
#include "shell_values.hpp"
#include "shell_words.hpp"

namespace titer::shell {
namespace {

class Expansion {
 public:
  Expansion(Scope& scope, Unquoted unquoted) : scope_(scope), made_(scope.source, unquoted) {}

  void word(const Text& written) {
    for (std::size_t i = 0; i < written.size();) {
      const std::size_t plain = plain_end(written, i, "'\"\\$`");
      if (plain > i) {
        made_.append(written.part(i, plain));
        i = plain;
      } else {
        i = group(written, i);
      }
    }
  }
  /// Inside of double quotes, or of a document, in which quotes are escaped by nothing.
  void quoted(const Text& written, bool in_quotes) {
    for (std::size_t i = 0; i < written.size();) {
      const std::size_t plain = plain_end(written, i, "\\$`");
      if (plain > i) {
        made_.append(written.part(i, plain));
        i = plain;
        continue;
      }
      const char c = written.at(i);
      const char following = written.at(i + 1);
      if (c == '\\' && following == '\n') {
        i += 2;
      } else if (c == '\\' && (following == '$' || following == '`' || following == '\\' ||
                               (in_quotes && following == '"'))) {
        made_.add(following, written.place(i + 1));
        i += 2;
      } else {
        const bool is_group = c == '$' || c == '`';
        const std::size_t end = is_group ? end_of_group(written.chars, i) : i + 1;
        i = other(written, i, std::min(end, written.size()), true);
      }
    }
  }
  [[nodiscard]] MadeWords made() && { return std::move(made_); }

 private:
  /// One past the characters there that stand for themselves.
  static std::size_t plain_end(const Text& written, std::size_t from, std::string_view others) {
    return std::min(written.chars.find_first_of(others, from), written.size());
  }

  /// Puts what the quote, backslash or reference there stands for; one past it.
  std::size_t group(const Text& written, std::size_t i) {
    const char c = written.at(i);
    const std::size_t end = std::min(end_of_group(written.chars, i), written.size());
    if (c == '\'' || (c == '$' && written.at(i + 1) == '\'')) {
      const std::size_t open = i + (c == '$' ? 1 : 0);
      const std::size_t close = end_of_group(written.chars, open);
      made_.append(written.part(open + 1, close - 1));
      made_.hold_quotes();
      return close;
    }
    if (c == '"') {
      const std::size_t before = made_.begin_quotes();
      quoted(written.part(i + 1, end - 1), true);
      made_.end_quotes(before);
    } else if (c != '\\') {
      return other(written, i, end, false);
    } else if (written.at(i + 1) != '\n') {
      made_.append(written.part(i + 1, end));
    }
    return end;
  }

  /// The first word of a command.
  static std::string_view head_of(std::string_view inside) {
    inside.remove_prefix(std::min(inside.find_first_not_of(' '), inside.size()));
    return inside.substr(0, inside.find(' '));
  }

  std::size_t other(const Text& written, std::size_t i, std::size_t end, bool in_quotes) {
    if (written.at(i) == '$') {
      return reference(written, i, end, in_quotes);
    }
    made_.append(written.part(i, end));
    return end;
  }

  std::size_t reference(const Text& written, std::size_t i, std::size_t end, bool in_quotes) {
    const std::string_view chars = written.chars;
    const char following = written.at(i + 1);
    if (chars.substr(i, 3) == "$((") {
      arithmetic(written, i, end);
      return end;
    }
    if (following == '(') {
      command(written, i, end);
      return end;
    }
    if (following == '{') {
      braces(written.part(i + 2, end - 1), written.part(i, end), in_quotes);
      return end;
    }
    std::size_t name_end = end_of_name(chars, i + 1);
    if (name_end == i + 1 &&
        (is_digit(following) ||
         std::string_view("@*#?$!").find(following) != std::string_view::npos) &&
        following != '\0') {
      name_end = i + 2;
    }
    if (name_end == i + 1) {
      made_.append(written.part(i, i + 1));  // a dollar
      return i + 1;
    }
    const Text name = written.part(i + 1, name_end);
    braces(name, written.part(i, name_end), in_quotes);
    return name_end;
  }

  /// Of the commands $(…) expr computes, and date is a word for every file that is named by it;
  /// what another one prints is not known.
  void command(const Text& written, std::size_t i, std::size_t end) {
    constexpr std::string_view computes = "expr ";
    std::string inside = written.chars.substr(i + 2, end - i - 3);
    std::erase_if(inside, [](char c) { return c == '\\' || c == '"' || c == '\''; });
    const std::string_view head = head_of(inside);
    if (head == "date") {
      made_.append(Text::made(std::string(head), written.place(i)));
      return;
    }
    const auto value = inside.starts_with(computes)
                           ? calculate(scope_, std::string_view(inside).substr(computes.size()))
                           : std::nullopt;
    made_.append(value ? Text::made(std::to_string(*value), written.place(i))
                       : written.part(i, end));
  }

  void arithmetic(const Text& written, std::size_t i, std::size_t end) {
    const std::string_view inside = std::string_view(written.chars).substr(i + 3, end - i - 5);
    const auto value = calculate(scope_, inside);
    made_.append(value ? Text::made(std::to_string(*value), written.place(i))
                       : written.part(i, end));
  }

  /// `inside` of ${…}, or a name; `whole` is what stays where it is not known.
  void braces(const Text& inside, const Text& whole, bool in_quotes) {
    if (inside.size() > 1 && inside.at(0) == '#') {
      put_length(reference_of(std::string_view(inside.chars).substr(1)), whole);
      return;
    }
    if (inside.size() > 1 && inside.at(0) == '!' && put_indirect(inside, whole, in_quotes)) {
      return;
    }
    Reference to = reference_of(inside.chars);
    const std::string moved = moved_name(to.name);
    to.name = moved;
    if (to.name == "@" || to.name == "*") {
      made_.put_all(arguments_from(to.operation), in_quotes && to.name == "@");
      return;
    }
    const std::optional<Variable> value = value_of(scope_, to);
    if (to.name.empty() || to.changes()) {
      put_changed(value, to.operation, whole);
    } else if (!put_instead(to, value, inside, in_quotes)) {
      put_value(to, value, whole, in_quotes);
    }
  }

  /// ${!NAME[@]}, the places of an array's items, and ${!NAME}, what the variable holds whose name
  /// NAME holds; false for what is not known.
  bool put_indirect(const Text& inside, const Text& whole, bool in_quotes) {
    const Text named = inside.part(1, inside.size());
    const Reference to = reference_of(named.chars);
    const bool is_all = to.subscript == "@" || to.subscript == "*";
    const std::optional<Variable> value = value_of(scope_, to);
    if (to.name.empty() || !to.operation.empty() || !value || value->items.empty()) {
      return false;
    }
    if (is_all) {
      const Variable* const array = scope_.find(to.name);
      const bool by_names = array != nullptr && has_names(*array);
      std::vector<Text> places;
      for (std::size_t i = 0; i < value->items.size(); ++i) {
        places.push_back(Text::made(by_names ? name_of_item(array->items[i]) : std::to_string(i),
                                    whole.place(0)));
      }
      made_.put_all(places, in_quotes && to.subscript == "@");
      return true;
    }
    const Text& other = value->items.front();
    const bool is_name = !value->is_array && !other.empty() && !is_digit(other.at(0)) &&
                         end_of_name(other.chars, 0) == other.size();
    if (is_name) {
      braces(other, whole, in_quotes);
    }
    return is_name;
  }

  /// All arguments, or those that ${@:2} means.
  [[nodiscard]] std::vector<Text> arguments_from(std::string_view operation) {
    std::vector<Text> all = scope_.arguments.value_or(std::vector<Text>{});
    const auto from =
        operation.starts_with(':') ? calculate(scope_, operation.substr(1)) : std::nullopt;
    const auto gone =
        std::clamp<std::int64_t>(from.value_or(1) - 1, 0, static_cast<std::int64_t>(all.size()));
    all.erase(all.begin(), all.begin() + gone);
    return all;
  }

  /// What stands in the place of a value in ${NAME:-this}, ${NAME:=this} and ${NAME:+this}; false
  /// where the value itself is meant.
  bool put_instead(const Reference& to,
                   const std::optional<Variable>& value,
                   const Text& inside,
                   bool in_quotes) {
    const bool is_empty = value && !value->is_array && value->items.front().empty();
    const bool is_unset = !value || (to.operation.starts_with(':') && is_empty);
    const bool is_default = to.sign() == '-' || to.sign() == '=';
    if (to.sign() == '+' && is_unset) {
      return true;
    }
    if (to.sign() != '+' && !(is_default && is_unset && is_told_by_script(to))) {
      return false;
    }
    const Text instead = expand_text(scope_, inside.part(to.operand, inside.size()));
    if (to.sign() == '=') {
      scope_.set(std::string(to.name), {.items = {instead}});
    }
    made_.put_text(instead, in_quotes);
    return true;
  }

  void put_value(const Reference& to,
                 const std::optional<Variable>& value,
                 const Text& whole,
                 bool in_quotes) {
    if (!value) {
      put_open(to, whole);
    } else if (value->is_array) {
      made_.put_all(value->items, in_quotes && to.subscript != "*");
    } else {
      made_.put_text(value->items.front(), in_quotes);
    }
  }

  /// $1 after a shift was $2 before it, of a script whose arguments nobody knows.
  [[nodiscard]] std::string moved_name(std::string_view name) const {
    const bool moves =
        !name.empty() && is_digit(name.front()) && !scope_.arguments && scope_.shifted > 0;
    return moves ? std::to_string(std::stoul("0" + std::string(name.substr(0, 4))) + scope_.shifted)
                 : std::string(name);
  }

  /// What a value depends on in an open question is no default's to replace.
  [[nodiscard]] bool is_told_by_script(const Reference& to) const {
    const Variable* const found = scope_.find(to.name);
    return found == nullptr || !found->depends_on;
  }

  /// A change of a text that is not followed stays as it is written.
  void put_changed(const std::optional<Variable>& value,
                   std::string_view operation,
                   const Text& whole) {
    const bool is_text = value && !value->is_array && !is_open(value->items.front().chars);
    const std::optional<Text> made =
        is_text ? changed(scope_, value->items.front(), operation) : std::nullopt;
    if (made) {
      made_.put_text(*made, true);
    } else {
      made_.append(whole);
    }
  }

  /// ${#NAME}, ${#NAME[@]}: of what is not known, or may be several words, as it is written.
  void put_length(const Reference& of, const Text& whole) {
    const std::optional<Variable> value = value_of(scope_, of);
    const bool is_known =
        value && of.operation.empty() &&
        std::ranges::none_of(value->items, [](const Text& item) { return is_open(item.chars); });
    if (!is_known) {
      made_.append(whole);
      return;
    }
    const std::size_t length = value->is_array ? value->items.size() : value->items.front().size();
    made_.append(Text::made(std::to_string(length), whole.place()));
  }

  /// A default stands for nothing where the value is told in a way that is not known.
  void put_open(const Reference& to, const Text& whole) {
    const char sign = to.operation.empty() ? '-' : to.operation.back();
    const bool is_element = !to.subscript.empty() && to.subscript != "@" && to.subscript != "*";
    const bool is_plain =
        !is_element && std::string_view("-=+?").find(sign) != std::string_view::npos;
    made_.append(is_plain ? Text::made("${" + std::string(to.name) + "}", whole.place()) : whole);
  }

  Scope& scope_;
  MadeWords made_;
};

}  // namespace

std::vector<Text> expand_words(Scope& scope, const Text& written) {
  Expansion expansion(scope, Unquoted::splits);
  expansion.word(written);
  return std::move(expansion).made().words();
}

Text expand_text(Scope& scope, const Text& written) {
  Expansion expansion(scope, Unquoted::stays);
  expansion.word(written);
  return std::move(expansion).made().text();
}

Text expand_command(Scope& scope, const Text& written) {
  Expansion expansion(scope, Unquoted::joins);
  expansion.word(written);
  return std::move(expansion).made().text();
}

Text expand_document(Scope& scope, const Text& written) {
  Expansion expansion(scope, Unquoted::stays);
  expansion.quoted(written, false);
  return std::move(expansion).made().text();
}

}  // namespace titer::shell
