// The members of Reader that read figures: integers, numbers and quantities.

#include <cmath>
#include <type_traits>

#include "titer/input/reader.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

/// 400 and not 400.0, as a person would write it.
std::string plain(double number) {
  const bool is_whole = std::abs(number) < kTwoTo63 && std::trunc(number) == number;
  return is_whole ? std::to_string(static_cast<std::int64_t>(number)) : to_json(Value(number), 0);
}

/// "an integer from 1 to 8"; an empty bound is none.
std::string in_range(std::string_view noun, const std::string& least, const std::string& most) {
  std::string text(noun);
  if (!least.empty() && !most.empty()) {
    return text + " from " + least + " to " + most;
  }
  text += least.empty() ? "" : " of at least " + least;
  text += most.empty() ? "" : " of at most " + most;
  return text;
}

std::string integer_in(std::int64_t least, std::int64_t most) {
  using Limits = std::numeric_limits<std::int64_t>;
  return in_range("an integer",
                  least == Limits::min() ? "" : std::to_string(least),
                  most == Limits::max() ? "" : std::to_string(most));
}

std::string number_in(double least, double most) {
  constexpr double largest = std::numeric_limits<double>::max();
  return in_range(
      "a number", least <= -largest ? "" : plain(least), most >= largest ? "" : plain(most));
}

/// The number that a text such as "8" holds by mistake.
std::optional<double> number_in_quotes(const Value& value) {
  const auto number = number_of_text<double>(value.text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Also 2.0 and 1e3, which are whole.
std::optional<std::int64_t> whole(const Value& value) {
  if (value.is_integer) {
    return value.integer;
  }
  const bool fits = value.number >= -kTwoTo63 && value.number < kTwoTo63;
  const bool is_whole = fits && std::trunc(value.number) == value.number;
  return is_whole ? std::optional(static_cast<std::int64_t>(value.number)) : std::nullopt;
}

std::optional<std::int64_t> integer_of(const Value& value, std::int64_t least, std::int64_t most) {
  const auto found = value.kind == Value::Kind::number ? whole(value) : std::nullopt;
  return found && *found >= least && *found <= most ? found : std::nullopt;
}

std::optional<double> number_of(const Value& value, double least, double most) {
  const bool fits =
      value.kind == Value::Kind::number && value.number >= least && value.number <= most;
  return fits ? std::optional(value.number) : std::nullopt;
}

template <class Q>
bool is_allowed(Q quantity) {
  return std::is_same_v<Q, Seconds> ? quantity >= Q() : quantity > Q();
}

template <class Q>
std::string expectation_of(const Value& value) {
  std::string expected = "expected " + std::string(example<Q>());
  const bool is_bare = value.kind == Value::Kind::number;
  const auto number = is_bare ? std::optional(value.number) : number_in_quotes(value);
  if (number) {
    const std::string guess = plain(*number) + " " + std::string(usual_unit<Q>());
    const auto guessed = parse<Q>(guess);
    if (!guessed || !is_allowed(*guessed)) {
      return expected;
    }
    // Networks are sold by bits, and eight times as fast is no small mistake.
    constexpr bool is_rate = std::is_same_v<Q, BytesPerSecond>;
    const std::string other = is_rate ? " or \"" + plain(*number) + " Gbps\"" : "";
    return expected + "; did you mean \"" + guess + "\"" + other + "?";
  }
  const bool is_text = value.kind == Value::Kind::text;
  return expected + (is_text ? "; known units: " + unit_names<Q>() : "");
}

}  // namespace

/// What `of` makes of a figure; `expected` says what that is, where it makes nothing of it.
template <class Of, class Expected>
auto Reader::maybe_figure(std::string_view key, const Of& of, const Expected& expected) {
  using Found = decltype(of(Value()));
  const Value* written = take(key);
  if (written == nullptr) {
    return Found();
  }
  if (const Found plain_one = of(*written)) {
    return plain_one;  // as nearly always, and without making the words for when it is not
  }
  const auto [value, path] = take_figure(key, expected());
  if (value == nullptr) {
    return Found();
  }
  const Found found = of(*value);
  if (!found) {
    const auto quoted = number_in_quotes(*value);
    const bool makes_sense = quoted && of(Value(*quoted));
    const std::string hint = makes_sense ? "; did you mean " + plain(*quoted) + "?" : "";
    refuse(path, *value, "expected " + expected() + hint);
  }
  return found;
}

std::int64_t Reader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  require(key, integer_in(least, most));
  return maybe_integer(key, least, most).value_or(least);
}

std::optional<std::int64_t> Reader::maybe_integer(std::string_view key,
                                                  std::int64_t least,
                                                  std::int64_t most) {
  return maybe_figure(
      key,
      [=](const Value& value) { return integer_of(value, least, most); },
      [=] { return integer_in(least, most); });
}

double Reader::number(std::string_view key, double least, double most) {
  require(key, number_in(least, most));
  return maybe_number(key, least, most).value_or(least);
}

std::optional<double> Reader::maybe_number(std::string_view key, double least, double most) {
  return maybe_figure(
      key,
      [=](const Value& value) { return number_of(value, least, most); },
      [=] { return number_in(least, most); });
}

template <class Q>
Q Reader::quantity(std::string_view key) {
  require(key, example<Q>());
  return maybe_quantity<Q>(key).value_or(Q::from_si(1.0));
}

template <class Q>
std::optional<Q> Reader::maybe_quantity(std::string_view key) {
  const auto [value, path] = take_figure(key, example<Q>());
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto found = value->kind == Value::Kind::text ? parse<Q>(value->text) : std::nullopt;
  if (!found) {
    refuse(path, *value, expectation_of<Q>(*value));
    return std::nullopt;
  }
  if (!is_allowed(*found)) {
    constexpr bool may_be_zero = std::is_same_v<Q, Seconds>;
    refuse(path, *value, may_be_zero ? "expected zero or more" : "expected more than zero");
    return std::nullopt;
  }
  return found;
}

std::string Reader::source_of(std::string_view key) const {
  const Value* value = value_->find(key);
  const Value* source = value == nullptr ? nullptr : value->find("source");
  return source == nullptr ? "" : source->text;
}

/// A figure, out of its {"value", "source"} if it is written so, and the path to it.
std::pair<const Value*, std::string> Reader::take_figure(std::string_view key,
                                                         std::string_view expected) {
  const Value* value = take(key);
  if (value == nullptr || value->kind != Value::Kind::object) {
    return {value, path_to(key)};
  }
  Reader inside(*document_, *value, path_to(key), *problems_);
  inside.require("value", expected);
  const Value* figure = inside.take("value");
  static_cast<void>(inside.maybe_text("source"));
  inside.finish();
  return {figure, inside.path_to("value")};
}

#define TITER_QUANTITY(Type)                                  \
  template Type Reader::quantity<Type>(std::string_view key); \
  template std::optional<Type> Reader::maybe_quantity<Type>(std::string_view key);
TITER_QUANTITY(Seconds)
TITER_QUANTITY(Bytes)
TITER_QUANTITY(Flops)
TITER_QUANTITY(Joules)
TITER_QUANTITY(BytesPerSecond)
TITER_QUANTITY(FlopsPerSecond)
TITER_QUANTITY(Watts)
#undef TITER_QUANTITY

}  // namespace titer
