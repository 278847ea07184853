#include "titer/step/scenario.hpp"

#include <fmt/format.h>

namespace titer {
namespace {

constexpr std::int64_t kMostVirtualStages = 10'900;  // p v: kinds of passes are of 16 bits
constexpr std::int64_t kMostPasses = 100'000'000;    // 2 p v m of one evaluation
constexpr double kMostDevices = 1e8;                 // ranks are numbered in 32 bits

class Validator {
 public:
  explicit Validator(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Violation> run() {
    check_tensor();
    check_pipeline();
    check_batch();
    check_overlap();
    check_precision();
    check_cluster();
    check_formula();
    check_conditions();
    return std::move(violations_);
  }

 private:
  template <class T>
  void demand(bool condition, std::string_view path, const T& value, std::string expected) {
    if (!condition) {
      violations_.push_back({std::string(path), fmt::format("{}", value), std::move(expected)});
    }
  }

  void check_tensor() {
    const Plan& plan = scenario_.plan;
    const Transformer& model = scenario_.model;
    const std::int64_t t = plan.tensor;
    demand(model.heads % t == 0,
           "plan.tensor",
           t,
           fmt::format("expected a divisor of the {} attention heads", model.heads));
    demand(model.heads % t != 0 || model.kv_heads % t == 0,
           "plan.tensor",
           t,
           fmt::format("expected a divisor of the {} key-value heads", model.kv_heads));
    demand(model.ffn % t == 0,
           "plan.tensor",
           t,
           fmt::format("expected a divisor of the MLP width {}", model.ffn));
    demand(!plan.sequence_parallel || scenario_.training.sequence % t == 0,
           "plan.sequence_parallel",
           "true",
           fmt::format("expected a tensor degree that divides the sequence of {} tokens, not {}",
                       scenario_.training.sequence,
                       t));
  }

  void check_pipeline() {
    const Plan& plan = scenario_.plan;
    const std::int64_t p = plan.pipeline;
    const std::int64_t v = plan.virtual_stages;
    const std::int64_t copies = placement(plan.schedule) == Placement::two_ways ? 2 : 1;
    if (p > kMostVirtualStages || v > kMostVirtualStages || copies * p * v > kMostVirtualStages) {
      demand(false,
             p > 1 ? "plan.pipeline" : "plan.virtual_stages",
             p > 1 ? p : v,
             fmt::format("expected pipeline x virtual_stages of at most {}",
                         kMostVirtualStages / copies));
      return;
    }
    check_layers();
    const int chunks = usual_chunks(plan.schedule);
    demand(v == chunks || p > 1,
           "plan.virtual_stages",
           v,
           fmt::format("expected {}, since there is only one pipeline stage", chunks));
    demand(v == chunks || interleaves(plan.schedule),
           "plan.virtual_stages",
           v,
           fmt::format("expected {}: the schedule {} has no other number of chunks per rank",
                       chunks,
                       name(plan.schedule)));
  }

  void check_layers() {
    const Plan& plan = scenario_.plan;
    const std::int64_t p = plan.pipeline;
    const std::int64_t v = plan.virtual_stages;
    const std::int64_t l = scenario_.model.layers;
    const int stages = model_stages(placement(plan.schedule), scenario_.shape());
    const auto refused = refusal(plan.layers, l, stages);
    if (!refused) {
      return;
    }
    if (!is_even(plan.layers)) {
      demand(false, "plan.layers", text_of(plan.layers), *refused);
      return;
    }
    const bool has_chunks = stages == p * v;
    const bool pipeline_divides = has_chunks && l % p == 0;
    demand(false,
           pipeline_divides ? "plan.virtual_stages" : "plan.pipeline",
           pipeline_divides ? v : p,
           fmt::format("expected pipeline{} to divide the {} layers, got {}; or {}",
                       has_chunks ? " x virtual_stages" : "",
                       l,
                       has_chunks ? fmt::format("{} x {}", p, v) : fmt::format("{}", p),
                       uneven_offer(l, stages)));
  }

  void check_batch() {
    const Plan& plan = scenario_.plan;
    const std::int64_t gb = scenario_.training.global_batch;
    const std::int64_t replicas = plan.micro_batch * plan.data;
    if (gb % replicas != 0) {
      demand(false,
             "training.global_batch",
             gb,
             fmt::format("expected a multiple of micro_batch x data = {} x {} = {}",
                         plan.micro_batch,
                         plan.data,
                         replicas));
      return;
    }
    const std::int64_t m = gb / replicas;
    const auto refused = refusal(plan.schedule, scenario_.shape());
    const bool by_chunks = plan.virtual_stages > 1 && interleaves(plan.schedule);
    if (refused && by_chunks) {
      demand(false, "plan.virtual_stages", plan.virtual_stages, *refused);
    } else if (refused) {
      demand(false, "plan.schedule", name(plan.schedule), *refused);
    }
    demand(m <= kMostPasses / (2 * plan.pipeline * plan.virtual_stages),
           "training.global_batch",
           gb,
           fmt::format("expected at most {} passes in one iteration", kMostPasses));
  }

  void check_overlap() {
    const Plan& plan = scenario_.plan;
    const bool has_groups =
        std::holds_alternative<OneForwardOneBackward>(plan.schedule) && plan.virtual_stages > 1;
    demand(!plan.micro_batch_group || has_groups,
           "plan.micro_batch_group",
           plan.micro_batch_group.value_or(0),
           "expected the schedule 1f1b interleaved: virtual_stages of at least 2");
    const bool gathers = plan.overlap_param_gather.value_or(false);
    demand(!gathers || plan.sharding == Sharding::zero1,
           "plan.overlap_param_gather",
           "true",
           "expected the sharding zero1, whose updated parameters are gathered");
    demand(!gathers || scenario_.overlap_grad_reduce(),
           "plan.overlap_param_gather",
           "true",
           "expected overlap_grad_reduce too: parameters are gathered by the buckets of gradients");
    demand(!scenario_.overlap_grad_reduce() || scenario_.stack.bucket(1) > 0,
           "plan.overlap_grad_reduce",
           "true",
           fmt::format("expected a stack with bucket_parameters, which {} has not",
                       scenario_.stack.name));
  }

  void check_precision() {
    const DataType type = scenario_.training.precision;
    const bool trainable = type == DataType::fp32 || type == DataType::tf32 ||
                           type == DataType::fp16 || type == DataType::bf16;
    demand(trainable,
           "training.precision",
           name(type),
           "expected fp32, tf32, fp16 or bf16: training in narrower types is not modelled yet");
    demand(scenario_.cluster.chip.rate(type).has_value(),
           "training.precision",
           name(type),
           fmt::format("expected one of the data types of {}: {}",
                       scenario_.cluster.chip.name,
                       data_type_names(scenario_.cluster.chip)));
    demand(scenario_.model.positions == Positions::rotary ||
               scenario_.training.sequence <= scenario_.model.max_sequence,
           "training.sequence",
           scenario_.training.sequence,
           fmt::format("expected at most the {} learned positions of {}",
                       scenario_.model.max_sequence,
                       scenario_.model.name));
  }

  void check_cluster() {
    const Cluster& cluster = scenario_.cluster;
    const Plan& plan = scenario_.plan;
    const bool can_count =
        static_cast<double>(plan.tensor) * static_cast<double>(plan.data * plan.pipeline) <=
        kMostDevices;
    demand(can_count,
           "plan.data",
           plan.data,
           fmt::format("expected at most {} devices in all, got {} x {} x {}",
                       kMostDevices,
                       plan.pipeline,
                       plan.tensor,
                       plan.data));
    demand(cluster.torus() == nullptr,
           "cluster.node.fabric",
           "torus",
           "expected nodes on a network: where the groups of a plan lie on a torus is not modelled "
           "yet (titer collective times its collectives)");
    if (const auto ports = cluster.nodes_of_network(); ports && can_count) {
      const std::int64_t most = *ports * cluster.devices_per_node;
      demand(plan.devices() <= most,
             "cluster.network.topology",
             fmt::format("{} nodes", *ports),
             fmt::format("expected ports for the plan's {} devices, {} in a node",
                         plan.devices(),
                         cluster.devices_per_node));
    }
    if (!cluster.nodes || !can_count) {
      return;
    }
    const std::int64_t devices = *cluster.nodes * cluster.devices_per_node;
    demand(plan.devices() == devices,
           "cluster.nodes",
           *cluster.nodes,
           fmt::format("expected pipeline x tensor x data = {} x {} x {} = {} to be the {} devices "
                       "of {} nodes",
                       plan.pipeline,
                       plan.tensor,
                       plan.data,
                       plan.devices(),
                       devices,
                       *cluster.nodes));
  }

  void check_formula() {
    demand(scenario_.formula != Formula::e7 || scenario_.e7.utilization.has_value(),
           "formula.utilization",
           "missing",
           "expected the GPU utilization u that the formula e7 takes as given, such as 0.4");
  }

  void check_conditions() {
    const Conditions& conditions = scenario_.conditions;
    if (conditions.devices.empty()) {
      return;
    }
    const DeviceCondition& last = conditions.devices.back();
    demand(last.last < scenario_.plan.devices(),
           fmt::format("conditions.devices.{}", last.entry),
           last.last,
           fmt::format("expected devices of the plan's {}, numbered from 0",
                       scenario_.plan.devices()));
    for (std::size_t i = 0; i < conditions.chips.size(); ++i) {
      const Chip& chip = conditions.chips[i];
      demand(chip.rate(scenario_.training.precision).has_value(),
             "conditions.devices",
             chip.name,
             fmt::format("expected chips that compute in {}", name(scenario_.training.precision)));
    }
  }

  const Scenario& scenario_;
  std::vector<Violation> violations_;
};

}  // namespace

PipelineShape Scenario::shape() const {
  return {.stages = static_cast<int>(plan.pipeline),
          .micro_batches = static_cast<int>(micro_batches()),
          .virtual_stages = static_cast<int>(plan.virtual_stages),
          .group = plan.micro_batch_group};
}

Slice Scenario::slice() const {
  return {.micro_batch = plan.micro_batch,
          .sequence = training.sequence,
          .tensor = plan.tensor,
          .sequence_parallel = plan.sequence_parallel && plan.tensor > 1,
          .type = training.precision,
          .attention = plan.attention.value_or(model.attention)};
}

std::vector<Violation> validate(const Scenario& scenario) { return Validator(scenario).run(); }

}  // namespace titer
