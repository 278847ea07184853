// No step is faster than its bounds, whatever the schedule and the state.

#include <gtest/gtest.h>

#include <random>

#include "searches.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/read_document.hpp"
#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/search/bound/memory_bound.hpp"
#include "titer/search/bound/search_bound.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

template <class T>
const T& any_of(const std::vector<T>& values, std::mt19937& random) {
  return values[random() % values.size()];
}

/// What blocks take, without what a plan's state adds to their passes, bounds it too; and the more
/// is known of the pipeline, the better.
void expect_bounds_by_work(Scenario scenario, const StepCosts& costs, Seconds bound) {
  scenario.plan.sharding = Sharding::none;
  scenario.plan.offload = {};
  StepCosts plain;
  step_costs(scenario, plain);
  ModelWork work = model_work(plain);
  const Seconds of_pipeline = pipeline_bound(scenario, work, costs.contents);
  EXPECT_LE(of_pipeline, bound) << name(scenario.plan.schedule);
  EXPECT_LE(place_bound(scenario, work), bound) << name(scenario.plan.schedule);
  for (BlockWork& kind : work.kinds) {
    kind.recompute = {};
  }
  EXPECT_LE(pipeline_bound(scenario, work, costs.contents), of_pipeline);
}

/// Of its place, and of its pipeline with its own state. Both over its memory.
std::array<double, 2> expect_memory_bound(MemoryBound& bound,
                                          const LayerChoice& layer,
                                          std::size_t place,
                                          const StateChoice& state,
                                          const Scenario& scenario,
                                          const StepResult& result) {
  SCOPED_TRACE(name(scenario.plan.schedule));
  const Bytes of_place = bound.find(layer, place);
  EXPECT_LE(of_place.si(), result.memory_peak.si());
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  StageBlocks contents;
  contents.fill(scenario.plan, blocks);
  Scenario own = scenario;
  const Bytes of_pipeline = bound.of_pipeline(std::span(&state, 1), blocks, contents, own);
  EXPECT_LE(of_pipeline.si(), result.memory_peak.si());
  return {of_place / result.memory_peak, of_pipeline / result.memory_peak};
}

/// Of plans that were drawn.
struct Drawn {
  double of_place = 0;     // bounds of their memory over it, on average
  double of_pipeline = 0;  // by their pipeline
  std::vector<int> tried;  // of each schedule
};

/// Plans drawn from the whole space, each with what bounds it.
Drawn expect_bounded(const Search& search, int plans) {
  const PlanTree tree(search.scenario, search.space, search.devices);
  MemoryBound memory(search.scenario, tree);
  Drawn drawn{.tried = std::vector<int>(search.space.schedule.size())};
  std::mt19937 random(1);
  Scenario scenario = search.scenario;
  StepCosts costs;
  Estimator estimator;
  StepResult result;
  for (int i = 0; i < plans;) {
    const LayerChoice& layer = any_of(tree.layers(), random);
    const std::vector<PlanPlace>& places = tree.layout(layer).places;
    const PlanPlace& place = any_of(places, random);
    if (!tree.has_pipelines(layer, place)) {
      continue;
    }
    const PipelineChoice& pipeline = any_of(tree.pipelines(layer, place), random);
    const StateChoice& state = any_of(tree.states(layer, place), random);
    tree.put(layer, scenario.plan);
    tree.put(place, scenario.plan);
    tree.put(pipeline, scenario.plan);
    tree.put(state, any_of(state.overlaps, random), scenario.plan);
    if (scenario.micro_batches() > 64 || !validate(scenario).empty()) {
      continue;
    }
    ++i;
    ++drawn.tried[pipeline.schedule];
    estimator.estimate(scenario, result);
    step_costs(scenario, costs);
    const Seconds bound = step_bound(scenario, costs);
    EXPECT_LE(bound.si(), result.iteration_time.si()) << name(scenario.plan.schedule);
    expect_bounds_by_work(scenario, costs, bound);
    EXPECT_GT(bound, 0.2 * result.iteration_time) << name(scenario.plan.schedule);
    const auto number = static_cast<std::size_t>(&place - places.data());
    const auto shares = expect_memory_bound(memory, layer, number, state, scenario, result);
    drawn.of_place += shares[0] / plans;
    drawn.of_pipeline += shares[1] / plans;
  }
  return drawn;
}

/// Of plans with all schedules; bounds that are near.
void expect_near_bounds(const Search& search, int plans) {
  const Drawn drawn = expect_bounded(search, plans);
  EXPECT_GT(drawn.of_place, 0.6);
  EXPECT_GT(drawn.of_pipeline, 0.85);
  for (std::size_t i = 0; i < drawn.tried.size(); ++i) {
    EXPECT_GT(drawn.tried[i], 0) << name(search.space.schedule[i]);
  }
}

