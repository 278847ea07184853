// Estimating one plan after the other, where all but the plan stays.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <span>

#include "estimate/same_result.hpp"
#include "scenario/moe.hpp"
#include "scenario/scenarios.hpp"
#include "titer/input/read_document.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Of a flag both values, of a choice all of them.
std::vector<Value> values_of(const Field<Plan>& field) {
  const Value schema = field.schema(field);
  if (const Value* choices = schema.find("enum")) {
    return choices->items;
  }
  const Value* type = schema.find("type");
  return type != nullptr && type->text == "boolean" ? std::vector{Value(true), Value(false)}
                                                    : std::vector<Value>();
}

/// Members that replace those of a plan; null: as is usual. A value that is only sound with others
/// brings them along. Keys that are not listed have the values that their schemas tell.
std::vector<Value> plan_moves() {
  constexpr std::string_view text = R"([
    {"pipeline": 1}, {"pipeline": 2}, {"pipeline": 4}, {"pipeline": 8},
    {"tensor": 1}, {"tensor": 2}, {"tensor": 4}, {"tensor": 8},
    {"data": 1}, {"data": 2}, {"data": 4}, {"data": 16},
    {"context": 1}, {"context": 2}, {"context": 4},
    {"context": 2, "context_method": "all-gather"}, {"context": 2, "context_method": "ulysses"},
    {"context": 4, "context_method": "hierarchical", "context_inner": 2},
    {"context": 2, "context_balanced": false}, {"context_balanced": true},
    {"expert": 1}, {"expert": 2}, {"expert": 4}, {"expert": 2, "expert_tensor": 1},
    {"expert_tensor": 2}, {"expert_tensor": null},
    {"expert_dispatch": "deduplicated"}, {"expert_dispatch": "all-to-all"}, {"expert_dispatch": null},
    {"expert_overlap": true}, {"expert_overlap": false},
    {"shared_expert_overlap": true, "expert_overlap": false},
    {"image_columns": 1}, {"image_columns": 2}, {"image_columns": 4},
    {"virtual_stages": 1}, {"virtual_stages": 2}, {"virtual_stages": 3},
    {"virtual_stages": 2, "micro_batch_group": 6}, {"micro_batch_group": null},
    {"layers": "even"}, {"layers": "lighter-ends"}, {"layers": [23, 24, 24, 25]},
    {"layers": {"first": 23, "last": 25}}, {"layers": {"last": 20}},
    {"pipeline": 2, "data": 8},
    {"micro_batch": 1}, {"micro_batch": 2}, {"micro_batch": 4},
    {"data": 4, "batch_shares": [2, 2, 2, 2]}, {"batch_shares": null},
    {"data": 2, "batch_shares": [1, 3], "micro_batch": 2},
    {"recompute": "none"}, {"recompute": "selective"}, {"recompute": "full"},
    {"recompute": "operations"},
    {"recompute": ["mlp"]}, {"recompute": ["core_attention", "layer_norm"]},
    {"recompute": ["moe"]}, {"recompute": ["activation", "attention"]},
    {"recompute": "full", "recompute_every": 2}, {"recompute_every": null},
    {"recompute": "full", "sequence_parallel": false, "distribute_saved_activations": true},
    {"distribute_saved_activations": false},
    {"recompute": "full", "recompute_layers": 1}, {"recompute_layers": null},
    {"sequence_parallel": true}, {"sequence_parallel": false},
    {"cuda_graph": "none"}, {"cuda_graph": "iteration"}, {"cuda_graph": ["attention"]},
    {"sharding": "none"}, {"sharding": "zero1"}, {"sharding": "zero2"}, {"sharding": "zero3"},
    {"sharding": "zero1", "shard": 2}, {"sharding": "zero3", "shard": 2}, {"shard": null},
    {"pipeline": 1, "tensor": 1, "virtual_stages": 1, "sharding": "parameter-server", "servers": 2},
    {"sharding": "zero1", "servers": null},
    {"pipeline": 1, "tensor": 1, "virtual_stages": 1, "sharding": "data-parallel-root"},
    {"sharding": "zero1", "gradient_collective": "all-reduce"}, {"gradient_collective": null},
    {"sharding": "zero2", "gradient_collective": "reduce"},
    {"sharding": "zero3", "reshard_after_forward": false}, {"reshard_after_forward": true},
    {"sharding": "zero2", "reduce_every_pass": false}, {"reduce_every_pass": true},
    {"sharding": "zero3", "prefetch": false}, {"prefetch": true},
    {"offload": {"optimizer": "host"}}, {"offload": {"activations": "host", "prefetch": false}},
    {"offload": {"weights": "host"}}, {"offload": null},
    {"local_steps": {"islands": 2, "steps": 10}, "shard": null},
    {"local_steps": {"islands": 2, "steps": 9, "bandwidth": "1 Gbps", "state": "host"}},
    {"local_steps": null},
    {"rank_order": "tp-cp-dp-pp"}, {"rank_order": "dp-cp-tp-pp"}, {"rank_order": "pp-dp-cp-tp"},
    {"rank_order": "tp-pp-cp-dp"},
    {"attention": "flash"}, {"attention": "materialised"}, {"attention": null},
    {"tensor_overlap": "none"}, {"tensor_overlap": "bulk"}, {"tensor_overlap": "ring"},
    {"pipeline_send": "blocking"}, {"pipeline_send": "overlapped"},
    {"overlap_grad_reduce": true}, {"overlap_grad_reduce": false, "overlap_param_gather": false},
    {"sharding": "zero1", "overlap_grad_reduce": true, "overlap_param_gather": true}])";
  std::vector<Value> moves = parse_json(text, "moves").root.items;
  for (const Choice<std::size_t>& schedule : schedule_choices()) {
    moves.push_back(
        Value::make_object().add("schedule", schedule.name).add("virtual_stages", Value()));
  }
  const std::size_t listed = moves.size();
  for (const Field<Plan>& field : plan_fields()) {
    const bool is_listed =
        std::ranges::any_of(std::span(moves).first(listed),
                            [&](const Value& move) { return move.find(field.key) != nullptr; });
    for (const Value& value : is_listed ? std::vector<Value>() : values_of(field)) {
      moves.push_back(Value::make_object().add(std::string(field.key), value));
    }
  }
  return moves;
}

