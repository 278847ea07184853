#pragma once
// What one iteration takes, and where the time and the memory go.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/plan/memory/memory.hpp"

namespace titer {

/// The iteration time as a sum, seen from the pipeline stage that finishes last. Communication
/// counts as far as it is exposed.
struct Breakdown {
  Seconds forward;
  Seconds backward;
  Seconds recompute;
  Seconds optimizer;
  Seconds tensor_comm;
  Seconds context_comm;
  Seconds expert_comm;
  Seconds pipeline_comm;
  Seconds data_comm;
  Seconds host_comm;
  Seconds input;  // waiting for what hosts read and prepare
  Seconds bubble;
  Seconds other;

  [[nodiscard]] Seconds total() const;
};

/// A part of the breakdown by name, for views.
struct BreakdownPart {
  std::string_view name;
  Seconds Breakdown::*value;
};
inline constexpr std::array<BreakdownPart, 13> kBreakdownParts = {
    {{"forward", &Breakdown::forward},
     {"backward", &Breakdown::backward},
     {"recompute", &Breakdown::recompute},
     {"optimizer", &Breakdown::optimizer},
     {"tensor_comm", &Breakdown::tensor_comm},
     {"context_comm", &Breakdown::context_comm},
     {"expert_comm", &Breakdown::expert_comm},
     {"pipeline_comm", &Breakdown::pipeline_comm},
     {"data_comm", &Breakdown::data_comm},
     {"host_comm", &Breakdown::host_comm},
     {"input", &Breakdown::input},
     {"bubble", &Breakdown::bubble},
     {"other", &Breakdown::other}}};

/// Communication of the same stage whether exposed or hidden beside compute.
struct CommunicationTotal {
  Seconds tensor;
  Seconds context;
  Seconds expert;
  Seconds pipeline;
  Seconds data;
  Seconds host;
};
struct CommunicationPart {
  std::string_view name;
  Seconds CommunicationTotal::*value;
};
inline constexpr std::array<CommunicationPart, 6> kCommunicationParts = {
    {{"tensor_comm", &CommunicationTotal::tensor},
     {"context_comm", &CommunicationTotal::context},
     {"expert_comm", &CommunicationTotal::expert},
     {"pipeline_comm", &CommunicationTotal::pipeline},
     {"data_comm", &CommunicationTotal::data},
     {"host_comm", &CommunicationTotal::host}}};

/// Where the transfers of a pass are counted.
struct CommSlots {
  Seconds Breakdown::*exposed;
  Seconds CommunicationTotal::*total;
};
inline constexpr std::array<CommSlots, kPassComms> kCommSlots = {
    {{&Breakdown::tensor_comm, &CommunicationTotal::tensor},
     {&Breakdown::context_comm, &CommunicationTotal::context},
     {&Breakdown::expert_comm, &CommunicationTotal::expert},
     {&Breakdown::data_comm, &CommunicationTotal::data},
     {&Breakdown::host_comm, &CommunicationTotal::host}}};
[[nodiscard]] constexpr const CommSlots& slots_of(PassComm comm) {
  return kCommSlots[static_cast<std::size_t>(comm)];
}

/// The most memory that a simulated device had in use.
struct MemoryPeak {
  Bytes in_use;
  Seconds at;             // the first instant
  std::string operation;  // what began then: "forward of stage 3, micro-batch 5"
};

/// A pipeline rank in a simulated step: the device of it that finished last. Its compute, exposed
/// communication and idle time add up to the iteration.
struct SimulatedRank {
  int rank = 0;
  Seconds start;  // of its first compute
  Seconds end;    // of the last that it did
  Seconds compute;
  Seconds communication;  // exposed
  Seconds idle;
  MemoryPeak memory;
};

/// Transfers that shared links: how often it had to be found out how fast each of those that ran
/// together went, and how often that was known from before.
struct SharedLinkUse {
  std::uint64_t found = 0;
  std::uint64_t known = 0;
  // Of each capacity (Capacities) of the cluster's links: how long an iteration's transfers keep it
  // busy, by the algorithms that were taken.
  std::vector<Seconds> busy{};
};

/// A collective whose fastest algorithm on the links is not the one that is the fastest by its
/// closed form: the largest of those of a group, alone on the links.
struct TakenAlgorithm {
  std::string_view group;  // "expert"
  Collective collective = Collective::all_reduce;
  Bytes size;
  std::string_view taken;
  Seconds time;
  std::string_view by_closed_form;
  Seconds closed_form_time;  // on the links too
};

/// What events say of a step beside its closed form.
struct EventsBeside {
  std::optional<Seconds> iteration_time{};
  std::string why_not;  // where they do not say any
};

/// Where four of five measured iterations are expected to be.
struct ErrorBar {
  Seconds low;
  Seconds high;
};

/// What a node's devices keep in a tier of its memory, at the most; and the room there is.
struct TierNeed {
  std::string_view tier;  // "host memory"
  Bytes needed;
  Bytes capacity;

  [[nodiscard]] bool fits() const { return needed <= capacity; }
  friend bool operator==(const TierNeed&, const TierNeed&) = default;
};

struct StepResult {
  Seconds iteration_time;
  Breakdown breakdown;
  // Of the closed form: by how much forward and backward passes took longer for what was beside
  // them, in the breakdown.
  Seconds forward_slowed;
  Seconds backward_slowed;
  CommunicationTotal comm_total;
  int reference_stage = 0;  // the stage that the breakdown is seen from
  std::int64_t devices = 0;
  double tokens_per_s = 0;
  double tokens_per_s_per_device = 0;
  FlopsPerSecond model_flops_per_device;  // full attention, no recomputation
  double mfu = 0;                   // model FLOPs, full attention [Narayanan 2021; Chowdhery 2022]
  double mfu_causal = 0;            // model FLOPs, causal half of attention
  double hfu = 0;                   // with recomputation, full attention
  double bubble_ratio = 0;          // idle / total, waiting for input in neither
  double bubble_overhead = 0;       // idle / (total - idle), likewise
  std::vector<StageMemory> memory;  // one per pipeline stage
  Bytes memory_peak;
  Bytes memory_capacity;
  std::vector<TierNeed> tiers{};  // where something is offloaded
  Grade grade = Grade::extrapolated;
  std::optional<ErrorBar> error_bar{};        // where the stack says how far off its runs were
  std::vector<SimulatedRank> ranks;           // of the pipeline; none in the closed form
  std::optional<SharedLinkUse> contention{};  // where transfers were followed on the links
  std::vector<TakenAlgorithm> algorithms{};   // where the links chose others than the closed form
  std::optional<EventsBeside> events{};       // of a closed form that leaves something out

  [[nodiscard]] bool fits() const { return memory_peak <= memory_capacity && tiers_fit(); }
  [[nodiscard]] bool tiers_fit() const {
    return std::ranges::all_of(tiers, [](const TierNeed& tier) { return tier.fits(); });
  }
  /// The stage with the largest memory. REQUIRES a stage.
  [[nodiscard]] const StageMemory& peak_stage() const;
};

/// "stage 0 needs 91.2 GiB of 80 GiB: optimizer 38.1 GiB, activations 30.5 GiB, …", largest first.
[[nodiscard]] std::string memory_sentence(const StepResult& result);

}  // namespace titer
