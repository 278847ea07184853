#include "step_remarks.hpp"

#include <fmt/format.h>

#include "titer/units/text.hpp"

namespace titer {
namespace {

/// "expert all-to-all of 256 MiB".
std::string collective_title(const TakenAlgorithm& at) {
  return fmt::format("{} {} of {}", at.group, name_of(at.collective), format(at.size));
}

/// "taken: rail-direct, 5.9 ms; the closed form would take two-tier-direct, 21.1 ms here".
std::string taken_text(const TakenAlgorithm& at) {
  return fmt::format("taken: {}, {}; the closed form would take {}, {} here",
                     at.taken,
                     format(at.time),
                     at.by_closed_form,
                     format(at.closed_form_time));
}

std::string contention_text(const SharedLinkUse& use) {
  return fmt::format(
      "links: transfers that met where they ask for more than a link has: {} different "
      "sets, seen again {} times; routing: minimal\n",
      use.found,
      use.known);
}

/// "400 Gbps", as ports are sold.
std::string gigabits_text(BytesPerSecond bandwidth) {
  constexpr double gigabits = 8e-9;
  return fmt::format("{:g} Gbps", gigabits * bandwidth.si());
}

/// "port 400 Gbps", where the ports of the network's topology carry less than the NICs at them.
std::string narrow_port(const Cluster& cluster) {
  if (!cluster.network_topology) {
    return {};
  }
  BytesPerSecond port;
  for (const Wire& wire : build(*cluster.network_topology).wires) {
    if (wire.a == 0 || wire.b == 0) {
      port += static_cast<double>(wire.count) * wire.bandwidth;
    }
  }
  return port < cluster.nic_bandwidth ? "port " + gigabits_text(port) : "";
}

std::string narrow_port_text(const Cluster& cluster) {
  const std::string port = narrow_port(cluster);
  return port.empty()
             ? ""
             : fmt::format(
                   "NICs of {}: limited by {}\n", gigabits_text(cluster.nic_bandwidth), port);
}

std::string events_text(const StepResult& result) {
  const EventsBeside& events = *result.events;
  constexpr std::string_view why = "what runs beside compute slows it down";
  if (!events.iteration_time) {
    return fmt::format("events: {}; {} (--fidelity event)\n", events.why_not, why);
  }
  const Seconds time = *events.iteration_time;
  const bool outside =
      result.error_bar && (time < result.error_bar->low || time > result.error_bar->high);
  return fmt::format(
      "events: {}, {:+.1f} %{}: {}, which the closed form does not follow "
      "(--fidelity event)\n",
      format(time),
      100 * (time / result.iteration_time - 1),
      outside ? ", outside the range above" : "",
      why);
}

Value algorithm_json(const TakenAlgorithm& at) {
  Value json = Value::make_object();
  json.add("group", Value(at.group));
  json.add("collective", Value(name_of(at.collective)));
  json.add("bytes", Value(at.size.si()));
  json.add("algorithm", Value(at.taken));
  json.add("time_s", Value(at.time.si()));
  json.add("by_closed_form", Value(at.by_closed_form));
  json.add("by_closed_form_time_s", Value(at.closed_form_time.si()));
  return json;
}

}  // namespace

std::string remarks_text(const Scenario& scenario, const StepResult& result) {
  std::string text;
  if (result.contention) {
    text += contention_text(*result.contention) + narrow_port_text(scenario.cluster);
  }
  for (const TakenAlgorithm& at : result.algorithms) {
    text += fmt::format("{}: {}\n", collective_title(at), taken_text(at));
  }
  if (result.events) {
    text += events_text(result);
  }
  return text.empty() ? text : text + "\n";
}

void add_remarks(const Scenario& scenario, const StepResult& result, Value& json) {
  if (result.contention) {
    Value contention = Value::make_object();
    contention.add("patterns_found", Value(static_cast<std::int64_t>(result.contention->found)));
    contention.add("patterns_known", Value(static_cast<std::int64_t>(result.contention->known)));
    json.add("contention", std::move(contention));
    if (std::string port = narrow_port(scenario.cluster); !port.empty()) {
      json.add("limited_by", Value(std::move(port)));
    }
  }
  if (!result.algorithms.empty()) {
    Value algorithms = Value::make_array();
    for (const TakenAlgorithm& at : result.algorithms) {
      algorithms.push(algorithm_json(at));
    }
    json.add("algorithms", std::move(algorithms));
  }
  if (result.events) {
    const auto& time = result.events->iteration_time;
    json.add("event_iteration_time_s", time ? Value(time->si()) : Value());
  }
}

std::string algorithms_text(const StepResult& result) {
  std::string all;
  for (const TakenAlgorithm& at : result.algorithms) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", collective_title(at), taken_text(at));
  }
  return all;
}

MoreCells remark_cells(const StepResult& result) {
  MoreCells more;
  if (!result.algorithms.empty()) {
    more.columns.emplace_back("algorithms");
    more.cells.push_back(algorithms_text(result));
  }
  if (result.events) {
    const auto& time = result.events->iteration_time;
    more.columns.emplace_back("event_iteration_time_s");
    more.cells.push_back(time ? number_text(time->si()) : "");
  }
  return more;
}

}  // namespace titer
