#pragma once
// Pipeline schedules. Each is an entry of one list: the actions of every rank in order, the closed
// form of its bubble where a trusted one exists, and the activations that it keeps alive. A shared
// test executes the actions of every entry and demands the formulas.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/plan/schedule/actions.hpp"

namespace titer {

struct ListedSchedule;

/// What a schedule is known for, and its functions of a rank and the shape; nullptr where what it
/// would say is the same for most.
struct ScheduleEntry {
  std::string_view name;
  std::string_view of_chunks{};  // also a name of it, with several chunks per rank
  /// Of its bubble, in p, m, v, F, B, W and F&B; "executed" where no trusted one exists.
  std::string_view formula = "executed";
  std::string_view source;
  Placement placement = Placement::loop;
  bool interleaves = false;  // chunks per rank may be chosen; otherwise they are `chunks`
  int chunks = 1;
  bool groups = false;  // interleaved, it lets one choose how many micro-batches follow in a chunk
  bool pairs = false;   // may do a forward and a backward together
  bool splits = true;   // may split backward passes
  bool overlaps =
      false;  // its actions say themselves which are overlapped, where the shape wants it
  bool forwards_first = false;   // no backward pass before the last forward pass
  bool by_one_rank = false;      // only one rank works at a time
  bool has_plain_ratio = false;  // of the bubble: of p, m and v alone
  /// Over stages that are alike, a rank holds most when it has most chunks in flight.
  bool has_plain_memory = false;
  /// The formula is of a rank's own span, from the start of its first action to the end of its
  /// last.
  bool bubble_of_span = false;

  /// What the shape would have to be, if the schedule cannot have this one; nullptr: it has any.
  std::optional<std::string> (*refusal)(const PipelineShape& shape) = nullptr;
  /// One of the two: of a rank, or of all, where they are found together.
  ActionList (*actions)(int rank, const PipelineShape& shape) = nullptr;
  std::vector<ActionList> (*lists)(const PipelineShape& shape) = nullptr;
  /// The most idle time of a rank within its span (bubble_of_span) or until the last rank ends,
  /// when all stages take the same and sending is free. Nothing where no formula is known to hold.
  std::optional<Seconds> (*bubble)(const PipelineShape& shape, const PassTimes& times) = nullptr;
  /// Most chunks whose activations a rank holds; one whose weight gradient is still to come counts.
  /// Nothing where only counting tells.
  std::optional<int> (*in_flight)(int rank, const PipelineShape& shape) = nullptr;
  std::optional<SteadyPhase> (*steady_phase)(int rank, const PipelineShape& shape) = nullptr;
};

/// All that have a name.
[[nodiscard]] std::span<const ScheduleEntry* const> schedule_entries();

/// One of the entries, or a file's.
class Schedule {
 public:
  Schedule();  // 1F1B
  explicit Schedule(const ScheduleEntry& entry) : entry_(&entry) {}
  Schedule(const ListedSchedule& list);  // NOLINT: a list is a schedule

  [[nodiscard]] const ScheduleEntry& entry() const { return *entry_; }
  /// Its place among the entries, and after them all for a file's.
  [[nodiscard]] std::size_t index() const;
  /// nullptr for those with a name.
  [[nodiscard]] const ListedSchedule* listed() const { return list_.get(); }

 private:
  const ScheduleEntry* entry_;
  std::shared_ptr<const ListedSchedule> list_;
};

/// REQUIRES the name of an entry: "zb-h1".
[[nodiscard]] Schedule named_schedule(std::string_view name);

[[nodiscard]] std::string_view name(const Schedule& schedule);
[[nodiscard]] std::string_view bubble_formula(const Schedule& schedule);
[[nodiscard]] std::string_view source(const Schedule& schedule);
[[nodiscard]] Placement placement(const Schedule& schedule);
[[nodiscard]] bool interleaves(const Schedule& schedule);
/// Chunks per rank that the schedule works with unless told otherwise.
[[nodiscard]] int usual_chunks(const Schedule& schedule);
[[nodiscard]] std::optional<std::string> refusal(const Schedule& schedule,
                                                 const PipelineShape& shape);
/// REQUIRES a shape that is not refused.
[[nodiscard]] ActionList actions(const Schedule& schedule, int rank, const PipelineShape& shape);
/// Of all ranks, for less than the sum of each.
[[nodiscard]] std::vector<ActionList> action_lists(const Schedule& schedule,
                                                   const PipelineShape& shape);
/// Whether they are one schedule, and if lists, the same.
[[nodiscard]] bool is_same(const Schedule& a, const Schedule& b);
/// By the schedule's formula, or counted along its actions.
[[nodiscard]] int in_flight(const Schedule& schedule, int rank, const PipelineShape& shape);
[[nodiscard]] std::optional<Seconds> bubble(const Schedule& schedule,
                                            const PipelineShape& shape,
                                            const PassTimes& times);
[[nodiscard]] std::optional<SteadyPhase> steady_phase(const Schedule& schedule,
                                                      int rank,
                                                      const PipelineShape& shape);

/// The actions as a table: a line for each rank, its actions as cells in the notation of
/// ListedSchedule, which reads them again.  REQUIRES a shape that is not refused.
[[nodiscard]] std::string actions_csv(const Schedule& schedule, const PipelineShape& shape);

/// bubble_ratio = idle / total = (p-1)/(v m + p - 1).  [E8; seeds trap T15]
[[nodiscard]] constexpr double bubble_ratio(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches + shape.stages - 1.0);
}
/// bubble_overhead = idle / ideal = (p-1)/(v m).  [Narayanan et al. 2021]
[[nodiscard]] constexpr double bubble_overhead(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches);
}

}  // namespace titer
