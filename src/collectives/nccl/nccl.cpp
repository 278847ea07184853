#include "titer/collectives/nccl/nccl.hpp"

#include <algorithm>

#include "nccl_call.hpp"
#include "titer/collectives/algorithm/doubling.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, kNcclAlgorithms> kAlgorithmNames = {
    "ring", "tree", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat", "p2p"};
constexpr std::array<std::string_view, kNcclProtocols> kProtocolNames = {"ll", "ll128", "simple"};

/// Per channel: the node's figure for up to two nodes and where the network reduces.
BytesPerSecond channel_bandwidth(const NcclCall& call, const NcclGraph& graph, bool collnet) {
  return call.group.nodes <= 2 || collnet ? graph.intra : graph.inter;
}

BytesPerSecond ring_bus(const NcclCall& call, const NcclGraph& graph, NcclProtocol protocol) {
  const BytesPerSecond bus = graph.channels * channel_bandwidth(call, graph, false);
  const NcclSystem& system = call.system;
  switch (protocol) {
    case NcclProtocol::ll:
      return std::min(nccl_ll_cap(system.generation, system.cpu, call.group.nodes), 0.5 * bus);
    case NcclProtocol::ll128:
      return std::min(
          0.92 * bus,
          graph.channels * nccl_channel_caps(system.generation, call.group.nodes).ring_ll128);
    case NcclProtocol::simple:
      break;
  }
  return bus;
}

/// All-reduce only: up and down two balanced trees at once.
BytesPerSecond tree_bus(const NcclCall& call, const NcclGraph& graph, NcclProtocol protocol) {
  const NcclSystem& system = call.system;
  const int nodes = call.group.nodes;
  const NcclChannelCaps caps = nccl_channel_caps(system.generation, nodes);
  const BytesPerSecond bus =
      std::min(0.92 * (graph.channels * channel_bandwidth(call, graph, false)),
               graph.channels * caps.tree_simple);
  switch (protocol) {
    case NcclProtocol::ll:
      return std::min(bus / 3.8, nccl_ll_cap(system.generation, system.cpu, nodes));
    case NcclProtocol::ll128:
      return std::min((nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0) * bus,
                      graph.channels * caps.tree_ll128);
    case NcclProtocol::simple:
      break;
  }
  return bus;
}

BytesPerSecond nvls_bus(const NcclCall& call, const NcclGraph& graph, bool tree) {
  const double channels = graph.channels;
  const int nodes = call.group.nodes;
  const double g = call.group.per_node;
  const double share = (channels - 1.0) / channels * (call.is_all_reduce() ? 2.0 : (g - 1.0) / g);
  BytesPerSecond bus =
      channels * (nccl_nvls_efficiency(call.system.generation) * share * graph.intra);
  if (nodes > 1) {
    bus = std::min(bus, channels * (tree && nodes <= 2 ? 2.0 * graph.inter : graph.inter));
  }
  if (tree) {
    bus = std::min(bus, channels * nccl_channel_caps(call.system.generation, nodes).nvls_tree);
  }
  return bus;
}

BytesPerSecond collnet_direct_bus(const NcclCall& call, const NcclGraph& graph) {
  const double g = call.group.per_node;
  if (call.is_half()) {
    return g * std::min(graph.intra, 0.9 * graph.inter);
  }
  const double per_channel = g / graph.channels;
  const BytesPerSecond bus = graph.channels * graph.intra / (per_channel - (per_channel - 1) / 2);
  return call.newer_than_ampere() ? 0.85 * bus : bus;
}

/// Grouped sends: the peers of the node and those beyond are served at once.
BytesPerSecond grouped_bandwidth(const NcclCall& call, NcclProtocol protocol) {
  const Group group = call.group;
  const NcclSystem& system = call.system;
  const double parts = call.collective == Collective::send_recv ? 1.0 : group.ranks();
  const double near = group.nodes > 1 && call.collective == Collective::send_recv
                          ? 0.0
                          : static_cast<double>(group.per_node - 1);
  const double far = static_cast<double>(group.ranks() - group.per_node);
  const int nics = std::max(1, system.nics * group.per_node / system.gpus_per_node);
  const double seconds_per_byte =
      std::max(near / parts / system.node_bandwidth.si(),
               far / parts / (nics * system.nic_bandwidth.si() / group.per_node));
  const double efficiency = protocol == NcclProtocol::ll ? 0.5 : 1.0;
  return BytesPerSecond::from_si(efficiency / seconds_per_byte);
}

/// What S is divided by: bus bandwidth times S over the bytes that the bus sees.
BytesPerSecond bandwidth_of(const NcclCall& call,
                            const NcclCandidate& pair,
                            const NcclGraph& graph) {
  const double ring_ratio = static_cast<double>(call.n()) / call.steps();
  switch (pair.algorithm) {
    case NcclAlgorithm::ring:
      return ring_ratio * ring_bus(call, graph, pair.protocol);
    case NcclAlgorithm::tree:
      return nccl_tree_correction(pair.protocol, call.size) * 0.5 *
             tree_bus(call, graph, pair.protocol);
    case NcclAlgorithm::collnet_direct:
      return (call.is_half() ? 1.0 : 0.5) * collnet_direct_bus(call, graph);
    case NcclAlgorithm::collnet_chain:
      return 0.5 * graph.channels * channel_bandwidth(call, graph, true);
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return (call.is_half() ? 1.0 : ring_ratio) *
             nvls_bus(call, graph, pair.algorithm == NcclAlgorithm::nvls_tree);
    case NcclAlgorithm::pat:
      return 0.75 * graph.channels * channel_bandwidth(call, graph, false);
    case NcclAlgorithm::p2p:
      break;
  }
  return grouped_bandwidth(call, pair.protocol);
}

