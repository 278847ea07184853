// What NCCL sees of a machine: reading it, and the channels that its search would find.

#include <algorithm>

#include "titer/collectives/nccl/nccl.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/units/number_text.hpp"

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
  const auto minor = take_number<decltype(NcclVersion::minor)>(text);
  const bool is_whole = text.empty() || text.front() == '.';
  return minor && is_whole ? std::optional(NcclVersion{.minor = *minor}) : std::nullopt;
}

constexpr std::string_view kPath = "library.";  // of its figures
constexpr Range kCount = {1, 1024};

constexpr std::array kRingFields = {
    fields::integer<&NcclGraph::channels>("channels", {1, 64}, "how many").marked(kFigure).needed(),
    fields::figure<&NcclGraph::intra>("intra", "of a channel, inside the node").needed(),
    fields::figure<&NcclGraph::inter>("inter", "of a channel, between nodes").needed()};

/// A machine as its file has it.
struct WrittenSystem : NcclSystem {
  std::optional<std::int64_t> links{};
  std::optional<BytesPerSecond> own_bandwidth{};
  EvidenceList evidence{};
};
using W = WrittenSystem;

void read_version(const Field<W>& own, Reader& in, W& system) {
  const auto text = in.maybe_text(own.key);
  const auto version = text ? parse_version(*text) : NcclVersion{};
  if (!version) {
    in.fail(own.key, "expected a release of NCCL 2, such as \"2.27.3\"");
  }
  system.version = version.value_or(NcclVersion{});
}

void read_links(const Field<W>& own, Reader& in, W& system) {
  if (in.has("links") == in.has("node_bandwidth")) {
    in.fail("", "expected either \"links\", the NVLinks of a GPU, or \"node_bandwidth\"");
  }
  system.links = fields::read_integer(own.key, own.range, own.required, in);
}

constexpr std::array kSystemFields = {
    fields::special<W>(
        "version",
        {read_version, [](const Field<W>& /*own*/) { return schema::text_like("^2[.]"); }, nullptr},
        "of NCCL, such as `2.27.3`")
        .or_else("2.30"),
    fields::choice<&W::generation, kGenerations, W>("generation", "of the GPUs").needed(),
    fields::choice<&W::cpu, kVendors, W>("cpu", "who makes the processors").needed(),
    fields::choice<&W::medium, kMedia, W>("medium", "between the GPUs of a node").needed(),
    fields::integer<&W::gpus_per_node, W>("gpus_per_node", kCount, "of the machine").needed(),
    fields::integer<&W::links>("links", kCount, "NVLinks of a GPU; or `node_bandwidth`")
        .marked(kFigure)
        .read_by(read_links),
    fields::figure<&W::own_bandwidth>("node_bandwidth", "of a GPU into its node's fabric"),
    fields::integer<&W::nics, W>("nics", kCount, "of a node").needed(),
    fields::figure<&W::nic_bandwidth, W>("nic_bandwidth", "of one").needed(),
    fields::figure<&W::nic_latency, W>("nic_latency", "0 for InfiniBand and sockets"),
    fields::flag<&W::nvls, W>("nvls", "the node's switch reduces"),
    fields::flag<&W::collnet, W>("collnet", "the network's switches reduce"),
    fields::flag<&W::ll128, W>("ll128", "the path keeps the order of 128-byte stores"),
    fields::part<&W::rings, kRingFields, &W::evidence, kPath, W>(
        "rings", "channels as NCCL's log prints them")
        .or_else("what its search would find")};

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

Value nccl_schema() { return schema_of<W>(kSystemFields); }

NcclSystem read_nccl_system(Reader& in, EvidenceList& evidence) {
  WrittenSystem file;
  file.evidence = std::move(evidence);
  read_noted<W>(kSystemFields, in, std::string(kPath), file.evidence, file);
  evidence = std::move(file.evidence);
  file.node_bandwidth = file.links
                            ? static_cast<double>(*file.links) * nccl_link_rate(file.generation)
                            : file.own_bandwidth.value_or(1_GBps);
  return static_cast<NcclSystem&&>(file);
}

NcclGraph nccl_graph(NcclAlgorithm algorithm, Group group, const NcclSystem& system) {
  if (system.rings && !is_nvls(algorithm)) {
    return *system.rings;
  }
  return group.nodes == 1 ? graph_inside(algorithm, group, system)
                          : graph_between(algorithm, group, system);
}

}  // namespace titer
