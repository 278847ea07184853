#include <fmt/format.h>

#include "titer/plan/place/placement.hpp"
#include "titer/scenario/scenario.hpp"
#include "validate_groups.hpp"
#include "validate_sharding.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostVirtualStages = 10'900;  // p v: kinds of passes are of 16 bits
constexpr std::int64_t kMostPasses = 100'000'000;    // 2 p v m of one evaluation

class Validator {
 public:
  explicit Validator(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Violation> run() {
    check_splits(scenario_, demands_);
    check_pipeline();
    check_batch();
    check_overlap();
    check_groups(scenario_, demands_);
    check_recomputation(scenario_, demands_);
    check_graph(scenario_, demands_);
    check_precision();
    check_cluster();
    check_formula();
    check_conditions();
    check_sharding(scenario_, demands_);
    check_offload(scenario_, demands_);
    check_types(scenario_, demands_);
    check_optimizer(scenario_, demands_);
    check_frozen(scenario_, demands_);
    check_adapters(scenario_, demands_);
    check_tower(scenario_, demands_);
    check_denoiser(scenario_, demands_);
    check_narrow_products(scenario_, demands_);
    return demands_.take();
  }

 private:
  template <class Value, class Expected>
  void demand(bool condition, std::string_view path, const Value& value, const Expected& expected) {
    demands_.demand(condition, path, value, expected);
  }

  void check_pipeline() {
    const Plan& plan = scenario_.plan;
    const std::int64_t p = plan.pipeline;
    const std::int64_t v = plan.virtual_stages;
    const std::int64_t copies = placement(plan.schedule) == Placement::two_ways ? 2 : 1;
    if (p > kMostVirtualStages || v > kMostVirtualStages || copies * p * v > kMostVirtualStages) {
      demand(false, p > 1 ? "plan.pipeline" : "plan.virtual_stages", p > 1 ? p : v, [&] {
        return fmt::format("expected pipeline x virtual_stages of at most {}",
                           kMostVirtualStages / copies);
      });
      return;
    }
    check_layers();
    const int chunks = usual_chunks(plan.schedule);
    demand(v == chunks || p > 1, "plan.virtual_stages", v, [&] {
      return fmt::format("expected {}, since there is only one pipeline stage", chunks);
    });
    demand(v == chunks || interleaves(plan.schedule), "plan.virtual_stages", v, [&] {
      return fmt::format("expected {}: the schedule {} has no other number of chunks per rank",
                         chunks,
                         name(plan.schedule));
    });
  }

  void check_layers() {
    const Plan& plan = scenario_.plan;
    const std::int64_t p = plan.pipeline;
    const std::int64_t v = plan.virtual_stages;
    const std::int64_t l = scenario_.model.layers();
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
    const bool by_chunks = has_chunks && p <= l;
    demand(false, by_chunks ? "plan.virtual_stages" : "plan.pipeline", by_chunks ? v : p, [&] {
      return fmt::format("expected pipeline{} of at most the {} layers, got {}; or {}",
                         has_chunks ? " x virtual_stages" : "",
                         l,
                         has_chunks ? fmt::format("{} x {}", p, v) : fmt::format("{}", p),
                         uneven_offer(l, stages));
    });
  }

  void check_batch() {
    const Plan& plan = scenario_.plan;
    const std::int64_t gb = scenario_.training.global_batch;
    const std::int64_t replicas = plan.micro_batch * plan.data;
    if (gb % replicas != 0) {
      demand(false, "training.global_batch", gb, [&] {
        return fmt::format("expected a multiple of micro_batch x data = {} x {} = {}",
                           plan.micro_batch,
                           plan.data,
                           replicas);
      });
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
           [&] { return fmt::format("expected at most {} passes in one iteration", kMostPasses); });
  }

  void check_overlap() {
    const Plan& plan = scenario_.plan;
    const bool has_groups = plan.schedule.entry().groups && plan.virtual_stages > 1;
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
           [&] {
             return fmt::format("expected a stack with bucket_parameters, which {} has not",
                                scenario_.stack.name);
           });
  }

