#include "titer/report/traffic_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostLinksShown = 12;

/// "device 0 - NIC 0 - leaf 0".
std::string path_text(const Topology& topology, int from, const Route& route) {
  std::string text = topology.label(from);
  for (const Lane lane : route) {
    text += " - " + topology.label(lane_end(topology, lane));
  }
  return text;
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
  std::stable_sort(
      used.begin(), used.end(), [](const Load& a, const Load& b) { return a.time > b.time; });
  return used;
}

std::string begin_text(const Topology& topology, Lane lane) {
  return topology.label(lane_begin(topology, lane));
}
std::string end_text(const Topology& topology, Lane lane) {
  return topology.label(lane_end(topology, lane));
}

}  // namespace

std::string routes_text(const Router& router, const RouteView& view) {
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
    text += fmt::format("  {}\n", path_text(topology, view.from, route));
  }
  return text;
}

std::string routes_csv(const Router& router, const RouteView& view) {
  std::string text = csv_line({"route", "hop", "from", "to"});
  for (std::size_t i = 0; i < view.routes.size(); ++i) {
    for (std::size_t hop = 0; hop < view.routes[i].size(); ++hop) {
      const Lane lane = view.routes[i][hop];
      text += csv_line({std::to_string(i),
                        std::to_string(hop),
                        begin_text(router.topology(), lane),
                        end_text(router.topology(), lane)});
    }
  }
  return text;
}

Value routes_json(const Router& router, const RouteView& view) {
  const Topology& topology = router.topology();
  Value root = Value::make_object();
  root.add("format_version", Value(1));
  root.add("from", Value(topology.label(view.from)));
  root.add("to", Value(topology.label(view.to)));
  root.add("links", Value(static_cast<std::int64_t>(view.routes.front().size())));
  root.add("wire_latency_s", Value(router.latency(view.routes.front()).si()));
  root.add("more", Value(view.more));
  Value routes = Value::make_array();
  for (const Route& route : view.routes) {
    Value path = Value::make_array();
    path.push(Value(topology.label(view.from)));
    for (const Lane lane : route) {
      path.push(Value(end_text(topology, lane)));
    }
    routes.push(std::move(path));
  }
  root.add("routes", std::move(routes));
  return root;
}

std::string loads_text(const Topology& topology, const LoadView& view) {
  std::string text = fmt::format("{}\n", view.what);
  if (!view.busiest) {
    return text + "  nothing passes a link\n";
  }
  text += fmt::format("  busiest link       {}\n", format(view.busiest->time));
  if (view.halves) {
    text += fmt::format("  between the halves {} (no routing is faster)\n", format(*view.halves));
  }
  const std::vector<Load> used = sorted_loads(topology, view.loads);
  std::vector<Row> rows = {{"from", "to", "bytes", "time"}};
  for (std::size_t i = 0; i < std::min(used.size(), kMostLinksShown); ++i) {
    rows.push_back({begin_text(topology, used[i].lane),
                    end_text(topology, used[i].lane),
                    format(used[i].bytes),
                    format(used[i].time)});
  }
  text += "\n" + text_table(rows, {Align::left, Align::left});
  return used.size() <= kMostLinksShown ? text
                                        : fmt::format("{}  and {} more (--format csv shows all)\n",
                                                      text,
                                                      used.size() - kMostLinksShown);
}

std::string loads_csv(const Topology& topology, const LoadView& view) {
  std::string text = csv_line({"from", "to", "bytes", "time_s"});
  for (const Load& load : sorted_loads(topology, view.loads)) {
    text += csv_line({begin_text(topology, load.lane),
                      end_text(topology, load.lane),
                      number_text(load.bytes.si()),
                      number_text(load.time.si())});
  }
  return text;
}

Value loads_json(const Topology& topology, const LoadView& view) {
  Value root = Value::make_object();
  root.add("format_version", Value(1));
  root.add("traffic", Value(view.what));
  if (view.busiest) {
    root.add("busiest_link_time_s", Value(view.busiest->time.si()));
  }
  if (view.halves) {
    root.add("halves_time_s", Value(view.halves->si()));
  }
  Value list = Value::make_array();
  for (const Load& load : sorted_loads(topology, view.loads)) {
    Value item = Value::make_object();
    item.add("from", Value(begin_text(topology, load.lane)));
    item.add("to", Value(end_text(topology, load.lane)));
    item.add("bytes", Value(load.bytes.si()));
    item.add("time_s", Value(load.time.si()));
    list.push(std::move(item));
  }
  root.add("links", std::move(list));
  return root;
}

}  // namespace titer
