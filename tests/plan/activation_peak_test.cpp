// The most bytes alive on a rank: along its actions, and by formula where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/layouts.hpp"
#include "plan/pipeline_graph.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using layouts::Layout;

constexpr Pass F = Pass::forward;
constexpr Pass B = Pass::backward;
constexpr Pass I = Pass::input_gradient;
constexpr Pass W = Pass::weight_gradient;

/// A stage that keeps 10 bytes, of which 6 after the input gradient, and works with 3 more.
constexpr StageActivations kSmall{.kept = 10_B, .after_input_gradient = 6_B, .working = 3_B};

Action act(Pass pass, int micro_batch, int chunk = 0) {
  return {.pass = pass, .chunk = chunk, .micro_batch = micro_batch};
}

Action with_next(Action action) {
  action.with_next = true;
  return action;
}

ActivationPeak peak_of_one(const ActionList& list, const StageActivations& stage) {
  return ActivationMoments(list).peak(Placement::loop, 0, {}, std::vector{stage});
}

TEST(ActivationPeak, CountsAPassInFullFromItsStart) {
  const ActivationPeak peak = peak_of_one({act(F, 0), act(B, 0)}, kSmall);
  EXPECT_EQ(peak.kept, 10_B);
  EXPECT_EQ(peak.working, 3_B);
  EXPECT_EQ(peak.last_stages, 1);
}

TEST(ActivationPeak, FreesAtTheEndOfABackwardPass) {
  const ActionList list = {act(F, 0), act(B, 0), act(F, 1), act(F, 2), act(B, 1), act(B, 2)};
  EXPECT_EQ(peak_of_one(list, kSmall).kept, 2 * 10_B);
}

TEST(ActivationPeak, HoldsWhatWeightGradientsPutOffNeed) {
  const ActionList list = {act(F, 0),
                           act(I, 0),
                           act(F, 1),
                           act(I, 1),
                           act(F, 2),
                           act(I, 2),
                           act(W, 0),
                           act(W, 1),
                           act(W, 2)};
  EXPECT_EQ(peak_of_one(list, kSmall).kept, 2 * 6_B + 10_B) << "at the third forward";
  const ActionList at_once = {act(F, 0), act(I, 0), act(W, 0), act(F, 1), act(I, 1), act(W, 1)};
  EXPECT_EQ(peak_of_one(at_once, kSmall).kept, 10_B);
}

// With full recomputation an input gradient leaves more than the forward pass kept.
TEST(ActivationPeak, GrowsOverAnInputGradientThatLeavesMore) {
  const StageActivations growing{.kept = 2_B, .after_input_gradient = 7_B, .working = 5_B};
  const ActivationPeak peak =
      peak_of_one({act(F, 0), act(F, 1), act(I, 0), act(I, 1), act(W, 0), act(W, 1)}, growing);
  EXPECT_EQ(peak.kept, 2 * 7_B) << "both, at the second input gradient";
  EXPECT_EQ(peak.working, 5_B);
}

TEST(ActivationPeak, OfWeightGradientsNeedsNothingMore) {
  const StageActivations growing{.kept = 1_B, .after_input_gradient = 7_B, .working = 5_B};
  // 1 + 7 - 1 + 5 = 12 at the first input gradient; 7 + 7 at a weight gradient would be more only
  // with a second one.
  EXPECT_EQ(peak_of_one({act(F, 0), act(I, 0), act(W, 0)}, growing).total(), 7_B + 5_B);
}

TEST(ActivationPeak, OfActionsDoneTogetherNeedsBoth) {
  const ActionList apart = {act(F, 0), act(F, 1), act(B, 0), act(B, 1)};
  const ActionList together = {act(F, 0), with_next(act(F, 1)), act(B, 0), act(B, 1)};
  EXPECT_EQ(peak_of_one(apart, kSmall).total(), 2 * 10_B + 3_B);
  EXPECT_EQ(peak_of_one(together, kSmall).total(), 2 * 10_B + 2 * 3_B);
  const ActionList backward_first = {act(F, 0), with_next(act(B, 0)), act(F, 1), act(B, 1)};
  EXPECT_EQ(peak_of_one(backward_first, kSmall).kept, 2 * 10_B) << "both alive whatever the order";
}

TEST(ActivationPeak, TakesEachChunkForTheStageThatItIs) {
  const std::vector<StageActivations> stages = {
      {.kept = 1_B, .after_input_gradient = {}, .working = {}},
      {.kept = 20_B, .after_input_gradient = {}, .working = {}},
      {.kept = 300_B, .after_input_gradient = {}, .working = {}},
      {.kept = 4000_B, .after_input_gradient = {}, .working = {}}};
  const ActionList list = {act(F, 0, 0), act(F, 0, 1), act(B, 0, 1), act(B, 0, 0)};
  const auto kept = [&](Placement placement, int rank) {
    const PipelineShape shape{.stages = 2, .micro_batches = 1, .virtual_stages = 2};
    return ActivationMoments(list).peak(placement, rank, shape, stages).kept;
  };
  EXPECT_EQ(kept(Placement::loop, 0), 1_B + 300_B);
  EXPECT_EQ(kept(Placement::loop, 1), 20_B + 4000_B);
  EXPECT_EQ(kept(Placement::wave, 0), 1_B + 4000_B);
  EXPECT_EQ(kept(Placement::wave, 1), 20_B + 300_B);
}

