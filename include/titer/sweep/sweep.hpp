#pragma once
// What-if: one scenario, varied along axes. Every combination that no constraint leaves out is one
// row; the first axis varies slowest. Rows come in that order whatever the number of threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// The values that one path of the scenario takes.
struct Axis {
  std::string path;
  std::vector<Value> values;
  bool zipped = false;  // goes along with the axis before it, value by value
  std::string where{};  // in the file
};

/// A number that follows from others at every point: put into the scenario where its name is a
/// path ("plan.data"), a number with a name otherwise ("devices"). A column either way.
struct DerivedField {
  std::string name;
  std::string expression;  // over axes, derived fields before it and numbers of the base, in SI
  std::string unit{};      // that its number is in; "": put in as a plain number
  std::string where{};     // in the file
};

/// Points where its expression is 0, or no number, are left out.
struct SweepConstraint {
  std::string expression;  // over inputs, derived fields and columns of results
  std::string where{};
};

/// Columns that rows have only where they are asked for.
enum class SweepColumn {
  algorithms,       // that links choose in place of those of the closed form
  beyond_software,  // what the plan has that the software it names does not
};
inline constexpr std::array<Choice<SweepColumn>, 2> kSweepColumns = {
    {{"algorithms", SweepColumn::algorithms}, {"beyond_software", SweepColumn::beyond_software}}};
[[nodiscard]] constexpr std::string_view name(SweepColumn column) {
  return kSweepColumns[static_cast<std::size_t>(column)].name;
}

struct Sweep {
  ScenarioSource base;
  std::vector<Axis> axes;
  std::vector<DerivedField> derived{};
  std::vector<SweepConstraint> constraints{};
  std::string scenario = "SCENARIO";   // what `titer run` calls the base; so where it has no name
  std::vector<SweepColumn> columns{};  // beside those that all rows have
  std::string name{};                  // of its file, without folder and ending; "" of no file

  [[nodiscard]] bool has(SweepColumn column) const;

  /// The product of the axes' lengths, those that are zipped counted once.
  [[nodiscard]] std::size_t points() const;
  /// The index into each axis of point `point`.
  [[nodiscard]] std::vector<std::size_t> indices(std::size_t point) const;
  void indices(std::size_t point, std::vector<std::size_t>& at) const;
  /// Of everything that its rows follow from, whatever it was read from; not of the program.
  [[nodiscard]] std::uint64_t fingerprint() const;
};

/// Of a file, unless the caller allows more.
inline constexpr std::size_t kUsualMostPoints = 100'000'000;

/// {"scenario": NAME|FILE|{…}, "axes": {PATH: VALUES, …}, "derived": {NAME: "EXPRESSION"},
/// "where": ["EXPRESSION", …]}. VALUES are
///   [1, 2, 4]
///   {"from": 64, "to": 512, "step": 64} or "factor"; "unit" where they are quantities
///   {"powers_of_two": {"from": 1, "to": 64}}
///   {"divisors_of": 96} or an expression over axes before it and the base scenario
/// "zip": {PATH: VALUES, …} among the axes: several that go along with one another. Axes may also
/// be an array of such objects. A derived field with a unit is {"expression", "unit"}. "columns":
/// of kSweepColumns, those that are asked for. Throws InputError, also where the axes make more
/// points than `most_points`, and where no point satisfies the constraints over inputs.
[[nodiscard]] Sweep load_sweep(std::string_view name_or_file,
                               std::size_t most_points = kUsualMostPoints);
[[nodiscard]] Sweep read_sweep(const Document& document,
                               std::size_t most_points = kUsualMostPoints);

enum class PointStatus { ok, out_of_memory, invalid, defect };
[[nodiscard]] std::string_view name(PointStatus status);
/// Otherwise there are no figures, but a reason why.
[[nodiscard]] constexpr bool has_result(PointStatus status) {
  return status == PointStatus::ok || status == PointStatus::out_of_memory;
}

/// One row: what became of a point.
struct SweepPoint {
  std::size_t index = 0;
  PointStatus status = PointStatus::invalid;
  std::string reason;  // why it is invalid, what fills the memory, or what the defect is
  StepResult result;
  std::vector<std::size_t> at{};  // the index into each axis
  std::vector<double> derived{};  // the numbers of the derived fields
  std::string beyond{};           // of a result: what its software does not have
};

/// Computes points, one at a time; each thread has its own. Points in order are fastest: what
/// differs from the point before is read again, and no more.
class SweepWorker {
 public:
  /// `sweep` must outlive it. Without a fidelity each point has its usual_fidelity(). Throws
  /// InputError where an expression mentions what is not there.
  SweepWorker(const Sweep& sweep, std::optional<Fidelity> fidelity);
  SweepWorker(SweepWorker&& other) noexcept;
  SweepWorker& operator=(SweepWorker&& other) noexcept;
  ~SweepWorker();

  /// False where a constraint leaves the point out: no row. A point at which the program meets a
  /// defect of its own is kept: nobody knows what constraints would say of its result.
  bool compute(std::size_t point, SweepPoint& into);
  /// The first of [point, end) that no constraint over inputs leaves out, `end` if there is none.
  /// What all points with the same values of the outer axes have in common is skipped at once.
  [[nodiscard]] std::size_t next_kept(std::size_t point, std::size_t end);
  /// By each constraint, the points that it left out so far; of several, the first counts.
  [[nodiscard]] const std::vector<std::uint64_t>& left_out() const;

 private:
  struct Working;
  std::unique_ptr<Working> working_;
};

/// "where.0: plan.tensor <= 8: leaves out 12 of 64 points": a line for each constraint that left
/// some out, of so many points.
[[nodiscard]] std::vector<std::string> left_out_lines(const Sweep& sweep,
                                                      std::span<const std::uint64_t> left_out);
/// Throws InputError with these lines: nothing is left.
[[noreturn]] void refuse_empty(const Sweep& sweep, std::span<const std::uint64_t> left_out);

}  // namespace titer
