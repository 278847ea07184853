#pragma once
// `--fail-on`, of all commands whose answers are rows of figures: what makes an answer a no, for
// scripts that go by the exit code.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/view/view.hpp"

namespace titer {

/// "mfu<40%": a figure that is beyond a value.
struct FigureLimit {
  std::string text;  // as it was typed
  std::string figure =
      {};              // a column of the table, or how people call it: "time" is iteration_time_s
  bool above = false;  // otherwise below
  std::string value = {};
};

class FailOn {
 public:
  /// Throws InputError where one is neither "out-of-memory" nor a figure, ">" or "<", and a value.
  explicit FailOn(const std::vector<std::string>& texts);

  /// That a table of these columns has all figures; throws InputError. For tables whose columns are
  /// known before their rows.
  void expect_in(std::span<const std::string_view> columns) const;
  /// Whether no row of the table keeps all limits; says on standard error which were not kept, but
  /// for the memory, of which answers tell. Throws InputError where the table has no such figure.
  [[nodiscard]] bool fails(const FigureRows& rows) const;
  [[nodiscard]] bool is_asked() const { return on_memory_ || !limits_.empty(); }

 private:
  bool on_memory_ = false;
  std::vector<FigureLimit> limits_;
};

}  // namespace titer