/// What the keys of a move of several are set to by any, each by itself.
std::vector<Value> parts_of(const Value& move) {
  std::vector<Value> parts;
  for (const Value& other : plan_moves()) {
    for (const auto& [key, value] : other.members) {
      if (move.members.size() > 1 && move.find(key) != nullptr) {
        parts.push_back(Value::make_object().add(key, value));
      }
    }
  }
  return parts;
}

/// Goes from one valid plan to another by moves, as a search or a sweep does.
class PlanWalk {
 public:
  /// Begins at a plan that is sound in the scenario.
  PlanWalk(Scenario scenario, std::string_view plan, unsigned seed)
      : scenario_(std::move(scenario)), start_(parse_json(plan, "plan").root), random_(seed) {
    EXPECT_TRUE(put(start_)) << plan;
  }

  const Scenario& scenario() const { return scenario_; }
  const std::vector<Value>& moves() const { return moves_; }

  void to_start() { EXPECT_TRUE(put(start_)); }
  /// Stays, and says so, where that makes no sound plan.
  bool move(const Value& change) { return put(changed(plan_, change)); }
  /// By one move to three, now and then from where it began.
  void next() {
    while (true) {
      Value plan = random_() % 8 == 0 ? start_ : plan_;
      for (std::size_t changes = 1 + random_() % 3; changes > 0; --changes) {
        plan = changed(std::move(plan), moves_[random_() % moves_.size()]);
      }
      if (put(plan)) {
        return;
      }
    }
  }

 private:
  static Value changed(Value plan, const Value& change) {
    for (const auto& [key, value] : change.members) {
      plan.erase(key);
      plan.add(key, value);
    }
    return plan;
  }

  bool put(const Value& plan) {
    const Plan before = scenario_.plan;
    try {
      scenario_.plan = read_document({.root = plan, .sources = {}}, read_plan);
      check_fidelity(scenario_, usual_fidelity(scenario_));
    } catch (const InputError&) {
      scenario_.plan = before;
      return false;
    }
    if (!validate(scenario_).empty()) {
      scenario_.plan = before;
      return false;
    }
    plan_ = plan;
    return true;
  }

  Scenario scenario_;
  Value start_;
  Value plan_;
  std::vector<Value> moves_ = plan_moves();
  std::mt19937 random_;
};

/// One estimator that goes along, against one for each plan.
class OneEstimator {
 public:
  void expect_same_at(const Scenario& scenario) {
    const Fidelity fidelity = usual_fidelity(scenario);
    evaluate(scenario, fidelity, changed_, estimator_, result_);
    if (fidelity == Fidelity::closed) {
      changed_ = Changed::plan;
    }
    Estimator own;
    StepResult afresh;
    evaluate(scenario, fidelity, own, afresh);
    expect_same(result_, afresh, scenarios::text_of(scenario));
  }

 private:
  Estimator estimator_;
  StepResult result_;
  Changed changed_ = Changed::anything;
};

