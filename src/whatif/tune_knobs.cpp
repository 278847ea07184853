#include "tune_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/plan/place/placement.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/settled_plan.hpp"
#include "titer/search/search_space.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kPlan = "plan.";
constexpr std::string_view kDataKey = "data";

Assignment put(std::string_view path, Value value) {
  return {std::string(path), std::move(value), "tune"};
}
Assignment put_plan(std::string_view key, Value value) {
  return put(std::string(kPlan) + std::string(key), std::move(value));
}

bool are_equal(const Value& a, const Value& b) { return to_json(a, 0) == to_json(b, 0); }

bool has_experts(const Scenario& scenario) {
  const Transformer* transformer = scenario.model.if_transformer();
  return transformer != nullptr && transformer->experts.has_value();
}
bool is_transformer(const Scenario& scenario) { return scenario.model.is_transformer(); }
bool has_stages(const Scenario& scenario) { return scenario.plan.pipeline > 1; }
bool splits_tensors(const Scenario& scenario) { return scenario.plan.tensor > 1; }
bool has_gradients_to_share(const Scenario& scenario) {
  const Sharding sharding = scenario.plan.sharding;
  return scenario.plan.has_copies() && (sharding == Sharding::none || scenario.plan.shards());
}
bool always(const Scenario& /*scenario*/) { return true; }

/// A key of the plan by itself; where `values` is not there, those of the search's space.
struct PlanKnob {
  std::string_view key;
  bool (*applies)(const Scenario&);
  std::vector<Value> (*values)(const Scenario&) = nullptr;
};

template <const auto& choices>
std::vector<Value> all_of(const Scenario& /*scenario*/) {
  return each_of(choices, [](const auto& choice) { return Value(choice.name); });
}
std::vector<Value> both_ways(const Scenario& /*scenario*/) { return {Value(false), Value(true)}; }

/// Besides what searches try: by operation, and each module by itself.
std::vector<Value> more_recomputation(const Scenario& /*scenario*/) {
  Plan plan;
  std::vector<Value> values = {Value(name(Recompute::operations))};
  plan.recompute = Recompute::modules;
  for (const Module module : {Module::layer_norm,
                              Module::latent_up,
                              Module::mlp,
                              Module::moe,
                              Module::activation,
                              Module::shared_experts,
                              Module::attention}) {
    plan.recomputed = bit(module);
    values.push_back(find_field(plan_fields(), "recompute")->write(plan));
  }
  return values;
}

std::vector<Value> shard_sizes(const Scenario& scenario) {
  std::vector<Value> values;
  const std::int64_t ranks = scenario.plan.replicas();
  for (std::int64_t size = 2; size < ranks; ++size) {
    if (ranks % size == 0) {
      values.emplace_back(size);
    }
  }
  return values;
}

/// All that a hierarchy of heads and rings needs is a second degree, which is no knob by itself.
std::vector<Value> context_methods(const Scenario& /*scenario*/) {
  std::vector<Value> values;
  for (const Choice<ContextMethod>& method : kContextMethods) {
    if (method.value != ContextMethod::hierarchical) {
      values.emplace_back(method.name);
    }
  }
  return values;
}

constexpr std::array kPlanKnobs = {
    PlanKnob{"micro_batch", always},
    PlanKnob{"recompute", always},
    PlanKnob{"recompute", is_transformer, more_recomputation},
    PlanKnob{"schedule", has_stages},
    PlanKnob{"virtual_stages",
             [](const Scenario& s) { return has_stages(s) && interleaves(s.plan.schedule); }},
    PlanKnob{"layers",
             [](const Scenario& s) {
               return has_stages(s) && std::holds_alternative<LayerRule>(s.plan.layers);
             },
             all_of<kLayerRules>},
    PlanKnob{"sharding", has_gradients_to_share},
    PlanKnob{"shard", [](const Scenario& s) { return s.plan.splits().gradients; }, shard_sizes},
    PlanKnob{"reshard_after_forward",
             [](const Scenario& s) { return s.plan.gathers_every_pass(); },
             both_ways},
    PlanKnob{"overlap_grad_reduce", has_gradients_to_share},
    PlanKnob{"overlap_param_gather",
             [](const Scenario& s) { return s.plan.sharding == Sharding::zero1; }},
    PlanKnob{"sequence_parallel", splits_tensors},
    PlanKnob{"tensor_overlap", splits_tensors},
    PlanKnob{"pipeline_send", has_stages, all_of<kPipelineSends>},
    PlanKnob{"rank_order", always},
    PlanKnob{"attention", is_transformer, all_of<kAttentionKernels>},
    PlanKnob{
        "context_method", [](const Scenario& s) { return s.plan.context > 1; }, context_methods},
    PlanKnob{"expert", has_experts},
    PlanKnob{"expert_tensor", has_experts},
    PlanKnob{"expert_dispatch",
             [](const Scenario& s) { return has_experts(s) && s.plan.expert > 1; },
             all_of<kExpertDispatches>},
    PlanKnob{"expert_overlap",
             [](const Scenario& s) { return has_experts(s) && s.plan.expert > 1; },
             both_ways}};

