#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "ask/report_parts.hpp"
#include "titer/ask/network.hpp"
#include "titer/ask/option.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/input/csv.hpp"
#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/report/network/topology_report.hpp"
#include "titer/report/network/traffic_report.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/topology/properties.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr Range kAnyVertex = {-2147483648.0, 2147483647.0};
constexpr std::array kTopologyOptions = {
    options::asked<&TopologyRequest::topology>(
        "topology",
        "TOPOLOGY",
        "the name of a shipped topology (titer list topologies), or a file: JSON, what nvidia-smi "
        "topo -m, rocm-smi --showtopo or ibnetdiscover prints, NCCL's topology XML, or Slurm's "
        "topology.conf")
        .needed()
        .first()
        .file(kOnly<kTopologyData>),
    options::integer<&TopologyRequest::from>(
        "from", "VERTEX", "show the routes from this vertex (devices come first)")
        .within(kAnyVertex),
    options::integer<&TopologyRequest::to>("to", "VERTEX", "the vertex where they end")
        .within(kAnyVertex),
    options::text<&TopologyRequest::traffic>(
        "traffic", "FILE", "show the link loads of a CSV file: from, to, bytes")
        .file(),
    options::flag<&TopologyRequest::time>(
        "time",
        "of --traffic: when each demand has arrived, where all start at once "
        "and share the links fairly"),
    options::text<&TopologyRequest::all_to_all>(
        "all_to_all",
        "SIZE",
        "show the link loads when every device hands out so much, to all alike"),
    options::changes<&TopologyRequest::topology>(
        "put a value at a path of the topology, such as bandwidth=\"50 GB/s\" or dimensions.0=8; "
        "may be repeated"),
    options::flag<&TopologyRequest::accept_unknown>(
        "accept_unknown",
        "of an XML without NVLinks take PCIe alone, and leave out what is not known")};

/// A figure that a machine's own file lacks, and what is taken unless the user gives it.
struct Assumption {
  std::string_view family;
  std::string_view key;
  std::string_view value;
  std::string_view why;
};
constexpr std::array<Assumption, 9> kAssumptions = {
    {{NvidiaSmiNode::name,
      "link_bandwidth",
      "25 GB/s",
      "NVLink 2 to 4; NVLink 1 has 20, NVLink 5 50"},
     {NvidiaSmiNode::name, "pcie_bandwidth", "31.5 GB/s", "PCIe 4 x16"},
     {NvidiaSmiNode::name, "socket_bandwidth", "20.8 GB/s", "one UPI link of 10.4 GT/s"},
     {NcclXmlNode::name, "pcie_bandwidth", "31.5 GB/s", "PCIe 4 x16"},
     {NcclXmlNode::name, "socket_bandwidth", "20.8 GB/s", "one UPI link of 10.4 GT/s"},
     {RocmSmiNode::name,
      "link_bandwidth",
      "64 GB/s",
      "xGMI of MI300X; MI250X has 50 a link, MI355X 76.5"},
     {RocmSmiNode::name, "pcie_bandwidth", "31.5 GB/s", "PCIe 4 x16"},
     {RocmSmiNode::name, "socket_bandwidth", "64 GB/s", "an xGMI link of two EPYC"},
     {SlurmNetwork::name, "bandwidth", "50 GB/s", "400 Gbps"}}};

/// A topology as a document; of a machine's own file, one that refers to it.
struct LoadedTopology {
  Document document;
  std::vector<Assumption> assumptions;
};

LoadedTopology load_topology(const Asked& asked) {
  if (const auto* document = std::get_if<Document>(&asked.what)) {
    return {*document, {}};
  }
  const std::string& name_or_file = std::get<std::string>(asked.what);
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(name_or_file, ignored);
  if (is_shipped(kTopologyData, name_or_file) || !is_file) {
    return {load_data(kTopologyData, name_or_file), {}};
  }
  auto machine = machine_document(name_or_file);
  if (!machine) {
    return {load_json(name_or_file), {}};
  }
  LoadedTopology loaded{std::move(*machine), {}};
  const std::string family = loaded.document.at("family")->text;
  std::ranges::copy_if(kAssumptions,
                       std::back_inserter(loaded.assumptions),
                       [&](const Assumption& assumption) { return assumption.family == family; });
  return loaded;
}

