#include <gtest/gtest.h>

#include "sweep/sweep_texts.hpp"
#include "sweeps.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace sweep_texts;

/// The points that are computed, by their numbers.
std::vector<std::size_t> kept_of(const Sweep& sweep) {
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    if (worker.compute(i, point)) {
      kept.push_back(i);
    }
  }
  return kept;
}

TEST(SweepWhere, LeavesPointsOut) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2, 4, 8], "plan.pipeline": [1, 2, 4, 8]},
         "where": ["plan.tensor * plan.pipeline <= 8", "plan.pipeline > 1"])");
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 16; ++i) {
    if ((1U << (i / 4)) * (1U << (i % 4)) <= 8 && i % 4 > 0) {
      expected.push_back(i);
    }
  }
  EXPECT_EQ(kept_of(sweep), expected);
}

TEST(SweepWhere, CountsWhatEachConstraintLeftOut) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2, 4, 8], "plan.pipeline": [1, 2, 4, 8]},
         "where": ["plan.tensor * plan.pipeline <= 8", "plan.tensor > 1"])");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  std::size_t kept = 0;
  for (std::size_t i = worker.next_kept(0, 16); i < 16; i = worker.next_kept(i + 1, 16)) {
    EXPECT_TRUE(worker.compute(i, point)) << i;
    ++kept;
  }
  // t = 1 is left out as a whole, before the pipeline is known; of t = 2, 4, 8 then 1 + 2 + 3.
  EXPECT_EQ(worker.left_out(), (std::vector<std::uint64_t>{1 + 2 + 3, 4}));
  EXPECT_EQ(kept + 10, 16u);
}

TEST(SweepWhere, SkipsWholeProducts) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": {"from": 1, "to": 1000, "step": 1},
                  "plan.pipeline": {"from": 1, "to": 1000, "step": 1},
                  "plan.micro_batch": {"from": 1, "to": 100, "step": 1}},
         "derived": {"devices": "plan.tensor * plan.pipeline"},
         "where": ["plan.tensor == 7", "devices == 7 * 13", "plan.micro_batch == 100"])");
  ASSERT_EQ(sweep.points(), 100'000'000u);
  SweepWorker worker(sweep, Fidelity::closed);
  const std::size_t only = (6 * 1000 + 12) * 100 + 99;
  EXPECT_EQ(worker.next_kept(0, sweep.points()), only);
  EXPECT_EQ(worker.next_kept(only + 1, sweep.points()), sweep.points());
  EXPECT_EQ(worker.left_out(), (std::vector<std::uint64_t>{999 * 100'000, 999 * 100, 99}));
}

TEST(SweepWhere, CountsNoFurtherThanTheEndThatWasGiven) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2], "plan.micro_batch": {"from": 1, "to": 100, "step": 1}},
         "where": "plan.tensor == 2")");
  SweepWorker worker(sweep, Fidelity::closed);
  EXPECT_EQ(worker.next_kept(0, 30), 30u);
  EXPECT_EQ(worker.next_kept(50, 60), 60u);
  EXPECT_EQ(worker.left_out(), std::vector<std::uint64_t>{30 + 10});
  EXPECT_EQ(worker.next_kept(99, 200), 100u);
  EXPECT_EQ(worker.next_kept(150, 200), 150u);
}

TEST(SweepWhere, MayBeAboutResults) {
  const Sweep all = read_small_sweep(R"("axes": {"plan.tensor": [1, 2, 3, 4, 8]})");
  SweepWorker worker(all, Fidelity::closed);
  SweepPoint point;
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(worker.compute(i, point));
    if (point.status != PointStatus::invalid && point.result.mfu > 0.2 &&
        point.result.memory_peak < 0.9 * point.result.memory_capacity &&
        (point.result.breakdown.tensor_comm > Seconds{})) {
      expected.push_back(i);
    }
  }
  ASSERT_FALSE(expected.empty());
  ASSERT_LT(expected.size(), 4u) << "3 does not divide the heads";
  const Sweep some = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2, 3, 4, 8]},
         "where": ["mfu > 0.2 && fits", "memory_peak_bytes < 0.9 * memory_capacity_bytes",
                   "tensor_comm_s * plan.tensor > 0"])");
  EXPECT_EQ(kept_of(some), expected);
}

