#pragma once
// Scenarios for tests: the shipped run with changes, and random valid ones.

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "plan/schedules.hpp"
#include "plan/shipped.hpp"
#include "titer/scenario/source.hpp"

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
  std::string text(scenario.model.name());
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
  /// `overlapping`: sends, gradients and parameters may go on beside the passes.
  explicit Maker(unsigned seed, bool overlapping = false)
      : random_(seed), stack_(shipped::stack()), overlapping_(overlapping) {
    for (const std::string& name : shipped::plain_transformers()) {
      models_.push_back(shipped::model(name));
    }
    for (const std::string& name : shipped_names(kClusterData)) {
      clusters_.push_back(shipped::cluster(name));
    }
  }

  /// A valid one whose devices are on nodes, not on a torus.
  Scenario next_on_nodes() {
    while (true) {
      Scenario scenario = next();
      if (scenario.cluster.torus() == nullptr) {
        return scenario;
      }
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
    if (overlapping_) {
      overlap(scenario);
    }
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

  void overlap(Scenario& scenario) {
    Plan& plan = scenario.plan;
    plan.tensor_overlap = kTensorOverlaps[random_() % kTensorOverlaps.size()].value;
    plan.pipeline_send = coin() ? PipelineSend::overlapped : PipelineSend::blocking;
    plan.overlap_grad_reduce = coin();
    plan.overlap_param_gather =
        *plan.overlap_grad_reduce && plan.sharding == Sharding::zero1 && coin();
    const bool has_groups = plan.schedule.entry().groups;
    if (has_groups && plan.virtual_stages > 1 && coin()) {
      plan.micro_batch_group = static_cast<int>(plan.pipeline) + static_cast<int>(random_() % 3);
    }
    if (coin()) {
      plan.layers = any_layers(plan, scenario.model.transformer().layers);
    }
    scenario.stack.bucket_parameters = one_of(std::array{1e6, 40e6, 1e12});
  }

  /// Some stages with a layer more or less than others; of few layers lighter ends.
  LayerSplit any_layers(const Plan& plan, std::int64_t layers) {
    const auto stages = static_cast<std::int64_t>(placement(plan.schedule) == Placement::two_ways
                                                      ? 1
                                                      : plan.virtual_stages) *
                        plan.pipeline;
    if (stages > layers) {
      return LayerRule::lighter_ends;
    }
    std::vector<std::int64_t> list(static_cast<std::size_t>(stages), layers / stages);
    list[random_() % list.size()] += layers % stages;
    std::int64_t& less = list[random_() % list.size()];
    --less;
    ++list[random_() % list.size()];
    return list;
  }

  Plan any_plan() {
    Plan plan;
    plan.pipeline = one_of(std::array<std::int64_t, 9>{1, 1, 2, 3, 4, 6, 8, 12, 16});
    plan.tensor = one_of(std::array<std::int64_t, 7>{1, 2, 3, 4, 8, 16, 32});
    plan.data = one_of(std::array<std::int64_t, 7>{1, 2, 3, 4, 6, 16, 64});
    plan.virtual_stages = one_of(std::array<std::int64_t, 5>{1, 1, 2, 3, 5});
    plan.micro_batch = one_of(std::array<std::int64_t, 4>{1, 2, 3, 8});
    plan.schedule = coin() ? one_of(testing::named_schedules()) : named_schedule("1f1b");
    if (!interleaves(plan.schedule) || usual_chunks(plan.schedule) > 1) {
      plan.virtual_stages = usual_chunks(plan.schedule);
    }
    plan.recompute = one_of(std::array{Recompute::none, Recompute::selective, Recompute::full});
    plan.sequence_parallel = coin();
    plan.sharding = coin() ? Sharding::zero1 : Sharding::none;
    std::shuffle(plan.rank_order.begin(), plan.rank_order.end(), random_);
    if (coin()) {
      plan.attention = coin() ? AttentionKernel::flash : AttentionKernel::materialised;
    }
    if (coin()) {
      plan.tensor_overlap = coin() ? TensorOverlap::bulk : TensorOverlap::none;
    }
    return plan;
  }

  std::mt19937 random_;
  Stack stack_;
  bool overlapping_;
  std::vector<Transformer> models_;
  std::vector<Cluster> clusters_;
};

}  // namespace titer::scenarios
