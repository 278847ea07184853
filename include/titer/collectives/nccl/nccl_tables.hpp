#pragma once
// The numbers in NCCL's tuner: latencies, caps per channel, corrections, listed speeds.
// [NCCL 2.30.7, graph/tuning and graph/search; older releases where a function asks for one]

#include <cstddef>
#include <span>

#include "titer/units/quantity.hpp"

namespace titer {

enum class GpuGeneration { volta, ampere, hopper, blackwell };  // each stands for what came with it
enum class CpuVendor { intel, amd };

/// p2p is NCCL's grouped sends and receives; the tuner does not choose it, the function does.
enum class NcclAlgorithm {
  ring,
  tree,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat,
  p2p,
};
inline constexpr std::size_t kNcclAlgorithms = 8;
enum class NcclProtocol { ll, ll128, simple };
inline constexpr std::size_t kNcclProtocols = 3;
enum class NcclMedium { nvlink, pci, network };

/// The release, as in 2.30: its second number.
struct NcclVersion {
  int minor = 30;
};

/// What a call costs before any hop.
[[nodiscard]] Seconds nccl_base_latency(NcclAlgorithm algorithm,
                                        NcclProtocol protocol,
                                        NcclVersion version);
/// What a hop costs.
[[nodiscard]] Seconds nccl_hop_latency(NcclMedium medium,
                                       NcclAlgorithm algorithm,
                                       NcclProtocol protocol,
                                       NcclVersion version);

/// The most that LL reaches on the bus: by the GPUs on one node, by the processors on several.
[[nodiscard]] BytesPerSecond nccl_ll_cap(GpuGeneration generation, CpuVendor cpu, int nodes);
/// The most that a channel reaches; empty where the tuner has no cap (ring LL and Simple). Zero
/// where the algorithm is switched off.
struct NcclChannelCaps {
  BytesPerSecond ring_ll128;
  BytesPerSecond tree_ll128;
  BytesPerSecond tree_simple;
  BytesPerSecond nvls_tree;
};
[[nodiscard]] NcclChannelCaps nccl_channel_caps(GpuGeneration generation, int nodes);

/// The share of its bandwidth that reduction in the switch keeps; zero before it existed.
[[nodiscard]] double nccl_nvls_efficiency(GpuGeneration generation);
/// Trees reach less than their bandwidth at middle sizes.
[[nodiscard]] double nccl_tree_correction(NcclProtocol protocol, Bytes size);

/// One NVLink, one direction, as NCCL counts it.
[[nodiscard]] BytesPerSecond nccl_link_rate(GpuGeneration generation);
/// The speeds that the search for channels tries, in GB/s, fastest first.
[[nodiscard]] std::span<const double> nccl_speeds(GpuGeneration generation, bool between_nodes);

}  // namespace titer