TEST(SweepWhere, KnowsWhatAnAxisLeadsTo) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"cluster.chip": ["a100-sxm4-40gb", "h100-sxm5-80gb", "a100-sxm4-80gb"],
                  "cluster.node.nic_bandwidth": ["100 Gbps", "50 GB/s"]},
         "where": ["cluster.chip.memory.capacity > 60e9", "cluster.node.nic_bandwidth >= 50e9"])");
  EXPECT_EQ(kept_of(sweep), (std::vector<std::size_t>{3, 5}));
}

TEST(SweepWhere, MayBeATruthByItsName) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.sequence_parallel": [false, true], "plan.tensor": [1, 2]},
         "where": ["plan.sequence_parallel", "fits"])");
  EXPECT_EQ(kept_of(sweep), (std::vector<std::size_t>{2, 3}));
}

TEST(SweepWhereError, OfWhatAsksNothing) {
  const std::string condition = ": expected a condition, such as \"plan.tensor <= 8\"";
  const std::string inputs = ": expected a condition over inputs or results";
  EXPECT_EQ(problems_of(R"("axes": {"plan.micro_batch": [1, 2, 4]},
                           "where": ["plan.micro_batch = 2", "iteration_time_s = 0", "1,2,3", "_e",
                                     "plan.micro_batch > 1"])"),
            (Lines{"where.0: plan.micro_batch = 2: expected an expression, not an assignment; did "
                   "you mean \"==\"?",
                   "where.1: iteration_time_s = 0: expected an expression, not an assignment; did "
                   "you mean \"==\"?",
                   "where.2: 1,2,3: expected one expression; a \",\" stands between the arguments "
                   "of a function only",
                   "where.3: _e: expected names of numbers, found _e"}));
  EXPECT_EQ(problems_of(R"("axes": {"plan.micro_batch": [1, 2, 4]},
                           "where": ["1/0", "1 == 1", "plan.micro_batch", "mfu * 2",
                                     "plan.micro_batch > 1 && mfu > 0"])"),
            (Lines{"where.0: 1/0" + inputs,
                   "where.1: 1 == 1" + inputs,
                   "where.2: plan.micro_batch" + condition,
                   "where.3: mfu * 2" + condition}));
}

TEST(SweepWhereError, WhereNothingIsLeftSaysWhichLeavesOutWhat) {
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": [1, 2, 4, 8]},
                           "where": ["plan.tensor > 2", "plan.tensor < 4", "plan.tensor > 0"])"),
            (Lines{"where.0: plan.tensor > 2: leaves out 2 of 4 points; expected constraints that "
                   "some point satisfies",
                   "where.1: plan.tensor < 4: leaves out 2 of 4 points; expected constraints that "
                   "some point satisfies"}));
}

TEST(SweepWhereError, OfWhatIsNoNumberEverywhere) {
  EXPECT_EQ(
      problems_of(R"("axes": {"plan.recompute": ["none", "full"]},
                           "where": "plan.recompute > 1")"),
      Lines{"where: plan.recompute > 1: expected plan.recompute to be a number everywhere, not "
            "with plan.recompute = \"none\""});
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": [1]}, "where": ["plan.tensr > 1", 5])"),
            Lines{"where.1: 5: expected a text in quotes"});
  EXPECT_EQ(
      problems_of(R"("axes": {"plan.tensor": [1]}, "where": ["plan.tensr > 1", "mfo > 1"])"),
      (Lines{"where.0: plan.tensr > 1: expected names of numbers, found plan.tensr; did you "
             "mean \"plan.tensor\"?",
             "where.1: mfo > 1: expected names of numbers, found mfo; did you mean \"mfu\"?"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
