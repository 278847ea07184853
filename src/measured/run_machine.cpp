// The machine of a measured run: which shipped cluster, with which network.

#include "titer/measured/run_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "measured/cells/cell_nics.hpp"
#include "titer/input/file.hpp"
#include "titer/input/words.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace {

constexpr std::int64_t kLargestServer = 16;  // devices on the switches of one host
constexpr std::int64_t kRack = 72;           // devices that the switches of an NVL72 join
constexpr std::int64_t kTray = 4;            // devices of one host in it

/// How many of a rack's devices a run on several racks used: as many of each of the fewest racks on
/// which no group of ranks that talk inside a rack is cut, which takes 64 of 72 where groups are
/// powers of two; whole racks where they are cut in any case.
std::int64_t used_of_rack(const RunRow& row, std::int64_t chips) {
  constexpr std::int64_t nearly_whole = 64;
  const std::int64_t group =
      std::max(row.whole("t", 1) * row.whole("cp", 1), row.whole("ep", 1) * row.whole("etp", 1));
  const std::int64_t fewest = (chips + kRack - 1) / kRack;
  std::optional<std::int64_t> even;
  for (std::int64_t racks = fewest; racks <= 2 * fewest; ++racks) {
    const std::int64_t used = chips / racks;
    if (chips % racks != 0 || used % kTray != 0) {
      continue;
    }
    even = even.value_or(used);
    if (used >= nearly_whole && used % std::max<std::int64_t>(group, 1) == 0) {
      return used;
    }
  }
  return even.value_or(kRack);
}

/// Devices of what a row of a rack calls a node.
std::int64_t stated_node(const RunRow& row) {
  return std::max<std::int64_t>(row.whole("chips_per_node", kTray), 1);
}

/// Devices of a rack that a run used. A row may count its trays as nodes, or say how many.
std::int64_t domain_of(const RunRow& row, std::int64_t chips) {
  const std::int64_t stated = stated_node(row);
  const bool is_rack = stated > 2 * kTray && stated <= kRack;
  if (is_rack) {
    return stated;
  }
  return chips <= kRack ? kRack : used_of_rack(row, chips);
}

void put(std::string path, Value value, RunMachine& machine) {
  machine.changes.push_back({std::move(path), std::move(value), "run"});
}

/// What the row says of the links between its nodes, or else the habits; a rack, of `devices` that
/// are used, has those of all that the row calls nodes.
void put_network(const RunRow& row,
                 const RunHabits& habits,
                 std::int64_t devices,
                 bool is_rack,
                 RunMachine& machine) {
  const std::int64_t of_node = is_rack ? std::min(stated_node(row), devices) : devices;
  auto nics = cell_nics(row.text("inter_link"), of_node);
  if (!nics) {
    nics = cell_nics(habits.network, of_node);
  }
  if (!habits.transport.empty()) {
    put("cluster.network", Value(habits.transport), machine);
  }
  machine.network_known = nics.has_value();
  if (nics) {
    put("cluster.node.nics", Value(nics->count * devices / of_node), machine);
    put("cluster.node.nic_bandwidth", Value(fmt::format("{} Gbps", nics->gbps)), machine);
  }
}

/// The chip that a shipped one starts from; "" where there is none, or no such chip.
std::string base_of(const std::string& chip) {
  if (!is_shipped(kChipData, chip)) {
    return "";
  }
  const Document document = load_json(data_file(kChipData, chip));
  const Value* base = document.root.find("base");
  return base == nullptr ? "" : base->text;
}

}  // namespace

RunMachine switched_node(const std::string& name, const Cluster& cluster, std::int64_t chips) {
  RunMachine machine{.cluster = name};
  put("cluster.node.fabric.devices", Value(chips), machine);
  const std::int64_t nics = chips * cluster.nics / cluster.devices_per_node;
  put("cluster.node.nics", Value(std::max<std::int64_t>(nics, 1)), machine);
  if (cluster.host_memory) {
    const double share = static_cast<double>(chips) / cluster.devices_per_node;
    const HostTier& host = *cluster.host_memory;
    put("cluster.node.host_memory.capacity",
        Value(fmt::format("{} B", share * host.capacity.si())),
        machine);
    put("cluster.node.host_memory.bandwidth",
        Value(fmt::format("{} B/s", share * host.bandwidth.si())),
        machine);
  }
  return machine;
}

const std::vector<RunMachines::Shipped>& RunMachines::of_chip(const std::string& chip) {
  if (chips_.empty()) {
    for (const std::string& name : shipped_names(kClusterData)) {
      const Document document = load_data(kClusterData, name);
      chips_.emplace_back(name, document.at("chip")->text);
    }
  }
  const auto known = shipped_.find(chip);
  if (known != shipped_.end()) {
    return known->second;
  }
  std::vector<Shipped>& of = shipped_[chip];
  for (const auto& [name, its_chip] : chips_) {
    if (its_chip == chip) {
      of.push_back({.name = name, .cluster = load_cluster(Value(name))});
    }
  }
  return of;
}

