// Collectives, topologies, the traffic of a step.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "question_text.hpp"
#include "titer/collectives/collective_names.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/topology/properties.hpp"
#include "titer/topology/traffic.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// A text, or a list of them.
std::vector<std::string> read_texts(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  const bool one = value != nullptr && value->kind == Value::Kind::text;
  return one ? std::vector{value->text} : in.texts(key);
}

std::vector<std::vector<int>> groups_of(const std::vector<std::string>& ranks) {
  return each_of(ranks, [&](const std::string& group) { return parse_devices(group); });
}

/// Links between the two devices of "0-3".
int links_between(const Topology& topology, const std::string& pair) {
  const std::vector<int> ends = parse_devices(pair);
  const int a = ends.front();
  const int b = ends.back();
  int links = 0;
  for (const Wire& wire : topology.wires) {
    const bool joins = (wire.a == a && wire.b == b) || (wire.a == b && wire.b == a);
    links += joins ? wire.count : 0;
  }
  return links;
}

void add_exchange(const NamedTopology& named,
                  const Topology& graph,
                  Bytes size,
                  NamedNumbers& numbers) {
  Traffic traffic;
  UniformExchange& exchange = traffic.exchanges.emplace_back();
  for (int device = 0; device < graph.devices; ++device) {
    exchange.ranks.push_back(device);
  }
  exchange.per_pair = size / graph.devices;
  const Router router = router_of(named.family, graph);
  if (const auto busiest = busiest_link(graph, link_loads(router, traffic))) {
    numbers.push_back({"busiest_link_time_s", busiest->time.si()});
  }
  if (const auto halves = halves_time(graph, traffic)) {
    numbers.push_back({"halves_time_s", halves->si()});
  }
}

/// Of each kind, and between the pairs of devices that were asked for.
void add_pairs(const TrafficMatrix& matrix,
               const std::vector<std::string>& wanted,
               NamedNumbers& numbers) {
  std::array<Bytes, kTrafficKinds.size()> bytes{};
  Bytes beside;
  for (const TrafficPair& pair : matrix.pairs()) {
    bytes[static_cast<std::size_t>(pair.kind)] += pair.bytes;
    const int distance = std::abs(pair.from - pair.to);
    beside += distance == 1 || distance == matrix.ranks() - 1 ? pair.bytes : Bytes{};
  }
  for (const Choice<TrafficKind>& kind : kTrafficKinds) {
    numbers.push_back(
        {"bytes." + std::string(kind.name), bytes[static_cast<std::size_t>(kind.value)].si()});
  }
  for (const std::string& name : wanted) {
    const std::vector<int> ends = parse_devices(name);
    Bytes between;
    for (const TrafficPair& pair : matrix.pairs()) {
      between += pair.from == ends.front() && pair.to == ends.back() ? pair.bytes : Bytes{};
    }
    numbers.push_back({"pair." + expression_name(name), between.si()});
  }
  numbers.push_back({"beside_bytes", beside.si()});
}

}  // namespace

TrafficQuestion TrafficQuestion::read(Reader& in, const std::filesystem::path& folder) {
  TrafficQuestion question;
  question.reference = RunReference::read(in, key, folder);
  question.options.only = in.maybe_choice<TrafficKind>("kind", kTrafficKinds);
  question.options.spread = in.maybe_choice<CollectiveSpread>("spread", kCollectiveSpreads)
                                .value_or(CollectiveSpread::ring);
  const auto iteration = in.maybe_integer("iteration", 0, 1'000'000);
  if (const auto seed = in.maybe_integer("seed", 0)) {
    question.options.draw =
        ExpertDraw{.seed = static_cast<std::uint64_t>(*seed),
                   .iteration = static_cast<std::uint32_t>(iteration.value_or(0))};
  }
  question.exponent = in.maybe_number("exponent", 0.0, 10.0);
  question.pairs = in.texts("pairs");
  return question;
}

NamedNumbers TrafficQuestion::answer() const {
  Scenario scenario = reference.scenario();
  scenario.conditions = {};  // they change times, not bytes
  TrafficOptions what = options;
  const Transformer* transformer = scenario.model.if_transformer();
  if (exponent && transformer != nullptr && transformer->experts) {
    what.routing = transformer->experts->routing;
    what.routing->shape = RoutingShape::zipf;
    what.routing->exponent = *exponent;
  }
  const ExportedStep step(std::move(scenario), ExportDetail::pass);
  const StepTraffic traffic(step);
  const TrafficMatrix matrix = traffic.matrix(what);
  const std::int64_t ranks = matrix.ranks();
  const bool experts = what.only == TrafficKind::expert;
  const TrafficStatistics statistics = traffic_statistics(
      matrix, experts ? traffic.expert_pairs() : ranks * (ranks - 1), step.nodes());
  NamedNumbers numbers = {{"total_bytes", statistics.total.si()},
                          {"largest_bytes", statistics.largest.si()},
                          {"within_nodes", statistics.share_within_nodes()},
                          {"pairs", static_cast<double>(statistics.pairs)},
                          {"possible", static_cast<double>(statistics.possible)},
                          {"entropy", statistics.entropy},
                          {"uniformity", statistics.uniformity},
                          {"largest_over_mean", statistics.largest_over_mean},
                          {"ranks", static_cast<double>(ranks)}};
  add_pairs(matrix, pairs, numbers);
  return numbers;
}

