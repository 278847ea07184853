#pragma once
// Families as a user writes them, and the complaints about those that are wrong.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "titer/topology/families.hpp"

namespace titer::testing {

inline NamedTopology read_topology_text(const std::string& text) {
  const Document document = parse_json(text, "topology.json");
  Problems problems;
  Reader reader(document, problems);
  NamedTopology topology = read_topology(reader);
  problems.raise();
  return topology;
}

inline NodeTopology family_of(const std::string& text) { return read_topology_text(text).family; }

inline Topology graph_of(const std::string& text) { return build(read_topology_text(text)); }

/// The lines of the refusal; none when the text is read.
inline std::vector<std::string> complaints(const std::string& text) {
  try {
    static_cast<void>(read_topology_text(text));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

/// One complaint with all of the parts.
inline void expect_complaint(const std::string& text, const std::vector<std::string>& parts) {
  const std::vector<std::string> lines = complaints(text);
  ASSERT_EQ(lines.size(), 1U) << text;
  for (const std::string& part : parts) {
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0] << "\nlacks: " << part;
  }
}

/// Families of every kind that are small enough to search their graphs.
inline const std::vector<std::string>& small_families() {
  static const std::vector<std::string> texts = {
      R"({"family": "switch", "devices": 8, "planes": 4, "reduces": true, "bandwidth": "450 GB/s"})",
      R"({"family": "fully-connected", "devices": 5, "bandwidth": "1 GB/s"})",
      R"({"family": "ring", "devices": 6, "bandwidth": "1 GB/s"})",
      R"({"family": "edges", "devices": 2, "switches": ["pcie"], "bandwidth": "1 GB/s",
          "edges": [[0, 2, 1], [1, 2, 1, "2 GB/s"]]})",
      R"({"family": "torus", "dimensions": [4, 3, 2], "wrap": true, "bandwidth": "1 GB/s"})",
      R"({"family": "torus", "dimensions": [3, 5], "wrap": [true, false], "bandwidth": "1 GB/s"})",
      R"({"family": "fat-tree", "down": [3, 4], "up": [1, 2], "parallel": [1, 2],
          "bandwidth": "1 GB/s"})",
      R"({"family": "fat-tree", "down": [2, 2, 2], "oversubscription": [1, 2], "planes": 2,
          "bandwidth": ["2 GB/s", "1 GB/s", "1 GB/s"]})",
      R"({"family": "rails", "nodes": 6, "rails": 2, "nodes_per_group": 3, "spines": 2,
          "oversubscription": 1.5, "bandwidth": "1 GB/s"})",
      R"({"family": "dragonfly", "groups": 5, "routers_per_group": 2, "devices_per_router": 2,
          "global_links": 2, "device_bandwidth": "1 GB/s", "local_bandwidth": "2 GB/s",
          "global_bandwidth": "3 GB/s"})",
      R"({"family": "pcie-tree", "devices": 8, "devices_per_switch": 2, "switches_per_socket": 2,
          "device_bandwidth": "16 GB/s", "uplink_bandwidth": "16 GB/s",
          "socket_bandwidth": "20 GB/s", "half_duplex": true, "nics_per_switch": 1,
          "nic_bandwidth": "12 GB/s"})",
      R"({"family": "nodes", "nodes": 2, "nics": 2, "nic_bandwidth": "25 GB/s",
          "node": {"family": "ring", "devices": 4, "bandwidth": "50 GB/s"},
          "network": {"family": "rails", "nodes": 2, "rails": 2, "spines": 1,
                      "oversubscription": 1, "bandwidth": "25 GB/s"}})"};
  return texts;
}

}  // namespace titer::testing
