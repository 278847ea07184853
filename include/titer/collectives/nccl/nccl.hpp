#pragma once
// Which algorithm and protocol NCCL would take for a collective, and the time that its tuner
// expects: the numbers are in nccl_tables.hpp, the rules here.
//
// t = latency + S / bandwidth of every enabled pair of algorithm and protocol; the least is taken.
// S is the full result, as everywhere in this room.  [NCCL 2.30.7, graph/tuning]

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "titer/collectives/collective.hpp"
#include "titer/collectives/group.hpp"
#include "titer/collectives/nccl/nccl_tables.hpp"

namespace titer {

class Reader;
class EvidenceList;
struct Value;

[[nodiscard]] std::string_view name_of(NcclAlgorithm algorithm);
[[nodiscard]] std::string_view name_of(NcclProtocol protocol);

/// The channels that the search has found: how many, and the bandwidth of one, one direction.
struct NcclGraph {
  int channels = 0;
  BytesPerSecond intra{};  // inside the node
  BytesPerSecond inter{};  // between nodes
};

/// The machine as NCCL sees it.
struct NcclSystem {
  NcclVersion version;
  GpuGeneration generation = GpuGeneration::ampere;
  CpuVendor cpu = CpuVendor::amd;
  NcclMedium medium = NcclMedium::nvlink;  // between the GPUs of a node
  int gpus_per_node = 1;
  BytesPerSecond node_bandwidth;   // of one GPU into its node's fabric, as NCCL counts it
  int nics = 1;                    // per node
  BytesPerSecond nic_bandwidth;    // of one
  Seconds nic_latency;             // NCCL itself takes 0 for InfiniBand and sockets
  bool nvls = false;               // the node's switch reduces
  bool collnet = false;            // the network's switches reduce
  bool ll128 = true;               // the path keeps the order of 128-byte stores
  std::optional<NcclGraph> rings;  // as NCCL's log prints them, instead of what is derived here
};

/// Reads a cluster's "library" object; "links" NVLinks of a GPU stand for a "node_bandwidth".
/// Its figures are noted below "library".
[[nodiscard]] NcclSystem read_nccl_system(Reader& in, EvidenceList& evidence);
[[nodiscard]] Value nccl_schema();

/// The channels of an algorithm for a group, derived when the system does not give them. On one
/// node twelve at the fastest listed speed that twelve fit in (8 A100: 12 x 20 GB/s, 8 H100:
/// 12 x 30); reduction in the switch has one per GPU. Between nodes one per NIC of the group, where
/// trees may use up to twice the NIC's speed inside the node.
[[nodiscard]] NcclGraph nccl_graph(NcclAlgorithm algorithm, Group group, const NcclSystem& system);

/// One pair of algorithm and protocol, with its time, or with the reason why NCCL does not use it.
struct NcclCandidate {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  int channels = 0;
  Seconds latency{};
  BytesPerSecond bandwidth{};   // S over the time beyond the latency
  std::string_view disabled{};  // empty: it is a candidate

  [[nodiscard]] Seconds time(Bytes size) const { return latency + size / bandwidth; }
};

/// What NCCL takes, and everything it could have taken.
struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  int channels = 0;  // of the graph; the library launches up to twice as many
  Seconds time;

  [[nodiscard]] std::span<const NcclCandidate> candidates() const { return {list.data(), count}; }

  std::array<NcclCandidate, kNcclAlgorithms * kNcclProtocols> list{};
  std::size_t count = 0;
};

/// REQUIRES two or more ranks, no more per node than the system has, a size of zero or more.
[[nodiscard]] NcclChoice choose(Collective collective,
                                Bytes size,
                                Group group,
                                const NcclSystem& system);

}  // namespace titer
