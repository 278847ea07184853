// ${NAME%.json}, ${NAME##*/}, ${NAME/a/b}, ${NAME:0:2}, ${NAME,,}: values that are cut and changed.

#include <algorithm>

#include "shell_values.hpp"

namespace titer::shell {
namespace {

constexpr std::size_t kLongestCut = 4096;  // ends are found by trying them

/// A pattern or replacement as it is written, with the values of what it refers to.
std::optional<std::string> operand(Scope& scope, std::string_view written) {
  std::string text =
      expand_text(scope, Text::made(written, {.source = 0, .line = 1, .column = 1})).chars;
  const bool is_plain = !is_open(text) && text.find('[') == std::string::npos;
  return is_plain ? std::optional(std::move(text)) : std::nullopt;
}

/// Less the shortest or longest end that the pattern fits, or as it is.
Text cut_end(const Text& value, const std::string& pattern, bool longest) {
  for (std::size_t i = 0; i <= value.size(); ++i) {
    const std::size_t from = longest ? i : value.size() - i;
    if (fits(std::string_view(value.chars).substr(from), pattern)) {
      return value.part(0, from);
    }
  }
  return value;
}

Text cut_begin(const Text& value, const std::string& pattern, bool longest) {
  for (std::size_t i = 0; i <= value.size(); ++i) {
    const std::size_t end = longest ? value.size() - i : i;
    if (fits(std::string_view(value.chars).substr(0, end), pattern)) {
      return value.part(end, value.size());
    }
  }
  return value;
}

/// "a/b", with all of the places for "/a/b".
std::optional<Text> replaced(Scope& scope, const Text& value, std::string_view operation) {
  const bool all = operation.starts_with('/');
  operation.remove_prefix(all ? 1 : 0);
  const std::size_t slash = std::min(operation.find('/'), operation.size());
  const auto pattern = operand(scope, operation.substr(0, slash));
  const auto by = operand(scope, operation.substr(std::min(slash + 1, operation.size())));
  if (!pattern || pattern->empty() || !by || pattern->find_first_of("#%*?") != std::string::npos) {
    return std::nullopt;
  }
  Text made;
  std::size_t next = 0;
  for (std::size_t at = value.chars.find(*pattern); at != std::string::npos;
       at = all ? value.chars.find(*pattern, next) : std::string::npos) {
    made.append(value.part(next, at));
    made.append(Text::made(*by, value.place(at)));
    next = at + pattern->size();
  }
  made.append(value.part(next, value.size()));
  return made;
}

/// "1", "1:2", ": -3".
std::optional<Text> slice(Scope& scope, const Text& value, std::string_view operation) {
  const std::size_t colon = std::min(operation.find(':'), operation.size());
  const auto size = static_cast<std::int64_t>(value.size());
  const auto from = calculate(scope, operation.substr(0, colon));
  const auto length = colon == operation.size() ? std::optional(size)
                                                : calculate(scope, operation.substr(colon + 1));
  if (!from || !length) {
    return std::nullopt;
  }
  const std::int64_t begin = std::clamp<std::int64_t>(*from < 0 ? size + *from : *from, 0, size);
  const std::int64_t rest = size - begin;
  const std::int64_t kept =
      std::clamp<std::int64_t>(*length < 0 ? rest + *length : *length, 0, rest);
  return value.part(static_cast<std::size_t>(begin), static_cast<std::size_t>(begin + kept));
}

Text in_case(Text value, std::string_view operation) {
  const bool lower = operation.front() == ',';
  const std::size_t end =
      operation.size() == 2 ? value.size() : std::min<std::size_t>(value.size(), 1);
  for (std::size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(value.chars[i]);
    value.chars[i] = static_cast<char>(lower ? std::tolower(byte) : std::toupper(byte));
  }
  return value;
}

}  // namespace

bool fits(std::string_view text, std::string_view pattern) {
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  std::size_t at = 0;
  std::size_t in = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resume = at;
    } else if (in < pattern.size() && (pattern[in] == text[at] || pattern[in] == '?')) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

std::optional<Text> changed(Scope& scope, const Text& value, std::string_view operation) {
  if (operation == ",," || operation == "^^" || operation == "," || operation == "^") {
    return in_case(value, operation);
  }
  const char sign = operation.empty() ? '\0' : operation.front();
  if (sign == '/' || sign == ':') {
    operation.remove_prefix(1);
    return sign == '/' ? replaced(scope, value, operation) : slice(scope, value, operation);
  }
  if (sign != '%' && sign != '#') {
    return std::nullopt;
  }
  if (value.size() > kLongestCut) {
    return std::nullopt;
  }
  const bool longest = operation.size() > 1 && operation[1] == sign;
  const auto pattern = operand(scope, operation.substr(longest ? 2 : 1));
  if (!pattern) {
    return std::nullopt;
  }
  return sign == '%' ? cut_end(value, *pattern, longest) : cut_begin(value, *pattern, longest);
}

}  // namespace titer::shell
