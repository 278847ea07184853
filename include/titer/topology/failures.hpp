#pragma once
// Links and switches of a network that do not work, or only in part.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// What has failed: named, or so many drawn at random. Numbers below 1 are shares of all there are.
struct Failures {
  double links = 0;                  // of those between switches (where there are none, devices)
  double ports = 0;                  // of those between a device and a switch
  double switches = 0;               // with all their links
  std::vector<std::string> named{};  // "spine 3", or "leaf 0 - spine 3": all links between them
  double left = 0;                   // of the bandwidth of each link that has failed
  std::uint64_t seed = 0;            // another one draws others

  [[nodiscard]] bool any() const {
    return links > 0 || ports > 0 || switches > 0 || !named.empty();
  }
  friend bool operator==(const Failures&, const Failures&) = default;
};

/// {"links": 10, "ports": 0.01, "switches": 1, "named": ["leaf 0 - spine 3"], "left": 0.5, "seed":
/// 7}, each key if need be.
[[nodiscard]] Failures read_failures(Reader& in);
[[nodiscard]] Value failures_schema();
/// "10 links and spine 3 (seed 7)"
[[nodiscard]] std::string failures_text(const Failures& failures);

/// Takes what has failed out of the topology, or leaves it with less bandwidth; a switch stays as a
/// vertex without links. Returns what is wrong: a name that no part has, more than there are, or
/// devices that are cut off from others that they reached before. A device without any link is none
/// of these: the other interfaces of its node go on.
[[nodiscard]] std::optional<std::string> put_out(const Failures& failures, Topology& topology);

}  // namespace titer
