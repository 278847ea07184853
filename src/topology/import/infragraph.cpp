// The part of an InfraGraph that is asked for, as a topology.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "infragraph_vertices.hpp"
#include "text_file.hpp"
#include "titer/input/yaml.hpp"

namespace titer {
namespace {

constexpr int kUnnumbered = -1;

bool is_accelerator(const InfraVertex& vertex) {
  return vertex.kind == "xpu" || vertex.kind == "npu";
}

class InfraBuilder {
 public:
  InfraBuilder(const Document& document, const InfraChoices& choices)
      : graph_(infra_vertices(document, choices)),
        choices_(choices),
        source_(document.sources.empty() ? "" : document.sources.front()),
        merged_(graph_.vertices.size()) {
    std::iota(merged_.begin(), merged_.end(), 0);
  }

  Imported run() {
    find_hosts();
    select();
    merge_ports();
    drop_dead_ends();
    Imported read;
    read.topology.name = InfraGraph::name;
    number_vertices(read.topology);
    add_wires(read);
    if (read.topology.devices == 0) {
      refuse("no accelerator (xpu), and no interface (nic) in its place");
    }
    return read;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(source_ + ": " + what);
  }
  [[nodiscard]] const InfraVertex& vertex(int number) const {
    return graph_.vertices[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] bool is_in_host(const InfraVertex& one) const { return hosts_.contains(one.host); }

  void find_hosts() {
    const auto& all = graph_.vertices;
    has_accelerators_ = std::ranges::any_of(all, is_accelerator);
    for (const InfraVertex& one : all) {
      if (has_accelerators_ ? is_accelerator(one) : one.kind == "nic") {
        hosts_.insert(one.host);
        first_host_ = first_host_.empty() ? one.host : first_host_;
      }
    }
  }
  [[nodiscard]] bool is_wanted(const InfraVertex& one) const {
    switch (choices_.part) {
      case InfraPart::all:
        return true;
      case InfraPart::node:
        return one.host == first_host_;
      case InfraPart::network:
        return !is_in_host(one) || one.leaves;
    }
    return true;
  }
  [[nodiscard]] bool is_device(const InfraVertex& one) const {
    if (choices_.part == InfraPart::network) {
      return is_in_host(one) && one.leaves;
    }
    return has_accelerators_ ? is_accelerator(one) : one.kind == "nic";
  }

  void select() {
    for (const InfraEdge& edge : graph_.edges) {
      if (is_wanted(vertex(edge.a)) && is_wanted(vertex(edge.b))) {
        edges_.push_back(&edge);
      }
    }
  }

  int root(int number) {
    int& above = merged_[static_cast<std::size_t>(number)];
    return above == number ? number : above = root(above);
  }
  void merge_ports() {
    const auto joins = [&](const InfraEdge& edge) {
      const InfraVertex& a = vertex(edge.a);
      const InfraVertex& b = vertex(edge.b);
      const bool is_port = a.kind == "port" || b.kind == "port";
      return is_port && !edge.bandwidth && !(is_device(a) && is_device(b)) && !is_accelerator(a) &&
             !is_accelerator(b);
    };
    for (const InfraEdge* edge : edges_) {
      if (joins(*edge)) {
        // A device stays one, whatever is merged with it.
        const int a = root(edge->a);
        const int b = root(edge->b);
        const bool keeps_b = is_device(vertex(b));
        merged_[static_cast<std::size_t>(keeps_b ? a : b)] = keeps_b ? b : a;
      }
    }
    std::erase_if(edges_, [&](const InfraEdge* edge) { return root(edge->a) == root(edge->b); });
  }

  /// No way leads through what has one link.
  void drop_dead_ends() {
    for (bool dropped = true; dropped;) {
      std::map<int, int> links;
      for (const InfraEdge* edge : edges_) {
        ++links[root(edge->a)];
        ++links[root(edge->b)];
      }
      const auto ends = [&](int number) {
        return links[root(number)] < 2 && !is_device(vertex(root(number)));
      };
      dropped = std::erase_if(edges_, [&](const InfraEdge* edge) {
                  return ends(edge->a) || ends(edge->b);
                }) > 0;
    }
  }

  void number_vertices(Topology& topology) {
    numbers_.assign(graph_.vertices.size(), kUnnumbered);
    for (int i = 0; i < static_cast<int>(graph_.vertices.size()); ++i) {
      if (root(i) == i && is_wanted(vertex(i)) && is_device(vertex(i))) {
        numbers_[static_cast<std::size_t>(i)] = topology.devices++;
      }
    }
    std::set<int> near_hosts;
    std::set<int> others;
    for (const InfraEdge* edge : edges_) {
      for (const auto& [end, other] : {std::pair(edge->a, edge->b), std::pair(edge->b, edge->a)}) {
        if (!is_device(vertex(root(end)))) {
          others.insert(root(end));
        }
        if (is_in_host(vertex(other))) {
          near_hosts.insert(root(end));
        }
      }
    }
    for (const int number : others) {
      numbers_[static_cast<std::size_t>(number)] =
          add_switches(topology, 1, {.kind = kind_of(vertex(number), near_hosts.contains(number))});
    }
  }
  [[nodiscard]] SwitchKind kind_of(const InfraVertex& one, bool near_host) const {
    if (!is_in_host(one)) {
      return near_host ? SwitchKind::leaf : SwitchKind::spine;
    }
    if (one.kind == "switch") {
      return SwitchKind::crossbar;
    }
    return one.kind == "cpu" ? SwitchKind::cpu
                             : (one.kind == "nic" ? SwitchKind::nic : SwitchKind::router);
  }

  void add_wires(Imported& read) {
    std::set<std::string> untold;
    std::set<std::string> used;
    std::map<std::tuple<int, int, double, double>, Wire> wires;
    for (const InfraEdge* edge : edges_) {
      if (!edge->bandwidth) {
        untold.insert(edge->link);
        continue;
      }
      for (const NamedBandwidth& own : choices_.links) {
        if (own.link == edge->link) {
          used.insert(own.link);
        }
      }
      const auto [a, b] = std::minmax(numbers_[static_cast<std::size_t>(root(edge->a))],
                                      numbers_[static_cast<std::size_t>(root(edge->b))]);
      const auto [known, is_new] = wires.try_emplace(
          {a, b, edge->bandwidth->si(), edge->latency.si()},
          Wire{
              .a = a, .b = b, .count = 0, .bandwidth = *edge->bandwidth, .latency = edge->latency});
      ++known->second.count;
    }
    if (!untold.empty()) {
      refuse(fmt::format(
          "no bandwidth of {}; expected \"links\": {{\"{}\": \"25 GB/s\"}}, of one direction",
          fmt::join(untold, ", "),
          *untold.begin()));
    }
    for (const auto& [key, wire] : wires) {
      read.topology.wires.push_back(wire);
    }
    for (const std::string& link : used) {
      read.used.push_back("links." + link);
    }
  }

  InfraVertices graph_;
  const InfraChoices& choices_;
  std::string source_;
  bool has_accelerators_ = false;
  std::set<std::string> hosts_;
  std::string first_host_;
  std::vector<const InfraEdge*> edges_;
  std::vector<int> merged_;
  std::vector<int> numbers_;
};

void read_link_bandwidths(const Field<InfraGraph>& own, Reader& in, InfraGraph& graph) {
  auto links = in.maybe_object(own.key);
  if (!links) {
    return;
  }
  for (const std::string& link : links->keys()) {
    if (const auto bandwidth = links->maybe_quantity<BytesPerSecond>(link)) {
      graph.links.push_back({.link = link, .bandwidth = *bandwidth});
    }
  }
}

Value link_bandwidths_schema() { return schema::object(); }

}  // namespace

bool is_infragraph(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != text.npos; };
  return has("instances:") && has("components:") && has("ep1:");
}

Imported import_infragraph(const Document& document, const InfraChoices& choices) {
  return InfraBuilder(document, choices).run();
}

std::span<const Field<InfraGraph>> InfraGraph::fields() {
  static constexpr std::array table = {
      kFileField<InfraGraph>,
      titer::fields::choice<&InfraChoices::part, kInfraParts, InfraGraph>(
          "part", "all of it, a node, or the network between nodes"),
      titer::fields::of_schema<InfraGraph, link_bandwidths_schema>(
          "links", read_link_bandwidths, "bandwidths, one direction, of links by name")
          .or_else("what the file tells")};
  return table;
}

void InfraGraph::check(Reader& /*in*/) {
  if (file.empty()) {
    return;
  }
  const std::string text = file_text(file);
  const bool is_json = text.find_first_not_of(" \t\r\n") == text.find('{');
  imported = import_infragraph(is_json ? parse_json(text, file) : parse_yaml(text, file), *this);
}

}  // namespace titer
