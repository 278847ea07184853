#pragma once
// Words one behind the other, as a sentence lists them.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace titer {

/// Puts a part behind those that are there, with `between` them.
void add_listed(std::string& list, std::string_view part, std::string_view between = ", ");

/// "a, b, c": what `word` (a function or a member) says of each.
template <class Items, class Word = std::identity>
requires(!std::is_convertible_v<Word, std::string_view>) [[nodiscard]] std::string
    listed(const Items& items, const Word& word = {}, std::string_view between = ", ") {
  std::string list;
  for (const auto& item : items) {
    add_listed(list, std::invoke(word, item), between);
  }
  return list;
}

/// The same of texts with other words between them: "a + b + c".
template <class Items>
[[nodiscard]] std::string listed(const Items& items, std::string_view between) {
  return listed(items, std::identity(), between);
}

/// "a, b or c", where " or " is `before_last`.
[[nodiscard]] std::string listed_to_last(std::span<const std::string> items,
                                         std::string_view before_last);

}  // namespace titer
