#include "step_remarks.hpp"

#include <fmt/format.h>

#include "titer/plan/place/network_port.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"
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

std::string contention_text(const Cluster& cluster, const SharedLinkUse& use) {
  const NetworkRouting routing =
      cluster.network_topology ? cluster.network_topology->routing_used() : NetworkRouting::minimal;
  return fmt::format(
      "links: transfers that met where they ask for more than a link has: {} different "
      "sets, seen again {} times; routing: {}\n",
      use.found,
      use.known,
      name_of(routing));
}

std::string narrow_port_text(const Cluster& cluster) {
  const auto port = narrow_port(cluster);
  return port ? fmt::format("NICs of {}: limited by port {}\n",
                            gigabits_text(cluster.nic_bandwidth),
                            gigabits_text(*port))
              : "";
}

Figures algorithm_figures(const TakenAlgorithm& at) {
  return {{"group", at.group},
          {"collective", name_of(at.collective)},
          {"bytes", at.size},
          {"algorithm", at.taken},
          {"time_s", at.time},
          {"by_closed_form", at.by_closed_form},
          {"by_closed_form_time_s", at.closed_form_time}};
}

}  // namespace

std::string gigabits_text(BytesPerSecond bandwidth) {
  constexpr double gigabits = 8e-9;
  return fmt::format("{:g} Gbps", gigabits * bandwidth.si());
}

std::string events_sentence(const StepResult& result) {
  const EventsBeside& events = *result.events;
  constexpr std::string_view why = "what runs beside compute slows it down";
  if (!events.iteration_time) {
    return fmt::format("events: {}; {} (--fidelity event)", events.why_not, why);
  }
  const Seconds time = *events.iteration_time;
  const bool outside =
      result.error_bar && (time < result.error_bar->low || time > result.error_bar->high);
  return fmt::format(
      "events: {}, {:+.1f} %{}: {}, which the closed form follows in part "
      "(--fidelity event)",
      format(time),
      100 * (time / result.iteration_time - 1),
      outside ? ", outside the range above" : "",
      why);
}

std::string remarks_text(const Scenario& scenario, const StepResult& result) {
  std::string text;
  if (result.contention) {
    text +=
        contention_text(scenario.cluster, *result.contention) + narrow_port_text(scenario.cluster);
  }
  for (const TakenAlgorithm& at : result.algorithms) {
    text += fmt::format("{}: {}\n", collective_title(at), taken_text(at));
  }
  if (result.events) {
    text += events_sentence(result) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

Figures remark_figures(const Scenario& scenario, const StepResult& result) {
  Figures figures;
  if (result.contention) {
    figures.push_back({"contention",
                       Figures{{"patterns_found", result.contention->found},
                               {"patterns_known", result.contention->known}}});
    if (const auto port = narrow_port(scenario.cluster)) {
      figures.push_back({"limited_by", "port " + gigabits_text(*port)});
    }
  }
  if (!result.algorithms.empty()) {
    figures.push_back({"algorithms", rows_of(result.algorithms, algorithm_figures)});
  }
  if (result.events) {
    figures.push_back({"event_iteration_time_s", result.events->iteration_time});
  }
  return figures;
}

std::string algorithms_text(const StepResult& result) {
  const auto words = [](const TakenAlgorithm& at) {
    return fmt::format("{}: {}", collective_title(at), taken_text(at));
  };
  return listed(result.algorithms, words, "; ");
}

}  // namespace titer
