// Streams whose tasks share resources.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "engine/stream_lists.hpp"
#include "engine/stream_pipelines.hpp"
#include "titer/engine/streams.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(StreamLoads, SlowComputeOnlyWhileACollectiveRuns) {
  Loads loads;
  const LoadResource units = loads.add_resource();
  const LoadId compute = loads.add(std::array{LoadShare{units, 1.0}});
  const LoadId collective = loads.add(std::array{LoadShare{units, 0.25}});
  StreamLists lists;
  lists.add_stream({loaded(1000, compute)});
  lists.add_stream({task_of(100), loaded(400, collective)});
  const StreamOutcome outcome = run_lists(lists, loads);
  // Both go at 1 / 1.25 from 100 on, so the collective ends after 400 * 1.25, and of the compute
  // is left what was there less those 400.
  EXPECT_EQ(outcome.spans[1][1], (testing::Span{100, 100 + 500}));
  EXPECT_EQ(outcome.spans[0][0], (testing::Span{0, 100 + 500 + (1000 - 100 - 400)}));
}

TEST(StreamLoads, GiveTwoOnOneLinkHalfEach) {
  Loads loads;
  const LoadResource card = loads.add_resource();
  const LoadId load = loads.add(std::array{LoadShare{card, 1.0}});
  StreamLists lists;
  lists.add_stream({loaded(300, load)});
  lists.add_stream({loaded(100, load), loaded(100, load)});
  const StreamOutcome outcome = run_lists(lists, loads);
  EXPECT_EQ(outcome.spans[1], (Spans{{0, 200}, {200, 400}}));
  EXPECT_EQ(outcome.spans[0], (Spans{{0, 400 + 100}}));
}

TEST(StreamLoads, LetOneBeStoppedElsewhereLeaveItsShareToOthers) {
  Loads loads;
  const LoadResource first = loads.add_resource();
  const LoadResource second = loads.add_resource();
  const LoadId one = loads.add(std::array{LoadShare{first, 1.0}});
  const LoadId both = loads.add(std::array{LoadShare{first, 1.0}, LoadShare{second, 0.5}});
  const LoadId other = loads.add(std::array{LoadShare{second, 1.0}});
  StreamLists lists;
  lists.add_stream({loaded(1000, one)});
  lists.add_stream({loaded(1000, both)});
  lists.add_stream({loaded(750, other)});
  const StreamOutcome outcome = run_lists(lists, loads);
  EXPECT_EQ(outcome.spans[0], (Spans{{0, 2000}}));
  EXPECT_EQ(outcome.spans[1], (Spans{{0, 2000}}));
  EXPECT_EQ(outcome.spans[2], (Spans{{0, 1000}}));  // at 1 - 0.5 * 0.5
}

TEST(StreamLoads, EndOfNoDurationWhateverIsInTheWay) {
  Loads loads;
  const LoadResource card = loads.add_resource();
  const LoadId load = loads.add(std::array{LoadShare{card, 1.0}});
  StreamLists lists;
  lists.add_stream({loaded(100, load)});
  lists.add_stream({task_of(10), loaded(0, load), loaded(0, load)});
  const StreamOutcome outcome = run_lists(lists, loads);
  EXPECT_EQ(outcome.spans[1], (Spans{{0, 10}, {10, 10}, {10, 10}}));
  EXPECT_EQ(outcome.spans[0], (Spans{{0, 100}}));
}

/// Sites that do the same: devices whose streams take shares of the site's resources, and wait for
/// each other. Site s has its streams, semaphores, loads and resources in an order of its own.
struct Sites {
  StreamLists lists{};
  Loads loads{};
  std::vector<std::vector<StreamId>> stream_of{};  // of each site
};

struct SiteShape {
  std::uint32_t seed;
  std::size_t sites = 1;
  bool shuffled = false;
  Ticks scale = 1;
  double share = 1.0;  // that every share is multiplied by
};

