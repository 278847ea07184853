#pragma once
// How each shipped network (configs/networks) follows from measured tables: which tables, how they
// are read, which rows are left out.

#include <algorithm>
#include <string>
#include <vector>

#include "titer/collectives/fit.hpp"
#include "titer/evidence/measured_collective.hpp"

namespace titer {

/// What is taken to cross the NICs of a node. Rings send 2 (n-1)/n S (all-reduce), trees and
/// hierarchies 2 (N-1)/N S; gathers (n-1)/n S and (N-1)/N S.
enum class Crossing { ring, tree };

struct MeasuredTable {
  std::string file;
  Crossing crossing = Crossing::ring;
  std::vector<double> left_out{};  // sizes of stalled or first calls
  Bytes from{};                    // smaller ones are left out too
};

struct NetworkFit {
  std::string name;
  BytesPerSecond nic;
  double nics_per_rank = 1.0;
  int ranks_per_node = 1;
  Seconds inside;  // what the library and the inside of a node take: not the network's
  std::vector<MeasuredTable> tables;
};

/// What a call of NCCL costs before any hop: the base latency of a ring with LL.
inline constexpr Seconds kLibraryBase = 6.6_us;

inline std::vector<NetworkFit> network_fits() {
  const MeasuredTable hdr_a{"allreduce_2n_ndv4_a100_rdma", Crossing::ring, {8, 524288}};
  const MeasuredTable hdr_b{"allreduce_2n_nda100v4_hdr8", Crossing::ring, {}};
  const MeasuredTable dgx1{"allreduce_2n_dgx1_v100_roce",
                           Crossing::ring,
                           {8, 64, 512, 4096, 32768, 262144, 2097152, 16777216}};
  return {
      {"tcp-sockets-25g", 25_Gbps, 1.0, 1, kLibraryBase, {{"allreduce_2rank_aws_tcp_socket"}}},
      {"efa-25g", 25_Gbps, 1.0, 1, kLibraryBase, {{"allreduce_2rank_aws_efa"}}},
      {"efa-4x100g",
       100_Gbps,
       0.5,
       8,
       22.6_us,
       {{"allreduce_2n_p4d_a100_40_efa", Crossing::tree},
        {"allreduce_2n_p4de_a100_efa", Crossing::tree}}},
      {"rocev2-400g",
       400_Gbps,
       1.0,
       1,
       kLibraryBase,
       {{"allreduce_2n1gpu_h200_gke_roce"}, {"allgather_2n1gpu_b200_gke_roce"}}},
      {"rocev2-2x100g", 100_Gbps, 0.25, 8, 48.5_us, {dgx1}},
      {"infiniband-hdr-8x200g", 200_Gbps, 1.0, 8, 22.6_us, {hdr_a, hdr_b}},
      {"gpudirect-tcpx-4x200g",
       200_Gbps,
       0.5,
       8,
       10.1_us,
       {{"allgather_2n_a3high_h100_tcpx", Crossing::ring, {}, 64_MiB}}},
  };
}

/// The table as messages of one rank through its share of the NICs, less the node's part.
inline std::vector<LinkSample> samples_of(const NetworkFit& fit,
                                          const MeasuredTable& table,
                                          const std::filesystem::path& folder) {
  const MeasuredCollective measured = load_collective_table(folder / (table.file + ".csv"));
  const int n = measured.ranks.value();
  const int nodes = n / fit.ranks_per_node;
  const double twice = *measured.collective == Collective::all_reduce ? 2.0 : 1.0;
  const double crossing = table.crossing == Crossing::ring ? bus_factor(*measured.collective, n)
                                                           : twice * (nodes - 1) / nodes;
  const int messages = static_cast<int>(twice) * (nodes - 1);
  std::vector<LinkSample> samples;
  for (const MeasuredSize& row : measured.sizes) {
    const bool left_out = std::find(table.left_out.begin(), table.left_out.end(), row.size.si()) !=
                          table.left_out.end();
    if (!left_out && row.size >= table.from) {
      samples.push_back({.size = crossing * row.size / (fit.ranks_per_node * messages),
                         .time = *row.time() - fit.inside,
                         .messages = messages});
    }
  }
  return samples;
}

inline std::vector<LinkSample> samples_of(const NetworkFit& fit,
                                          const std::filesystem::path& folder) {
  std::vector<LinkSample> all;
  for (const MeasuredTable& table : fit.tables) {
    const std::vector<LinkSample> samples = samples_of(fit, table, folder);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return all;
}

}  // namespace titer
