#pragma once
// Training over time, and what it takes.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

/// How many devices a training run needs for a deadline or a budget, with failures, cost, energy
/// and carbon.
struct CapacityRequest {
  Asked question;       // or a run, which the changes complete
  bool search = false;  // the best of all plans for each number of devices, not the scenario's
  std::vector<std::string> measured = {};  // tables of runs to learn figures from
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t of)> progress = {};  // numbers of devices
};
[[nodiscard]] std::span<const Option<CapacityRequest>> capacity_options();
/// Good: some number of devices will do. Throws InputError.
[[nodiscard]] Answer ask(const CapacityRequest& request);

/// The same of models on clusters by deadlines, a row for each combination, sorted or the best of
/// each model or cluster. Or one run on other networks: its step, the communication that it exposes
/// and the busiest links, on the links of the whole cluster; each combination.
struct CompareRequest {
  Asked table;                  // or a run, which the changes complete; "": they say it all
  bool search = false;          // also where a run has a plan; without a run plans are searched for
  std::string sort = "asked";   // or days, dollars, devices, energy, carbon
  std::string best_of = "all";  // or model, cluster: by the order, otherwise by days
  std::vector<std::string> topologies = {};    // names or files; otherwise the run's
  std::vector<double> oversubscriptions = {};  // of fat trees and rails
  std::vector<double> failed_links = {};       // below 1: a share of them
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};
[[nodiscard]] std::span<const Option<CompareRequest>> compare_options();
/// Good: some combination will do. Throws InputError.
[[nodiscard]] Answer ask(const CompareRequest& request);

/// Phases on changing devices, jobs that share devices, federated rounds, or devices that follow
/// queries.
struct CourseRequest {
  Asked course;
  Fidelity fidelity = Fidelity::closed;
};
[[nodiscard]] std::span<const Option<CourseRequest>> course_options();
/// Good: all of it fits in memory. Throws InputError.
[[nodiscard]] Answer ask(const CourseRequest& request);

}  // namespace titer
