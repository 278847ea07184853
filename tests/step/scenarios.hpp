#pragma once
// Scenarios for tests: the shipped run with changes, and random valid ones.

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/step/source.hpp"

namespace titer::scenarios {

inline ScenarioSource shipped_source(const std::vector<std::string>& assignments = {}) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  for (const std::string& assignment : assignments) {
    source.assign(parse_assignment(assignment));
  }
  return source;
}

/// The shipped run of GPT-3 on 64 A100 (p = 8, t = 8, v = 3, m = 64), with changes.
inline Scenario shipped_run(const std::vector<std::string>& assignments = {}) {
  return shipped_source(assignments).read();
}

/// p, t, d, the figures of the scenario that differ most.
inline std::string text_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  std::string text = scenario.model.name;
  text += " on " + scenario.cluster.name;
  text += ", p=" + std::to_string(plan.pipeline) + " t=" + std::to_string(plan.tensor);
  text += " d=" + std::to_string(plan.data) + " v=" + std::to_string(plan.virtual_stages);
  text += " b=" + std::to_string(plan.micro_batch);
  text += " m=" + std::to_string(scenario.micro_batches());
  text += " " + std::string(name(plan.schedule)) + " " + rank_order_name(plan);
  text += " recompute " + std::string(name(plan.recompute));
  text += " sharding " + std::string(name(plan.sharding));
  text += " " + std::string(name(scenario.training.precision));
  text += plan.sequence_parallel ? " sequence parallel" : "";
  return text;
}

/// Random scenarios of shipped models on shipped clusters; the same seed makes the same ones.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed), stack_(shipped::stack()) {
    for (const std::string& name : shipped_names(kModelData)) {
      models_.push_back(shipped::model(name));
    }
    for (const std::string& name : shipped_names(kClusterData)) {
      clusters_.push_back(shipped::cluster(name));
    }
  }

  /// A valid one.
  Scenario next() {
    while (true) {
      Scenario scenario = any();
      if (validate(scenario).empty()) {
        return scenario;
      }
    }
  }

 private:
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& values) {
    return values[random_() % N];
  }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[random_() % values.size()];
  }
  bool coin() { return random_() % 2 == 0; }

  Scenario any() {
    Scenario scenario;
    scenario.model = one_of(models_);
    scenario.cluster = one_of(clusters_);
    scenario.stack = stack_;
    scenario.stack.pipeline_scatter_gather = coin();
    scenario.plan = any_plan();
    Training& training = scenario.training;
    training.precision =
        one_of(std::array{DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16});
    training.optimizer = coin() ? kAdam : kMomentumSgd;
    if (coin()) {
      training.gradient_precision = one_of(std::array{DataType::fp32, DataType::bf16});
    }
    training.sequence = one_of(std::array<std::int64_t, 4>{512, 1024, 2048, 8192});
    const std::int64_t m = coin() ? scenario.plan.pipeline * static_cast<int>(1 + random_() % 4)
                                  : static_cast<std::int64_t>(1 + random_() % 40);
    training.global_batch = m * scenario.plan.micro_batch * scenario.plan.data;
    return scenario;
  }

  Plan any_plan() {
    Plan plan;
    plan.pipeline = one_of(std::array<std::int64_t, 9>{1, 1, 2, 3, 4, 6, 8, 12, 16});
    plan.tensor = one_of(std::array<std::int64_t, 7>{1, 2, 3, 4, 8, 16, 32});
    plan.data = one_of(std::array<std::int64_t, 7>{1, 2, 3, 4, 6, 16, 64});
    plan.virtual_stages = one_of(std::array<std::int64_t, 5>{1, 1, 2, 3, 5});
    plan.micro_batch = one_of(std::array<std::int64_t, 4>{1, 2, 3, 8});
    plan.schedule = coin() ? Schedule(OneForwardOneBackward{}) : Schedule(GPipe{});
    plan.recompute = one_of(std::array{Recompute::none, Recompute::selective, Recompute::full});
    plan.sequence_parallel = coin();
    plan.sharding = coin() ? Sharding::zero1 : Sharding::none;
    std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), random_);
    if (coin()) {
      plan.attention = coin() ? AttentionKernel::flash : AttentionKernel::materialised;
    }
    if (coin()) {
      plan.tensor_overlap = coin() ? TensorOverlap::backward : TensorOverlap::none;
    }
    return plan;
  }

  std::mt19937 random_;
  Stack stack_;
  std::vector<Transformer> models_;
  std::vector<Cluster> clusters_;
};

}  // namespace titer::scenarios
