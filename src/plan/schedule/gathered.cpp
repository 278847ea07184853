#include "gathered.hpp"

#include <algorithm>

namespace titer {
namespace {

/// Parameters of the blocks of a rank: the largest by itself, and the largest two in a row.
class Units {
 public:
  Units(const Plan& plan, const ModelBlocks& blocks) : plan_(plan), blocks_(blocks) {}

  void add_stage(const StageBlocks& stages, int stage) {
    const std::span<const double> counts = stages.kinds(stage);
    double largest = 0;
    double second = 0;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      const double size = of(blocks_.kinds[kind].parameters);
      for (int i = 0; i < std::min(2, static_cast<int>(counts[kind])); ++i) {
        second = std::max(second, std::min(largest, size));
        largest = std::max(largest, size);
      }
    }
    add(largest, second);
    if (stage == 0) {
      add(of(blocks_.embedding.parameters), largest);
    }
    if (stage == stages.last()) {
      add(of(blocks_.head.parameters) + of({.split = blocks_.tied_table}), largest);
    }
  }
  [[nodiscard]] double one() const { return one_; }
  [[nodiscard]] double two() const { return two_; }

 private:
  [[nodiscard]] double of(const ParameterCount& count) const {
    return passing_parameters(count, plan_);
  }
  void add(double unit, double neighbour) {
    one_ = std::max(one_, unit);
    two_ = std::max(two_, unit + neighbour);
  }

  const Plan& plan_;
  const ModelBlocks& blocks_;
  double one_ = 0;
  double two_ = 0;
};

/// Of these what ranks split among them: experts that one of them has alone are whole.
double sharded_parameters(const DeviceParameters& all, const Plan& plan) {
  return plan.expert_replicas() == 1 ? all.dense : all.total();
}

}  // namespace

double passing_parameters(const ParameterCount& count, const Plan& plan) {
  const DeviceParameters all = on_device(count, plan);
  const bool passes = plan.offload.weights || plan.offload.gradients;
  return passes ? all.total() : sharded_parameters(all, plan);
}

Bytes gathered_bytes(const Plan& plan,
                     const StageBlocks& stages,
                     int rank,
                     const MemoryNeeds& needs) {
  const bool gathers = plan.gathers_every_pass();
  const bool fetches = plan.offload.weights.has_value();
  const bool hands_on = plan.reduces_every_pass() || plan.offload.gradients;
  if (!gathers && !fetches && !hands_on) {
    return {};
  }
  const ModelBlocks& blocks = *needs.blocks;
  const ParameterBytes& parameter = needs.parameter;
  Units units(plan, blocks);
  for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
    units.add_stage(stages, stages.of(rank, chunk));
  }
  Bytes bytes;
  if (gathers && !plan.reshard_after_forward) {
    const DeviceParameters all = rank_parameters(blocks, stages, plan, rank);
    bytes += sharded_parameters(all, plan) * parameter.gathered;
  } else if (gathers || fetches) {
    const bool ahead = (gathers && plan.prefetch && !needs.buffers.gathers_by_matrix) ||
                       (fetches && plan.offload.prefetch);
    bytes += (ahead ? units.two() : units.one()) * parameter.gathered;
  }
  if (hands_on) {
    bytes += units.one() * parameter.gradient;
  }
  return bytes;
}

}  // namespace titer
