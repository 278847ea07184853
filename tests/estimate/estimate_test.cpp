#include "titer/estimate/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "allocations.hpp"
#include "estimate/same_result.hpp"
#include "scenario/plain.hpp"
#include "scenario/scenarios.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/topology/family/node_families.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kRandomScenarios = 300;
/// Every duration of a step is rounded to a picosecond; no step here has more than a million.
constexpr double kRounding = 0.5e-12 * 1e6;

using scenarios::shipped_run;

TEST(Estimate, BreaksTheIterationTimeDownIntoPartsThatAddUp) {
  scenarios::Maker maker(21);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const StepResult result = estimate(scenario);
    EXPECT_NEAR(result.breakdown.total().si(),
                result.iteration_time.si(),
                1e-12 * result.iteration_time.si())
        << scenarios::text_of(scenario);
    for (const BreakdownPart& part : kBreakdownParts) {
      EXPECT_GE((result.breakdown.*part.value).si(), -kRounding)
          << scenarios::text_of(scenario) << ": " << part.name;
    }
  }
}

TEST(Estimate, ExposesNoMoreCommunicationThanThereIs) {
  scenarios::Maker maker(22);
  int hidden = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const StepResult result = estimate(scenario);
    const double exposed = result.breakdown.tensor_comm.si();
    const double total = result.comm_total.tensor.si();
    EXPECT_LE(exposed, total + kRounding) << scenarios::text_of(scenario);
    hidden += exposed < 0.9 * total ? 1 : 0;
    // Two passes together hide one another's transfers.
    const ActionList list = actions(scenario.plan.schedule, 0, scenario.shape());
    const bool pairs = std::any_of(
        list.begin(), list.end(), [](const Action& action) { return action.with_next; });
    if (scenario.tensor_overlap() == TensorOverlap::none && !pairs) {
      EXPECT_NEAR(exposed, total, kRounding) << scenarios::text_of(scenario);
    }
  }
  EXPECT_GT(hidden, 10) << "some scenarios hide communication";
}

TEST(Estimate, HasNoCommunicationOfADimensionThatIsOne) {
  scenarios::Maker maker(23);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const Breakdown parts = estimate(scenario).breakdown;
    EXPECT_EQ(parts.tensor_comm > Seconds{}, scenario.plan.tensor > 1)
        << scenarios::text_of(scenario);
    // With two copies of the model each stage has two ranks, whose gradients are added up.
    const bool two_ways = placement(scenario.plan.schedule) == Placement::two_ways;
    EXPECT_EQ(parts.data_comm > Seconds{}, scenario.plan.data > 1 || two_ways)
        << scenarios::text_of(scenario);
    EXPECT_EQ(parts.pipeline_comm > Seconds{}, scenario.plan.pipeline > 1)
        << scenarios::text_of(scenario);
    EXPECT_EQ(parts.recompute > Seconds{}, scenario.plan.recompute != Recompute::none)
        << scenarios::text_of(scenario);
    EXPECT_EQ(parts.context_comm, Seconds{});
    EXPECT_EQ(parts.expert_comm, Seconds{});
  }
}