/// A number of parts that each degree can be multiplied by, where another is divided by it.
struct Degree {
  std::string_view key;
  std::int64_t Plan::*value;
  std::vector<std::int64_t> SearchSpace::*sizes;  // nullptr: any that is left
};
constexpr std::array<Degree, 4> kTradedDegrees = {
    {{"tensor", &Plan::tensor, &SearchSpace::tensor},
     {"pipeline", &Plan::pipeline, &SearchSpace::pipeline},
     {"context", &Plan::context, &SearchSpace::context},
     {kDataKey, &Plan::data, nullptr}}};

class Knobs {
 public:
  explicit Knobs(const Scenario& scenario)
      : scenario_(scenario), space_(full_space(scenario, std::array{scenario.plan.devices()})) {}

  std::vector<KnobSetting> all() {
    for (const PlanKnob& knob : kPlanKnobs) {
      if (knob.applies(scenario_)) {
        add_key(knob);
      }
    }
    add_offload();
    for (const Degree& more : kTradedDegrees) {
      for (const Degree& less : kTradedDegrees) {
        add_trades(more, less);
      }
    }
    add_precisions();
    return std::move(settings_);
  }

 private:
  [[nodiscard]] std::vector<Value> values_of(const PlanKnob& knob) const {
    if (knob.values != nullptr) {
      return knob.values(scenario_);
    }
    const std::span<const SearchKey> keys = search_keys();
    const auto key = std::find_if(
        keys.begin(), keys.end(), [&](const SearchKey& one) { return one.name == knob.key; });
    return key->values(space_);
  }

  void add_key(const PlanKnob& knob) {
    const std::string path = std::string(kPlan) + std::string(knob.key);
    const Value now = knob_value(scenario_, path);
    for (Value value : values_of(knob)) {
      if (value.kind == Value::Kind::null) {  // an expert's tensor degree as the others'
        value = Value(scenario_.plan.tensor);
      }
      if (!are_equal(value, now)) {
        settings_.push_back({.knob = std::string(knob.key), .ways = ways_of(knob.key, value)});
      }
    }
  }

  /// The value alone, then with what it is tied to.
  [[nodiscard]] std::vector<std::vector<Assignment>> ways_of(std::string_view key,
                                                             const Value& value) const {
    std::vector<std::vector<Assignment>> ways = {{put_plan(key, value)}};
    const Plan& plan = scenario_.plan;
    if (key == "schedule") {
      const auto at = std::find_if(
          space_.schedule.begin(), space_.schedule.end(), [&](const Schedule& schedule) {
            return name(schedule) == value.text;
          });
      ways.push_back({ways.front().front(),
                      put_plan("virtual_stages", Value(std::int64_t{usual_chunks(*at)}))});
    }
    const bool distributes = plan.distribute_saved_activations;
    if (key == "recompute" && (plan.recompute_every || plan.recompute_layers || distributes)) {
      ways.push_back({ways.front().front(),
                      put_plan("recompute_every", Value()),
                      put_plan("recompute_layers", Value()),
                      put_plan("distribute_saved_activations", Value(false))});
    }
    if (key == "sequence_parallel" && distributes) {
      ways.push_back(
          {ways.front().front(), put_plan("distribute_saved_activations", Value(false))});
    }
    return ways;
  }