TEST(ActivationPeak, OfTwoWaysHasBothEndsOfTheModelOnBothEndsOfThePipeline) {
  const std::vector<StageActivations> stages = {
      {.kept = 1_B, .after_input_gradient = {}, .working = {}},
      {.kept = 20_B, .after_input_gradient = {}, .working = {}}};
  const ActionList list = {act(F, 0, 0), act(F, 1, 1), act(B, 1, 1), act(B, 0, 0)};
  for (const int rank : {0, 1}) {
    const PipelineShape shape{.stages = 2, .micro_batches = 2};
    const ActivationPeak peak =
        ActivationMoments(list).peak(Placement::two_ways, rank, shape, stages);
    EXPECT_EQ(peak.kept, 1_B + 20_B);
    EXPECT_EQ(peak.last_stages, 1);
  }
}

// ZB-H1 on stage s: p - 1 - s forwards; then [F, B, W once s B's are done] as long as there are
// any; then the W's left: p chunks in flight on every stage. [Qi et al. 2024]
ActionList zb_h1(int rank, int stages, int micro_batches) {
  ActionList list;
  const int ahead = stages - 1 - rank;
  for (int i = 0; i < ahead; ++i) {
    list.push_back(act(F, i));
  }
  int done = 0;
  for (int i = 0; i < micro_batches; ++i) {
    if (i + ahead < micro_batches) {
      list.push_back(act(F, i + ahead));
    }
    list.push_back(act(I, i));
    if (i >= rank) {
      list.push_back(act(W, done++));
    }
  }
  while (done < micro_batches) {
    list.push_back(act(W, done++));
  }
  return list;
}

TEST(ActivationPeak, OfZeroBubbleH1IsTheSameOnAllStagesOnlyIfAnInputGradientFreesNothing) {
  constexpr int p = 4;
  constexpr int m = 12;
  for (int rank = 0; rank < p; ++rank) {
    const auto kept = [&](Bytes after) {
      const StageActivations stage{.kept = 10_B, .after_input_gradient = after, .working = {}};
      const std::vector<StageActivations> stages(p, stage);
      const PipelineShape shape{.stages = p, .micro_batches = m};
      return ActivationMoments(zb_h1(rank, p, m)).peak(Placement::loop, rank, shape, stages).kept;
    };
    EXPECT_EQ(kept(10_B), p * 10_B) << "rank " << rank;
    // p - s between forward and backward pass, s between input and weight gradient
    EXPECT_EQ(kept(6_B), (p - rank) * 10_B + rank * 6_B) << "rank " << rank;
  }
}

/// The same by counting how many chunks of each stage are in which state after every action.
double counted_peak(const Layout& layout, int rank) {
  const std::vector<StageActivations> stages = layout.activations();
  const Placement where = placement(layout.plan.schedule);
  const ActionList list = actions(layout.plan.schedule, rank, layout.shape());
  std::map<std::pair<int, Pass>, int> alive;  // state: the pass that was done last
  const auto bytes = [&] {
    double sum = 0;
    for (const auto& [state, count] : alive) {
      const StageActivations& stage = stages[static_cast<std::size_t>(state.first)];
      sum += count * (state.second == F ? stage.kept : stage.after_input_gradient).si();
    }
    return sum;
  };
  double peak = 0;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (list[end - 1].with_next) {
      ++end;
    }
    double more = 0;
    const auto each = [&](auto&& visit) {
      for (std::size_t j = i; j < end; ++j) {
        const StagePlace place{.rank = rank, .chunk = list[j].chunk};
        visit(list[j].pass, stage_of(where, place, layout.shape()));
      }
    };
    each([&](Pass pass, int stage) {
      const StageActivations& one = stages[static_cast<std::size_t>(stage)];
      more += pass == W ? 0.0 : one.working.si();
      more += pass == I ? std::max(0.0, (one.after_input_gradient - one.kept).si()) : 0.0;
      alive[{stage, F}] += pass == F ? 1 : 0;
    });
    peak = std::max(peak, bytes() + more);
    each([&](Pass pass, int stage) {
      alive[{stage, F}] -= sends_gradient(pass) ? 1 : 0;
      alive[{stage, I}] += pass == I ? 1 : (pass == W ? -1 : 0);
    });
    i = end;
  }
  EXPECT_EQ(bytes(), 0.0) << "all is freed";
  return peak;
}

