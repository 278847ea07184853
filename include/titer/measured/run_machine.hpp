#pragma once
// The machine of a measured run.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "titer/measured/run_families.hpp"
#include "titer/measured/run_row.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// A shipped cluster, or a file, and what of it is put in its place.
struct RunMachine {
  std::string cluster;
  std::vector<Assignment> changes{};
  bool network_known = true;  // false: the row does not say what joins its nodes
};

/// The node of the cluster with so many chips on its switch, of a slice or of a server.
[[nodiscard]] RunMachine switched_node(const std::string& name,
                                       const Cluster& cluster,
                                       std::int64_t chips);

/// Chips of a slice, where the row counts slices or says how large they are.
[[nodiscard]] std::optional<std::int64_t> noted_slice(const RunRow& row);

/// Finds machines among the shipped clusters, each of which is read once.
class RunMachines {
 public:
  /// The cluster that the habits name; else by their chip or the row's, the devices of a node and
  /// the row's words for the links, or theirs where it has none. Servers of a number of devices
  /// that no shipped one has are those on a switch, with so many. Of a slice of a torus there may
  /// be two, to be tried in turn: the pod, and, for plans that do not lie on a torus, a node whose
  /// chips a switch joins. Throws InputError with the reason where there is none.
  [[nodiscard]] std::vector<RunMachine> of(const RunRow& row, const RunHabits& habits);

 private:
  struct Shipped {
    std::string name;
    Cluster cluster;

    [[nodiscard]] int devices() const { return cluster.devices_per_node; }
  };
  [[nodiscard]] const std::vector<Shipped>& of_chip(const std::string& chip);
  /// With so many devices, or with so many parts of the chip that software counts as devices
  /// ("mi250x-gcd"); else the largest; nullptr where no cluster has the chip.
  [[nodiscard]] const Shipped* node_of(const std::string& chip, std::int64_t devices);
  /// The largest node, if a switch joins it, or of one device any chip's; nullptr where there is
  /// none.
  [[nodiscard]] const Shipped* resizable(const std::string& chip, std::int64_t devices);
  /// Makes its node one of so many; false where there is none to make it of.
  [[nodiscard]] bool resize(const std::string& chip, std::int64_t devices, RunMachine& machine);
  /// Chips of a slice of a torus: as the row says, all of one, or, where its nodes are hosts, the
  /// largest that is handed out of which there are a whole number.
  [[nodiscard]] std::int64_t slice_of(const RunRow& row, const std::string& chip);
  [[nodiscard]] std::vector<RunMachine> of_torus(const RunRow& row, const std::string& chip);

  std::vector<std::pair<std::string, std::string>> chips_;  // of shipped clusters, by name
  std::map<std::string, std::vector<Shipped>> shipped_;     // by chip
};

}  // namespace titer
