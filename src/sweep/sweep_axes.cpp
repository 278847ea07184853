#include "sweep_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sweep_numbers.hpp"
#include "titer/input/expression.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr double kRangeRounding = 1e-12;  // relative; of the sums and products of a range
constexpr double kMostDivided = 1e12;     // its divisors are found in a million steps
constexpr double kMostInRange = 1e15;

/// A value of a range: an integer where it is one, text where there is a unit.
Value range_value(double value, const std::optional<std::string>& unit) {
  const double rounded = std::round(value);
  const bool whole = std::abs(value - rounded) <= kRangeRounding * std::max(1.0, std::abs(value));
  if (unit) {
    return Value(fmt::format("{} {}", whole ? rounded : value, *unit));
  }
  return whole ? Value(static_cast<std::int64_t>(rounded)) : Value(value);
}

/// {"from": 1, "to": 64, "factor": 2} or {"from": 64, "to": 512, "step": 64}; "to" is included.
std::vector<Value> read_range(Reader in) {
  const double from = in.number("from", -kMostInRange, kMostInRange);
  const double to = in.number("to", -kMostInRange, kMostInRange);
  const auto step = in.maybe_number("step", 1e-12, kMostInRange);
  const auto factor = in.maybe_number("factor", 1.0 + 1e-6, kMostInRange);
  const auto unit = in.maybe_text("unit");
  in.finish();
  std::vector<Value> values;
  if (!in.has("from") || !in.has("to")) {
    return values;  // reported above
  }
  if (step.has_value() == factor.has_value()) {
    in.fail("from", "expected a range with either a \"step\" or a \"factor\"");
    return values;
  }
  if (from > to || (factor && from <= 0.0)) {
    in.fail("from", "expected a start no greater than \"to\", and above zero with a \"factor\"");
    return values;
  }
  const double most_steps = step ? (to - from) / *step : std::log(to / from) / std::log(*factor);
  if (most_steps >= static_cast<double>(kMostValues)) {
    in.fail("to", fmt::format("expected a range of at most {} values", kMostValues));
    return values;
  }
  const double last = to + kRangeRounding * std::max(std::abs(from), std::abs(to));
  for (double value = from; value <= last;) {
    values.push_back(range_value(value, unit));
    value = step ? from + static_cast<double>(values.size()) * *step : value * *factor;
  }
  return values;
}

/// {"powers_of_two": {"from": 1, "to": 64}}: those from the one to the other.
std::vector<Value> read_powers(Reader in) {
  Reader bounds = in.object("powers_of_two");
  in.finish();
  const double from = bounds.maybe_number("from", 1.0, kMostInRange).value_or(1.0);
  const double to = bounds.number("to", 1.0, kMostInRange);
  const auto unit = bounds.maybe_text("unit");
  bounds.finish();
  std::vector<Value> values;
  for (double power = 1.0; power <= to; power *= 2.0) {
    if (power >= from) {
      values.push_back(range_value(power, unit));
    }
  }
  if (values.empty() && bounds.has("to")) {
    bounds.fail("to", "expected a power of two between \"from\" and this");
  }
  return values;
}

void sort_once(std::vector<std::int64_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Of any of the numbers, each once.
std::vector<std::int64_t> divisors_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> divisors;
  for (const std::int64_t number : numbers) {
    for (std::int64_t d = 1; d * d <= number; ++d) {
      if (number % d == 0) {
        divisors.push_back(d);
        divisors.push_back(number / d);
      }
    }
  }
  sort_once(divisors);
  return divisors;
}

/// What an expression comes to along the axes that it mentions, as far as it is whole, each once.
struct WholeNumbers {
  std::vector<std::int64_t> numbers;
  bool varies = false;
};

WholeNumbers whole_numbers(const Sweep& sweep, const std::string& text, const std::string& where) {
  SweepNumbers numbers(sweep);
  const std::string begin = where + ": " + text;
  for (const std::string& name : names_in(text, where)) {
    static_cast<void>(numbers.find(name, begin));
  }
  Expression expression(text, numbers.names(), where);
  const std::vector<std::size_t> axes = numbers.axes();
  double combinations = 1.0;
  for (const std::size_t axis : axes) {
    combinations *= static_cast<double>(sweep.axes[axis].values.size());
  }
  if (combinations > static_cast<double>(kMostValues)) {
    throw InputError(
        fmt::format("{}: {}: expected at most {} combinations of the axes in it, got {}",
                    where,
                    text,
                    kMostValues,
                    combinations));
  }
  WholeNumbers found{.numbers = {}, .varies = !axes.empty()};
  std::vector<std::size_t> at(sweep.axes.size());
  for (auto left = static_cast<std::size_t>(combinations); left-- > 0;) {
    std::size_t rest = left;
    for (const std::size_t axis : axes) {
      at[axis] = rest % sweep.axes[axis].values.size();
      rest /= sweep.axes[axis].values.size();
    }
    numbers.put(at, 0);
    const double value = expression.evaluate(numbers.values());
    if (value >= 1.0 && value <= kMostDivided && std::floor(value) == value) {
      found.numbers.push_back(static_cast<std::int64_t>(value));
    }
  }
  sort_once(found.numbers);
  return found;
}

/// Reads one axis after another.
class AxesReader {
 public:
  AxesReader(const Document& document, Problems& problems, Sweep& sweep)
      : document_(&document), problems_(&problems), sweep_(&sweep) {}