Sites make_sites(const SiteShape& shape) {
  constexpr std::size_t streams = 7;
  constexpr std::size_t resources = 4;
  constexpr std::size_t kinds = 6;
  Sites result;
  std::mt19937 order(shape.seed);
  std::vector<std::size_t> slots(shape.sites * streams);
  std::iota(slots.begin(), slots.end(), 0u);
  if (shape.shuffled) {
    std::ranges::shuffle(slots, order);
  }
  result.lists.streams.resize(slots.size());
  result.lists.taken.resize(slots.size());
  result.lists.semaphores = slots.size();
  for (std::size_t site = 0; site < shape.sites; ++site) {
    std::mt19937 random(shape.seed);  // the same for every site
    std::vector<LoadResource> resource(resources);
    std::ranges::generate(resource, [&] { return result.loads.add_resource(); });
    std::vector<std::vector<LoadShare>> shares(kinds);
    for (auto& list : shares) {
      for (const LoadResource id : resource) {
        if (random() % 2 == 0) {
          const double drawn = 0.05 + 0.95 * static_cast<double>(random() % 1000) / 1000.0;
          list.push_back({id, shape.share * drawn});
        }
      }
    }
    std::vector<std::size_t> kind(kinds);
    std::iota(kind.begin(), kind.end(), 0u);
    if (shape.shuffled) {
      std::ranges::shuffle(kind, order);
    }
    std::vector<LoadId> load(kinds);
    for (const std::size_t k : kind) {
      load[k] = result.loads.add(shares[k]);
    }
    result.stream_of.emplace_back();
    for (std::size_t i = 0; i < streams; ++i) {
      result.stream_of.back().push_back(static_cast<StreamId>(slots[site * streams + i]));
    }
    const std::vector<StreamId>& mine = result.stream_of.back();
    for (std::uint32_t step = 0; step < 30; ++step) {
      for (std::size_t i = 0; i < streams; ++i) {
        StreamTask task = task_of(shape.scale * static_cast<Ticks>(random() % 2000), {}, {mine[i]});
        const StreamId other = mine[random() % streams];
        if (random() % 2 == 0 && step > 0) {
          task.waits.add({other, step});
        }
        task.load = random() % 4 == 0 ? kNoLoad : load[random() % kinds];
        result.lists.streams[mine[i]].push_back(task);
      }
    }
  }
  return result;
}

TEST(StreamLoads, GiveSymmetricSitesIdenticalTimes) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Sites alone = make_sites({.seed = seed});
    Sites many = make_sites({.seed = seed, .sites = 5, .shuffled = true});
    const StreamOutcome expected = run_lists(alone.lists, alone.loads);
    const StreamOutcome outcome = run_lists(many.lists, many.loads);
    ASSERT_TRUE(expected.run.stuck.empty());
    ASSERT_GT(expected.run.patterns.found, 0u);
    ASSERT_EQ(outcome.run.makespan, expected.run.makespan) << seed;
    for (const auto& site : many.stream_of) {
      for (std::size_t i = 0; i < site.size(); ++i) {
        ASSERT_EQ(outcome.spans[site[i]], expected.spans[alone.stream_of[0][i]]) << seed;
      }
    }
  }
}

TEST(StreamLoads, DoNotFeelWhatRunsElsewhere) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Sites a = make_sites({.seed = seed});
    Sites b = make_sites({.seed = seed + 1000});
    Sites both = a;
    for (std::size_t i = 0; i < b.loads.resources(); ++i) {
      both.loads.add_resource();
    }
    for (LoadId load = 0; load < b.loads.size(); ++load) {
      std::vector<LoadShare> shares;
      for (const Loads::Part& part : b.loads.parts(load)) {
        shares.push_back({static_cast<LoadResource>(part.resource + a.loads.resources()),
                          static_cast<double>(part.units) / static_cast<double>(Loads::unit)});
      }
      both.loads.add(shares);
    }
    for (const auto& list : b.lists.streams) {
      both.lists.add_stream({});
      for (StreamTask task : list) {
        StreamTask moved = task_of(task.duration);
        for (const SemaphoreWait& wait : task.waits) {
          moved.waits.add(
              {static_cast<SemaphoreId>(wait.semaphore + a.lists.semaphores), wait.count});
        }
        for (const SemaphoreId signal : task.signals) {
          moved.signals.add(static_cast<SemaphoreId>(signal + a.lists.semaphores));
        }
        moved.load =
            task.load == kNoLoad ? kNoLoad : static_cast<LoadId>(task.load + a.loads.size());
        both.lists.streams.back().push_back(moved);
      }
    }
    both.lists.semaphores += b.lists.semaphores;
    const StreamOutcome first = run_lists(a.lists, a.loads);
    const StreamOutcome second = run_lists(b.lists, b.loads);
    const StreamOutcome outcome = run_lists(both.lists, both.loads);
    for (std::size_t i = 0; i < first.spans.size(); ++i) {
      ASSERT_EQ(outcome.spans[i], first.spans[i]) << seed;
      ASSERT_EQ(outcome.spans[first.spans.size() + i], second.spans[i]) << seed;
    }
  }
}

TEST(StreamLoads, ChangeNothingWithoutContention) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Sites sites = make_sites({.seed = seed, .share = 1.0 / 7});  // seven streams
    const StreamOutcome outcome = run_lists(sites.lists, sites.loads);
    for (auto& list : sites.lists.streams) {
      for (StreamTask& task : list) {
        task.load = kNoLoad;
      }
    }
    ASSERT_EQ(outcome.spans, run_lists(sites.lists).spans) << seed;
    ASSERT_EQ(outcome.run.patterns.found, 0u);
  }
}

