#include "titer/units/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "titer/units/listed.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

/// How far a unit's name goes: written by format(), named in hints, or merely understood.
enum class Use { shown, listed, understood };

struct Unit {
  std::string_view name;
  double size;  // in SI units; the factors are those of the literals in quantity.hpp
  Use use;
};

constexpr double kKi = 1024.0;
constexpr double kMi = kKi * kKi;
constexpr double kGi = kMi * kKi;
constexpr double kTi = kGi * kKi;
constexpr double kPi = kTi * kKi;
constexpr double kBit = 1.0 / 8.0;  // in bytes

/// The units of one dimension, smallest first, with a sample for messages.
template <class Q>
struct Table;

template <>
struct Table<Seconds> {
  static constexpr std::string_view example = R"(a time with its unit, such as "12.5 us")";
  static constexpr std::string_view usual = "us";
  static constexpr std::array units = {
      Unit{"ps", 1e-12, Use::shown},
      Unit{"ns", 1e-9, Use::shown},
      Unit{"us", 1e-6, Use::shown},
      Unit{"\u00b5s", 1e-6, Use::understood},  // the micro sign
      Unit{"\u03bcs", 1e-6, Use::understood},  // the Greek letter mu
      Unit{"ms", 1e-3, Use::shown},
      Unit{"s", 1.0, Use::shown},
      Unit{"min", 60.0, Use::listed},  // iteration times are compared in seconds
      Unit{"h", 3600.0, Use::shown},
      Unit{"d", kDay.si(), Use::understood},
      Unit{"day", kDay.si(), Use::understood},
      Unit{"days", kDay.si(), Use::listed},
      Unit{"w", 7 * kDay.si(), Use::understood},
      Unit{"week", 7 * kDay.si(), Use::understood},
      Unit{"weeks", 7 * kDay.si(), Use::listed},
      // Of deadlines: not a twelfth of a year.
      Unit{"month", 30 * kDay.si(), Use::understood},
      Unit{"months", 30 * kDay.si(), Use::listed},
      Unit{"year", 365 * kDay.si(), Use::understood},
      Unit{"years", 365 * kDay.si(), Use::listed},
  };
};

template <>
struct Table<Bytes> {
  static constexpr std::string_view example = R"(a size with its unit, such as "80 GiB")";
  static constexpr std::string_view usual = "GiB";
  static constexpr std::array units = {
      Unit{"B", 1.0, Use::shown},
      Unit{"kB", 1e3, Use::listed},
      Unit{"KiB", kKi, Use::shown},
      Unit{"MB", 1e6, Use::listed},
      Unit{"MiB", kMi, Use::shown},
      Unit{"GB", 1e9, Use::listed},
      Unit{"GiB", kGi, Use::shown},
      Unit{"TB", 1e12, Use::listed},
      Unit{"TiB", kTi, Use::shown},
      Unit{"PB", 1e15, Use::listed},
      Unit{"PiB", kPi, Use::shown},
  };
};

template <>
struct Table<Flops> {
  static constexpr std::string_view example = R"(work with its unit, such as "2 TFLOP")";
  static constexpr std::string_view usual = "TFLOP";
  static constexpr std::array units = {
      Unit{"FLOP", 1.0, Use::shown},
      Unit{"kFLOP", 1e3, Use::shown},
      Unit{"MFLOP", 1e6, Use::shown},
      Unit{"GFLOP", 1e9, Use::shown},
      Unit{"TFLOP", 1e12, Use::shown},
      Unit{"PFLOP", 1e15, Use::shown},
      Unit{"EFLOP", 1e18, Use::shown},
      Unit{"ZFLOP", 1e21, Use::shown},  // whole training runs: GPT-3 took 314 ZFLOP
      Unit{"YFLOP", 1e24, Use::shown},
  };
};

template <>
struct Table<Joules> {
  static constexpr std::string_view example = R"(an energy with its unit, such as "1.2 kJ")";
  static constexpr std::string_view usual = "J";
  static constexpr std::array units = {
      Unit{"J", 1.0, Use::shown},
      Unit{"kJ", 1e3, Use::shown},
      Unit{"MJ", 1e6, Use::shown},
      Unit{"kWh", 3.6e6, Use::listed},
      Unit{"GJ", 1e9, Use::shown},
      Unit{"MWh", 3.6e9, Use::listed},
  };
};

template <>
struct Table<BytesPerSecond> {
  static constexpr std::string_view example = R"(a bandwidth with its unit, such as "25 GB/s")";
  static constexpr std::string_view usual = "GB/s";
  // "Gb/s" and "GBps" are left out: one letter's case would hide a factor of eight.
  static constexpr std::array units = {
      Unit{"bps", kBit, Use::listed},
      Unit{"bit/s", kBit, Use::understood},
      Unit{"B/s", 1.0, Use::shown},
      Unit{"kbps", 1e3 * kBit, Use::listed},
      Unit{"kbit/s", 1e3 * kBit, Use::understood},
      Unit{"kB/s", 1e3, Use::shown},
      Unit{"KiB/s", kKi, Use::listed},
      Unit{"Mbps", 1e6 * kBit, Use::listed},
      Unit{"Mbit/s", 1e6 * kBit, Use::understood},
      Unit{"MB/s", 1e6, Use::shown},
      Unit{"MiB/s", kMi, Use::listed},
      Unit{"Gbps", 1e9 * kBit, Use::listed},
      Unit{"Gbit/s", 1e9 * kBit, Use::understood},
      Unit{"GB/s", 1e9, Use::shown},
      Unit{"GiB/s", kGi, Use::listed},
      Unit{"Tbps", 1e12 * kBit, Use::listed},
      Unit{"Tbit/s", 1e12 * kBit, Use::understood},
      Unit{"TB/s", 1e12, Use::shown},
      Unit{"TiB/s", kTi, Use::listed},
      Unit{"PB/s", 1e15, Use::shown},
  };
};

