// The machine of a measured run: which shipped cluster, with which network.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// Nodes by chip and devices; 0: of any number.
struct KnownNode {
  std::string_view chip;
  std::int64_t devices;
  std::string_view cluster;
};
constexpr std::array<KnownNode, 23> kNodes = {{{"TPU v3", 0, "tpu-v3-pod"},
                                               {"A100-SXM4-80GB", 0, "dgx-a100-80gb"},
                                               {"A100-SXM4-40GB", 0, "dgx-a100-40gb"},
                                               {"A800-SXM4-80GB", 0, "hgx-a800"},
                                               {"H100-SXM5-80GB", 0, "dgx-h100"},
                                               {"H100-SXM-96GB-HBM2E-500W", 0, "dgx-h100"},
                                               {"H800-SXM-80GB", 0, "hgx-h800"},
                                               {"H200-SXM-141GB", 0, "dgx-h200"},
                                               {"B200-SXM", 0, "dgx-b200"},
                                               {"B300-SXM", 0, "dgx-b300"},
                                               {"GB200 (NVL72)", 0, "gb200-nvl72"},
                                               {"GB300 (NVL72)", 0, "gb300-nvl72"},
                                               {"V100-SXM2-16GB", 4, "v100-4-16gb"},
                                               {"V100-SXM2-32GB", 4, "v100-4-32gb"},
                                               {"V100-SXM2-16GB", 0, "dgx1-v100"},
                                               {"V100-SXM2-32GB", 0, "dgx1-v100-32gb"},
                                               {"V100-SXM3-32GB", 0, "dgx2-v100"},
                                               {"MI300X", 0, "mi300x-8"},
                                               {"MI355X", 0, "mi355x-8"},
                                               {"TPU v4", 0, "tpu-v4-pod"},
                                               {"TPU v5e", 0, "tpu-v5e-pod"},
                                               {"TPU v5p", 0, "tpu-v5p-pod"},
                                               {"TPU v6e (Trillium)", 0, "tpu-v6e-pod"}}};

/// NICs of a node and the rate of one.
struct Nics {
  std::int64_t count = 0;
  std::int64_t gbps = 0;
};

/// "8x NDR400 IB per node", "4x100 Gb/s RoCE per node", "1600 Gb/s per node RoCE", "NVL72 racks;
/// 400 Gb/s per GPU scale-out".
std::optional<Nics> nics_of(const std::string& text, std::int64_t devices) {
  static const std::regex counted(R"((?:^| )(\d{1,3})x\D*(\d{1,6}))");
  static const std::regex rated(R"((?:^| )(\d{1,6}) Gb/s per (node|GPU))");
  std::smatch match;
  if (std::regex_search(text, match, counted)) {
    return Nics{.count = std::stoll(match[1]), .gbps = std::stoll(match[2])};
  }
  if (std::regex_search(text, match, rated)) {
    const std::int64_t rate = std::stoll(match[1]);
    return Nics{.count = devices, .gbps = match[2] == "node" ? rate / devices : rate};
  }
  return std::nullopt;
}

/// "GB200 (NVL72)" as shipped: "gb200-nvl72"; "TPU v6e (Trillium)": "tpu-v6e".
std::string chip_name(std::string_view key) {
  std::string small = lower(key);
  if (const std::size_t nickname = small.find(" (");
      nickname != std::string::npos && small.starts_with("tpu")) {
    small.resize(nickname);
  }
  std::string made;
  for (const char c : small) {
    if (c == ' ') {
      made += '-';
    } else if (c != '(' && c != ')') {
      made += c;
    }
  }
  return made;
}

constexpr std::int64_t kRack = 72;  // devices that the switches of an NVL72 join
constexpr std::int64_t kTray = 4;   // devices of one host in it

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

/// Devices that one switch joins. A row may count a rack's trays as nodes, or say how many of each
/// rack's devices the run used.
std::int64_t domain_of(const RunRow& row,
                       std::string_view cluster,
                       std::int64_t devices,
                       std::int64_t chips) {
  if (!cluster.ends_with("nvl72")) {
    return devices;
  }
  const std::int64_t stated = row.whole("chips_per_node", kTray);
  const bool is_rack = stated > 2 * kTray && stated <= kRack;
  if (is_rack) {
    return stated;
  }
  return chips <= kRack ? kRack : used_of_rack(row, chips);
}

/// A slice of a torus as a cluster of one node: collectives go around all axes at once and use
/// every link of a chip, as if a switch joined them.
Value slice_cluster(const std::string& chip, std::int64_t devices) {
  const Document document = load_data(kChipData, chip);
  const Value* rate = document.at("scale_up.bandwidth.value");
  if (rate == nullptr) {
    throw InputError("no rate of the links of " + chip + " is known");
  }
  Document cluster = parse_json(
      R"({"name": "slice", "node": {"protocols": [{"name": "ici", "latency": "1 us", "efficiency": 0.9}],
          "nics": 1, "nic_bandwidth": "25 Gbps"}, "network": "tcp-sockets-25g"})",
      "slice");
  Value fabric = Value::make_object();
  fabric.add("family", Value("switch"));
  fabric.add("devices", Value(devices));
  fabric.add("bandwidth", *rate);
  assign(cluster, {"node.fabric", std::move(fabric), "slice"});
  assign(cluster, {"chip", Value(chip), "slice"});
  return cluster.root;
}

}  // namespace

RunMachine machine_of(const RunRow& row) {
  const std::string key = row.text("hw_key");
  const std::int64_t devices = row.whole("chips_per_node", 8);
  const std::int64_t chips = row.whole("n_chips", 1);
  RunMachine machine;
  for (const KnownNode& node : kNodes) {
    if (lower(key) == lower(node.chip) && (node.devices == 0 || node.devices == devices)) {
      machine.cluster = node.cluster;
      break;
    }
  }
  if (machine.cluster.empty()) {
    throw InputError(fmt::format("no cluster of {} devices of {} is known", devices, key));
  }
  const auto put = [&](std::string path, Value value) {
    machine.changes.push_back({std::move(path), std::move(value), "run"});
  };
  const std::string chip = chip_name(key);
  if (chip.starts_with("tpu")) {
    // A node may be a host or a slice.
    const bool is_slice = row.says("inter_link", "ICI") || row.says("inter_link", "single slice");
    if (chips > devices && !is_slice) {
      throw InputError("slices joined by a data-centre network are not modelled");
    }
    put("cluster", slice_cluster(chip, std::max(chips, devices)));
    return machine;
  }
  put("cluster.chip", Value(chip));
  const std::int64_t domain = domain_of(row, machine.cluster, devices, chips);
  if (machine.cluster.ends_with("nvl72")) {
    put("cluster.node.fabric.devices", Value(domain));
  }
  if (chips > domain) {
    const auto nics = nics_of(row.text("inter_link"), domain);
    machine.network_known = nics.has_value();
    if (nics) {
      put("cluster.node.nics", Value(static_cast<double>(nics->count)));
      put("cluster.node.nic_bandwidth", Value(fmt::format("{} Gbps", nics->gbps)));
    }
  }
  return machine;
}

}  // namespace titer
