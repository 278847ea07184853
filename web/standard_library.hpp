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
#include <tuple>
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
/// Element by element: the library's own order of tuples would be made of this one.
template <class... T, size_t... i>
strong_ordering titer_order(const tuple<T...>& a, const tuple<T...>& b, index_sequence<i...>) {
  strong_ordering order = strong_ordering::equal;
  const auto compare = [&](const auto& one, const auto& other) {
    order = order != 0    ? order
            : one < other ? strong_ordering::less
            : other < one ? strong_ordering::greater
                          : order;
  };
  (compare(get<i>(a), get<i>(b)), ...);
  return order;
}
template <class... T>
strong_ordering operator<=>(const tuple<T...>& a, const tuple<T...>& b) {
  return titer_order(a, b, index_sequence_for<T...>());
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

/// A test of what a projection makes of an element.
template <class Test, class Projection>
constexpr auto titer_of(Test& test, Projection& projection) {
  return [&](auto&& one) { return std::invoke(test, std::invoke(projection, one)); };
}
/// An order likewise.
template <class Compare, class Projection>
constexpr auto titer_order(Compare& compare, Projection& projection) {
  return [&](auto&& a, auto&& b) {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  };
}

template <class Range, class Test, class Projection = identity>
constexpr bool any_of(Range&& range, Test test, Projection projection = {}) {
  return std::any_of(begin(range), end(range), titer_of(test, projection));
}
template <class Range, class Test, class Projection = identity>
constexpr bool all_of(Range&& range, Test test, Projection projection = {}) {
  return std::all_of(begin(range), end(range), titer_of(test, projection));
}
template <class Range, class Test, class Projection = identity>
constexpr bool none_of(Range&& range, Test test, Projection projection = {}) {
  return std::none_of(begin(range), end(range), titer_of(test, projection));
}
template <class Range, class Function, class Projection = identity>
constexpr void for_each(Range&& range, Function function, Projection projection = {}) {
  std::for_each(begin(range), end(range), titer_of(function, projection));
}
template <class Range, class T, class Projection = identity>
constexpr auto find(Range&& range, const T& value, Projection projection = {}) {
  return std::find_if(
      begin(range), end(range), [&](auto&& one) { return std::invoke(projection, one) == value; });
}
template <class Range, class Test, class Projection = identity>
constexpr auto find_if(Range&& range, Test test, Projection projection = {}) {
  return std::find_if(begin(range), end(range), titer_of(test, projection));
}
template <class Range, class Test, class Projection = identity>
constexpr auto find_if_not(Range&& range, Test test, Projection projection = {}) {
  return std::find_if_not(begin(range), end(range), titer_of(test, projection));
}
template <class Range, class Test = std::equal_to<>, class Projection = identity>
constexpr auto adjacent_find(Range&& range, Test test = {}, Projection projection = {}) {
  return std::adjacent_find(begin(range), end(range), titer_order(test, projection));
}
template <class Range, class T, class Projection = identity>
constexpr auto count(Range&& range, const T& value, Projection projection = {}) {
  return std::count_if(
      begin(range), end(range), [&](auto&& one) { return std::invoke(projection, one) == value; });
}
template <class Range, class Test, class Projection = identity>
constexpr auto count_if(Range&& range, Test test, Projection projection = {}) {
  return std::count_if(begin(range), end(range), titer_of(test, projection));
}
template <class One,
          class Other,
          class Test = std::equal_to<>,
          class P = identity,
          class Q = identity>
constexpr bool equal(One&& one, Other&& other, Test test = {}, P of_one = {}, Q of_other = {}) {
  return std::equal(begin(one), end(one), begin(other), end(other), [&](auto&& a, auto&& b) {
    return std::invoke(test, std::invoke(of_one, a), std::invoke(of_other, b));
  });
}

template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::sort(begin(range), end(range), titer_order(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
void stable_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::stable_sort(begin(range), end(range), titer_order(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr bool is_sorted(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::is_sorted(begin(range), end(range), titer_order(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr auto max_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::max_element(begin(range), end(range), titer_order(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
constexpr auto min_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::min_element(begin(range), end(range), titer_order(compare, projection));
}
template <class Range, class T, class Compare = std::less<>, class Projection = identity>
constexpr auto lower_bound(Range&& range,
                           const T& value,
                           Compare compare = {},
                           Projection projection = {}) {
  return std::lower_bound(begin(range), end(range), value, [&](auto&& one, const T& other) {
    return std::invoke(compare, std::invoke(projection, one), other);
  });
}
template <class Range, class T, class Compare = std::less<>, class Projection = identity>
constexpr auto upper_bound(Range&& range,
                           const T& value,
                           Compare compare = {},
                           Projection projection = {}) {
  return std::upper_bound(begin(range), end(range), value, [&](const T& other, auto&& one) {
    return std::invoke(compare, other, std::invoke(projection, one));
  });
}
template <class Range, class T>
constexpr bool binary_search(Range&& range, const T& value) {
  return std::binary_search(begin(range), end(range), value);
}

template <class Range, class T>
constexpr void fill(Range&& range, const T& value) {
  std::fill(begin(range), end(range), value);
}
template <class Range>
constexpr void reverse(Range&& range) {
  std::reverse(begin(range), end(range));
}
template <class Range, class T>
constexpr void replace(Range&& range, const T& before, const T& after) {
  std::replace(begin(range), end(range), before, after);
}
template <class Range, class Out>
constexpr Out copy(Range&& range, Out out) {
  return std::copy(begin(range), end(range), out);
}
template <class Range, class Out, class Test, class Projection = identity>
constexpr Out copy_if(Range&& range, Out out, Test test, Projection projection = {}) {
  return std::copy_if(begin(range), end(range), out, titer_of(test, projection));
}
template <class Range, class Out>
constexpr Out move(Range&& range, Out out) {
  return std::move(begin(range), end(range), out);
}
template <class Range, class Out, class Function>
constexpr Out transform(Range&& range, Out out, Function function) {
  return std::transform(
      begin(range), end(range), out, [&](auto&& one) { return std::invoke(function, one); });
}
template <class Range, class Other, class Out, class Function>
constexpr Out transform(Range&& range, Other&& other, Out out, Function function) {
  return std::transform(begin(range), end(range), begin(other), out, std::move(function));
}

}  // namespace ranges
}  // namespace std