template <>
struct Table<FlopsPerSecond> {
  static constexpr std::string_view example =
      R"(a rate of work with its unit, such as "312 TFLOP/s")";
  static constexpr std::string_view usual = "TFLOP/s";
  static constexpr std::array units = {
      Unit{"FLOP/s", 1.0, Use::shown},
      Unit{"FLOPS", 1.0, Use::understood},
      Unit{"kFLOP/s", 1e3, Use::shown},
      Unit{"kFLOPS", 1e3, Use::understood},
      Unit{"MFLOP/s", 1e6, Use::shown},
      Unit{"MFLOPS", 1e6, Use::understood},
      Unit{"GFLOP/s", 1e9, Use::shown},
      Unit{"GFLOPS", 1e9, Use::understood},
      Unit{"TFLOP/s", 1e12, Use::shown},
      Unit{"TFLOPS", 1e12, Use::understood},
      Unit{"PFLOP/s", 1e15, Use::shown},
      Unit{"PFLOPS", 1e15, Use::understood},
      Unit{"EFLOP/s", 1e18, Use::shown},
      Unit{"EFLOPS", 1e18, Use::understood},
  };
};

template <>
struct Table<Watts> {
  static constexpr std::string_view example = R"(a power with its unit, such as "400 W")";
  static constexpr std::string_view usual = "W";
  static constexpr std::array units = {
      Unit{"W", 1.0, Use::shown},
      Unit{"kW", 1e3, Use::shown},
      Unit{"MW", 1e6, Use::shown},
  };
};

/// "46.8" of 46.7993; as a person would write it where it is large or small.
std::string four_digits(double value) {
  const double size = std::abs(value);
  if (size >= 1.0 && size < 9999.0) {
    return fmt::format("{:.4g}", value);
  }
  std::array<char, 32> text{};
  const char* const end = fmt::format_to(text.data(), "{:.3e}", value);
  double rounded = value;
  std::from_chars(text.data(), end, rounded);
  return fmt::format("{}", rounded);
}

/// The largest shown unit of which `si` is at least one, once it is rounded: 1023.99 KiB is written
/// as 1 MiB and not as 1024 KiB.
template <class Q>
std::string format_si(double si) {
  constexpr double rounds_to_one = 0.99995;
  const Unit* best = nullptr;
  for (const Unit& unit : Table<Q>::units) {
    const bool large_enough = best == nullptr || std::abs(si / unit.size) >= rounds_to_one;
    if (unit.use == Use::shown && large_enough) {
      best = &unit;
    }
  }
  return fmt::format("{} {}", four_digits(si / best->size), best->name);
}

template <class Q>
constexpr std::string_view si_unit() {
  for (const Unit& unit : Table<Q>::units) {
    if (unit.size == 1.0) {
      return unit.name;
    }
  }
  return "";
}

template <class Q>
std::string format_or_zero(Q value) {
  return value == Q() ? fmt::format("0 {}", si_unit<Q>()) : format_si<Q>(value.si());
}

template <std::size_t... I>
std::optional<AnyQuantity> parse_one_of(std::string_view text, std::index_sequence<I...> /*all*/) {
  std::optional<AnyQuantity> found;
  const auto take = [&](const auto& quantity) {
    if (quantity) {
      found = *quantity;
    }
    return quantity.has_value();
  };
  static_cast<void>((take(parse<std::variant_alternative_t<I, AnyQuantity>>(text)) || ...));
  return found;
}

}  // namespace

template <class Q>
std::optional<Q> parse(std::string_view text) {
  const auto number = take_number<double>(text);
  if (!number) {
    return std::nullopt;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  for (const Unit& unit : Table<Q>::units) {
    if (unit.name == text) {
      const double si = *number * unit.size;
      return std::isfinite(si) ? std::optional<Q>(Q::from_si(si)) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<AnyQuantity> parse_any(std::string_view text) {
  return parse_one_of(text, std::make_index_sequence<std::variant_size_v<AnyQuantity>>{});
}

double si_of(const AnyQuantity& quantity) {
  return std::visit([](const auto& of_dimension) { return of_dimension.si(); }, quantity);
}

template <class Q>
std::string_view example() {
  return Table<Q>::example;
}

template <class Q>
std::string_view usual_unit() {
  return Table<Q>::usual;
}

template <class Q>
std::string unit_names() {
  std::string names;
  for (const Unit& unit : Table<Q>::units) {
    if (unit.use != Use::understood) {
      add_listed(names, unit.name);
    }
  }
  return names;
}

template <class Q>
std::string unit_pattern() {
  std::string pattern;
  for (const Unit& unit : Table<Q>::units) {
    pattern += pattern.empty() ? "" : "|";
    pattern += unit.name;
  }
  return pattern;
}

template <class Q>
std::string exact_text(Q value) {
  return fmt::format("{} {}", value.si(), si_unit<Q>());
}

#define TITER_TEXT(Type)                                           \
  template std::optional<Type> parse<Type>(std::string_view text); \
  template std::string_view example<Type>();                       \
  template std::string_view usual_unit<Type>();                    \
  template std::string unit_names<Type>();                         \
  template std::string unit_pattern<Type>();                       \
  template std::string exact_text<Type>(Type value);               \
  std::string format(Type value) { return format_or_zero(value); }
TITER_TEXT(Seconds)
TITER_TEXT(Bytes)
TITER_TEXT(Flops)
TITER_TEXT(Joules)
TITER_TEXT(BytesPerSecond)
TITER_TEXT(FlopsPerSecond)
TITER_TEXT(Watts)
#undef TITER_TEXT

}  // namespace titer
