#include "titer/plan/place/device_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "titer/input/reader.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr int kMostDevices = 1 << 20;

int number_in(std::string_view text, const std::string& whole) {
  const auto number = number_of_text<int>(text);
  if (!number || *number < 0 || *number > kMostDevices) {
    throw InputError(
        fmt::format("ranks \"{}\": expected device numbers such as 0-7, 0,4,8 or 0-63:8", whole));
  }
  return *number;
}

void add_range(std::string_view part, const std::string& whole, std::vector<int>& devices) {
  int stride = 1;
  if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
    stride = number_in(part.substr(colon + 1), whole);
    part = part.substr(0, colon);
  }
  const std::size_t dash = part.find('-');
  const int first = number_in(part.substr(0, dash), whole);
  const int last = dash == std::string_view::npos ? first : number_in(part.substr(dash + 1), whole);
  if (last < first || stride < 1) {
    throw InputError(fmt::format(
        "ranks \"{}\": a range goes up, in steps of one or more, as in 0-7 or 0-63:8", whole));
  }
  for (int device = first; device <= last; device += stride) {
    devices.push_back(device);
  }
}

void check(const Cluster& cluster, const std::vector<int>& devices) {
  if (devices.empty()) {
    throw InputError("ranks: expected one device or more, such as 0-7");
  }
  const auto twice = std::ranges::adjacent_find(devices);
  if (twice != devices.end()) {
    throw InputError(fmt::format("ranks: device {} is listed twice", *twice));
  }
  const bool one_node = cluster.network_protocols.empty();
  const auto nodes = cluster.nodes ? cluster.nodes
                     : one_node    ? std::optional<std::int64_t>(1)
                                   : cluster.nodes_of_network();
  if (nodes && devices.back() >= *nodes * cluster.devices_per_node) {
    throw InputError(fmt::format("ranks: device {} is not in {}, whose devices are 0 to {}",
                                 devices.back(),
                                 cluster.name,
                                 *nodes * cluster.devices_per_node - 1));
  }
}

using Coordinates = std::vector<int>;  // along each axis

Coordinates coordinates(const Torus& torus, int device) {
  Coordinates at;
  at.reserve(torus.dimensions.size());
  for (const int length : torus.dimensions) {
    at.push_back(device % length);
    device /= length;
  }
  return at;
}

/// How far apart several places on an axis are, where they are neighbours or every k-th of a part
/// that divides it.
std::optional<int> spacing(const std::set<int>& places, int axis) {
  const auto length = static_cast<int>(places.size());
  const int reach = *places.rbegin() - *places.begin();
  const int apart = reach / (length - 1);
  const bool even = std::ranges::all_of(
      places, [&](int place) { return (place - *places.begin()) % apart == 0; });
  const bool fits = apart == 1 || axis % (apart * length) == 0;
  return even && reach == apart * (length - 1) && fits ? std::optional(apart) : std::nullopt;
}

DeviceGroup on_torus(const Cluster& cluster, std::vector<int> devices) {
  const auto shape = sub_torus(*cluster.torus(), devices);
  if (!shape) {
    std::string lengths;
    for (const int length : cluster.torus()->dimensions) {
      lengths += (lengths.empty() ? "" : " x ") + std::to_string(length);
    }
    throw InputError(fmt::format(
        "ranks: these {} devices are no sub-torus of {} ({}): expected a box of it, such as 0-{} "
        "(a line along the first axis) or all of it",
        devices.size(),
        cluster.name,
        lengths,
        cluster.torus()->dimensions.front() - 1));
  }
  DeviceGroup placed;
  placed.group = {.per_node = shape->ranks(), .nodes = 1, .torus = *shape};
  Wiring none;
  placed.fabric = cluster.fabric(devices, none);
  placed.devices = std::move(devices);
  return placed;
}

using DevicesOfNodes = std::map<int, std::vector<int>>;  // by node, numbered inside it

DevicesOfNodes by_node(const Cluster& cluster, std::vector<int> devices) {
  std::ranges::sort(devices);
  DevicesOfNodes on_node;
  for (const int device : devices) {
    on_node[device / cluster.devices_per_node].push_back(device % cluster.devices_per_node);
  }
  return on_node;
}

