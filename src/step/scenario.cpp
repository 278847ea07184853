#include "titer/step/scenario.hpp"

#include <fmt/format.h>

namespace titer {
namespace {

constexpr std::int64_t kMostVirtualStages = 30'000;  // p v: passes are numbered in 16 bits
constexpr std::int64_t kMostPasses = 100'000'000;    // 2 p v m of one evaluation
constexpr double kMostDevices = 1e8;                 // ranks are numbered in 32 bits

class Validator {
 public:
  explicit Validator(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Violation> run() {
    check_tensor();
    check_pipeline();
    check_batch();
    check_precision();
    check_cluster();
    check_formula();
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
    const std::int64_t l = scenario_.model.layers;
    if (p > kMostVirtualStages || v > kMostVirtualStages || l % (p * v) != 0) {
      const bool stages_divide = p <= l && l % p == 0;
      demand(
          false,
          stages_divide ? "plan.virtual_stages" : "plan.pipeline",
          stages_divide ? v : p,
          fmt::format(
              "expected pipeline x virtual_stages to divide the {} layers, got {} x {}", l, p, v));
      return;
    }
    demand(v == 1 || p > 1,
           "plan.virtual_stages",
           v,
           "expected 1, since there is only one pipeline stage");
    demand(v == 1 || interleaves(plan.schedule),
           "plan.virtual_stages",
           v,
           fmt::format("expected 1: the schedule {} has one chunk per stage", name(plan.schedule)));
    demand(p * v <= kMostVirtualStages,
           "plan.pipeline",
           p,
           fmt::format("expected pipeline x virtual_stages of at most {}", kMostVirtualStages));
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
    demand(plan.virtual_stages == 1 || m % plan.pipeline == 0,
           "plan.virtual_stages",
           plan.virtual_stages,
           fmt::format("expected the {} micro-batches to be a multiple of the {} stages, as "
                       "interleaving needs",
                       m,
                       plan.pipeline));
    demand(m <= kMostPasses / (2 * plan.pipeline * plan.virtual_stages),
           "training.global_batch",
           gb,
           fmt::format("expected at most {} passes in one iteration", kMostPasses));
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

  const Scenario& scenario_;
  std::vector<Violation> violations_;
};

}  // namespace

PipelineShape Scenario::shape() const {
  return {.stages = static_cast<int>(plan.pipeline),
          .micro_batches = static_cast<int>(micro_batches()),
          .virtual_stages = static_cast<int>(plan.virtual_stages)};
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
