#pragma once
// Quantities as text: "400 Gbps", "80 GiB", "12.5 us". One table of units per dimension serves
// parsing, formatting and the hints in error messages.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "titer/units/quantity.hpp"

namespace titer {

/// Reads "number unit", e.g. parse<BytesPerSecond>("25 GB/s"); the blank may be left out. Bytes
/// are "B" and decimal (GB) or binary (GiB); bits are "bps" or "bit/s" and always decimal.
/// Empty when the number or the unit is not understood, or the value is not finite.
/// Defined for Seconds, Bytes, Flops, Joules, BytesPerSecond, FlopsPerSecond and Watts.
template <class Q>
[[nodiscard]] std::optional<Q> parse(std::string_view text);

/// A quantity of any dimension that text can have.
using AnyQuantity =
    std::variant<Seconds, Bytes, Flops, Joules, BytesPerSecond, FlopsPerSecond, Watts>;
/// Reads a quantity of the dimension that its unit is of.
[[nodiscard]] std::optional<AnyQuantity> parse_any(std::string_view text);
[[nodiscard]] double si_of(const AnyQuantity& quantity);

/// What a value of this dimension looks like: `a bandwidth with its unit, such as "25 GB/s"`.
template <class Q>
[[nodiscard]] std::string_view example();

/// The unit most used for this dimension, to guess what a bare number meant: "GB/s".
template <class Q>
[[nodiscard]] std::string_view usual_unit();

/// The unit names understood for this dimension, largest last: "B/s, kB/s, …".
template <class Q>
[[nodiscard]] std::string unit_names();

/// All that are understood, as a regular expression: "bps|bit/s|B/s|…".
template <class Q>
[[nodiscard]] std::string unit_pattern();

/// In the unit that is one of SI, and nothing rounded: "312000000000000 FLOP/s".
template <class Q>
[[nodiscard]] std::string exact_text(Q value);

/// Four significant digits in the unit that suits the size: "46.8 GiB", "1.64 us", "312 TFLOP/s".
[[nodiscard]] std::string format(Seconds value);
[[nodiscard]] std::string format(Bytes value);
[[nodiscard]] std::string format(Flops value);
[[nodiscard]] std::string format(Joules value);
[[nodiscard]] std::string format(BytesPerSecond value);
[[nodiscard]] std::string format(FlopsPerSecond value);
[[nodiscard]] std::string format(Watts value);

}  // namespace titer
