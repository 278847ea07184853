#pragma once
// Device memory of each pipeline stage at its peak.

#include <array>
#include <vector>

#include "titer/model/adapters.hpp"
#include "titer/plan/memory/activation_peak.hpp"
#include "titer/plan/memory/optimizer.hpp"
#include "titer/plan/memory/overhead.hpp"
#include "titer/plan/plan.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

/// What a device keeps in memory of its node.
struct Offloaded {
  Bytes host{};
  Bytes nvme{};

  void add(HostPlace place, Bytes bytes) { (place == HostPlace::host ? host : nvme) += bytes; }
};

/// One device of a rank of the pipeline at its peak: with the most activations alive.
struct StageMemory {
  int stage = 0;                // the rank
  DeviceParameters parameters;  // held by one device, were nothing sharded over replicas
  DeviceParameters trained{};   // of these
  Bytes weights{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes activations{};  // kept by the micro-batches in flight
  Bytes working{};      // of the layer or head being computed, beyond what is kept
  Bytes buffers{};      // of the software's own
  Bytes runtime{};      // outside the tensors
  Offloaded offloaded{};

  /// Whatever runs at the moment.
  [[nodiscard]] Bytes fixed() const { return weights + gradients + optimizer + buffers + runtime; }
  [[nodiscard]] Bytes total() const { return fixed() + activations + working; }
  /// The tensors: what a framework calls its peak of allocated memory.
  [[nodiscard]] Bytes allocated() const { return total() - runtime; }
};

/// A part of a stage's memory by name, for views.
struct MemoryPart {
  std::string_view name;
  Bytes StageMemory::*value;
};
inline constexpr std::array<MemoryPart, 7> kMemoryParts = {
    {{"weights", &StageMemory::weights},
     {"gradients", &StageMemory::gradients},
     {"optimizer", &StageMemory::optimizer},
     {"activations", &StageMemory::activations},
     {"working", &StageMemory::working},
     {"buffers", &StageMemory::buffers},
     {"runtime", &StageMemory::runtime}}};

/// Weights beside adapters: of a parameter, and how layers' matrices are kept where it is
/// otherwise.
struct FrozenWeights {
  Bytes weight;
  std::optional<BaseFormat> quantised{};
};

/// What memory depends on besides the plan.
struct MemoryNeeds {
  const ModelBlocks* blocks = nullptr;
  PipelineShape shape;
  ParameterBytes parameter;
  Bytes runtime;
  double allocator_overhead = 0;  // comes to `runtime`: this share of what is allocated
  BufferRules buffers{};
  Bytes step{};                           // of a parameter while a rank updates it
  std::optional<FrozenWeights> frozen{};  // where adapters are trained
  double same_weights = 1;  // tensor-parallel ranks that have them: all, where images are cut
};

/// Of the rank's stage that has most of them. `memory`: the rank's, with its gradients.
[[nodiscard]] Buffers rank_buffers(const Plan& plan,
                                   const MemoryNeeds& needs,
                                   const StageBlocks& stages,
                                   const StageMemory& memory);

/// What a micro-batch keeps of a layer that is recomputed as the plan says.
[[nodiscard]] Bytes kept_bytes(const Plan& plan, const Block& block);

/// What every stage of the model keeps.
void stage_activations(const Plan& plan,
                       const MemoryNeeds& needs,
                       const StageBlocks& contents,
                       std::vector<StageActivations>& stages);
[[nodiscard]] std::vector<StageActivations> stage_activations(const Plan& plan,
                                                              const MemoryNeeds& needs);

/// Finds the memory of one plan after the other, keeping its working memory and what following the
/// actions of the last shapes told: finding that of a plan again allocates nothing.
class MemoryFinder {
 public:
  /// Memory of every rank into `stages`. By formula where there is one: GPipe and 1F1B over stages
  /// of which each rank's have as many layers.
  void find(const Plan& plan, const MemoryNeeds& needs, std::vector<StageMemory>& stages);
  /// The same with the stages' contents as they are known already.
  void find(const Plan& plan,
            const MemoryNeeds& needs,
            const StageBlocks& contents,
            std::vector<StageMemory>& stages);

 private:
  struct Followed {
    Schedule schedule;
    PipelineShape shape;
    std::vector<ActivationMoments> ranks;
  };
  void find_activations(const Plan& plan,
                        const MemoryNeeds& needs,
                        const StageBlocks& contents,
                        std::vector<StageMemory>& stages);
  const std::vector<ActivationMoments>& moments(const Schedule& schedule,
                                                const PipelineShape& shape);

  StageBlocks contents_;
  std::vector<Followed> followed_;
  std::size_t oldest_ = 0;
  std::size_t last_ = 0;                       // asked for
  std::vector<StageActivations> activations_;  // of every stage of the model
};

}  // namespace titer