/// The figures that were assumed and used, and what the file's reader took by itself.
std::string remark_on(const NodeTopology& family, const std::vector<Assumption>& figures) {
  const Imported* const read = imported_of(family);
  if (read == nullptr) {
    return "";
  }
  std::string remark;
  for (const Assumption& figure : figures) {
    if (includes(read->used, figure.key)) {
      add_listed(remark, fmt::format("{} {} ({})", figure.key, figure.value, figure.why));
    }
  }
  for (const std::string& used : read->used) {
    const bool is_key =
        std::ranges::any_of(kAssumptions, [&](const auto& known) { return known.key == used; });
    if (!is_key) {
      add_listed(remark, used);
    }
  }
  return remark.empty() ? remark : remark + "; --set changes it";
}

void check_joined(const std::string& named, const Topology& graph) {
  if (const auto lost = unreachable_device(graph)) {
    throw InputError(named + ": device " + std::to_string(*lost) +
                     " cannot be reached from device 0; expected links or switches that join all " +
                     std::to_string(graph.devices) + " devices");
  }
}

/// What mistakes call it: as it was named, or by its own name.
std::string name_in_errors(const TopologyRequest& request, const TopologyView& view) {
  const auto* name = std::get_if<std::string>(&request.topology.what);
  return name != nullptr ? *name : view.named.name;
}

TopologyView view_of(const TopologyRequest& request) {
  LoadedTopology loaded = load_topology(request.topology);
  for (const Assignment& change : request.topology.changes) {
    assign(loaded.document, change);
  }
  if (request.accept_unknown && loaded.document.at("file") != nullptr) {
    assign(loaded.document,
           {.path = "accept_unknown", .value = Value(true), .source = "--accept-unknown"});
  }
  std::vector<Assumption> assumed;
  for (const Assumption& assumption : loaded.assumptions) {
    if (loaded.document.at(assumption.key) == nullptr) {
      loaded.document.root.add(std::string(assumption.key), Value(assumption.value));
      assumed.push_back(assumption);
    }
  }
  TopologyView view;
  view.named = read_document(loaded.document, read_topology);
  const auto* name = std::get_if<std::string>(&request.topology.what);
  if (name != nullptr && imported_of(view.named.family) != nullptr) {
    view.named.name = std::filesystem::path(*name).filename().string();
  }
  view.graph = build(view.named);
  view.remark = remark_on(view.named.family, assumed);
  if (!view.named.failures.any()) {
    check_joined(name_in_errors(request, view), view.graph);
  }
  return view;
}

/// Properties and wires, and a picture of them where one is asked for.
PictureOutcome shown(const TopologyRequest& request, const TopologyView& topology) {
  PictureOutcome outcome;
  if (request.picture != AnswerPicture::none) {
    outcome.picture =
        request.picture == AnswerPicture::dot ? topology_dot(topology) : topology_svg(topology);
  }
  if (request.picture == AnswerPicture::none || request.for_report) {
    outcome.view = topology_view(topology);
  }
  if (request.for_report) {
    outcome.view.drawings.push_back(topology_drawing(topology));
  }
  return outcome;
}

View routes_of(const TopologyRequest& request, const TopologyView& view) {
  constexpr std::size_t most = 8;
  if (!request.from || !request.to) {
    throw InputError("--from and --to: a route has both a begin and an end");
  }
  const auto vertex_of = [&](std::int64_t vertex) {
    if (vertex < 0 || vertex >= view.graph.vertices()) {
      throw InputError("--from, --to: vertex " + std::to_string(vertex) + " is not in " +
                       view.named.name + ", whose vertices are 0 to " +
                       std::to_string(view.graph.vertices() - 1) + " (devices first)");
    }
    return static_cast<int>(vertex);
  };
  const int from = vertex_of(*request.from);
  const int to = vertex_of(*request.to);
  if (from == to) {
    throw InputError("--from, --to: expected two different vertices");
  }
  Router router = router_of(view.named.family, view.graph);
  RouteView found{.from = from, .to = to, .routes = router.all_routes(from, to, most + 1)};
  found.more = found.routes.size() > most;
  found.routes.resize(std::min(found.routes.size(), most));
  return routes_view(router, found);
}

