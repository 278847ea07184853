// Which pairs of algorithm and protocol NCCL has switched on.

#include "nccl_call.hpp"

namespace titer {
namespace {

std::string_view why_not_function(const NcclCall& call, NcclAlgorithm algorithm) {
  if (call.is_grouped() != (algorithm == NcclAlgorithm::p2p)) {
    return call.is_grouped() ? "made of sends and receives" : "only for all-to-all and send-recv";
  }
  const bool only_all_reduce = algorithm == NcclAlgorithm::tree ||
                               algorithm == NcclAlgorithm::collnet_chain ||
                               algorithm == NcclAlgorithm::nvls_tree;
  if (only_all_reduce && !call.is_all_reduce()) {
    return "only for all-reduce";
  }
  if (algorithm == NcclAlgorithm::pat && !call.is_half()) {
    return "only for all-gather and reduce-scatter";
  }
  const bool rooted =
      call.collective == Collective::broadcast || call.collective == Collective::reduce;
  return rooted && algorithm != NcclAlgorithm::ring ? "broadcast and reduce are rings"
                                                    : std::string_view{};
}

std::string_view why_not_nvls(const NcclCall& call, NcclAlgorithm algorithm) {
  const int first = algorithm == NcclAlgorithm::nvls ? 17 : 18;
  if (!call.system.nvls || nccl_nvls_efficiency(call.system.generation) == 0.0) {
    return "the node's switch does not reduce";
  }
  if (call.system.version.minor < first) {
    return "came with a later release";
  }
  if (call.group.per_node < 2) {
    return "one GPU per node";
  }
  if (algorithm == NcclAlgorithm::nvls_tree) {
    return call.group.nodes == 1 ? "one node" : std::string_view{};
  }
  return call.group.nodes > 1 && !call.system.collnet ? "the network does not reduce"
                                                      : std::string_view{};
}

std::string_view why_not_machine(const NcclCall& call, NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return why_not_nvls(call, algorithm);
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      return call.group.nodes == 1  ? "one node"
             : !call.system.collnet ? "the network does not reduce"
                                    : std::string_view{};
    case NcclAlgorithm::pat:
      return call.group.per_node > 1          ? "more than one GPU per node"
             : call.system.version.minor < 23 ? "came with a later release"
                                              : std::string_view{};
    default:
      return {};
  }
}

std::string_view why_not_protocol(const NcclCall& call,
                                  NcclAlgorithm algorithm,
                                  NcclProtocol protocol) {
  if (protocol == NcclProtocol::simple) {
    return {};
  }
  const bool any = algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::tree;
  const bool grouped_ll = algorithm == NcclAlgorithm::p2p && protocol == NcclProtocol::ll;
  if (!any && !grouped_ll) {
    return "the algorithm has no such protocol";
  }
  if (protocol == NcclProtocol::ll128) {
    if (!call.system.ll128) {
      return "the path does not keep the order of its stores";
    }
    if (call.system.medium != NcclMedium::nvlink) {
      return "needs NVLink inside the node";
    }
  }
  return {};
}

}  // namespace

std::string_view why_not_nccl(const NcclCall& call,
                              NcclAlgorithm algorithm,
                              NcclProtocol protocol) {
  std::string_view reason = why_not_function(call, algorithm);
  reason = reason.empty() ? why_not_machine(call, algorithm) : reason;
  return reason.empty() ? why_not_protocol(call, algorithm, protocol) : reason;
}

}  // namespace titer
