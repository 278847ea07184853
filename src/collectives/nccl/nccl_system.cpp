// What NCCL sees of a machine: reading it, and the channels that its search would find.

#include <algorithm>
#include <charconv>

#include "titer/collectives/nccl/nccl.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<GpuGeneration>, 4> kGenerations = {
    {{"volta", GpuGeneration::volta},
     {"ampere", GpuGeneration::ampere},
     {"hopper", GpuGeneration::hopper},
     {"blackwell", GpuGeneration::blackwell}}};
constexpr std::array<Choice<CpuVendor>, 2> kVendors = {
    {{"intel", CpuVendor::intel}, {"amd", CpuVendor::amd}}};
constexpr std::array<Choice<NcclMedium>, 2> kMedia = {
    {{"nvlink", NcclMedium::nvlink}, {"pcie", NcclMedium::pci}}};

/// "2.27.3" or "2.27"; empty when it is no release of NCCL 2.
std::optional<NcclVersion> parse_version(std::string_view text) {
  if (!text.starts_with("2.")) {
    return std::nullopt;
  }
  text.remove_prefix(2);
  NcclVersion version;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version.minor);
  const bool whole = end == text.data() + text.size() || *end == '.';
  return error == std::errc() && whole ? std::optional(version) : std::nullopt;
}

BytesPerSecond read_node_bandwidth(Reader& in,
                                   std::string_view where,
                                   GpuGeneration generation,
                                   EvidenceList& evidence) {
  const std::string path(where);
  if (in.has("links") == in.has("node_bandwidth")) {
    in.fail("", "expected either \"links\", the NVLinks of a GPU, or \"node_bandwidth\"");
  }
  if (const auto links = in.maybe_integer("links", 1, 1024)) {
    evidence.note(in, "links", path + ".links");
    return static_cast<double>(*links) * nccl_link_rate(generation);
  }
  if (const auto bandwidth = in.maybe_quantity<BytesPerSecond>("node_bandwidth")) {
    evidence.note(in, "node_bandwidth", path + ".node_bandwidth");
    return *bandwidth;
  }
  return 1_GBps;  // refused above
}

std::optional<NcclGraph> read_rings(Reader& in, const std::string& path, EvidenceList& evidence) {
  auto rings = in.maybe_object("rings");
  if (!rings) {
    return std::nullopt;
  }
  NcclGraph graph;
  graph.channels = static_cast<int>(rings->integer("channels", 1, 64));
  evidence.note(*rings, "channels", path + ".channels");
  graph.intra = rings->quantity<BytesPerSecond>("intra");
  evidence.note(*rings, "intra", path + ".intra");
  graph.inter = rings->quantity<BytesPerSecond>("inter");
  evidence.note(*rings, "inter", path + ".inter");
  rings->finish();
  return graph;
}

/// The fastest listed speed that is not above `most`; `most` itself below the slowest.
BytesPerSecond listed_speed(std::span<const double> speeds, BytesPerSecond most) {
  for (const double speed : speeds) {
    if (speed * 1e9 <= most.si()) {
      return BytesPerSecond::from_si(speed * 1e9);
    }
  }
  return most;
}

bool is_nvls(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

NcclGraph graph_inside(NcclAlgorithm algorithm, Group group, const NcclSystem& system) {
  constexpr int through_a_switch = 12;
  const int channels = is_nvls(algorithm)                    ? group.per_node
                       : system.medium == NcclMedium::nvlink ? through_a_switch
                                                             : 1;
  const BytesPerSecond speed =
      listed_speed(nccl_speeds(system.generation, false), system.node_bandwidth / channels);
  return {.channels = channels, .intra = speed, .inter = speed};
}

/// A tree's speed inside the node, raised step by step as long as it is below twice the NIC's.
BytesPerSecond raised_speed(std::span<const double> speeds,
                            BytesPerSecond inter,
                            BytesPerSecond most) {
  BytesPerSecond speed = inter;
  for (auto faster = speeds.rbegin(); faster != speeds.rend(); ++faster) {
    const BytesPerSecond next = BytesPerSecond::from_si(*faster * 1e9);
    if (next > speed && speed < 2.0 * inter && next <= most) {
      speed = next;
    }
  }
  return speed;
}

NcclGraph graph_between(NcclAlgorithm algorithm, Group group, const NcclSystem& system) {
  const auto speeds = nccl_speeds(system.generation, true);
  const int nics = std::max(1, system.nics * group.per_node / system.gpus_per_node);
  const int channels = is_nvls(algorithm) ? group.per_node : nics;
  const BytesPerSecond wire = system.nic_bandwidth * (static_cast<double>(nics) / channels);
  const BytesPerSecond inside = system.node_bandwidth / channels;
  const bool alone = group.per_node == 1;  // nothing inside the node limits
  NcclGraph graph{.channels = channels};
  graph.inter = listed_speed(speeds, alone ? wire : std::min(wire, inside));
  graph.intra = graph.inter;
  if (is_nvls(algorithm)) {
    graph.intra = listed_speed(speeds, inside);
  } else if (algorithm != NcclAlgorithm::ring && !alone) {
    graph.intra = raised_speed(speeds, graph.inter, inside);
  }
  return graph;
}

}  // namespace

NcclSystem read_nccl_system(Reader& in, std::string_view where, EvidenceList& evidence) {
  const std::string path(where);
  NcclSystem system;
  if (const auto text = in.maybe_text("version")) {
    const auto version = parse_version(*text);
    if (!version) {
      in.fail("version", "expected a release of NCCL 2, such as \"2.27.3\"");
    }
    system.version = version.value_or(NcclVersion{});
  }
  system.generation = in.choice<GpuGeneration>("generation", kGenerations);
  system.cpu = in.choice<CpuVendor>("cpu", kVendors);
  system.medium = in.choice<NcclMedium>("medium", kMedia);
  system.gpus_per_node = static_cast<int>(in.integer("gpus_per_node", 1, 1024));
  system.node_bandwidth = read_node_bandwidth(in, where, system.generation, evidence);
  system.nics = static_cast<int>(in.integer("nics", 1, 1024));
  system.nic_bandwidth = in.quantity<BytesPerSecond>("nic_bandwidth");
  evidence.note(in, "nic_bandwidth", path + ".nic_bandwidth");
  if (const auto latency = in.maybe_quantity<Seconds>("nic_latency")) {
    system.nic_latency = *latency;
    evidence.note(in, "nic_latency", path + ".nic_latency");
  }
  system.nvls = in.flag("nvls", false);
  system.collnet = in.flag("collnet", false);
  system.ll128 = in.flag("ll128", true);
  system.rings = read_rings(in, path + ".rings", evidence);
  in.finish();
  return system;
}

NcclGraph nccl_graph(NcclAlgorithm algorithm, Group group, const NcclSystem& system) {
  if (system.rings && !is_nvls(algorithm)) {
    return *system.rings;
  }
  return group.nodes == 1 ? graph_inside(algorithm, group, system)
                          : graph_between(algorithm, group, system);
}

}  // namespace titer
