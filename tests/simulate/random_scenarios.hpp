#pragma once
// Scenarios by number: every number is a scenario of its own, of shipped models, clusters and
// stacks, with any of a plan's keys. Most degrees fit the model; some do not, and are refused.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer::scenarios {

/// One of them, as a run file would say it.
struct Question {
  Value run = Value::make_object();
  Fidelity fidelity = Fidelity::closed;

  /// What to type: the run on standard input or in a file, and the fidelity.
  [[nodiscard]] std::string text() const {
    return to_json(run, 0) + " --fidelity " + std::string(name_of(fidelity));
  }

 private:
  static std::string_view name_of(Fidelity fidelity) {
    return kFidelities[static_cast<std::size_t>(fidelity)].name;
  }
};

/// Reads the files of shipped data once.
class Numbered {
 public:
  Numbered() {
    for (const std::string& name : shipped_names(kModelData)) {
      models_.emplace_back(name, shipped::any_model(name));
    }
    for (const std::string& name : shipped_names(kClusterData)) {
      clusters_.emplace_back(name, shipped::cluster(name));
    }
    for (const std::string& name : shipped_names(kStackData)) {
      stacks_.emplace_back(name, shipped::stack(name));
    }
  }

  /// The scenario of a number. Throws InputError where it cannot be read.
  Question question(std::uint64_t number, Scenario& scenario) {
    random_.seed(number);
    Question question;
    const auto& [model_name, model] = one_of(models_);
    const auto& [cluster_name, cluster] = one_of(clusters_);
    const auto& [stack_name, stack] = one_of(stacks_);
    question.run.add("model", model_name).add("cluster", cluster_name).add("stack", stack_name);
    scenario.model = model;
    scenario.cluster = cluster;
    scenario.stack = stack;
    const Value plan = any_plan(scenario);
    question.run.add("plan", plan);
    read(plan, [&](Reader& in) { scenario.plan = read_plan(in); });
    const Value training = any_training(scenario);
    question.run.add("training", training);
    read(training, [&](Reader& in) { scenario.training = read_training(in, scenario.model); });
    scenario.conditions = {};
    question.fidelity = any_fidelity(scenario);
    if (question.fidelity == Fidelity::event && rarely()) {
      const Value conditions = any_conditions(scenario);
      question.run.add("conditions", conditions);
      read(conditions, [&](Reader& in) {
        scenario.conditions = read_conditions(in, scenario.cluster.devices_per_node);
      });
    }
    return question;
  }