TEST(SearchBound, IsUnderTheTimeOfADenseModel) {
  expect_near_bounds(search_of(R"({
    "scenario": {"model": "megatron-1.7b", "cluster": "dgx2-v100",
                 "training": {"global_batch": 64, "sequence": 2048, "precision": "fp16"}},
    "devices": 32})"),
                     400);
}

TEST(SearchBound, IsUnderTheTimeWithExperts) {
  expect_near_bounds(search_of(R"({
    "scenario": {"model": "mixtral-8x7b", "cluster": "dgx-h100", "stack": "megatron-core",
                 "training": {"global_batch": 64, "sequence": 32768, "precision": "bf16"}},
    "devices": 32})"),
                     400);
}

/// Stages that are not alike, of layers of several kinds, and activations on the host.
TEST(SearchBound, IsUnderTheMemoryOfUnlikeStages) {
  const std::string_view text = R"({
    "scenario": {"model": "deepseek-v2-lite", "cluster": "dgx-h100", "stack": "megatron-core",
                 "training": {"global_batch": 64, "sequence": 32768, "precision": "bf16"}},
    "devices": 32})";
  EXPECT_GT(expect_bounded(search_of(text), 400).of_pipeline, 0.85);
  const std::vector<std::string> offload = {
      R"(space.offload=[{}, {"activations": "host"}, {"optimizer": "host", "weights": "host"}])"};
  expect_bounded(search_of(text, offload), 200);
  const std::vector<std::string> ends = {"scenario.plan.layers=lighter-ends"};
  EXPECT_GT(expect_bounded(search_of(text, ends), 200).of_pipeline, 0.85);
}

/// All that a plan can name, and one of a file that pairs passes.
std::vector<Schedule> every_schedule(const PipelineShape& shape) {
  std::vector<Schedule> schedules;
  for (const Choice<std::size_t>& choice : schedule_choices()) {
    const Document plan{.root = Value::make_object().add("schedule", choice.name), .sources = {}};
    schedules.push_back(read_document(plan, read_plan).schedule);
  }
  const PipelineShape of_two{
      .stages = shape.stages, .micro_batches = shape.micro_batches, .virtual_stages = 2};
  schedules.emplace_back(
      ListedSchedule::parse(actions_csv(named_schedule("dualpipev"), of_two), "own.csv"));
  return schedules;
}

TEST(SearchBound, IsUnderTheTimeOfEverySchedule) {
  Scenario scenario = search_of(R"({
    "scenario": {"model": "mixtral-8x7b", "cluster": "dgx-h100", "stack": "megatron-core",
                 "training": {"global_batch": 256, "sequence": 32768, "precision": "bf16"}},
    "devices": 64})")
                          .scenario;
  scenario.plan.pipeline = 4;
  scenario.plan.data = 8;
  scenario.plan.tensor = 2;
  scenario.plan.expert = 8;  // on two nodes, whose exchange of tokens pairs of passes hide
  StepCosts costs;
  for (const Schedule& schedule : every_schedule(scenario.shape())) {
    scenario.plan.schedule = schedule;
    scenario.plan.virtual_stages = usual_chunks(schedule);
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
        for (const PipelineSend send : {PipelineSend::blocking, PipelineSend::overlapped}) {
          scenario.plan.recompute = recompute;
          scenario.plan.sharding = sharding;
          scenario.plan.pipeline_send = send;
          ASSERT_TRUE(validate(scenario).empty()) << name(schedule);
          step_costs(scenario, costs);
          const Seconds bound = step_bound(scenario, costs);
          EXPECT_LE(bound.si(), estimate(scenario).iteration_time.si()) << name(schedule);
          expect_bounds_by_work(scenario, costs, bound);
        }
      }
    }
  }
}

/// Of a model that does nothing but its layers, 1F1B has no time but what the bound has.
TEST(SearchBound, IsTheTimeWhereStagesAreAlike) {
  Search search = search_of(R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb",
                 "training": {"global_batch": 64, "sequence": 2048, "precision": "bf16"}},
    "devices": 64})");
  Scenario scenario = search.scenario;
  scenario.plan.tensor = 8;
  scenario.plan.pipeline = 8;
  scenario.plan.recompute = Recompute::full;
  StepCosts costs;
  step_costs(scenario, costs);
  const Seconds time = estimate(scenario).iteration_time;
  EXPECT_GT(step_bound(scenario, costs), 0.99 * time);
  EXPECT_LE(step_bound(scenario, costs), time);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