TEST(Estimate, DoesNotDependOnWhatWasEstimatedBefore) {
  scenarios::Maker maker(24);
  std::vector<Scenario> list;
  for (int i = 0; i < 60; ++i) {
    list.push_back(maker.next());
  }
  Estimator reused;
  StepResult result;
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(25);
  for (int round = 0; round < 5; ++round) {
    for (const std::size_t i : order) {
      reused.estimate(list[i], result);
      expect_same(result, estimate(list[i]), scenarios::text_of(list[i]));
    }
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST(Estimate, AllocatesNothingTheSecondTime) {
  scenarios::Maker maker(26);
  for (int i = 0; i < 50; ++i) {
    const Scenario scenario = maker.next();
    const Transformer* model = scenario.model.if_transformer();
    if (model != nullptr && model->tower) {
      continue;  // its blocks are made anew
    }
    Estimator estimator;
    StepResult result;
    estimator.estimate(scenario, result);
    const std::size_t before = titer::testing::allocations();
    for (int again = 0; again < 3; ++again) {
      estimator.estimate(scenario, result);
    }
    const std::size_t after = titer::testing::allocations();
    EXPECT_EQ(after - before, 0U) << scenarios::text_of(scenario);
  }
}

/// The same hardware in a world where everything happens `factor` times as fast.
Scenario sped_up(Scenario scenario, double factor) {
  const auto faster = [factor](auto& rate) { rate = rate * factor; };
  const auto shorter = [factor](Seconds& time) { time = time / factor; };
  Cluster& cluster = scenario.cluster;
  for (auto& rate : cluster.chip.matrix) {
    if (rate) {
      faster(rate->peak);
    }
  }
  faster(cluster.chip.memory.bandwidth);
  shorter(cluster.chip.launch_floor);
  if (cluster.chip.tiling) {
    faster(cluster.chip.tiling->feed);
    faster(cluster.chip.tiling->store);
    shorter(cluster.chip.tiling->split);
  }
  if (cluster.chip.attention_tiling) {
    shorter(cluster.chip.attention_tiling->start);
  }
  if (cluster.chip.attention_backward) {
    shorter(cluster.chip.attention_backward->start);
    shorter(cluster.chip.attention_backward->others);
  }
  for (auto* table : {&cluster.ring_bandwidths, &cluster.pair_bandwidths}) {
    for (auto& bandwidth : *table) {
      if (bandwidth) {
        faster(*bandwidth);
      }
    }
  }
  const auto faster_wires = [&](auto family) {
    faster(family.bandwidth);
    cluster.topology = family;
  };
  if (const auto* node = cluster.topology.as<SwitchedNode>()) {
    faster_wires(*node);
  } else if (const auto* torus = cluster.topology.as<Torus>()) {
    faster_wires(*torus);
  }
  for (auto* protocols : {&cluster.node_protocols,
                          &cluster.peer_protocols,
                          &cluster.node_switch_protocols,
                          &cluster.network_protocols,
                          &cluster.network_switch_protocols}) {
    for (Protocol& protocol : *protocols) {
      shorter(protocol.latency);
      shorter(protocol.startup);
    }
  }
  faster(cluster.nic_bandwidth);
  if (cluster.host_path) {
    faster(cluster.host_path->bandwidth);
    shorter(cluster.host_path->latency);
  }
  shorter(scenario.stack.dispatch);
  return scenario;
}

TEST(Estimate, TakesHalfTheTimeWhereEverythingIsTwiceAsFast) {
  scenarios::Maker maker(27);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const StepResult normal = estimate(scenario);
    const StepResult fast = estimate(sped_up(scenario, 2.0));
    const std::string text = scenarios::text_of(scenario);
    EXPECT_NEAR(fast.iteration_time.si(), normal.iteration_time.si() / 2, kRounding) << text;
    for (const BreakdownPart& part : kBreakdownParts) {
      EXPECT_NEAR(
          (fast.breakdown.*part.value).si(), (normal.breakdown.*part.value).si() / 2, kRounding)
          << text << ": " << part.name;
    }
    EXPECT_NEAR(fast.mfu, normal.mfu, 1e-6 * normal.mfu) << text;
    EXPECT_EQ(fast.memory_peak, normal.memory_peak) << text;
  }
}

/// The dimensions larger than one, neighbours first: all that a rank order says.
std::vector<Dimension> order_that_matters(const Plan& plan) {
  std::vector<Dimension> order;
  for (const Dimension dimension : plan.rank_order) {
    if (plan.degree(dimension) > 1) {
      order.push_back(dimension);
    }
  }
  return order;
}

TEST(Estimate, DoesNotDependOnTheRankOrderOfDegreesThatAreOne) {
  scenarios::Maker maker(28);
  int tried = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    Scenario relabelled = scenario;
    auto& order = relabelled.plan.rank_order;
    std::sort(order.begin(), order.end());
    do {
      if (order != scenario.plan.rank_order &&
          order_that_matters(relabelled.plan) == order_that_matters(scenario.plan)) {
        expect_same(estimate(relabelled), estimate(scenario), scenarios::text_of(scenario));
        ++tried;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(tried, 100);
}

TEST(Estimate, FitsWithMoreMemoryWhereItFitsWithLess) {
  scenarios::Maker maker(29);
  int fits = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    Scenario scenario = maker.next();
    bool fitted = false;
    const Seconds time = estimate(scenario).iteration_time;
    for (const double factor : {0.5, 1.0, 1.5, 4.0, 64.0}) {
      Scenario larger = scenario;
      larger.cluster.chip.memory.capacity = scenario.cluster.chip.memory.capacity * factor;
      const StepResult result = estimate(larger);
      EXPECT_TRUE(!fitted || result.fits()) << scenarios::text_of(scenario);
      fitted = result.fits();
      fits += fitted ? 1 : 0;
      EXPECT_EQ(result.iteration_time, time) << "capacity takes no time";
    }
  }
  EXPECT_GT(fits, kRandomScenarios);
}

/// A change that makes one part of the machine faster.
struct Improvement {
  const char* what;
  void (*apply)(Scenario&);
};
constexpr std::array kImprovements = {
    Improvement{"matrix",
                [](Scenario& s) {
                  for (auto& rate : s.cluster.chip.matrix) {
                    if (rate) {
                      rate->peak = 1.7 * rate->peak;
                    }
                  }
                }},
    Improvement{"memory",
                [](Scenario& s) {
                  s.cluster.chip.memory.bandwidth = 1.7 * s.cluster.chip.memory.bandwidth;
                }},
    Improvement{"launch", [](Scenario& s) { s.cluster.chip.launch_floor = Seconds{}; }},
    Improvement{"dispatch", [](Scenario& s) { s.stack.dispatch = 0.5 * s.stack.dispatch; }},
    Improvement{"nic",
                [](Scenario& s) { s.cluster.nic_bandwidth = 1.7 * s.cluster.nic_bandwidth; }},
    Improvement{"rings",
                [](Scenario& s) {
                  for (auto& bandwidth : s.cluster.ring_bandwidths) {
                    bandwidth = bandwidth ? std::optional(1.7 * *bandwidth) : std::nullopt;
                  }
                }},
    Improvement{"pairs",
                [](Scenario& s) {
                  for (auto& bandwidth : s.cluster.pair_bandwidths) {
                    bandwidth = bandwidth ? std::optional(1.7 * *bandwidth) : std::nullopt;
                  }
                }},
    Improvement{"latency", [](Scenario& s) {
                  for (auto* protocols : {&s.cluster.node_protocols,
                                          &s.cluster.peer_protocols,
                                          &s.cluster.network_protocols}) {
                    for (Protocol& protocol : *protocols) {
                      protocol.latency = 0.5 * protocol.latency;
                      protocol.startup = 0.5 * protocol.startup;
                    }
                  }
                }}};

TEST(Estimate, IsNeverLongerWithAFasterPart) {
  scenarios::Maker maker(30);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const double before = estimate(scenario).iteration_time.si();
    for (const Improvement& improvement : kImprovements) {
      Scenario faster = scenario;
      improvement.apply(faster);
      EXPECT_LE(estimate(faster).iteration_time.si(), before + kRounding)
          << scenarios::text_of(scenario) << ": " << improvement.what;
    }
  }
}

TEST(Estimate, WastesASmallerShareOnTheBubbleWithMoreMicroBatches) {
  double before = 1.0;
  for (const int batch : {8, 16, 64, 128, 512}) {
    const StepResult result = estimate(
        shipped_run({"plan.virtual_stages=1", "training.global_batch=" + std::to_string(batch)}));
    EXPECT_LT(result.bubble_ratio, before) << batch;
    before = result.bubble_ratio;
  }
}

// Hosts that read too slowly hold up every step, whatever the devices do.
TEST(Estimate, WaitsForItsInput) {
  Plan plan;
  plan.data = 16;
  Scenario scenario = plain::scenario(plan);
  const StepResult fast = estimate(scenario);
  const auto hosts = static_cast<double>(plan_hosts(scenario));
  EXPECT_GT(hosts, 1);
  const auto batch = static_cast<double>(scenario.training.global_batch);
  scenario.training.input_rate = 2 * batch / hosts / fast.iteration_time.si();
  EXPECT_EQ(estimate(scenario).iteration_time, fast.iteration_time);
  scenario.training.input_rate = 0.5 * batch / hosts / fast.iteration_time.si();
  const StepResult slow = estimate(scenario);
  EXPECT_NEAR(slow.iteration_time / fast.iteration_time, 2.0, 1e-9);
  EXPECT_EQ(slow.breakdown.input, slow.iteration_time - fast.iteration_time);
  EXPECT_EQ(slow.breakdown.bubble, fast.breakdown.bubble);
  EXPECT_EQ(slow.bubble_ratio, fast.bubble_ratio);
  EXPECT_EQ(slow.bubble_overhead, fast.bubble_overhead);
  const StepResult events = simulate(scenario).result;
  EXPECT_EQ(events.iteration_time, slow.iteration_time);
  EXPECT_EQ(events.breakdown.input, slow.breakdown.input);
  EXPECT_EQ(events.breakdown.bubble, slow.breakdown.bubble);
  EXPECT_EQ(events.bubble_ratio, slow.bubble_ratio);
}

TEST(Estimate, NamesTheTwoBubbleDefinitions) {
  const StepResult result = estimate(shipped_run());
  EXPECT_DOUBLE_EQ(result.bubble_ratio, result.breakdown.bubble / result.iteration_time);
  EXPECT_DOUBLE_EQ(result.bubble_overhead, result.bubble_ratio / (1 - result.bubble_ratio));
}

TEST(Estimate, CountsTokensAndModelFlops) {
  const Scenario scenario = shipped_run();
  const StepResult result = estimate(scenario);
  const double seconds = result.iteration_time.si();
  const double tokens = 64.0 * 2048.0;
  EXPECT_EQ(result.devices, 8 * 8);
  EXPECT_DOUBLE_EQ(result.tokens_per_s, tokens / seconds);
  EXPECT_DOUBLE_EQ(result.tokens_per_s_per_device, tokens / seconds / 64);
  // Narayanan 2021, equation 3 with recomputation taken off: 72 B s l h^2 (1 + s/6h + V/12lh)
  const double h = 12288;
  const double l = 96;
  const double flops = 72 * tokens * l * h * h * (1 + 2048 / (6 * h) + 50257 / (12 * l * h));
  EXPECT_NEAR(result.model_flops_per_device.si(), flops / seconds / 64, 1e-9 * flops / 64);
  EXPECT_DOUBLE_EQ(result.mfu, result.model_flops_per_device / 312_TFLOPps);
  EXPECT_LT(result.mfu_causal, result.mfu);
  EXPECT_GT(result.hfu, result.mfu) << "selective recomputation";
}

TEST(Estimate, CountsNoRecomputationAsHardwareFlopsWhereThereIsNone) {
  const StepResult none = estimate(shipped_run({"plan.recompute=none"}));
  EXPECT_DOUBLE_EQ(none.hfu, none.mfu);
  const StepResult full = estimate(shipped_run({"plan.recompute=full"}));
  EXPECT_GT(full.hfu, 1.3 * full.mfu) << "a quarter of all work is repeated";
  EXPECT_LT(full.hfu, 4.0 / 3.0 * full.mfu) << "all but the logits";
}

TEST(Estimate, RepeatsNoMoreLayersOfAStageThanThePlanSays) {
  const auto full = [](const std::string& layers) {
    return estimate(shipped_run({"plan.recompute=full", layers}));
  };
  const Seconds all = full("plan.recompute_layers=1000000").breakdown.recompute;
  EXPECT_EQ(full("plan.recompute_layers=0").breakdown.recompute, Seconds{});
  const Seconds one = full("plan.recompute_layers=1").breakdown.recompute;
  const Seconds three = full("plan.recompute_layers=3").breakdown.recompute;
  EXPECT_GT(one, Seconds{});
  EXPECT_NEAR(three / one, 3, 1e-3);
  EXPECT_LT(three, all);
  const auto computed = [&full](const std::string& layers) {
    const StepResult result = full(layers);
    return result.hfu * result.iteration_time.si();
  };
  EXPECT_LT(computed("plan.recompute_layers=3"), computed("plan.recompute_layers=4"));
}

TEST(Estimate, NeedsTheMemoryOfItsWorstStage) {
  const StepResult result = estimate(shipped_run());
  ASSERT_EQ(result.memory.size(), 8U);
  for (const StageMemory& stage : result.memory) {
    EXPECT_LE(stage.total(), result.memory_peak);
  }
  EXPECT_EQ(result.peak_stage().total(), result.memory_peak);
  EXPECT_EQ(result.memory_capacity, 80_GiB);
  EXPECT_TRUE(result.fits());
  EXPECT_FALSE(estimate(shipped_run({"plan.recompute=none"})).fits())
      << "without recomputation the run of the paper does not fit";
}

TEST(Estimate, GradesAResultByItsWeakestFigure) {
  const Scenario scenario = shipped_run();
  EXPECT_EQ(estimate(scenario).grade, Grade::fitted);
  Scenario guessed = scenario;
  guessed.cluster.chip.memory.grade = Grade::extrapolated;
  EXPECT_EQ(estimate(guessed).grade, Grade::extrapolated);
  Scenario printed = scenario;
  printed.cluster.network_protocols.front().grade = Grade::datasheet;
  EXPECT_EQ(estimate(printed).grade, Grade::datasheet);
}

TEST(Estimate, GradesTheNetworkOnlyWhereItIsUsed) {
  Scenario scenario = shipped_run(
      {"model=llama2-7b", "cluster.nodes=1", "plan.pipeline=1", "plan.virtual_stages=1"});
  const Grade alone = estimate(scenario).grade;
  scenario.cluster.network_protocols.front().grade = Grade::extrapolated;
  EXPECT_EQ(estimate(scenario).grade, alone);
}

std::pair<double, double> bar_of(const Scenario& scenario) {
  const StepResult result = estimate(scenario);
  return {result.error_bar->low / result.iteration_time,
          result.error_bar->high / result.iteration_time};
}

TEST(Estimate, WidensTheErrorBarWhereNoMeasuredRunWasLikeIt) {
  Scenario scenario = shipped_run();
  const auto like = bar_of(scenario);
  scenario.stack.measured = {{.combination = {.model = "dense",
                                              .chip = "a100-sxm4-80gb",
                                              .stack = scenario.stack.name,
                                              .precision = "bf16"},
                              .runs = 100}};
  const auto unlike = bar_of(scenario);
  EXPECT_LT(unlike.first, like.first);
  EXPECT_GT(unlike.second, like.second);
}

TEST(Estimate, TakesItsErrorBarFromRunsLikeIt) {
  Scenario scenario = shipped_run();
  scenario.cluster.fit_errors = scenario.cluster.chip.fit_errors = {};
  scenario.cluster.network_fit_errors = {};
  scenario.stack.measured.clear();  // as software that is not shipped
  const auto by_grade = bar_of(scenario);
  const auto with_runs = [&](std::size_t runs, double mean_error) {
    scenario.stack.measured = {{.combination = {.model = "dense",
                                                .chip = scenario.cluster.chip.name,
                                                .stack = scenario.stack.name,
                                                .precision = "fp16"},
                                .runs = runs,
                                .mean_error = mean_error}};
    return bar_of(scenario);
  };
  const auto [low, high] = with_runs(1'000'000, 0.2);
  EXPECT_NEAR(std::log(low), -1.5 * 0.2, 1e-4);
  EXPECT_NEAR(std::log(high), 1.5 * 0.2, 1e-4);
  scenario.stack.run_errors = 0.5;  // by runs of one's own
  EXPECT_NEAR(std::log(with_runs(1'000'000, 0.2).second), 0.5 * 1.5 * 0.2, 1e-4);
  scenario.stack.run_errors = 1;
  const auto few = with_runs(1, 0.2);
  EXPECT_GT(few.second, by_grade.second);
  EXPECT_LT(few.second, high);
  const auto close = with_runs(100, 0.001);
  EXPECT_GT(close.first, by_grade.first);
  EXPECT_LT(close.second, by_grade.second);
  scenario.stack.errors[0] = ErrorShares{};  // of fits that were off nowhere
  EXPECT_NEAR(with_runs(1'000'000, 0.2).first, low, 1e-4);
}

TEST(Estimate, ExpectsNothingOfRunsLikeItWhereAFigureIsTheUsers) {
  const auto apart = [](const std::vector<std::string>& sets) {
    Scenario scenario = shipped_run(sets);
    const auto like = bar_of(scenario);
    scenario.stack.measured.clear();
    return std::pair(like, bar_of(scenario));
  };
  const auto shipped = apart({});
  EXPECT_NE(shipped.first, shipped.second);
  for (const char* given : {"cluster.chip.memory.bandwidth=1.5 TB/s", "stack.dispatch=3 us"}) {
    const auto own = apart({given});
    EXPECT_EQ(own.first, own.second) << given;
  }
}

TEST(AddTails, LetsBothRanksOfAStageMeetWhereTwoCopiesGoOppositeWays) {
  StepCosts costs;
  costs.placement = Placement::two_ways;
  costs.shape = {.stages = 4, .micro_batches = 2};
  costs.tails.assign(4, {.gradient_sync = 10_ns, .optimizer = 1_ns, .parameter_sync = 2_ns});
  std::vector<Ticks> finish = {100'000, 50'000, 70'000, 90'000};
  std::vector<LaneEnds> ends(finish.size());
  add_tails(costs, ends, finish);
  const Ticks tail = 10'000 + 1'000 + 2'000;
  EXPECT_EQ(finish,
            (std::vector<Ticks>{100'000 + tail, 70'000 + tail, 70'000 + tail, 100'000 + tail}));
}

TEST(AddTails, LetsBothEndsOfThePipelineMeetForTheTiedTable) {
  StepCosts costs;
  costs.shape = {.stages = 3, .micro_batches = 1};
  costs.embedding_sync = 5_ns;
  costs.tails = {{.gradient_sync = 10_ns, .optimizer = 1_ns, .parameter_sync = 2_ns},
                 {.gradient_sync = 20_ns, .optimizer = 1_ns, .parameter_sync = 2_ns},
                 {.gradient_sync = 30_ns, .optimizer = 1_ns, .parameter_sync = 2_ns}};
  std::vector<Ticks> finish = {100'000, 200'000, 50'000};
  std::vector<LaneEnds> ends(finish.size());
  add_tails(costs, ends, finish);
  const Ticks met = 100'000 + 5'000;
  EXPECT_EQ(finish, (std::vector<Ticks>{met + 13'000, 200'000 + 23'000, met + 33'000}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