 private:
  template <class Read>
  static void read(const Value& value, const Read& read_it) {
    const Document document{.root = value, .sources = {}};
    Problems problems;
    Reader in(document, problems);
    read_it(in);
    problems.raise();
  }

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(std::ssize(values)))];
  }
  std::int64_t one_of(std::initializer_list<std::int64_t> values) {
    return values.begin()[below(std::ssize(values))];
  }
  template <class E, std::size_t N>
  std::string_view any_name(const std::array<Choice<E>, N>& choices) {
    return choices[static_cast<std::size_t>(below(N))].name;
  }
  bool coin() { return below(2) == 0; }
  bool rarely() { return below(6) == 0; }
  /// A divisor of both where there is one; now and then any number.
  std::int64_t divisor(std::int64_t of, std::int64_t most) {
    if (below(20) == 0) {
      return 1 + below(12);
    }
    std::vector<std::int64_t> divisors;
    for (std::int64_t i = 1; i <= std::min(of, most); ++i) {
      if (of % i == 0) {
        divisors.push_back(i);
      }
    }
    return divisors.empty() ? 1 : one_of(divisors);
  }

  /// Of the model: heads, layers, experts; and what is left of a torus for data.
  void add_degrees(const Scenario& scenario, Value& plan) {
    const Transformer* transformer = scenario.model.if_transformer();
    const std::int64_t heads = transformer != nullptr ? transformer->kv_heads : 4;
    const std::int64_t t = scenario.model.if_dlrm() != nullptr || coin() ? 1 : divisor(heads, 16);
    const std::int64_t p = coin() ? 1 : divisor(scenario.model.layers(), 16);
    const std::int64_t c = transformer == nullptr || coin() ? 1 : one_of({2, 2, 4, 8});
    std::int64_t d = one_of({1, 2, 3, 4, 8, 8, 16, 64});
    if (const Torus* torus = scenario.cluster.torus()) {
      d = std::max<std::int64_t>(1, torus->devices() / (t * p * c));
    }
    plan.add("tensor", t).add("pipeline", p).add("context", c).add("data", d);
    if (c > 1) {
      const ContextMethod method =
          kContextMethods[static_cast<std::size_t>(below(std::ssize(kContextMethods)))].value;
      plan.add("context_method", kContextMethods[static_cast<std::size_t>(method)].name);
      if (method == ContextMethod::hierarchical) {
        plan.add("context_inner", divisor(c, c));
      }
      plan.add("context_balanced", coin());
    }
    add_experts(scenario, t * c * d, t, plan);
  }
  void add_experts(const Scenario& scenario, std::int64_t ranks, std::int64_t t, Value& plan) {
    const Transformer* transformer = scenario.model.if_transformer();
    const bool tables = scenario.model.if_dlrm() != nullptr;
    if ((transformer == nullptr || !transformer->experts) && !tables) {
      return;
    }
    std::int64_t etp = t;
    if (!tables && coin()) {
      etp = divisor(t, t);
      plan.add("expert_tensor", etp);
    }
    const std::int64_t all = tables ? ranks : transformer->experts->count;
    std::int64_t e = divisor(all, 64);
    e = ranks % (e * etp) == 0 ? e : 1;
    plan.add("expert", e);
  }

  void add_schedule(Value& plan) {
    const auto entries = schedule_entries();
    const std::int64_t p = plan.find("pipeline")->integer;
    if (p == 1 && !rarely()) {
      return;
    }
    if (coin()) {
      plan.add("schedule", entries[static_cast<std::size_t>(below(std::ssize(entries)))]->name);
    } else if (coin()) {
      plan.add("virtual_stages", one_of({2, 2, 3, 4}));
      if (rarely()) {
        plan.add("micro_batch_group", p + below(3));
      }
    }
    if (coin()) {
      plan.add("pipeline_send", any_name(kPipelineSends));
    }
    if (rarely()) {
      plan.add("layers", any_name(kLayerRules));
    }
  }
  void add_recompute(Value& plan) {
    if (coin()) {
      return;
    }
    if (rarely()) {
      constexpr std::array modules = {"core_attention", "layer_norm", "mlp", "moe", "attention"};
      plan.add("recompute",
               Value::make_array().push(modules[static_cast<std::size_t>(below(modules.size()))]));
      return;
    }
    const bool full = coin();
    plan.add("recompute", full ? "full" : (rarely() ? "operations" : "selective"));
    if (full && rarely()) {
      plan.add("recompute_every", 1 + below(3));
    }
    if (full && rarely()) {
      plan.add("recompute_layers", below(4));
    }
    if (full && rarely()) {
      plan.add("distribute_saved_activations", true);
    }
  }

  void add_sharding(Value& plan) {
    if (coin()) {
      return;
    }
    const bool usual = !rarely();  // the first four, which go with all degrees
    const std::string_view sharding =
        usual ? kShardings[static_cast<std::size_t>(below(4))].name : any_name(kShardingNames);
    plan.add("sharding", sharding);
    const std::int64_t data = plan.find("data")->integer;
    if (sharding == "hsdp" || rarely()) {
      plan.add("shard", divisor(data, data));
    }
    if (sharding == "parameter-server") {
      plan.add("servers", 1 + below(data));
    }
    if (rarely()) {
      plan.add("gradient_collective", any_name(kGradientCollectives));
    }
    for (const std::string key : {"reshard_after_forward", "reduce_every_pass", "prefetch"}) {
      if (sharding == "zero3" ? rarely() : below(60) == 0) {
        plan.add(key, coin());
      }
    }
  }

  void add_overlap(const Scenario& scenario, Value& plan) {
    if (coin()) {
      plan.add("tensor_overlap", any_name(kTensorOverlaps));
    }
    if (coin()) {
      plan.add("overlap_grad_reduce", scenario.stack.bucket(1) > 0 ? coin() : rarely());
    }
    if (below(20) == 0) {
      plan.add("overlap_param_gather", coin());
    }
  }

  void add_rare_keys(const Scenario& scenario, Value& plan) {
    if (rarely()) {
      std::array<std::string, 4> order = {"tp", "cp", "dp", "pp"};
      std::shuffle(order.begin(), order.end(), random_);
      plan.add("rank_order", order[0] + "-" + order[1] + "-" + order[2] + "-" + order[3]);
    }
    if (rarely()) {
      plan.add("attention", any_name(kAttentionKernels));
    }
    if (rarely()) {
      Value offload = Value::make_object();
      for (const std::string key : {"weights", "optimizer", "activations"}) {
        if (coin()) {
          offload.add(key, any_name(kHostPlaces));
        }
      }
      plan.add("offload", offload.add("prefetch", coin()));
    }
    if (scenario.model.if_layered() != nullptr && rarely()) {
      plan.add("image_columns", divisor(plan.find("tensor")->integer, 16));
    }
    const std::int64_t data = plan.find("data")->integer;
    if (data > 1 && data <= 16 && below(30) == 0) {
      Value shares = Value::make_array();
      for (std::int64_t rank = 0; rank < data; ++rank) {
        shares.push(1 + below(2));
      }
      plan.add("batch_shares", shares);
    }
  }

  Value any_plan(const Scenario& scenario) {
    Value plan = Value::make_object();
    add_degrees(scenario, plan);
    plan.add("micro_batch", one_of({1, 1, 2, 4, 3}));
    plan.add("sequence_parallel", coin());
    add_schedule(plan);
    add_recompute(plan);
    add_sharding(plan);
    add_overlap(scenario, plan);
    add_rare_keys(scenario, plan);
    return plan;
  }

  Value any_training(const Scenario& scenario) {
    Value training = Value::make_object();
    const Plan& plan = scenario.plan;
    const std::int64_t of_pipeline = plan.pipeline * one_of({1, 1, 2, 4});
    const std::int64_t m = coin() ? of_pipeline : one_of({1, 2, 7, 32});
    training.add("global_batch", m * plan.micro_batch * plan.data);
    const Transformer* transformer = scenario.model.if_transformer();
    if (transformer != nullptr) {
      const std::int64_t tokens = one_of({1024, 1024, 2048, 4096, 8192, 131'072});
      const bool learned = transformer->positions == Positions::learned && !rarely();
      training.add("sequence", learned ? std::min(tokens, transformer->max_sequence) : tokens);
    }
    std::vector<std::string_view> precisions;
    for (const auto& type : kDataTypes) {
      if (type.value != DataType::int8 && scenario.cluster.chip.rate(type.value)) {
        precisions.push_back(type.name);
      }
    }
    const std::string_view precision = rarely() ? any_name(kDataTypes) : one_of(precisions);
    training.add("precision", precision);
    if (coin()) {
      constexpr std::array optimizers = {"adam", "sgd", "sgd-plain", "adafactor"};
      training.add("optimizer", optimizers[static_cast<std::size_t>(below(optimizers.size()))]);
    }
    for (const std::string key : {"gradient_precision",
                                  "weight_precision",
                                  "state_precision",
                                  "master_precision",
                                  "gradient_messages",
                                  "weight_messages"}) {
      if (below(12) == 0) {
        training.add(key, any_name(kDataTypes));
      }
    }
    if (rarely()) {
      training.add("fused_optimizer", false);
    }
    if (below(12) == 0) {
      training.add("frozen_layers", below(scenario.model.layers() + 1));
    }
    if (scenario.model.if_tower() != nullptr && coin()) {
      training.add("images", below(3)).add("frozen_tower", coin());
    }
    return training;
  }

  /// Events only of steps that are soon followed.
  Fidelity any_fidelity(const Scenario& scenario) {
    const Plan& plan = scenario.plan;
    const std::int64_t batch = scenario.training.global_batch;
    const std::int64_t passes = plan.pipeline * plan.virtual_stages *
                                (batch / std::max<std::int64_t>(1, plan.micro_batch * plan.data));
    const bool is_small = passes <= 256;
    if (!is_small || coin()) {
      return Fidelity::closed;
    }
    return plan.devices() <= 64 && coin() ? Fidelity::network : Fidelity::event;
  }

  Value any_conditions(const Scenario& scenario) {
    Value conditions = Value::make_object();
    if (coin()) {
      Value slow = Value::make_object();
      slow.add("devices", below(scenario.plan.devices()) % 64).add("speed", 0.5);
      slow.add("node_bandwidth", 0.5).add("network_bandwidth", 2.0);
      conditions.add("devices", Value::make_array().push(slow));
    }
    if (coin()) {
      Value stragglers = Value::make_object();
      stragglers.add("probability", 0.25).add("slowdown", 3.0);
      conditions.add("stragglers", stragglers);
    }
    return conditions;
  }

  std::mt19937_64 random_;
  std::vector<std::pair<std::string, Model>> models_;
  std::vector<std::pair<std::string, Cluster>> clusters_;
  std::vector<std::pair<std::string, Stack>> stacks_;
};

}  // namespace titer::scenarios
