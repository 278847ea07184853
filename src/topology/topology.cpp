#include "titer/topology/topology.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <cstddef>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

using Plain = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

Plain plain_graph(const Topology& topology) {
  Plain graph(static_cast<std::size_t>(topology.vertices()));
  for (const Wire& wire : topology.wires) {
    boost::add_edge(static_cast<std::size_t>(wire.a), static_cast<std::size_t>(wire.b), graph);
  }
  return graph;
}

/// Links from `source` to every vertex; empty where there is no path.
std::vector<std::optional<int>> distances(const Plain& graph, int source) {
  std::vector<int> links(boost::num_vertices(graph), 0);
  std::vector<boost::default_color_type> colours(boost::num_vertices(graph));
  const auto colour_map =
      boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph));
  boost::breadth_first_search(graph,
                              static_cast<std::size_t>(source),
                              boost::color_map(colour_map)
                                  .visitor(boost::make_bfs_visitor(boost::record_distances(
                                      links.data(), boost::on_tree_edge()))));
  std::vector<std::optional<int>> result(links.size());
  for (std::size_t vertex = 0; vertex < links.size(); ++vertex) {
    if (colours[vertex] != boost::white_color) {
      result[vertex] = links[vertex];
    }
  }
  return result;
}

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Flow = boost::adjacency_list<
    boost::vecS,
    boost::vecS,
    boost::directedS,
    boost::no_property,
    boost::property<
        boost::edge_capacity_t,
        double,
        boost::property<boost::edge_residual_capacity_t,
                        double,
                        boost::property<boost::edge_reverse_t, FlowTraits::edge_descriptor>>>>;

/// Joins a and b with the capacities of the two directions; the max-flow algorithms want every
/// edge paired with its reverse.
void add_pair(Flow& graph, std::size_t a, std::size_t b, double forward, double backward) {
  const auto there = boost::add_edge(a, b, graph).first;
  const auto back = boost::add_edge(b, a, graph).first;
  boost::put(boost::edge_capacity, graph, there, forward);
  boost::put(boost::edge_capacity, graph, back, backward);
  boost::put(boost::edge_reverse, graph, there, back);
  boost::put(boost::edge_reverse, graph, back, there);
}

}  // namespace

int degree(const Topology& topology, int vertex) {
  ensure(vertex >= 0 && vertex < topology.vertices(), "degree is asked for a vertex of the graph");
  int links = 0;
  for (const Wire& wire : topology.wires) {
    links += wire.a == vertex || wire.b == vertex ? wire.count : 0;
  }
  return links;
}

std::optional<int> hops(const Topology& topology, int from, int to) {
  ensure(std::min(from, to) >= 0 && std::max(from, to) < topology.vertices(),
         "hops are asked for vertices of the graph");
  return distances(plain_graph(topology), from)[static_cast<std::size_t>(to)];
}

std::optional<int> diameter(const Topology& topology) {
  const Plain graph = plain_graph(topology);
  int longest = 0;
  for (int from = 0; from < topology.devices; ++from) {
    const auto links = distances(graph, from);
    for (std::size_t to = 0; to < static_cast<std::size_t>(topology.devices); ++to) {
      if (!links[to]) {
        return std::nullopt;
      }
      longest = std::max(longest, *links[to]);
    }
  }
  return longest;
}

BytesPerSecond halves_bandwidth(const Topology& topology) {
  ensure(topology.devices >= 2, "only two or more devices can be split into halves");
  const auto vertices = static_cast<std::size_t>(topology.vertices());
  const auto devices = static_cast<std::size_t>(topology.devices);
  const std::size_t source = vertices;
  const std::size_t sink = vertices + 1;
  Flow graph(vertices + 2);
  double all = 0.0;
  for (const Wire& wire : topology.wires) {
    const double capacity = (wire.count * wire.bandwidth).si();
    const auto a = static_cast<std::size_t>(wire.a);
    add_pair(graph, a, static_cast<std::size_t>(wire.b), capacity, capacity);
    all += capacity;
  }
  for (std::size_t device = 0; device < devices; ++device) {
    if (device < devices / 2) {
      add_pair(graph, source, device, all, 0.0);
    } else {
      add_pair(graph, device, sink, all, 0.0);
    }
  }
  return BytesPerSecond::from_si(boost::edmonds_karp_max_flow(graph, source, sink));
}

}  // namespace titer
