// The machine of a measured run: which shipped cluster, with which network.

#include "titer/measured/run_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "titer/input/file.hpp"
#include "titer/input/words.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace {

/// NICs of a node and the rate of one.
struct Nics {
  std::int64_t count = 0;
  std::int64_t gbps = 0;
};

/// Of one NIC, in Gbps: "NDR400", "HDR", "200 Gb/s", "400G", or the number that a text begins with.
/// Numbers of generations, as in "ConnectX-7" and "Slingshot-11", are none.
std::optional<std::int64_t> rate_in(const std::string& text) {
  static const std::map<std::string, std::int64_t> generations = {
      {"xdr", 800}, {"ndr", 400}, {"hdr", 200}, {"edr", 100}, {"fdr", 56}};
  static const std::regex stated(
      R"(\b(xdr|ndr|hdr|edr|fdr)[ -]?(\d{2,3})?|^(\d{1,4})|\b(\d{1,4}) ?(?:gb|g\b))");
  std::smatch match;
  if (!std::regex_search(text, match, stated)) {
    return std::nullopt;
  }
  for (const std::size_t group : {2U, 3U, 4U}) {
    if (match[group].matched) {
      return std::stoll(match[group]);
    }
  }
  return generations.at(match[1]);
}

/// "8x NDR400 IB per node", "4x100 Gb/s RoCE per node", "8x2x100 Gb/s".
std::optional<Nics> counted_nics(const std::string& text) {
  static const std::regex counted(R"((?:^|[ (:;,])(\d{1,3}) ?x ?(?:(\d)x)?(.*))");
  std::smatch match;
  if (!std::regex_search(text, match, counted)) {
    return std::nullopt;
  }
  const auto rate = rate_in(match[3]);
  const std::int64_t ports = match[2].matched ? std::stoll(match[2]) : 1;
  const std::int64_t count = std::stoll(match[1]) * ports;
  return rate && *rate > 0 && count > 0 ? std::optional(Nics{.count = count, .gbps = *rate})
                                        : std::nullopt;
}

/// "1600 Gb/s per node RoCE", "NVL72 racks; 400 Gb/s per GPU scale-out", "3.2 Tbps", which no NIC
/// alone has, "10 Gbps Ethernet", of which no node has several.
std::optional<Nics> summed_nics(const std::string& text, std::int64_t devices) {
  constexpr double of_one_node = 1000;  // Gbps
  constexpr double of_one_nic = 50;
  constexpr double least = 25;  // of a NIC for each device
  static const std::regex rated(
      R"((?:^|[ (:;,])(\d{1,6}(?:\.\d+)?) ?([GT])(b/s|bps|bit/s|B/s)(?:[^;]* per (node|VM|host|instance|server|GPU))?)");
  std::smatch match;
  if (!std::regex_search(text, match, rated)) {
    return std::nullopt;
  }
  const double unit = (match[2] == "T" ? 1000.0 : 1.0) * (match[3] == "B/s" ? 8.0 : 1.0);
  const double rate = unit * std::stod(match[1]);
  if (match[4] == "GPU") {
    return Nics{.count = devices, .gbps = std::llround(rate)};
  }
  if (rate < 1 || (!match[4].matched && rate > of_one_nic && rate < of_one_node)) {
    return std::nullopt;
  }
  const double share = rate / static_cast<double>(devices);
  return share < least ? Nics{.count = 1, .gbps = std::llround(rate)}
                       : Nics{.count = devices, .gbps = static_cast<std::int64_t>(share)};
}

std::optional<Nics> nics_of(const std::string& text, std::int64_t devices) {
  const auto counted = counted_nics(lower(text));
  return counted ? counted : summed_nics(text, devices);
}

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

/// Devices of a rack that a run used. A row may count its trays as nodes, or say how many.
std::int64_t domain_of(const RunRow& row, std::int64_t chips) {
  const std::int64_t stated = row.whole("chips_per_node", kTray);
  const bool is_rack = stated > 2 * kTray && stated <= kRack;
  if (is_rack) {
    return stated;
  }
  return chips <= kRack ? kRack : used_of_rack(row, chips);
}

void put(std::string path, Value value, RunMachine& machine) {
  machine.changes.push_back({std::move(path), std::move(value), "run"});
}

/// What the row says of the links between its nodes of so many devices, or else the habits.
void put_network(const RunRow& row,
                 const RunHabits& habits,
                 std::int64_t devices,
                 RunMachine& machine) {
  auto nics = nics_of(row.text("inter_link"), devices);
  if (!nics) {
    nics = nics_of(habits.network, devices);
  }
  if (!habits.transport.empty()) {
    put("cluster.network", Value(habits.transport), machine);
  }
  machine.network_known = nics.has_value();
  if (nics) {
    put("cluster.node.nics", Value(static_cast<double>(nics->count)), machine);
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
    put_network(row, habits, domain, machine);
  }
  return {machine};
}

}  // namespace titer
