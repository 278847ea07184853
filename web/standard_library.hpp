#pragma once
// What the C++20 standard library of Debian 12's Emscripten (libc++ 14) lacks of what the library
// uses. Every file of the page's build begins with it; no other build sees it.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace std {

/// Of floating point; as the standard has it neither spaces nor a plus sign come first.
template <class T>
requires is_floating_point_v<T> from_chars_result from_chars(const char* first,
                                                             const char* last,
                                                             T& value) {
  const bool begins =
      first != last && (*first == '-' || *first == '.' || (*first >= '0' && *first <= '9') ||
                        *first == 'i' || *first == 'n' || *first == 'I' || *first == 'N');
  const string text(first, last);
  const bool is_hexadecimal = text.find_first_of("xX") != string::npos;
  char* end = nullptr;
  errno = 0;
  const double parsed = strtod(text.c_str(), &end);
  if (!begins || end == text.c_str()) {
    return {first, errc::invalid_argument};
  }
  if (is_hexadecimal) {  // it ends before the x
    const char* at = first + text.find_first_of("xX");
    value = static_cast<T>(strtod(string(first, at).c_str(), nullptr));
    return {at, errc()};
  }
  const char* at = first + (end - text.c_str());
  if (errno == ERANGE) {
    return {at, errc::result_out_of_range};
  }
  value = static_cast<T>(parsed);
  return {at, errc()};
}

template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

template <class Character, class Traits, class Allocator>
strong_ordering operator<=>(const basic_string<Character, Traits, Allocator>& a,
                            const basic_string<Character, Traits, Allocator>& b) {
  return a.compare(b) <=> 0;
}
template <class List>
strong_ordering titer_order(const List& a, const List& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i] < b[i] || b[i] < a[i]) {
      return a[i] < b[i] ? strong_ordering::less : strong_ordering::greater;
    }
  }
  return a.size() <=> b.size();
}
template <class T, class Allocator>
strong_ordering operator<=>(const vector<T, Allocator>& a, const vector<T, Allocator>& b) {
  return titer_order(a, b);
}
template <class T, size_t n>
strong_ordering operator<=>(const array<T, n>& a, const array<T, n>& b) {
  return titer_order(a, b);
}
template <class T>
strong_ordering operator<=>(const optional<T>& a, const optional<T>& b) {
  if (!a || !b) {
    return a.has_value() <=> b.has_value();
  }
  return *a < *b   ? strong_ordering::less
         : *b < *a ? strong_ordering::greater
                   : strong_ordering::equal;
}

/// There is one thread: what would go on beside it is done at once.
class jthread {
 public:
  jthread() = default;
  template <class Function, class... Arguments>
  explicit jthread(Function&& function, Arguments&&... arguments) {
    std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
  }
};

namespace ranges {

template <class Range, class Test, class Projection = identity>
bool any_of(Range&& range, Test test, Projection projection = {}) {
  return std::any_of(begin(range), end(range), [&](auto&& one) {
    return std::invoke(test, std::invoke(projection, one));
  });
}
template <class Range, class Test>
bool all_of(Range&& range, Test test) {
  return std::all_of(begin(range), end(range), [&](auto&& one) { return std::invoke(test, one); });
}
template <class Range, class Test>
bool none_of(Range&& range, Test test) {
  return !ranges::any_of(range, std::move(test));
}
template <class Range, class Function>
void for_each(Range&& range, Function function) {
  std::for_each(begin(range), end(range), std::move(function));
}
template <class Range, class T, class Projection = identity>
auto find(Range&& range, const T& value, Projection projection = {}) {
  return std::find_if(
      begin(range), end(range), [&](auto&& one) { return std::invoke(projection, one) == value; });
}
template <class Range, class Test>
auto find_if(Range&& range, Test test) {
  return std::find_if(begin(range), end(range), [&](auto&& one) { return std::invoke(test, one); });
}
template <class Range>
void sort(Range&& range) {
  std::sort(begin(range), end(range));
}
template <class Range, class T>
void replace(Range&& range, const T& before, const T& after) {
  std::replace(begin(range), end(range), before, after);
}
template <class Range, class Out>
Out copy(Range&& range, Out out) {
  return std::copy(begin(range), end(range), out);
}
template <class Range, class Out, class Test>
Out copy_if(Range&& range, Out out, Test test) {
  return std::copy_if(begin(range), end(range), out, std::move(test));
}
template <class Range, class Out>
Out move(Range&& range, Out out) {
  return std::move(begin(range), end(range), out);
}
template <class Range, class Out, class Function>
Out transform(Range&& range, Out out, Function function) {
  return std::transform(
      begin(range), end(range), out, [&](auto&& one) { return std::invoke(function, one); });
}

}  // namespace ranges
}  // namespace std
