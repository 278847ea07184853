#include "titer/engine/shared_loads.hpp"

#include <algorithm>
#include <cmath>

#include "titer/engine/time_limit.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

void SharedLoads::reset(const Loads& loads, std::size_t slots) {
  loads_ = &loads;
  rates_.reset(loads);
  tasks_.assign(loads.size() == 0 ? 0 : slots, {});
  resources_.assign(loads.resources(), {});
  places_.clear();
  free_ = none;
  changed_.clear();
  round_ = 0;
}

bool SharedLoads::start(std::uint32_t slot, LoadId load, Ticks duration, Ticks now) {
  ensure(load < loads_->size(), "a task has a load of the list that the run was given");
  Task& task = tasks_[slot];
  task = {.left = static_cast<double>(duration),
          .rate = 1.0,
          .since = now,
          .load = load,
          .first = none,
          .seen = 0};
  bool in_the_way = false;
  std::uint32_t last = none;
  for (const Loads::Part& part : loads_->parts(load)) {
    Resource& resource = resources_[part.resource];
    resource.asked += part.units;
    if (resource.asked > Loads::full) {
      note_change(part.resource);
      in_the_way = true;
    }
    const std::uint32_t place = enter(part.resource, slot);
    (last == none ? task.first : places_[last].of_task) = place;
    last = place;
  }
  if (in_the_way) {
    task.rate = 0.0;
  }
  return !in_the_way;
}

void SharedLoads::end(std::uint32_t slot) {
  const Task& task = tasks_[slot];
  std::uint32_t place = task.first;
  for (const Loads::Part& part : loads_->parts(task.load)) {
    Resource& resource = resources_[part.resource];
    if (resource.asked > Loads::full) {
      note_change(part.resource);
    }
    resource.asked -= part.units;
    const std::uint32_t next = places_[place].of_task;
    leave(part.resource, place);
    place = next;
  }
}

void SharedLoads::settle_changes(Ticks now, Calendar& calendar) {
  ++round_;
  for (const LoadResource id : changed_) {
    resources_[id].changed = false;
    for (std::uint32_t at = resources_[id].first; at != none; at = places_[at].next) {
      if (tasks_[places_[at].slot].seen != round_) {
        settle_around(places_[at].slot, now, calendar);
      }
    }
  }
  changed_.clear();
}

/// All tasks that resources with too little connect with this one.
void SharedLoads::settle_around(std::uint32_t slot, Ticks now, Calendar& calendar) {
  reached_.assign(1, slot);
  tasks_[slot].seen = round_;
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    for (const Loads::Part& part : loads_->parts(tasks_[reached_[i]].load)) {
      reach(part.resource);
    }
  }
  members_.clear();
  for (const std::uint32_t member : reached_) {
    members_.push_back(std::uint64_t{tasks_[member].load} << 32 | member);
  }
  std::ranges::sort(members_);
  set_.clear();
  for (const std::uint64_t member : members_) {
    set_.push_back(static_cast<LoadId>(member >> 32));
  }
  if (set_.size() == 1) {  // no load alone asks for too much
    set_rate(slot, 1.0, now, calendar);
    return;
  }
  const std::span<const double> rates = rates_.of(set_);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    set_rate(static_cast<std::uint32_t>(members_[i]), rates[i], now, calendar);
  }
}

void SharedLoads::reach(LoadResource id) {
  Resource& resource = resources_[id];
  if (resource.seen == round_ || resource.asked <= Loads::full) {
    return;
  }
  resource.seen = round_;
  for (std::uint32_t at = resource.first; at != none; at = places_[at].next) {
    const std::uint32_t slot = places_[at].slot;
    if (tasks_[slot].seen != round_) {
      tasks_[slot].seen = round_;
      reached_.push_back(slot);
    }
  }
}

void SharedLoads::set_rate(std::uint32_t slot, double rate, Ticks now, Calendar& calendar) {
  Task& task = tasks_[slot];
  if (task.rate == rate) {
    return;
  }
  task.left = std::max(0.0, task.left - task.rate * static_cast<double>(now - task.since));
  task.rate = rate;
  task.since = now;
  const double ticks = task.left / rate;
  ensure_in_time(ticks <= static_cast<double>(kMaxTicks - now));
  calendar.move(slot, now + std::min<Ticks>(std::llround(ticks), kMaxTicks - now));
}

std::uint32_t SharedLoads::enter(LoadResource id, std::uint32_t slot) {
  std::uint32_t place = free_;
  if (place == none) {
    place = static_cast<std::uint32_t>(places_.size());
    places_.emplace_back();
  } else {
    free_ = places_[place].of_task;
  }
  std::uint32_t& first = resources_[id].first;
  places_[place] = {.slot = slot, .next = first, .previous = none, .of_task = none};
  if (first != none) {
    places_[first].previous = place;
  }
  first = place;
  return place;
}

void SharedLoads::leave(LoadResource id, std::uint32_t place) {
  const Place& mine = places_[place];
  (mine.previous == none ? resources_[id].first : places_[mine.previous].next) = mine.next;
  if (mine.next != none) {
    places_[mine.next].previous = mine.previous;
  }
  places_[place].of_task = free_;
  free_ = place;
}

void SharedLoads::note_change(LoadResource id) {
  if (!resources_[id].changed) {
    resources_[id].changed = true;
    changed_.push_back(id);
  }
}

}  // namespace titer
