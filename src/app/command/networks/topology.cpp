#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <numeric>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/input/csv.hpp"
#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/report/network/topology_report.hpp"
#include "titer/report/network/traffic_report.hpp"
#include "titer/topology/properties.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

enum class TopologyFormat { text, csv, json, dot, svg };
constexpr std::array<Choice<TopologyFormat>, 5> kTopologyFormats = {{{"text", TopologyFormat::text},
                                                                     {"csv", TopologyFormat::csv},
                                                                     {"json", TopologyFormat::json},
                                                                     {"dot", TopologyFormat::dot},
                                                                     {"svg", TopologyFormat::svg}}};

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

struct TopologyOptions {
  std::string topology;
  std::optional<int> from;
  std::optional<int> to;
  std::string traffic;     // a CSV file of demands
  std::string all_to_all;  // a size
  bool time = false;
  std::vector<std::string> sets;
  bool accept_unknown = false;
  std::string format = "text";
  std::string out;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// A topology as a document; of a machine's own file, one that refers to it.
struct Loaded {
  Document document;
  std::vector<Assumption> assumptions;
};

Loaded load(const std::string& name_or_file) {
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(name_or_file, ignored);
  if (is_shipped(kTopologyData, name_or_file) || !is_file) {
    return {load_data(kTopologyData, name_or_file), {}};
  }
  auto machine = machine_document(name_or_file);
  if (!machine) {
    return {load_json(name_or_file), {}};
  }
  Loaded loaded{std::move(*machine), {}};
  const std::string family = loaded.document.at("family")->text;
  std::copy_if(kAssumptions.begin(),
               kAssumptions.end(),
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
  const auto add = [&](const std::string& what) { remark += (remark.empty() ? "" : ", ") + what; };
  for (const Assumption& figure : figures) {
    if (std::find(read->used.begin(), read->used.end(), figure.key) != read->used.end()) {
      add(std::string(figure.key) + " " + std::string(figure.value) + " (" +
          std::string(figure.why) + ")");
    }
  }
  for (const std::string& used : read->used) {
    const bool is_key = std::any_of(kAssumptions.begin(),
                                    kAssumptions.end(),
                                    [&](const auto& known) { return known.key == used; });
    if (!is_key) {
      add(used);
    }
  }
  return remark.empty() ? remark : remark + "; --set changes it";
}

void check_joined(const TopologyOptions& options, const Topology& graph) {
  if (const auto lost = unreachable_device(graph)) {
    throw InputError(options.topology + ": device " + std::to_string(*lost) +
                     " cannot be reached from device 0; expected links or switches that join all " +
                     std::to_string(graph.devices) + " devices");
  }
}

TopologyView read_view(const TopologyOptions& options) {
  Loaded loaded = load(options.topology);
  for (const std::string& set : options.sets) {
    assign(loaded.document, parse_assignment(set));
  }
  if (options.accept_unknown && loaded.document.at("file") != nullptr) {
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
  if (imported_of(view.named.family) != nullptr) {
    view.named.name = std::filesystem::path(options.topology).filename().string();
  }
  view.graph = build(view.named);
  view.remark = remark_on(view.named.family, assumed);
  if (!view.named.failures.any()) {
    check_joined(options, view.graph);
  }
  return view;
}

std::string shown(const TopologyOptions& options, const TopologyView& view, TopologyFormat format) {
  switch (format) {
    case TopologyFormat::text:
      return written(topology_text(view), options.out);
    case TopologyFormat::csv:
      return topology_csv(view);
    case TopologyFormat::json:
      return to_json(topology_json(view)) + "\n";
    case TopologyFormat::dot:
      return topology_dot(view);
    case TopologyFormat::svg:
      return topology_svg(view);
  }
  return {};
}

/// Of the views that say something about traffic only text, csv and json make sense.
std::string as_table(const TopologyOptions& options, TopologyFormat format, const View& view) {
  switch (format) {
    case TopologyFormat::text:
      return written(Format::text, view, options.out);
    case TopologyFormat::csv:
      return written(Format::csv, view);
    case TopologyFormat::json:
      return written(Format::json, view);
    case TopologyFormat::dot:
    case TopologyFormat::svg:
      break;
  }
  throw InputError("--format: routes and loads are shown as text, csv or json");
}

View routes_of(const TopologyOptions& options, const TopologyView& view) {
  constexpr std::size_t most = 8;
  if (!options.from || !options.to) {
    throw InputError("--from and --to: a route has both a begin and an end");
  }
  for (const int vertex : {*options.from, *options.to}) {
    if (vertex < 0 || vertex >= view.graph.vertices()) {
      throw InputError("--from, --to: vertex " + std::to_string(vertex) + " is not in " +
                       view.named.name + ", whose vertices are 0 to " +
                       std::to_string(view.graph.vertices() - 1) + " (devices first)");
    }
  }
  if (*options.from == *options.to) {
    throw InputError("--from, --to: expected two different vertices");
  }
  Router router = router_of(view.named.family, view.graph);
  RouteView found{.from = *options.from,
                  .to = *options.to,
                  .routes = router.all_routes(*options.from, *options.to, most + 1)};
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

View loads_of(const TopologyOptions& options, const TopologyView& view) {
  LoadView found;
  Traffic traffic;
  if (!options.traffic.empty()) {
    traffic = read_traffic(options.traffic, view.graph);
    found.what = "the " + std::to_string(traffic.demands.size()) + " demands of " + options.traffic;
  } else {
    const auto size = parse<Bytes>(options.all_to_all);
    if (!size || *size < Bytes{}) {
      throw InputError("--all-to-all: " + options.all_to_all + ": expected " +
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
  if (options.report->is_wanted()) {
    answer.drawings.push_back(topology_drawing(view, wire_times(view.graph, found.loads)));
  }
  return answer;
}

View flows_of(const TopologyOptions& options, const TopologyView& view) {
  if (options.traffic.empty()) {
    throw InputError("--time: expected --traffic with what is sent");
  }
  FlowView found{.what = options.traffic,
                 .demands = read_traffic(options.traffic, view.graph).demands,
                 .arrivals = {}};
  Router router = router_of(view.named.family, view.graph);
  found.arrivals = execute_as_flows(found.demands, router);
  return flows_view(view.graph, found);
}

std::string answer(const TopologyOptions& options, TopologyFormat format) {
  const TopologyView view = read_view(options);
  const bool routes = options.from || options.to;
  if (!routes && options.traffic.empty() && options.all_to_all.empty() && !options.time) {
    if (options.report->is_wanted()) {
      options.report->write(topology_view(view));
    }
    return shown(options, view, format);
  }
  check_joined(options, view.graph);
  const View found = routes         ? routes_of(options, view)
                     : options.time ? flows_of(options, view)
                                    : loads_of(options, view);
  std::string text = as_table(options, format, found);
  options.report->write(found);
  return text;
}

int topology_command(const TopologyOptions& options) {
  const TopologyFormat format = chosen("--format", options.format, kTopologyFormats);
  OutputFile out(options.out);
  out.write(answer(options, format));
  out.finish();
  return kSuccess;
}

}  // namespace

Command add_topology(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "topology", "Show a topology: links, degrees, diameter, bisection, rings, a picture");
  const auto options = std::make_shared<TopologyOptions>();
  app->add_option(
         "topology",
         options->topology,
         "the name of a shipped topology (titer list topologies), or a file: JSON, what "
         "nvidia-smi topo -m, rocm-smi --showtopo or ibnetdiscover prints, NCCL's topology "
         "XML, or Slurm's topology.conf")
      ->required()
      ->type_name("TOPOLOGY");
  app->add_option("--from", options->from, "show the routes from this vertex (devices come first)")
      ->type_name("VERTEX");
  app->add_option("--to", options->to, "the vertex where they end")->type_name("VERTEX");
  CLI::Option* traffic =
      app->add_option(
             "--traffic", options->traffic, "show the link loads of a CSV file: from, to, bytes")
          ->type_name("FILE");
  app->add_flag("--time",
                options->time,
                "of --traffic: when each demand has arrived, where all start at once and share the "
                "links fairly");
  app->add_option("--all-to-all",
                  options->all_to_all,
                  "show the link loads when every device hands out so much, to all alike")
      ->excludes(traffic)
      ->type_name("SIZE");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path of the topology, such as bandwidth=\"50 GB/s\" or "
                  "dimensions.0=8; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_flag("--accept-unknown",
                options->accept_unknown,
                "of an XML without NVLinks take PCIe alone, and leave out what is not known");
  app->add_option("--format", options->format, "text, csv, json, dot or svg")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", options->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  options->report->add_to(*app);
  return {app, [options] { return topology_command(*options); }, options->report};
}

}  // namespace titer