  /// {"plan.tensor": […], "zip": {…}}
  void read_object(Reader& in) {
    for (const std::string& path : in.keys()) {
      if (path == "zip") {
        Reader zip = in.object(path);
        read_zip(zip);
      } else {
        read_axis(in, path);
      }
    }
  }

 private:
  void read_zip(Reader& in) {
    const std::size_t first = sweep_->axes.size();
    for (const std::string& path : in.keys()) {
      read_axis(in, path);
      Axis& axis = sweep_->axes.back();
      const Axis& head = sweep_->axes[first];
      axis.zipped = &axis != &head;
      if (axis.values.size() != head.values.size() && !axis.values.empty() &&
          !head.values.empty()) {
        in.fail(path,
                fmt::format("expected {} values, as many as {} has, not {}",
                            head.values.size(),
                            head.path,
                            axis.values.size()));
      }
    }
  }

  void read_axis(Reader& in, const std::string& path) {
    const Value* written = in.raw(path);
    Axis axis{.path = path, .values = {}, .where = document_->where(written->origin)};
    const bool is_known = includes(sweep_->axes, path, &Axis::path);
    if (!scenario_part(path)) {
      in.fail(path, part_expected(path));
    } else if (is_known) {
      in.fail(path, "expected each path to be one axis");
    } else if (written->kind == Value::Kind::object) {
      axis.values = read_rule(in.object(path), path);
    } else if (written->kind == Value::Kind::array && !written->items.empty()) {
      axis.values = written->items;
    } else {
      in.fail(path,
              "expected a list of values, a range with from, to and step or factor, "
              "{\"powers_of_two\"} or {\"divisors_of\"}");
    }
    sweep_->axes.push_back(std::move(axis));
  }

  static std::string part_expected(const std::string& path) {
    const std::vector<std::string_view> parts =
        each_of(kScenarioParts, &Choice<ScenarioPart>::name);
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view near = closest(std::string_view(path).substr(0, dot), parts);
    return fmt::format(
        "expected a path into model, cluster, stack, plan, training, formula or conditions, such "
        "as \"plan.tensor\"{}",
        near.empty() ? "" : fmt::format("; did you mean \"{}{}\"?", near, path.substr(dot)));
  }

  std::vector<Value> read_rule(Reader in, const std::string& path) {
    if (in.has("powers_of_two")) {
      return read_powers(in);
    }
    return in.has("divisors_of") ? read_divisors(in, path) : read_range(in);
  }

  /// {"divisors_of": 96, "from": 2, "to": 8}, the bounds if wanted. Of an expression that differs
  /// along other axes, the divisors of all that it comes to; a constraint leaves out the others.
  std::vector<Value> read_divisors(Reader in, const std::string& path) {
    const Value* of = in.raw("divisors_of");
    const double from = in.maybe_number("from", 1.0, kMostInRange).value_or(1.0);
    const double to = in.maybe_number("to", 1.0, kMostInRange).value_or(kMostInRange);
    in.finish();
    if (of->kind != Value::Kind::text && of->kind != Value::Kind::number) {
      in.fail("divisors_of", "expected a number, or an expression in quotes");
      return {};
    }
    const std::string text = bare_text(*of);
    const std::string where = place_of(*document_, *of, "axes." + path + ".divisors_of");
    const auto dividends = dividends_of(text, where);
    if (!dividends) {
      return {};
    }
    std::vector<Value> values;
    for (const std::int64_t divisor : divisors_of(dividends->numbers)) {
      if (static_cast<double>(divisor) >= from && static_cast<double>(divisor) <= to) {
        values.emplace_back(divisor);
      }
    }
    if (values.empty()) {
      in.fail("divisors_of",
              fmt::format("expected a whole number from 1 to {:.0f} with divisors from \"from\" to "
                          "\"to\"",
                          kMostDivided));
    }
    if (dividends->varies) {
      sweep_->constraints.push_back(
          {.expression = fmt::format("mod({}, {}) == 0", text, path), .where = where});
    }
    return values;
  }

  /// Empty where a problem was reported, here or of an axis before.
  std::optional<WholeNumbers> dividends_of(const std::string& text, const std::string& where) {
    const bool has_base = sweep_->base.document().root.kind == Value::Kind::object;
    if (!has_base ||
        std::ranges::any_of(sweep_->axes, [](const Axis& axis) { return axis.values.empty(); })) {
      return std::nullopt;
    }
    try {
      return whole_numbers(*sweep_, text, where);
    } catch (const InputError& error) {
      for (const std::string& line : error.lines) {
        problems_->add(line);
      }
      return std::nullopt;
    }
  }

  const Document* document_;
  Problems* problems_;
  Sweep* sweep_;
};

}  // namespace

std::string place_of(const Document& document, const Value& value, std::string_view path) {
  const std::string where = document.where(value.origin);
  return where.empty() ? std::string(path) : where + ": " + std::string(path);
}

void read_axes(const Document& document, Reader& in, Problems& problems, Sweep& sweep) {
  AxesReader axes(document, problems, sweep);
  const Value* written = in.raw("axes");
  if (written != nullptr && written->kind == Value::Kind::array) {
    for (Reader& one : in.objects("axes")) {
      axes.read_object(one);
    }
    return;
  }
  Reader object = in.object("axes");
  axes.read_object(object);
}

}  // namespace titer
