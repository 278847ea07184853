#pragma once
// What a collective takes on a cluster: by closed form, bound by the busiest link of the wiring, or
// as flows that share it.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/collectives/catalogue.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/plan/place/device_group.hpp"

namespace titer {

enum class NetworkFidelity { closed, busiest, flow };
inline constexpr std::array<Choice<NetworkFidelity>, 3> kNetworkFidelities = {
    {{"closed", NetworkFidelity::closed},
     {"busiest", NetworkFidelity::busiest},
     {"flow", NetworkFidelity::flow}}};

/// One collective, on several groups of devices at once where more than one is given.
struct CollectiveQuery {
  Collective collective = Collective::all_reduce;
  Bytes size;             // the full result, see algorithms.hpp
  std::string algorithm;  // its name; empty: the one that the cluster names, else the fastest, at
                          // the fidelity, of those that libraries run
  NetworkFidelity fidelity = NetworkFidelity::closed;
};

/// An algorithm of the collective: what it would take by its closed form, or what it is missing.
struct Candidate {
  const AlgorithmEntry* algorithm = nullptr;
  std::optional<Seconds> time;
};

/// The protocol in use on each tier of a fabric; empty where the tier is not there.
struct ProtocolChoice {
  std::string node;
  std::string network;
};

struct CollectiveAnswer {
  const AlgorithmEntry* algorithm = nullptr;  // null for one rank: nothing is sent
  Seconds time;                               // at the fidelity asked for
  Seconds closed_time;
  ProtocolChoice protocols;
  Grade grade = Grade::fitted;         // of the figures of these
  std::optional<Execution> execution;  // of the graph, unless closed
  std::string busiest;                 // the link's ends, "device 0 to nic 0"
  std::vector<Candidate> candidates;
  std::optional<TimedAlgorithm> by_closed_form;  // what that would take, and its time at the
                                                 // fidelity asked for, where it is another
  bool named = false;                            // by the cluster
  std::string remark;                            // of an algorithm that is named in vain
};

/// The messages of a collective on the vertices of its cluster's graph (Cluster::graph).
struct CollectiveTraffic {
  Seconds time;  // by the closed form, of the slowest group
  std::vector<Demand> demands;
  double node_efficiency = 1;  // of the protocols that it takes
  double network_efficiency = 1;
};

/// Answers queries about the same groups of one cluster; keeps the wiring and its routes.
class CollectiveDesk {
 public:
  /// Throws InputError (see group_devices), also where the groups differ in shape or share a
  /// device. `servers`: parameter servers beside the ranks of each group, on further nodes.
  CollectiveDesk(const Cluster& cluster, std::span<const std::vector<int>> groups, int servers = 0);
  /// The groups among the devices of so many nodes, all of which are in the graph.
  [[nodiscard]] static CollectiveDesk of_nodes(const Cluster& cluster,
                                               std::span<const std::vector<int>> groups,
                                               int nodes,
                                               const NamedAlgorithms& named);
  /// Groups on a torus, each of this shape: with what they share of the wires with others that run
  /// at the same time, which the devices alone do not say.
  [[nodiscard]] static CollectiveDesk of_shape(const Cluster& cluster,
                                               std::span<const std::vector<int>> groups,
                                               const TorusShape& shape,
                                               const NamedAlgorithms& named);

  /// Throws InputError when the algorithm is not one of the collective's, or cannot run on the
  /// group; then it names those that can.
  [[nodiscard]] CollectiveAnswer answer(const CollectiveQuery& query);

  /// The algorithms that a library may take on all the groups, the fastest by its closed form
  /// first.
  [[nodiscard]] std::vector<TimedAlgorithm> contenders(Collective collective, Bytes size) const;
  /// What an algorithm sends, on all groups at once. REQUIRES groups of two ranks or more, to which
  /// it applies.
  [[nodiscard]] CollectiveTraffic traffic(Collective collective,
                                          Bytes size,
                                          const AlgorithmEntry& algorithm) const;

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const DeviceGroup& group() const { return groups_.front(); }
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  /// The bandwidths that nccl-tests would print for a time: bytes per second of the full result,
  /// and those of a rank's port.
  [[nodiscard]] BytesPerSecond bus_bandwidth(Collective collective, Bytes size, Seconds time) const;

 private:
  /// Of the fabric of each tier, or of its switches that add.
  struct Protocols {
    const std::vector<Protocol>* of_node = nullptr;
    const std::vector<Protocol>* of_network = nullptr;
    std::size_t node = 0;
    std::size_t network = 0;
    bool exchanges_on_wires = false;  // of a torus

    [[nodiscard]] double node_efficiency() const;
    [[nodiscard]] double network_efficiency() const;
  };

  void add_servers();
  [[nodiscard]] std::vector<Candidate> candidates(const CollectiveQuery& query) const;
  [[nodiscard]] const AlgorithmEntry& asked_for(const CollectiveQuery& query,
                                                const std::vector<Candidate>& candidates) const;
  [[nodiscard]] CollectiveAnswer answer_by(const AlgorithmEntry& algorithm,
                                           const CollectiveQuery& query);
  /// By the fastest at the fidelity asked for.
  [[nodiscard]] CollectiveAnswer fastest_answer(const CollectiveQuery& query);
  [[nodiscard]] Protocols best_protocols(const AlgorithmEntry& algorithm, Bytes size) const;
  [[nodiscard]] Execution execute(const CollectiveQuery& query,
                                  const AlgorithmEntry& algorithm,
                                  const Protocols& protocols);
  /// Of the slowest group.
  [[nodiscard]] Seconds closed_time(const AlgorithmEntry& algorithm, Bytes size) const;
  /// The steps of every group; `steps` holds what they point to.
  [[nodiscard]] std::vector<PlacedSteps> place_all(const CollectiveQuery& query,
                                                   const AlgorithmEntry& algorithm,
                                                   const Protocols& protocols,
                                                   std::vector<Steps>& steps) const;
  [[nodiscard]] PlacedSteps place(const Steps& steps, const DeviceGroup& group) const;
  Router& router(const Protocols& protocols);

  const Cluster& cluster_;
  std::vector<DeviceGroup> groups_;
  int servers_ = 0;
  int nodes_ = 1;
  struct KeptRouter {
    double node_efficiency = 1.0;
    double network_efficiency = 1.0;
    Router router;
  };
  std::vector<KeptRouter> routers_;
};

}  // namespace titer