void expect_same_along(PlanWalk walk, int steps) {
  OneEstimator estimator;
  estimator.expect_same_at(walk.scenario());
  for (int i = 0; i < steps; ++i) {
    walk.next();
    estimator.expect_same_at(walk.scenario());
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

constexpr std::string_view kStart = R"({"pipeline": 4, "tensor": 2, "data": 4})";

Scenario dense_run() {
  Scenario scenario = scenarios::shipped_run();
  scenario.cluster.nodes.reset();  // as many as the plan needs
  return scenario;
}

Scenario expert_run() {
  Scenario scenario = scenarios::shipped_run(
      {"plan.virtual_stages=1", "training.frozen_layers=2", "cluster=dgx2-v100"});
  Transformer model = moe::model(8);
  model.experts->shared_ffn = model.experts->ffn;
  scenario.model = model;
  scenario.training.global_batch = 64;
  scenario.cluster.nodes.reset();
  return scenario;
}

Scenario image_run() {
  Scenario scenario = ScenarioSource::load("resnet-50-8xa100").read();
  scenario.cluster.nodes.reset();
  return scenario;
}

TEST(PlanChanges, OfEveryKeyGiveTheSameAsEstimatesOfTheirOwn) {
  std::vector<PlanWalk> walks = {PlanWalk(dense_run(), kStart, 0),
                                 PlanWalk(expert_run(), kStart, 0),
                                 PlanWalk(image_run(), R"({"tensor": 4, "data": 4})", 0)};
  std::vector<OneEstimator> estimators(walks.size());
  std::set<std::string> changed;
  for (const Value& move : plan_moves()) {
    bool any = false;
    for (std::size_t i = 0; i < walks.size(); ++i) {
      walks[i].to_start();
      estimators[i].expect_same_at(walks[i].scenario());
      if (!walks[i].move(move)) {
        continue;
      }
      any = true;
      estimators[i].expect_same_at(walks[i].scenario());
      for (const Value& part : parts_of(move)) {
        if (walks[i].move(part)) {
          estimators[i].expect_same_at(walks[i].scenario());
          walks[i].to_start();
          EXPECT_TRUE(walks[i].move(move));
          estimators[i].expect_same_at(walks[i].scenario());
        }
      }
    }
    ASSERT_FALSE(HasFailure()) << to_json(move, 0);
    EXPECT_TRUE(any) << "sound in no scenario: " << to_json(move, 0);
    for (const auto& [key, value] : move.members) {
      changed.insert(key);
    }
  }
  for (const Field<Plan>& field : plan_fields()) {
    EXPECT_TRUE(changed.erase(std::string(field.key)) == 1) << "not changed: " << field.key;
  }
  EXPECT_TRUE(changed.empty()) << *changed.begin();
}

TEST(PlanChanges, GiveTheSameOneAfterTheOther) {
  expect_same_along(PlanWalk(dense_run(), kStart, 31), 400);
}

TEST(PlanChanges, DoSoWithExpertsAndFrozenLayers) {
  expect_same_along(PlanWalk(expert_run(), kStart, 32), 400);
}

TEST(PlanChanges, DoSoWithImages) {
  expect_same_along(PlanWalk(image_run(), R"({"tensor": 4, "data": 4})", 34), 150);
}

TEST(PlanChanges, DoSoOnATorus) {
  const Scenario scenario = scenarios::shipped_run({"cluster=tpu-v3-32",
                                                    "plan.pipeline=1",
                                                    "plan.virtual_stages=1",
                                                    "plan.tensor=4",
                                                    "plan.data=4",
                                                    "training.precision=bf16"});
  expect_same_along(PlanWalk(scenario, R"({"tensor": 4, "data": 4})", 33), 150);
}

TEST(PlanChanges, DoSoBetweenSchedulesThatPairOrSplitAndOthersOfTheirPlacement) {
  Scenario scenario = scenarios::shipped_run({"plan.virtual_stages=1"});
  Estimator estimator;
  StepResult result;
  auto changed = Changed::anything;
  for (const Schedule& schedule : std::initializer_list<Schedule>{named_schedule("1f1b"),
                                                                  named_schedule("zb-h1"),
                                                                  named_schedule("gpipe"),
                                                                  named_schedule("zb-h2"),
                                                                  named_schedule("hanayo"),
                                                                  named_schedule("zb-v"),
                                                                  named_schedule("dualpipev"),
                                                                  named_schedule("v-half"),
                                                                  named_schedule("dualpipev"),
                                                                  named_schedule("chimera"),
                                                                  named_schedule("dualpipe"),
                                                                  named_schedule("chimera")}) {
    scenario.plan.schedule = schedule;
    scenario.plan.virtual_stages = usual_chunks(schedule);
    ASSERT_TRUE(validate(scenario).empty()) << name(schedule);
    estimator.estimate(scenario, changed, result);
    changed = Changed::plan;
    expect_same(result, estimate(scenario), scenarios::text_of(scenario));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