TEST(StreamLoads, ScaleWithTheDurations) {
  constexpr Ticks scale = 1'000'000;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Sites sites = make_sites({.seed = seed});
    Sites scaled = make_sites({.seed = seed, .scale = scale});
    const Ticks makespan = run_lists(sites.lists, sites.loads).run.makespan;
    const Ticks larger = run_lists(scaled.lists, scaled.loads).run.makespan;
    // Every end is rounded by half a tick: 30 tasks on each of seven streams, at a rate of 1/7 at
    // the least.
    EXPECT_NEAR(static_cast<double>(larger) / scale, static_cast<double>(makespan), 7 * 30 * 7);
    EXPECT_NEAR(static_cast<double>(larger) / static_cast<double>(scale * makespan), 1.0, 0.01);
  }
}

TEST(StreamLoads, AreNeverFasterThanAloneAndConserveWork) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Sites sites = make_sites({.seed = seed, .scale = 1000});
    const StreamOutcome outcome = run_lists(sites.lists, sites.loads);
    std::vector<double> work(sites.loads.resources(), 0.0);
    double rounded = 0.0;
    for (std::size_t stream = 0; stream < outcome.spans.size(); ++stream) {
      for (std::size_t i = 0; i < outcome.spans[stream].size(); ++i) {
        const StreamTask& task = sites.lists.streams[stream][i];
        const testing::Span span = outcome.spans[stream][i];
        ASSERT_GE(span.end - span.start, task.duration);
        rounded += 1.0;
        if (task.load != kNoLoad) {
          for (const Loads::Part& part : sites.loads.parts(task.load)) {
            work[part.resource] += static_cast<double>(task.duration) *
                                   static_cast<double>(part.units) /
                                   static_cast<double>(Loads::unit);
          }
        }
      }
    }
    for (const double done : work) {
      ASSERT_LE(done, static_cast<double>(outcome.run.makespan) + rounded) << seed;
    }
  }
}

TEST(StreamLoads, KeepAResourceBusyUntilAllItsWorkIsDone) {
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 50; ++repeat) {
    Loads loads;
    const LoadResource card = loads.add_resource();
    StreamLists lists;
    double work = 0.0;
    for (int i = 0; i < 20; ++i) {
      const double share = 0.5 + 0.5 * static_cast<double>(random() % 100) / 100;
      const auto duration = static_cast<Ticks>(1'000'000 + random() % 1'000'000'000);
      lists.add_stream({loaded(duration, loads.add(std::array{LoadShare{card, share}}))});
      work += share * static_cast<double>(duration);
    }
    const StreamOutcome outcome = run_lists(lists, loads);
    // The card is full until the last one is alone on it, at full speed.
    std::vector<Ticks> ends;
    for (const Spans& spans : outcome.spans) {
      ends.push_back(spans[0].end);
    }
    std::ranges::sort(ends);
    const auto last = static_cast<double>(ends[19] - ends[18]);
    EXPECT_LE(static_cast<double>(ends[18]) + 0.5 * last, work * (1 + 1e-9) + 20);
    EXPECT_GE(static_cast<double>(ends[18]) + last, work * (1 - 1e-9) - 20);
  }
}

TEST(StreamLoads, RememberPatternsWithoutADifference) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    Sites sites = make_sites({.seed = seed, .sites = 3});
    const StreamOutcome known = run_lists(sites.lists, sites.loads);
    const StreamOutcome again = run_lists(sites.lists, sites.loads, StreamEngine(50));
    const StreamOutcome anew = run_lists(sites.lists, sites.loads, StreamEngine(0));
    ASSERT_EQ(known.spans, anew.spans);
    ASSERT_EQ(known.spans, again.spans);
    ASSERT_GT(known.run.patterns.known, 0u);
    ASSERT_EQ(anew.run.patterns.known, 0u);
    ASSERT_EQ(known.run.patterns.known + known.run.patterns.found, anew.run.patterns.found);
  }
}

TEST(StreamLoads, RememberMostOfWhatAPipelineDoes) {
  LanePipeline pipeline({.ranks = 8, .batches = 512}, true);
  const StreamRun run = StreamEngine().run(
      pipeline.streams(), pipeline.semaphores(), pipeline, NoListener{}, pipeline.loads());
  EXPECT_TRUE(run.stuck.empty());
  EXPECT_GT(run.patterns.known, 20 * run.patterns.found);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
