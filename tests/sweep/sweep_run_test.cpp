#include "titer/sweep/sweep_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "sweeps.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

void append_row(const SweepPoint& point, std::string& text) { text += row_of(point); }

/// The rows of a run, having checked that its chunks come in order.
std::string rows(const Sweep& sweep, const SweepOptions& options) {
  std::string text;
  std::size_t nth = options.done;
  const SweepOutcome outcome =
      run_sweep(sweep, options, append_row, [&](std::span<const SweepChunk> ready) {
        EXPECT_FALSE(ready.empty());
        for (const SweepChunk& chunk : ready) {
          EXPECT_EQ(chunk.chunk.number, options.shard.chunk(nth++));
          EXPECT_EQ(chunk.chunk.bytes, chunk.rows.size());
          EXPECT_EQ(chunk.chunk.sum, checksum(chunk.rows));
          text += chunk.rows;
        }
      });
  EXPECT_TRUE(outcome.all);
  EXPECT_EQ(nth, options.shard.count(sweep_chunks(sweep, options.fidelity).count()));
  return text;
}

/// Models and plans that are sound, do not fit or are not sound: 90 points.
Sweep mixed_sweep() {
  return sweep_of(kSmallScenario,
                  {axis("model", R"(["megatron-1.7b", "llama3.2-1b"])"),
                   axis("plan.tensor", R"([1, 2, 3, 8, "x"])"),
                   axis("training.precision", R"(["bf16", "fp15", "fp16"])"),
                   axis("plan.micro_batch", "[1, 2, 5]")});
}

TEST(SweepRows, AreTheSameBytesForAnyNumberOfThreads) {
  const Sweep sweep = mixed_sweep();
  const std::string alone = rows(sweep, {.threads = 1});
  for (const unsigned threads : {0U, 2U, 5U, 64U}) {
    EXPECT_EQ(rows(sweep, {.threads = threads}), alone) << threads << " threads";
  }
}

TEST(SweepRows, AreThoseOfEveryPointByItself) {
  const Sweep sweep = mixed_sweep();
  std::string expected;
  for (std::size_t point = 0; point < sweep.points(); ++point) {
    expected += row_of(fresh_point(sweep, point));
  }
  EXPECT_EQ(rows(sweep, {.threads = 1}), expected);
}

TEST(SweepRows, StayInOrderBeyondTheWindow) {
  std::vector<Value> batches;
  for (int i = 1; i <= 220; ++i) {
    batches.emplace_back(i);
  }
  const Sweep sweep = sweep_of(kSmallScenario,
                               {{.path = "training.global_batch", .values = batches},
                                axis("plan.micro_batch", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]")});
  ASSERT_EQ(sweep_chunks(sweep, Fidelity::closed), (Chunks{.points = 220 * 10, .size = 2}));
  const std::string two = rows(sweep, {.threads = 2});
  EXPECT_EQ(two, rows(sweep, {.threads = 1}));
  EXPECT_TRUE(two.ends_with(row_of(fresh_point(sweep, 2199))));
}

TEST(SweepRows, OfEventsAreNotComputedFarAheadOfASlowOne) {
  // Two points on each of two threads: what a killed process loses of points that take seconds.
  using namespace std::chrono_literals;
  constexpr std::size_t others = 3;
  std::atomic<std::size_t> ahead = 0;
  std::size_t most = 0;
  const auto append = [&](const SweepPoint& point, std::string& text) {
    text += row_of(point);
    if (point.index > 0) {
      ++ahead;
      return;
    }
    const auto patience = std::chrono::steady_clock::now() + 10s;
    while (ahead < others && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(50ms);
    most = ahead;
  };
  run_sweep(mixed_sweep(), {.threads = 2, .fidelity = Fidelity::event}, append, [](auto) {});
  EXPECT_EQ(most, others);
  EXPECT_EQ(ahead, mixed_sweep().points() - 1);
}

TEST(SweepRows, AreOneForASweepWithoutAxes) {
  const Sweep sweep = sweep_of(kSmallScenario, {});
  EXPECT_EQ(rows(sweep, {.threads = 3}), row_of(fresh_point(sweep, 0)));
}

TEST(SweepRun, ComputesTheChunksOfItsShardFromWhereItWas) {
  const Sweep sweep = mixed_sweep();
  ASSERT_EQ(sweep_chunks(sweep, Fidelity::closed).size, 1u);
  std::string expected;
  for (std::size_t point = 1 + 5 * 4; point < sweep.points(); point += 4) {
    expected += row_of(fresh_point(sweep, point));
  }
  EXPECT_EQ(rows(sweep, {.threads = 2, .shard = {.rank = 1, .size = 4}, .done = 5}), expected);
  EXPECT_EQ(rows(sweep, {.shard = {.rank = 90, .size = 91}}), "") << "more shards than chunks";
  EXPECT_EQ(rows(sweep, {.done = 90}), "");
}

TEST(SweepRun, HandsOnAllThatWasBegunWhenItIsStopped) {
  const Sweep sweep = mixed_sweep();
  std::atomic<bool> stop = false;
  std::size_t next = 0;
  const SweepOutcome outcome = run_sweep(
      sweep,
      {.threads = 2, .stop = &stop},
      [&](const SweepPoint& point, std::string& text) {
        stop = stop || point.index == 10;
        append_row(point, text);
      },
      [&](std::span<const SweepChunk> ready) {
        for (const SweepChunk& chunk : ready) {
          EXPECT_EQ(chunk.chunk.number, next++);
        }
      });
  EXPECT_FALSE(outcome.all);
  EXPECT_GE(next, 11u) << "the chunk that was being computed";
  EXPECT_LE(next, 10u + 64u) << "no further than the window";
}

TEST(SweepRun, PassesOnWhatAThreadThrows) {
  const Sweep sweep = sweep_of(kSmallScenario, {axis("plan.micro_batch", "[1, 2, 4, 8]")});
  const auto refuse = [](const SweepPoint& point, std::string&) {
    if (point.index == 2) {
      throw std::runtime_error("point 2");
    }
  };
  for (const unsigned threads : {1U, 4U}) {
    EXPECT_THROW(run_sweep(sweep, {.threads = threads}, refuse, [](auto) {}), std::runtime_error);
  }
}

TEST(SweepRun, EndsWhenItsRowsCannotBeWritten) {
  const Sweep sweep = mixed_sweep();
  const auto full = [](std::span<const SweepChunk>) { throw std::runtime_error("disk full"); };
  EXPECT_THROW(run_sweep(sweep, {.threads = 4}, append_row, full), std::runtime_error);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
