#include "titer/engine/calendar.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

using Slots = std::vector<std::uint32_t>;

class EmptyCalendar : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(EmptyCalendar, HasNoAlarmAfterReset) {
  Calendar calendar;
  Slots due;
  calendar.reset(1);
  calendar.set(0, 5);
  calendar.reset(GetParam());
  EXPECT_EQ(calendar.take_earliest(due), Calendar::never);
  EXPECT_TRUE(due.empty());
}

INSTANTIATE_TEST_SUITE_P(Slots, EmptyCalendar, ::testing::Values(0, 1, 8, 9, 4097));

TEST(Calendar, TakesTheEarliestAndKeepsTheRest) {
  Calendar calendar;
  calendar.reset(100);
  calendar.set(99, 30);
  calendar.set(0, 20);
  calendar.set(50, 10);
  Slots due;
  EXPECT_EQ(calendar.take_earliest(due), 10);
  EXPECT_EQ(due, Slots{50});
  EXPECT_EQ(calendar.take_earliest(due), 20);
  EXPECT_EQ(due, Slots{0});
  EXPECT_EQ(calendar.take_earliest(due), 30);
  EXPECT_EQ(due, Slots{99});
  EXPECT_EQ(calendar.take_earliest(due), Calendar::never);
}

TEST(Calendar, TakesAllAlarmsOfATickInTheOrderOfSlots) {
  Calendar calendar;
  calendar.reset(600);
  for (const std::uint32_t slot : {599u, 3u, 64u, 63u, 8u, 0u}) {
    calendar.set(slot, 4);
  }
  calendar.set(1, 5);
  Slots due;
  EXPECT_EQ(calendar.take_earliest(due), 4);
  EXPECT_EQ(due, (Slots{0, 3, 8, 63, 64, 599}));
  EXPECT_EQ(calendar.take_earliest(due), 5);
}

TEST(Calendar, AcceptsAnAlarmAtTheTickTakenLast) {
  Calendar calendar;
  calendar.reset(9);
  Slots due;
  calendar.set(8, 4);
  EXPECT_EQ(calendar.take_earliest(due), 4);
  calendar.set(8, 4);
  EXPECT_EQ(calendar.take_earliest(due), 4);
  EXPECT_EQ(due, Slots{8});
}

TEST(Calendar, MovesAndRemovesAlarms) {
  Calendar calendar;
  calendar.reset(100);
  Slots due;
  calendar.move(70, 40);  // sets it
  EXPECT_EQ(calendar.earliest(), 40);
  calendar.move(3, 20);
  calendar.move(70, 10);
  EXPECT_EQ(calendar.earliest(), 10);
  calendar.move(70, 30);
  EXPECT_EQ(calendar.earliest(), 20);
  calendar.move(3, Calendar::never);
  EXPECT_EQ(calendar.earliest(), 30);
  EXPECT_EQ(calendar.take_earliest(due), 30);
  EXPECT_EQ(due, Slots{70});
  EXPECT_EQ(calendar.earliest(), Calendar::never);
}

/// Every slot, its alarm; the earliest found by looking at all of them.
class SlowCalendar {
 public:
  void set(std::uint32_t slot, Ticks tick) { alarms_[slot] = tick; }
  void remove(std::uint32_t slot) { alarms_.erase(slot); }
  [[nodiscard]] bool has(std::uint32_t slot) const { return alarms_.count(slot) != 0; }
  Ticks take_earliest(Slots& due) {
    due.clear();
    Ticks earliest = Calendar::never;
    for (const auto& [slot, tick] : alarms_) {
      earliest = std::min(earliest, tick);
    }
    for (const auto& [slot, tick] : alarms_) {
      if (tick == earliest) {
        due.push_back(slot);
      }
    }
    for (const std::uint32_t slot : due) {
      alarms_.erase(slot);
    }
    return earliest;
  }

 private:
  std::map<std::uint32_t, Ticks> alarms_;
};

/// Sets, moves, removes or takes at random, in both; returns whether they agreed.
bool agree(std::mt19937& random, std::uint32_t slots) {
  Calendar calendar;
  SlowCalendar slow;
  calendar.reset(slots);
  Slots due;
  Slots expected;
  Ticks now = 0;
  bool same = true;
  for (int step = 0; step < 2000; ++step) {
    const std::uint32_t slot = static_cast<std::uint32_t>(random()) % slots;
    const Ticks later = now + static_cast<Ticks>(random() % 6);
    if (random() % 8 == 0) {
      calendar.move(slot, Calendar::never);
      slow.remove(slot);
    } else if (random() % 3 != 0) {
      slow.has(slot) ? calendar.move(slot, later) : calendar.set(slot, later);
      slow.set(slot, later);
    } else {
      const Ticks earliest = calendar.earliest();
      const Ticks tick = calendar.take_earliest(due);
      same = same && tick == earliest && tick == slow.take_earliest(expected) && due == expected;
      now = tick == Calendar::never ? now : tick;
    }
  }
  return same;
}

TEST(Calendar, AgreesWithLookingAtAllSlots) {
  std::mt19937 random(1);
  for (const std::uint32_t slots : {1u, 2u, 8u, 9u, 63u, 64u, 65u, 513u}) {
    EXPECT_TRUE(agree(random, slots)) << slots << " slots";
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
