#pragma once
// Three machines as NCCL sees them.

#include "titer/collectives/nccl/nccl.hpp"

namespace titer {

inline NcclSystem switched_node(GpuGeneration generation, int links, BytesPerSecond nic) {
  NcclSystem system;
  system.generation = generation;
  system.cpu = CpuVendor::amd;
  system.gpus_per_node = 8;
  system.node_bandwidth = links * nccl_link_rate(generation);
  system.nics = 8;
  system.nic_bandwidth = nic;
  system.nvls = generation == GpuGeneration::hopper || generation == GpuGeneration::blackwell;
  return system;
}
inline NcclSystem dgx_a100() { return switched_node(GpuGeneration::ampere, 12, 200_Gbps); }
inline NcclSystem dgx_h100() { return switched_node(GpuGeneration::hopper, 18, 400_Gbps); }
inline NcclSystem dgx_b200() { return switched_node(GpuGeneration::blackwell, 18, 400_Gbps); }

}  // namespace titer