const RunMachines::Shipped* RunMachines::node_of(const std::string& chip, std::int64_t devices) {
  const std::vector<Shipped>& all = of_chip(chip);
  const auto fits = std::ranges::find(all, devices, &Shipped::devices);
  if (fits != all.end()) {
    return &*fits;
  }
  for (const auto& [name, part] : chips_) {
    if (part.starts_with(chip + "-")) {
      const auto& of_parts = of_chip(part);
      const auto as_parts = std::ranges::find(of_parts, devices, &Shipped::devices);
      if (as_parts != of_parts.end()) {
        return &*as_parts;
      }
    }
  }
  const auto largest = std::ranges::max_element(all, {}, &Shipped::devices);
  return largest == all.end() ? nullptr : &*largest;
}

const RunMachines::Shipped* RunMachines::resizable(const std::string& chip, std::int64_t devices) {
  const std::vector<Shipped>& all = of_chip(chip);
  const auto takes_any = [](const Shipped& one) {
    const NodeTopology& node = one.cluster.topology;
    return node.as<SwitchedNode>() != nullptr || node.as<PcieTree>() != nullptr;
  };
  if (devices == 1) {  // another chip's node does, too: nothing goes over its switch
    const auto any = std::ranges::find_if(all, takes_any);
    return any != all.end() ? &*any : &of_chip("h100-sxm5-80gb").front();
  }
  const auto largest = std::ranges::max_element(all, {}, &Shipped::devices);
  return largest != all.end() && takes_any(*largest) && devices <= kLargestServer ? &*largest
                                                                                  : nullptr;
}

bool RunMachines::resize(const std::string& chip, std::int64_t devices, RunMachine& machine) {
  const Shipped* like = devices < 1 ? nullptr : resizable(chip, devices);
  if (like == nullptr) {
    return false;
  }
  const bool names_chip = !machine.changes.empty();
  const RunMachine resized = switched_node(like->name, like->cluster, devices);
  machine.cluster = resized.cluster;
  machine.changes.insert(machine.changes.begin(), resized.changes.begin(), resized.changes.end());
  if (!names_chip && like->cluster.chip.name != chip) {
    put("cluster.chip", Value(chip), machine);
  }
  if (const auto& own = of_chip(chip); like->cluster.chip.name != chip && !own.empty()) {
    // What joins nodes is of its own servers.
    const Cluster& server = own.front().cluster;
    const std::int64_t nics = devices * server.nics / server.devices_per_node;
    put("cluster.node.nics", Value(std::max<std::int64_t>(nics, 1)), machine);
    put("cluster.node.nic_bandwidth",
        Value(fmt::format("{} B/s", server.nic_bandwidth.si())),
        machine);
  }
  return true;
}

std::vector<RunMachine> RunMachines::of(const RunRow& row, const RunHabits& habits) {
  if (!habits.cluster.empty()) {
    return {{.cluster = habits.cluster}};
  }
  const std::int64_t devices = row.whole("chips_per_node", 8);
  const std::string unknown =
      fmt::format("no cluster of {} devices of {} is known", devices, row.text("hw_key"));
  const std::string chip = habits.chip.empty() ? row.text("hw_key") : habits.chip;
  // A part that no shipped cluster has is in the nodes of the one that it starts from.
  const bool is_other = of_chip(chip).empty();
  std::string of_node = chip;
  while (!of_node.empty() && of_chip(of_node).empty()) {
    of_node = base_of(of_node);
  }
  const Shipped* node = node_of(of_node, devices);
  if (node == nullptr) {
    throw InputError(unknown);
  }
  if (node->cluster.torus() != nullptr) {
    return of_torus(row, chip);
  }
  RunMachine machine{.cluster = node->name};
  if (is_other) {
    put("cluster.chip", Value(chip), machine);
  }
  const bool is_rack = node->devices() == kRack;
  const std::int64_t domain = is_rack ? domain_of(row, row.chips()) : devices;
  if (is_rack) {
    put("cluster.node.fabric.devices", Value(domain), machine);
  } else if (node->devices() != devices &&
             row.chips() > std::min<std::int64_t>(devices, node->devices())) {
    if (!resize(of_node, devices, machine)) {
      throw InputError(unknown);
    }
  }
  if (row.chips() > domain && !node->cluster.device_nics) {
    put_network(row, habits, domain, is_rack, machine);
  }
  return {machine};
}

}  // namespace titer