/// Steps inside the node and between nodes; no step is cheaper than the proxy's work for it.
Seconds ring_latency(const NcclCall& call, NcclProtocol protocol, Seconds inter, int channels) {
  const NcclSystem& system = call.system;
  const Seconds base = nccl_base_latency(NcclAlgorithm::ring, protocol, system.version);
  const auto hop = [&](NcclMedium medium) {
    return nccl_hop_latency(medium, NcclAlgorithm::ring, protocol, system.version);
  };
  if (!call.is_all_reduce() && !call.is_half()) {
    return base + hop(call.widest());  // pipelined: one hop shows
  }
  const int nodes = call.group.nodes;
  Seconds intra = hop(system.medium);
  if (nodes > 1) {
    const Seconds overhead = system.cpu == CpuVendor::amd ? 2_us : 1_us;
    intra = std::max(intra, (protocol == NcclProtocol::simple ? 3.0 : 1.0) * overhead);
  }
  const int between = nodes == 1 ? 0 : (call.is_all_reduce() ? 2 : 1) * (nodes - 1);
  const Seconds sum = base + (call.steps() - between) * intra + between * inter;
  const bool plateau = protocol == NcclProtocol::simple && nodes > 1 && call.is_all_reduce() &&
                       call.size / (channels * call.n()) >= 64_B;
  const double stretch = !plateau ? 1.0 : system.generation == GpuGeneration::volta ? 1.9 : 1.4;
  return stretch * sum;
}

Seconds latency_of(const NcclCall& call, const NcclCandidate& pair) {
  const NcclSystem& system = call.system;
  const int others = call.group.per_node - 1;
  const int levels = log2_below(call.group.nodes);
  const auto hop = [&](NcclMedium medium, NcclAlgorithm algorithm) {
    return nccl_hop_latency(medium, algorithm, pair.protocol, system.version);
  };
  const Seconds base = nccl_base_latency(pair.algorithm, pair.protocol, system.version);
  const Seconds intra = hop(system.medium, pair.algorithm);
  // One GPU per node hides nothing: the tree's network latency. Simple also flushes over the NIC.
  const Seconds inter =
      hop(NcclMedium::network, others == 0 ? NcclAlgorithm::tree : pair.algorithm) +
      (pair.protocol == NcclProtocol::simple ? 2.0 : 1.0) * system.nic_latency;
  switch (pair.algorithm) {
    case NcclAlgorithm::ring:
      return ring_latency(call, pair.protocol, inter, pair.channels);
    case NcclAlgorithm::tree:
      return base + 2.0 * (others * intra + levels * inter);
    case NcclAlgorithm::collnet_direct:
      return base + 2.0 * (std::min(1, others) * intra + others * 0.4_us) + inter;
    case NcclAlgorithm::collnet_chain:
      return base + 2.0 * others * intra + inter;
    case NcclAlgorithm::nvls:
      return call.group.nodes > 1 ? intra + inter : intra;
    case NcclAlgorithm::nvls_tree:
      return base + intra + 2.0 * levels * inter;
    case NcclAlgorithm::pat:
      return base + levels * (inter / 3.5) + call.n() * 2.8_us;
    case NcclAlgorithm::p2p:
      break;
  }
  constexpr int at_once = 8;  // peers in one batch of the device's work
  const int batches = (call.n() - 1 + at_once - 1) / at_once;
  return base + batches * hop(call.widest(), NcclAlgorithm::p2p);
}

NcclCandidate consider(const NcclCall& call, NcclAlgorithm algorithm, NcclProtocol protocol) {
  NcclCandidate pair{.algorithm = algorithm, .protocol = protocol};
  pair.disabled = why_not_nccl(call, algorithm, protocol);
  if (!pair.disabled.empty()) {
    return pair;
  }
  const NcclGraph graph = nccl_graph(algorithm, call.group, call.system);
  pair.channels = graph.channels;
  pair.latency = latency_of(call, pair);
  pair.bandwidth = bandwidth_of(call, pair, graph);
  if (!(pair.bandwidth > BytesPerSecond{})) {
    pair.disabled = "no bandwidth left for it";
  }
  return pair;
}

}  // namespace

std::string_view name_of(NcclAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}
std::string_view name_of(NcclProtocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol)];
}
NcclChoice choose(Collective collective, Bytes size, Group group, const NcclSystem& system) {
  ensure(group.per_node >= 1 && group.nodes >= 1 && group.ranks() >= 2,
         "a library is asked about two or more ranks");
  ensure(group.per_node <= system.gpus_per_node, "a group has no more ranks on a node than GPUs");
  ensure(size >= Bytes{}, "a collective has a size of zero or more");
  const NcclCall call{collective, size, group, system};
  NcclChoice choice;
  bool found = false;
  for (std::size_t i = 0; i < choice.list.size(); ++i) {
    const auto algorithm = static_cast<NcclAlgorithm>(i / kNcclProtocols);
    const auto protocol = static_cast<NcclProtocol>(i % kNcclProtocols);
    const NcclCandidate& pair = choice.list[choice.count++] = consider(call, algorithm, protocol);
    if (pair.disabled.empty() && (!found || pair.time(size) < choice.time)) {
      found = true;
      choice.algorithm = algorithm;
      choice.protocol = protocol;
      choice.channels = pair.channels;
      choice.time = pair.time(size);
    }
  }
  ensure(found, "a ring with Simple is always a candidate");
  return choice;
}

}  // namespace titer