  void check_precision() {
    const DataType type = scenario_.training.precision;
    const Chip& chip = scenario_.cluster.chip;
    const DataType base = scenario_.training.base_type();
    demand(chip.rate(type).has_value(), "training.precision", name(type), [&] {
      return fmt::format(
          "expected one of the data types of {}: {}", chip.name, data_type_names(chip));
    });
    demand(base == type || chip.rate(base).has_value(), "training.precision", name(type), [&] {
      return fmt::format(
          "expected a chip that computes in {} too, as what is no product with weights "
          "does",
          name(base));
    });
    if (const Transformer* model = scenario_.model.if_transformer()) {
      demand(model->positions != Positions::learned ||
                 scenario_.training.sequence <= model->max_sequence,
             "training.sequence",
             scenario_.training.sequence,
             [&] {
               return fmt::format("expected at most the {} learned positions of {}",
                                  model->max_sequence,
                                  model->name);
             });
    }
  }

  void check_cluster() {
    const Cluster& cluster = scenario_.cluster;
    const Plan& plan = scenario_.plan;
    const bool can_count = has_countable_devices(plan);
    demand(can_count, "plan.data", plan.data, [&] {
      return fmt::format(
          "expected at most {} devices in all, got {}", kMostDevices, degrees().values);
    });
    if (cluster.torus() != nullptr) {
      if (can_count) {
        check_torus(scenario_, demands_);
      }
      return;
    }
    if (const auto ports = cluster.nodes_of_network(); ports && can_count) {
      const std::int64_t most = *ports * cluster.devices_per_node;
      demand(
          plan.devices() <= most, "cluster.network.topology", fmt::format("{} nodes", *ports), [&] {
            return fmt::format("expected ports for the plan's {} devices, {} in a node",
                               plan.devices(),
                               cluster.devices_per_node);
          });
    }
    if (!cluster.nodes || !can_count) {
      return;
    }
    const std::int64_t devices = *cluster.nodes * cluster.devices_per_node;
    demand(plan.devices() == devices, "cluster.nodes", *cluster.nodes, [&] {
      return fmt::format("expected {} = {} = {} to be the {} devices of {} nodes",
                         degrees().names,
                         degrees().values,
                         plan.devices(),
                         devices,
                         *cluster.nodes);
    });
  }

  /// The degrees that make the number of devices.
  struct Degrees {
    std::string names;
    std::string values;
  };
  [[nodiscard]] Degrees degrees() const {
    const Plan& plan = scenario_.plan;
    const bool cuts = plan.context > 1;
    return {.names = fmt::format("pipeline x tensor{} x data", cuts ? " x context" : ""),
            .values = fmt::format("{} x {}{} x {}",
                                  plan.pipeline,
                                  plan.tensor,
                                  cuts ? fmt::format(" x {}", plan.context) : "",
                                  plan.data)};
  }

  void check_formula() {
    demand(scenario_.formula != Formula::e7 || scenario_.e7.utilization.has_value(),
           "formula.utilization",
           "missing",
           "expected the GPU utilization u that the formula e7 takes as given, such as 0.4");
    demand(scenario_.formula != Formula::e7 || !scenario_.training.input_rate,
           "training.input_rate",
           fmt::format("{}", scenario_.training.input_rate.value_or(0)),
           "expected none: the formula e7 has no input");
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
           [&] {
             return fmt::format("expected devices of the plan's {}, numbered from 0",
                                scenario_.plan.devices());
           });
    for (std::size_t i = 0; i < conditions.chips.size(); ++i) {
      const Chip& chip = conditions.chips[i];
      demand(chip.rate(scenario_.training.precision) && chip.rate(scenario_.training.base_type()),
             "conditions.devices",
             chip.name,
             [&] {
               return fmt::format("expected chips that compute in {}",
                                  name(scenario_.training.precision));
             });
    }
  }

  const Scenario& scenario_;
  Demands demands_;
};

}  // namespace

std::vector<Violation> validate(const Scenario& scenario) { return Validator(scenario).run(); }

}  // namespace titer
