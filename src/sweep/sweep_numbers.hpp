#pragma once
// What the names in a sweep's expressions come to at its points.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/sweep/sweep.hpp"

namespace titer {

/// The number that a value of a scenario is: in SI units where it is a quantity, 1 or 0 where it is
/// true or false. Empty where it is none.
[[nodiscard]] std::optional<double> number_of(const Value& value);

/// Whether a path leads to a part of what `outer` leads to.
[[nodiscard]] bool is_inside(std::string_view path, std::string_view outer);

/// The columns of results that are numbers.
[[nodiscard]] std::vector<std::string> result_names();

/// The level of what depends on results.
inline constexpr std::size_t kResultLevel = static_cast<std::size_t>(-1);

/// Numbers by name that differ from point to point. A name is an axis, or what an axis leads to
/// ("cluster.chip.memory.bandwidth" along "cluster.chip"); a derived field that was added; a number
/// of the base scenario; or, where allowed, a column of results.
class SweepNumbers {
 public:
  /// `sweep` must outlive it.
  explicit SweepNumbers(const Sweep& sweep) : sweep_(&sweep) {}

  /// A name's place among names() and values(), and what it depends on: nothing (0), results, or
  /// the axes before `level`.
  struct Known {
    std::size_t slot = 0;
    std::size_t level = 0;
  };
  /// Throws InputError, beginning with `begin`, for a name that is not known, and for one that is
  /// no number somewhere.
  Known find(const std::string& name, std::string_view begin);
  Known add_derived(const std::string& name, std::size_t level);
  void allow_results() { has_results_ = true; }
  /// Whether a name that was found is true or false wherever it stands.
  [[nodiscard]] bool is_truth(std::string_view name) const;
  /// Those that the names found so far depend on, in order.
  [[nodiscard]] std::vector<std::size_t> axes() const;

  /// Puts the numbers in that follow from the axes from `first` on.
  void put(std::span<const std::size_t> at, std::size_t first);
  void put(std::size_t slot, double value) { values_[slot] = value; }
  void put(const StepResult& result);

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  struct AlongAxis {
    std::size_t axis = 0;
    std::size_t slot = 0;
    std::vector<double> by_value;
  };
  [[nodiscard]] std::optional<std::size_t> axis_of(std::string_view name) const;
  [[nodiscard]] std::vector<double> along(std::size_t axis,
                                          const std::string& name,
                                          std::string_view begin) const;
  [[nodiscard]] std::string refusal(const std::string& name) const;
  Known add(const std::string& name, double value, std::size_t level);

  const Sweep* sweep_;
  bool has_results_ = false;
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<std::size_t> levels_;
  std::vector<AlongAxis> along_;
  std::vector<std::pair<std::size_t, std::size_t>> results_;  // slot, column
};

}  // namespace titer
