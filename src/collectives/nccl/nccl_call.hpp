#pragma once
// One question to the model of NCCL, as its rules see it.

#include <string_view>

#include "titer/collectives/nccl/nccl.hpp"

namespace titer {

/// All that the rules look at. n ranks on N nodes, g on each.
struct NcclCall {
  Collective collective;
  Bytes size;
  Group group;
  const NcclSystem& system;

  [[nodiscard]] int n() const { return group.ranks(); }
  [[nodiscard]] bool is_all_reduce() const { return collective == Collective::all_reduce; }
  [[nodiscard]] bool is_half() const {
    return collective == Collective::all_gather || collective == Collective::reduce_scatter;
  }
  [[nodiscard]] bool is_grouped() const {
    return collective == Collective::all_to_all || collective == Collective::send_recv;
  }
  [[nodiscard]] bool newer_than_ampere() const {
    return system.generation == GpuGeneration::hopper ||
           system.generation == GpuGeneration::blackwell;
  }
  [[nodiscard]] int steps() const {
    return is_all_reduce() ? 2 * (n() - 1) : is_half() ? n() - 1 : n();
  }
  [[nodiscard]] NcclMedium widest() const {
    return group.nodes > 1 ? NcclMedium::network : system.medium;
  }
};

/// The first rule that forbids the pair; empty when it is a candidate.
[[nodiscard]] std::string_view why_not_nccl(const NcclCall& call,
                                            NcclAlgorithm algorithm,
                                            NcclProtocol protocol);

}  // namespace titer