/// Runs `check` on every schedule in every shape over which the small GPT's layers share out.
template <class Check>
int for_all_layouts(Check&& check) {
  int layouts = 0;
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      for (const LayerRule rule : {LayerRule::even, LayerRule::lighter_ends}) {
        Layout layout;
        layout.plan.schedule = schedule;
        layout.plan.pipeline = shape.stages;
        layout.plan.virtual_stages = shape.virtual_stages;
        layout.plan.layers = rule;
        layout.micro_batches = shape.micro_batches;
        if (refusal(rule, layout.model.layers, model_stages(placement(schedule), shape))) {
          continue;
        }
        check(layout);
        ++layouts;
      }
    }
  }
  return layouts;
}

TEST(Activations, AreTheMostAliveAtAnyActionOfTheSchedule) {
  const auto check = [](Layout& layout) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      layout.plan.recompute = recompute;
      for (const StageMemory& memory : layout.stages()) {
        const double peak = counted_peak(layout, memory.stage);
        EXPECT_NEAR((memory.activations + memory.working).si(), peak, 1e-12 * peak)
            << name(layout.plan.schedule) << ": " << pipeline_test::text_of(layout.shape())
            << ", layers " << text_of(layout.plan.layers) << ", recompute " << name(recompute)
            << ", stage " << memory.stage;
      }
    }
  };
  EXPECT_GT(for_all_layouts(check), 100);
}

// The formulas of GPipe and 1F1B and the walk name the same parts the same.
TEST(Activations, ByFormulaSplitAsByFollowingTheActions) {
  const auto check = [](const Layout& layout) {
    const std::vector<StageActivations> stages = layout.activations();
    const Bytes head = saved_bytes(layout.blocks().head.operations);
    for (const StageMemory& memory : layout.stages()) {
      const ActionList list = actions(layout.plan.schedule, memory.stage, layout.shape());
      const ActivationPeak peak = ActivationMoments(list).peak(
          placement(layout.plan.schedule), memory.stage, layout.shape(), stages);
      const Bytes at_work = std::min(1, peak.last_stages) * head;
      EXPECT_NEAR(memory.working.si(), (peak.working + at_work).si(), 1e-12 * head.si());
    }
  };
  EXPECT_GT(for_all_layouts(check), 100);
}

TEST(Activations, OfAGroupLargerThanTheStagesAreFollowed) {
  Layout layout;
  layout.plan.pipeline = 4;
  layout.plan.virtual_stages = 3;
  layout.plan.micro_batch_group = 8;
  layout.micro_batches = 16;
  for (const StageMemory& memory : layout.stages()) {
    const double peak = counted_peak(layout, memory.stage);
    EXPECT_NEAR((memory.activations + memory.working).si(), peak, 1e-12 * peak);
  }
  const Bytes larger = layout.stages()[0].activations;
  layout.plan.micro_batch_group.reset();
  EXPECT_LT(layout.stages()[0].activations, larger)
      << "the warm-up is (v - 1) p chunks, not (v - 1) g";
}

TEST(Activations, FollowTheLayersOfEachStage) {
  Layout layout;
  layout.plan.pipeline = 4;
  layout.plan.layers = std::vector<std::int64_t>{0, 10, 10, 4};
  const auto stages = layout.stages();
  const double layer = (34 + layout.scores()) * layout.sbh();
  const double ids = 8.0 * 2048.0;
  EXPECT_DOUBLE_EQ(stages[0].activations.si(), 4 * (ids + layout.sbh())) << "the embedding alone";
  EXPECT_DOUBLE_EQ(stages[1].activations.si(), 3 * 10 * layer);
  EXPECT_DOUBLE_EQ(stages[2].activations.si(), 2 * 10 * layer);
  EXPECT_DOUBLE_EQ(stages[3].activations.si(), 1 * 4 * layer);
}

TEST(StageActivations, OfFullRecomputationLeaveTheRebuiltBytesToTheWeightGradient) {
  Layout layout;
  layout.plan.pipeline = 4;
  const Bytes after = layout.activations()[1].after_input_gradient;
  EXPECT_DOUBLE_EQ(after.si(), 6 * (14 + 18) * layout.sbh()) << "6 layers; 34 - 20 kept, 18 made";
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    layout.plan.recompute = recompute;
    EXPECT_EQ(layout.activations()[1].after_input_gradient, after);
  }
  EXPECT_DOUBLE_EQ(layout.activations()[1].kept.si(), 6 * 2 * layout.sbh());
}

TEST(StageActivations, OfAStageWithoutLayersAreItsEndsAlone) {
  Layout layout;
  layout.plan.pipeline = 4;
  layout.plan.recompute = Recompute::full;
  layout.plan.layers = std::vector<std::int64_t>{0, 12, 0, 12};
  const auto stages = layout.activations();
  EXPECT_DOUBLE_EQ(stages[0].kept.si(), 8.0 * 2048.0 + layout.sbh());
  EXPECT_EQ(stages[0].working, 0_B) << "no layer to rebuild";
  EXPECT_EQ(stages[2].kept, 0_B);
  EXPECT_EQ(stages[2].after_input_gradient, 0_B);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
