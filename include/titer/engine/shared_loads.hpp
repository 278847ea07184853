#pragma once
// Tasks that run side by side and share resources: how much of each is left, how fast it runs, and
// when it will have ended if nothing changes. A resource slows its tasks only while they ask for
// more than all of it; a change is felt by those that such resources connect with it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "titer/engine/calendar.hpp"
#include "titer/engine/load_rates.hpp"
#include "titer/engine/loads.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {

/// The running tasks that have a load, each in a slot of a calendar.
class SharedLoads {
 public:
  SharedLoads() = default;
  /// See LoadRates.
  explicit SharedLoads(std::size_t remembered) : rates_(remembered) {}

  /// Forgets all tasks. The loads must outlive their use here and must not grow.
  void reset(const Loads& loads, std::size_t slots);

  /// A task starts in a slot that has none. Returns whether nothing is in its way: then it ends
  /// after its duration; otherwise settle() will set its alarm.
  [[nodiscard]] bool start(std::uint32_t slot, LoadId load, Ticks duration, Ticks now);

  /// The task in a slot, whose alarm was taken, has ended.
  void end(std::uint32_t slot);

  /// After all that starts and ends now: brings rates and alarms up to date.
  void settle(Ticks now, Calendar& calendar) {
    if (!changed_.empty()) {
      settle_changes(now, calendar);
    }
  }

  [[nodiscard]] const LoadPatterns& patterns() const { return rates_.patterns(); }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Task {
    double left = 0.0;  // of its duration, at `since`
    double rate = 0.0;  // 0: to be found
    Ticks since = 0;
    LoadId load = kNoLoad;
    std::uint32_t first = none;  // of its places
    std::uint64_t seen = 0;      // the last round that reached it
  };
  struct Resource {
    Loads::Units asked = 0;      // by the tasks that run
    std::uint32_t first = none;  // of their places
    std::uint64_t seen = 0;
    bool changed = false;
  };
  struct Place {  // of a task in the list of a resource
    std::uint32_t slot = none;
    std::uint32_t next = none;
    std::uint32_t previous = none;
    std::uint32_t of_task = none;  // the next one of the task, or of those that are free
  };

  void settle_changes(Ticks now, Calendar& calendar);
  void settle_around(std::uint32_t slot, Ticks now, Calendar& calendar);
  void reach(LoadResource id);
  void set_rate(std::uint32_t slot, double rate, Ticks now, Calendar& calendar);
  [[nodiscard]] std::uint32_t enter(LoadResource id, std::uint32_t slot);
  void leave(LoadResource id, std::uint32_t place);
  void note_change(LoadResource id);

  LoadRates rates_;
  const Loads* loads_ = nullptr;
  std::vector<Task> tasks_;  // by slot
  std::vector<Resource> resources_;
  std::vector<Place> places_;
  std::uint32_t free_ = none;
  std::vector<LoadResource> changed_;  // asked for more than all, before or after a change
  std::uint64_t round_ = 0;
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint64_t> members_;  // of reached_: load, then slot
  std::vector<LoadId> set_;
};

}  // namespace titer
