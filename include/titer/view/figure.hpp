#pragma once
// A figure of an answer: what programs call it and read of it, and what people do. It is stated
// once, and every view of the answer is written from it.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

template <int T, int D, int W, int E>
class Quantity;  // titer/units/quantity.hpp, for who makes figures of some

/// How people read a number: in the unit that suits its size, or by a format of fmt's.
struct NumberStyle {
  std::string_view format = {};           // "" for four digits
  double scale = 1;                       // of the number that programs read
  std::string (*unit)(double) = nullptr;  // goes before the format
};
inline constexpr NumberStyle kPercent = {.format = "{:.1f} %", .scale = 100};
inline constexpr NumberStyle kWholePercent = {.format = "{:.0f} %", .scale = 100};
inline constexpr NumberStyle kSignedPercent = {.format = "{:+.1f} %", .scale = 100};
inline constexpr NumberStyle kGibibytes = {.format = "{:.2f}", .scale = 1.0 / (1 << 30)};

/// Defined for the quantities that text can have.
template <class Q>
[[nodiscard]] std::string in_units(double si);
/// A number in the units of a quantity.
template <class Q>
inline constexpr NumberStyle kUnitsOf = {.unit = &in_units<Q>};

struct Figure;
using Figures = std::vector<Figure>;
using FigureRows = std::vector<Figures>;

/// The value of a figure, made of whatever it is: a number or a quantity, a text, a list, figures.
/// Made of nothing there is none: null, an empty cell, "-".
class Datum {
 public:
  Datum() = default;
  Datum(Value value) : value_(std::move(value)) {}  // NOLINT: a value is its own datum
  template <class T>
  requires std::is_arithmetic_v<T> Datum(T number) : value_(as_json(number)) {}  // NOLINT
  template <class T>
  // NOLINTNEXTLINE: a text is its own datum
  requires std::convertible_to<T, std::string_view> Datum(const T& text)
      : value_(std::string_view(text)) {}
  template <int T, int D, int W, int E>
  Datum(Quantity<T, D, W, E> quantity)  // NOLINT
      : value_(quantity.si()), style_(kUnitsOf<Quantity<T, D, W, E>>) {}
  template <class T>
  Datum(const std::optional<T>& maybe) {  // NOLINT
    if (maybe) {
      *this = Datum(*maybe);
    }
  }
  template <class T>
  Datum(const std::vector<T>& list) : value_(Value::make_array()) {  // NOLINT
    for (const T& item : list) {
      value_.push(Datum(item).value_);
    }
  }
  Datum(const Figures& figures);  // NOLINT: an object
  /// One whose number people read so.
  template <class T>
  Datum(const T& number, const NumberStyle& style) : Datum(number) {
    style_ = style;
  }
  /// One that people read in these words.
  template <class T>
  Datum(const T& value, std::string words) : Datum(value) {
    words_ = std::move(words);
  }

  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] bool exists() const { return value_.kind != Value::Kind::null; }
  /// For people.
  [[nodiscard]] std::string words() const;

 private:
  template <class T>
  static Value as_json(T number) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return {static_cast<std::int64_t>(number)};
    } else {
      return {number};
    }
  }

  Value value_;
  NumberStyle style_;
  std::optional<std::string> words_;
};

/// A datum in whole bytes.
[[nodiscard]] Datum whole_bytes(Quantity<0, 1, 0, 0> bytes);
/// A text; none where there is nothing in it.
[[nodiscard]] Datum said(const std::string& text);
/// A datum where there is one, and where there is none nothing for people to read.
[[nodiscard]] Datum or_blank(Datum datum);

struct Figure {
  std::string key;  // for programs, with its unit: "time_s"; "" for people alone
  Datum datum = {};
  std::string label = {};  // for people: the heading of its column; "" for programs alone
  bool if_any = false;     // see if_any()
};

/// The figure, that objects and tables for people leave out where there is none.
[[nodiscard]] Figure if_any(Figure figure);
/// The figure, that objects leave out where there is none: a table for people has its column.
[[nodiscard]] Figure if_known(Figure figure);
/// The figures of one after those of the other.
[[nodiscard]] Figures joined(Figures first, const Figures& second);
/// A row for each of a list.
template <class List, class Make>
[[nodiscard]] FigureRows rows_of(const List& list, const Make& make) {
  FigureRows rows;
  for (const auto& item : list) {
    rows.push_back(make(item));
  }
  return rows;
}

/// The figures as an object, by their keys.
[[nodiscard]] Value json_of(const Figures& figures);
/// An object for each of a list, which may be long.
template <class List, class Make>
[[nodiscard]] Value objects_of(const List& list, const Make& make) {
  Value objects = Value::make_array();
  for (const auto& item : list) {
    objects.push(json_of(make(item)));
  }
  return objects;
}
/// The keys that some row has, of lists and objects apart, between blanks: in the order in which
/// they first come.
[[nodiscard]] std::string column_names(const FigureRows& rows);
/// The figures as a table. `columns`: of column_names(), unless they are given; "link=busiest.link"
/// is a figure that lies deeper. Each row begins with those of `all_rows` that are no columns of
/// their own.
[[nodiscard]] std::string csv_of(const FigureRows& rows,
                                 std::string_view columns = {},
                                 const Figures& all_rows = {});

}  // namespace titer