std::string TrafficQuestion::command() const {
  if (reference.run.empty()) {
    return {};
  }
  std::string text = "titer traffic " + reference.arguments();
  text += options.only ? fmt::format(" --kind {}", name(*options.only)) : "";
  if (options.spread != CollectiveSpread::ring) {
    text += fmt::format(" --spread {}",
                        kCollectiveSpreads[static_cast<std::size_t>(options.spread)].name);
  }
  text += options.draw ? fmt::format(" --seed {}", options.draw->seed) : "";
  return text + (exponent ? fmt::format(" --routing-exponent {}", *exponent) : "");
}

CollectiveQuestion CollectiveQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  CollectiveQuestion question;
  question.query = {.collective = in.choice<Collective>("collective", kCollectiveChoices),
                    .size = in.quantity<Bytes>("bytes"),
                    .algorithm = in.maybe_text("algorithm").value_or(""),
                    .fidelity = in.maybe_choice<NetworkFidelity>("fidelity", kNetworkFidelities)
                                    .value_or(NetworkFidelity::closed)};
  if (const Value* cluster = in.raw("cluster")) {
    question.cluster = without_places(*cluster);
  } else {
    in.fail("cluster", "expected the name of a cluster, or an object");
  }
  const Value* size = in.raw("bytes");
  question.size = size == nullptr ? "" : size->text;
  question.changes = read_changes(in);
  question.ranks = read_texts(in, "ranks");
  question.servers = static_cast<int>(in.maybe_integer("servers", 0, 1'000'000).value_or(0));
  if (question.ranks.empty()) {
    in.fail("ranks", "expected devices, such as \"0-15\"");
  }
  return question;
}

NamedNumbers CollectiveQuestion::answer() const {
  const Cluster loaded = load_cluster(cluster, changes);
  CollectiveDesk desk(loaded, groups_of(ranks), servers);
  const CollectiveAnswer found = desk.answer(query);
  const auto count = desk.group().group.ranks();
  return {{"time_s", found.time.si()},
          {"closed_time_s", found.closed_time.si()},
          {"ranks", static_cast<double>(count)},
          {"volume_bytes", volume(query.collective, query.size, count).si()},
          {"algorithm_bandwidth", (query.size / found.time).si()},
          {"bus_bandwidth", desk.bus_bandwidth(query.collective, query.size, found.time).si()}};
}

std::string CollectiveQuestion::command() const {
  if (cluster.kind != Value::Kind::text) {
    return {};
  }
  std::string text = fmt::format("titer collective --cluster {} --op {} --bytes {}",
                                 cluster.text,
                                 name_of(query.collective),
                                 shell_word(size));
  for (const std::string& group : ranks) {
    text += " --ranks " + group;
  }
  text += query.algorithm.empty() ? "" : " --algorithm " + query.algorithm;
  text += servers == 0 ? "" : fmt::format(" --servers {}", servers);
  if (query.fidelity != NetworkFidelity::closed) {
    text += fmt::format(" --fidelity {}",
                        kNetworkFidelities[static_cast<std::size_t>(query.fidelity)].name);
  }
  return text + set_options(changes);
}

TopologyQuestion TopologyQuestion::read(Reader& in, const std::filesystem::path& folder) {
  TopologyQuestion question;
  question.topology = in.text("topology");
  question.changes = read_changes(in);
  question.all_to_all = in.maybe_quantity<Bytes>("all_to_all");
  question.wires = in.texts("wires");
  question.document = load_data(kTopologyData, question.topology, folder);
  return question;
}

NamedNumbers TopologyQuestion::answer() const {
  Document changed = document;
  for (const Assignment& change : changes) {
    assign(changed, change);
  }
  const NamedTopology named = read_document(changed, read_topology);
  const Topology graph = build(named);
  const TopologySummary summary = summarize(named, graph);
  NamedNumbers numbers = {{"devices", static_cast<double>(graph.devices)},
                          {"switches", static_cast<double>(graph.switches)},
                          {"links", static_cast<double>(summary.links)},
                          {"least_degree", static_cast<double>(summary.least_degree)},
                          {"most_degree", static_cast<double>(summary.most_degree)}};
  if (summary.diameter) {
    numbers.push_back({"diameter", static_cast<double>(*summary.diameter)});
  }
  if (summary.bisection) {
    numbers.push_back({"bisection", summary.bisection->bandwidth.si()});
  }
  if (summary.rings) {
    numbers.push_back({"directed_rings", static_cast<double>(summary.rings->directed_rings)});
  }
  for (const std::string& pair : wires) {
    numbers.push_back(
        {"wires." + expression_name(pair), static_cast<double>(links_between(graph, pair))});
  }
  if (all_to_all) {
    add_exchange(named, graph, *all_to_all, numbers);
  }
  return numbers;
}

std::string TopologyQuestion::command() const {
  return "titer topology " + topology +
         (all_to_all ? " --all-to-all " + shell_word(format(*all_to_all)) : std::string()) +
         set_options(changes);
}

}  // namespace titer