/// A table of from, to, bytes: two devices and a size with or without its unit.
Traffic read_traffic(const std::string& path, const Topology& topology) {
  const CsvTable table = CsvTable::load(path);
  Problems problems;
  Traffic traffic;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double most = topology.devices - 1;
    const auto from = table.maybe_number(row, "from", 0, most, problems);
    const auto to = table.maybe_number(row, "to", 0, most, problems);
    const std::string size(table.text(row, "bytes"));
    const bool bare = size.find_first_not_of("0123456789.eE+") == std::string::npos;
    const auto bytes = parse<Bytes>(bare ? size + " B" : size);
    if (!bytes || *bytes < Bytes{}) {
      problems.add(table.where(row, "bytes") + ": " + size + ": expected a number of bytes, or " +
                   std::string(example<Bytes>()));
    }
    for (const auto& [device, column] : {std::pair{from, "from"}, std::pair{to, "to"}}) {
      if (!device || *device != std::floor(*device)) {
        problems.add(table.where(row, column) + ": expected the number of a device");
      }
    }
    if (from && to && bytes) {
      traffic.demands.push_back(
          {.from = static_cast<int>(*from), .to = static_cast<int>(*to), .bytes = *bytes});
    }
  }
  problems.raise();
  return traffic;
}

View loads_of(const TopologyRequest& request, const TopologyView& view) {
  LoadView found;
  Traffic traffic;
  if (!request.traffic.empty()) {
    traffic = read_traffic(request.traffic, view.graph);
    found.what = "the " + std::to_string(traffic.demands.size()) + " demands of " + request.traffic;
  } else {
    const auto size = parse<Bytes>(request.all_to_all);
    if (!size || *size < Bytes{}) {
      throw InputError("--all-to-all: " + request.all_to_all + ": expected " +
                       std::string(example<Bytes>()));
    }
    std::vector<int> ranks(static_cast<std::size_t>(view.graph.devices));
    std::iota(ranks.begin(), ranks.end(), 0);
    traffic.exchanges.push_back({.ranks = ranks, .per_pair = *size / view.graph.devices});
    found.what = "all-to-all of " + format(*size) + " from every device";
  }
  const Router router = router_of(view.named.family, view.graph);
  found.loads = link_loads(router, traffic);
  found.routing = view.graph.routing;
  found.detoured = detoured_share(router, traffic);
  found.busiest = busiest_link(view.graph, found.loads);
  if (view.graph.devices > 1) {
    found.halves = halves_time(view.graph, traffic);
  }
  View answer = loads_view(view.graph, found);
  if (request.for_report) {
    answer.drawings.push_back(topology_drawing(view, wire_times(view.graph, found.loads)));
  }
  return answer;
}

View flows_of(const TopologyRequest& request, const TopologyView& view) {
  if (request.traffic.empty()) {
    throw InputError("--time: expected --traffic with what is sent");
  }
  FlowView found{.what = request.traffic,
                 .demands = read_traffic(request.traffic, view.graph).demands,
                 .arrivals = {}};
  Router router = router_of(view.named.family, view.graph);
  found.arrivals = execute_as_flows(found.demands, router);
  return flows_view(view.graph, found);
}

/// What is asked of the topology besides, in the columns of its table.
Figures asked_of(const TopologyRequest& request, const TopologyView& view) {
  Figures columns = {{"topology", view.named.name},
                     {"family", family_name(view.named.family)},
                     {"devices", view.graph.devices}};
  if (!request.traffic.empty() || !request.all_to_all.empty()) {
    columns.push_back(
        {"traffic",
         request.traffic.empty() ? "all-to-all of " + request.all_to_all : request.traffic});
  }
  return columns;
}

}  // namespace

std::span<const Option<TopologyRequest>> topology_options() { return kTopologyOptions; }

PictureOutcome ask(const TopologyRequest& request) {
  if (!request.traffic.empty() && !request.all_to_all.empty()) {
    throw InputError("--all-to-all: expected no --traffic beside it: one or the other is sent");
  }
  const TopologyView view = view_of(request);
  const Figures asked = asked_of(request, view);
  const bool routes = request.from || request.to;
  PictureOutcome outcome;
  if (!routes && request.traffic.empty() && request.all_to_all.empty() && !request.time) {
    outcome = shown(request, view);
  } else if (request.picture != AnswerPicture::none) {
    throw InputError("--format: routes and loads are shown as text, csv or json");
  } else {
    check_joined(name_in_errors(request, view), view.graph);
    outcome.view = routes         ? routes_of(request, view)
                   : request.time ? flows_of(request, view)
                                  : loads_of(request, view);
  }
  add_asked(request.topology, asked, outcome.view);
  return outcome;
}

}  // namespace titer
