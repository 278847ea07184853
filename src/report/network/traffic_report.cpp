#include "titer/report/network/traffic_report.hpp"
#include "titer/units/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "report/plot/network_plots.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostLinksShown = 12;

/// "device 0", "NIC 0", "leaf 0".
std::vector<std::string> vertices_of(const Topology& topology, int from, const Route& route) {
  std::vector<std::string> labels = {topology.label(from)};
  for (const Lane lane : route) {
    labels.push_back(topology.label(lane_end(topology, lane)));
  }
  return labels;
}

/// A link in use.
struct Load {
  Lane lane = 0;
  Bytes bytes;
  Seconds time;
};

/// Those in use, the longest busy first.
std::vector<Load> sorted_loads(const Topology& topology, const std::vector<Bytes>& loads) {
  const Capacities limits = capacities(topology);
  std::vector<Load> used;
  for (Lane lane = 0; lane < loads.size(); ++lane) {
    if (loads[lane] > Bytes{}) {
      used.push_back({lane, loads[lane], loads[lane] / limits.rates[limits.of_lane[lane]]});
    }
  }
  std::ranges::stable_sort(used, std::ranges::greater(), &Load::time);
  return used;
}

/// The ends of a link.
Figures lane_figures(const Topology& topology, Lane lane) {
  return {{"from", topology.label(lane_begin(topology, lane)), "from"},
          {"to", topology.label(lane_end(topology, lane)), "to"}};
}

std::string route_text(const Router& router, const RouteView& view) {
  const Topology& topology = router.topology();
  const Route& first = view.routes.front();
  std::string text = fmt::format("{} to {}: {} links, {}{} equal route{}\n",
                                 topology.label(view.from),
                                 topology.label(view.to),
                                 first.size(),
                                 view.more ? "more than " : "",
                                 view.routes.size(),
                                 view.routes.size() == 1 ? "" : "s");
  if (router.latency(first) > Seconds{}) {
    text += fmt::format("  latency of the wires {}\n", format(router.latency(first)));
  }
  for (const Route& route : view.routes) {
    text += fmt::format("  {}\n", fmt::join(vertices_of(topology, view.from, route), " - "));
  }
  return text;
}

TextView load_text(const LoadView& view, FigureRows links) {
  TextView text = view.what + "\n";
  if (!view.busiest) {
    return text.add("  nothing passes a link\n");
  }
  text.add(fmt::format("  busiest link       {}\n", format(view.busiest->time)));
  if (view.halves) {
    text.add(fmt::format("  between the halves {} (no routing is faster)\n", format(*view.halves)));
  }
  if (view.routing != NetworkRouting::minimal) {
    text.add(fmt::format("  routing            {}{}\n",
                         name_of(view.routing),
                         view.detoured > 0
                             ? fmt::format(": {:.1f} % by way of other parts", 100 * view.detoured)
                             : ""));
  }
  const std::size_t more = links.size() - std::min(links.size(), kMostLinksShown);
  links.resize(links.size() - more);
  return text.add("\n")
      .table(links, "ll")
      .add(more > 0 ? fmt::format("  and {} more (--format csv shows all)\n", more) : "");
}

Figures load_headline(const LoadView& view) {
  if (!view.busiest) {
    return {};
  }
  Figures figures = {{"", view.busiest->time, "busiest link"}};
  if (view.halves) {
    figures.push_back({"", view.halves, "between the halves, at the least"});
  }
  return figures;
}

std::vector<Plot> load_plots(const Topology& topology, const std::vector<Bytes>& loads) {
  std::vector<LinkTime> links;
  for (const Load& load : sorted_loads(topology, loads)) {
    links.push_back({tier_name(topology.label(lane_begin(topology, load.lane)),
                               topology.label(lane_end(topology, load.lane))),
                     load.time});
  }
  return links.empty() ? std::vector<Plot>() : std::vector{link_plot(links)};
}

}  // namespace

std::vector<Seconds> wire_times(const Topology& topology, const std::vector<Bytes>& loads) {
  std::vector<Seconds> times(topology.wires.size());
  for (const Load& load : sorted_loads(topology, loads)) {
    times[wire_of(load.lane)] = std::max(times[wire_of(load.lane)], load.time);
  }
  return times;
}

View routes_view(const Router& router, const RouteView& view) {
  const Topology& topology = router.topology();
  std::vector<std::vector<std::string>> routes;
  FigureRows hops;
  for (std::size_t i = 0; i < view.routes.size(); ++i) {
    routes.push_back(vertices_of(topology, view.from, view.routes[i]));
    for (std::size_t hop = 0; hop < view.routes[i].size(); ++hop) {
      hops.push_back(
          joined({{"route", i}, {"hop", hop}}, lane_figures(topology, view.routes[i][hop])));
    }
  }
  return {.text = route_text(router, view),
          .figures = {{"from", topology.label(view.from)},
                      {"to", topology.label(view.to)},
                      {"links", view.routes.front().size()},
                      {"wire_latency_s", router.latency(view.routes.front())},
                      {"more", view.more},
                      {"routes", routes}},
          .rows = hops,
          .columns = {}};
}

View loads_view(const Topology& topology, const LoadView& view) {
  const FigureRows links = rows_of(sorted_loads(topology, view.loads), [&](const Load& load) {
    return joined(lane_figures(topology, load.lane),
                  {{"bytes", load.bytes, "bytes"}, {"time_s", load.time, "time"}});
  });
  const auto busiest = view.busiest ? std::optional(view.busiest->time) : std::nullopt;
  return {.text = load_text(view, links),
          .figures = {{"traffic", view.what},
                      if_any({"busiest_link_time_s", busiest}),
                      if_any({"halves_time_s", view.halves}),
                      {"routing", name_of(view.routing)},
                      {"detoured", view.detoured},
                      {"links", links}},
          .rows = links,
          .columns = "from to bytes time_s",
          .title = fmt::format("{}: {}", topology.name, view.what),
          .headline = load_headline(view),
          .plots = load_plots(topology, view.loads)};
}

View flows_view(const Topology& topology, const FlowView& view) {
  std::vector<std::size_t> order(view.demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return view.arrivals[a] > view.arrivals[b]; });
  const FigureRows rows = rows_of(order, [&](std::size_t i) -> Figures {
    const Demand& demand = view.demands[i];
    Datum rate;
    if (demand.bytes > Bytes{} && view.arrivals[i] > Seconds{}) {
      rate = demand.bytes / view.arrivals[i];
    }
    return {{"from", topology.label(demand.from), "from"},
            {"to", topology.label(demand.to), "to"},
            {"bytes", demand.bytes, "bytes"},
            {"time_s", view.arrivals[i], "arrived after"},
            {"bytes_per_s", rate, "rate"}};
  });
  const Seconds last = order.empty() ? Seconds{} : view.arrivals[order.front()];
  FigureRows shown = rows;
  shown.resize(std::min(shown.size(), kMostLinksShown));
  const std::size_t more = rows.size() - shown.size();
  TextView text = fmt::format("the {} demands of {}, all at once\n", rows.size(), view.what);
  text.add(fmt::format("  all have arrived after {}\n\n", format(last)))
      .table(shown, "ll")
      .add(more > 0 ? fmt::format("  and {} more (--format csv shows all)\n", more) : "");
  return {.text = text,
          .figures = {{"traffic", view.what}, {"time_s", last}, {"demands", rows}},
          .rows = rows,
          .columns = "from to bytes time_s bytes_per_s"};
}

}  // namespace titer