  void add_offload() {
    for (const std::string_view part : {"weights", "optimizer", "activations"}) {
      const std::string path = fmt::format("plan.offload.{}", part);
      const Value now = knob_value(scenario_, path);
      const Value to = now.kind == Value::Kind::null ? Value(name(HostPlace::host)) : Value();
      settings_.push_back({.knob = fmt::format("offload {}", part), .ways = {{put(path, to)}}});
    }
  }

  void add_trades(const Degree& more, const Degree& less) {
    const std::int64_t from = scenario_.plan.*less.value;
    for (std::int64_t factor = 2; &more != &less && factor <= from; ++factor) {
      if (from % factor != 0) {
        continue;
      }
      Plan plan = scenario_.plan;
      plan.*less.value = from / factor;
      plan.*more.value *= factor;
      if (is_in_space(more, plan) && is_in_space(less, plan)) {
        add_trade(more, less, plan);
      }
    }
  }

  [[nodiscard]] bool is_in_space(const Degree& degree, const Plan& plan) const {
    if (degree.sizes == nullptr) {
      return true;
    }
    const std::vector<std::int64_t>& sizes = space_.*degree.sizes;
    return includes(sizes, plan.*degree.value);
  }

  void add_trade(const Degree& more, const Degree& less, const Plan& plan) {
    const bool first = &more < &less;
    KnobSetting setting{
        .knob = fmt::format("{} and {}", (first ? more : less).key, (first ? less : more).key),
        .ways = {}};
    std::vector<Assignment> degrees = {put_plan(more.key, Value(plan.*more.value)),
                                       put_plan(less.key, Value(plan.*less.value))};
    const Plan& now = scenario_.plan;
    if (now.tensor == 1 && plan.tensor > 1 && is_transformer(scenario_)) {
      degrees.push_back(put_plan("sequence_parallel", Value(true)));
      add_with_chunks(degrees, plan, setting);
      degrees.pop_back();
    }
    add_with_chunks(degrees, plan, setting);
    settings_.push_back(std::move(setting));
  }

  /// With as many layers in a chunk, then with the run's chunks per rank, then with one chunk.
  void add_with_chunks(const std::vector<Assignment>& degrees,
                       const Plan& plan,
                       KnobSetting& setting) const {
    const std::int64_t chunks = scenario_.plan.pipeline * scenario_.plan.virtual_stages;
    const bool moves = plan.pipeline != scenario_.plan.pipeline;
    const bool chooses = moves && interleaves(plan.schedule) && scenario_.plan.virtual_stages > 1;
    const auto add = [&](std::int64_t virtual_stages) {
      setting.ways.push_back(degrees);
      setting.ways.back().push_back(put_plan("virtual_stages", Value(virtual_stages)));
    };
    if (chooses && plan.pipeline > 1 && chunks % plan.pipeline == 0) {
      add(chunks / plan.pipeline);
    }
    setting.ways.push_back(degrees);
    if (chooses) {
      add(1);
    }
  }

  void add_precisions() {
    const DataType now = scenario_.training.precision;
    for (const DataType type : {DataType::bf16, DataType::fp16, DataType::fp8, DataType::fp4}) {
      if (type != now) {
        add_format("precision", type);
      }
    }
    const DataType gradient = scenario_.gradient_type();
    if (gradient != DataType::bf16 && scenario_.training.base_type() == DataType::bf16) {
      add_format("gradient_precision", DataType::bf16);
    }
  }
  void add_format(std::string_view key, DataType type) {
    settings_.push_back({.knob = std::string(key),
                         .ways = {{put(fmt::format("training.{}", key), Value(name(type)))}},
                         .same_numbers = false});
  }

  const Scenario& scenario_;
  SearchSpace space_;
  std::vector<KnobSetting> settings_;
};

}  // namespace

std::vector<KnobSetting> knob_settings(const Scenario& scenario) { return Knobs(scenario).all(); }

Value knob_value(const Scenario& scenario, const std::string& path) {
  constexpr std::string_view offload = "plan.offload.";
  if (path == "training.precision") {
    return name(scenario.training.precision);
  }
  if (path == "training.gradient_precision") {
    return name(scenario.gradient_type());
  }
  const Plan plan = settled_plan(scenario);
  if (path.starts_with(offload)) {
    return find_field(offload_fields(), path.substr(offload.size()))->write(plan.offload);
  }
  return find_field(plan_fields(), path.substr(kPlan.size()))->write(plan);
}

}  // namespace titer