/// A group with as many ranks on every node; the slowest node holds up the others.
void place_evenly(const Cluster& cluster,
                  const DevicesOfNodes& on_node,
                  const GroupsOfNodes& at_once,
                  DeviceGroup& placed) {
  const std::size_t per_node = on_node.begin()->second.size();
  placed.group = {.per_node = static_cast<int>(per_node),
                  .nodes = static_cast<int>(on_node.size())};
  auto wiring = std::make_shared<Wiring>();
  std::optional<Fabric> slowest;
  // Equal devices of several nodes, beside equal groups, are as fast.
  std::set<std::pair<std::vector<int>, std::vector<std::vector<int>>>> seen;
  for (const auto& [node, local] : on_node) {
    const auto groups = at_once.find(node);
    const auto& beside = groups == at_once.end() ? std::vector<std::vector<int>>{} : groups->second;
    if (!seen.insert({local, beside}).second) {
      continue;
    }
    Wiring found;
    const Fabric fabric = cluster.fabric(local, found, beside);
    const bool slower =
        slowest && per_node > 1 && fabric.node.stream(1, 1_GB) > slowest->node.stream(1, 1_GB);
    if (!slowest || slower) {
      slowest = fabric;
      *wiring = std::move(found);
    }
  }
  placed.fabric = *slowest;
  if (on_node.size() == 1 && !(wiring->rings.empty() && wiring->trees.empty())) {
    placed.group.wiring = wiring.get();
  }
  placed.wiring = std::move(wiring);
}

}  // namespace

std::optional<TorusShape> sub_torus(const Torus& torus, const std::vector<int>& devices) {
  std::vector<std::set<int>> along(torus.dimensions.size());
  for (const int device : devices) {
    const Coordinates at = coordinates(torus, device);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      along[axis].insert(at[axis]);
    }
  }
  TorusShape shape;
  std::size_t volume = 1;
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    const auto length = static_cast<int>(along[axis].size());
    volume *= along[axis].size();
    if (length == 1) {
      continue;
    }
    const auto apart = spacing(along[axis], torus.dimensions[axis]);
    if (!apart || shape.axes == TorusShape::most_axes) {
      return std::nullopt;
    }
    const bool round = torus.wrap[axis] && length * *apart == torus.dimensions[axis];
    shape.length[shape.axes] = length;
    shape.wrap[shape.axes] = round;
    shape.hops[shape.axes] = *apart;
    // Of two devices half a ring apart, half of the bytes go each way round.
    shape.sharing[shape.axes] = round && length == 2 && *apart > 1 ? 0.5 : 1.0;
    ++shape.axes;
  }
  // As many distinct devices as the box of their coordinates has are all of it.
  return volume == devices.size() ? std::optional(shape) : std::nullopt;
}

GroupsOfNodes groups_of_nodes(const Cluster& cluster, std::span<const std::vector<int>> groups) {
  GroupsOfNodes on_node;
  for (const std::vector<int>& devices : groups) {
    for (auto& [node, local] : by_node(cluster, devices)) {
      on_node[node].push_back(std::move(local));
    }
  }
  return on_node;
}

DeviceGroup group_devices(const Cluster& cluster,
                          std::vector<int> devices,
                          const GroupsOfNodes& at_once) {
  std::ranges::sort(devices);
  check(cluster, devices);
  if (cluster.torus() != nullptr) {
    return on_torus(cluster, std::move(devices));
  }
  const DevicesOfNodes on_node = by_node(cluster, devices);
  const std::size_t per_node = on_node.begin()->second.size();
  const bool even = std::ranges::all_of(
      on_node, [&](const auto& node) { return node.second.size() == per_node; });
  DeviceGroup placed;
  placed.devices = std::move(devices);
  if (even) {
    place_evenly(cluster, on_node, at_once, placed);
  } else {
    const auto [fewest, most] =
        std::minmax_element(on_node.begin(), on_node.end(), [](const auto& a, const auto& b) {
          return a.second.size() < b.second.size();
        });
    send_through_network(cluster,
                         placed,
                         fmt::format("the nodes hold different numbers of ranks ({} to {})",
                                     fewest->second.size(),
                                     most->second.size()));
  }
  return placed;
}

void send_through_network(const Cluster& cluster, DeviceGroup& group, std::string_view why) {
  Wiring none;
  group.group = {.per_node = 1, .nodes = static_cast<int>(group.devices.size())};
  group.fabric = cluster.fabric(1, 1);
  group.remark = fmt::format("{}: every message is taken through the network", why);
}

std::vector<int> parse_devices(const std::string& text) {
  std::vector<int> devices;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    add_range(rest.substr(0, comma), text, devices);
    if (comma == std::string_view::npos) {
      return devices;
    }
    rest = rest.substr(comma + 1);
  }
}

}  // namespace titer
