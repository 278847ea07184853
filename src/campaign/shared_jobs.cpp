#include "titer/campaign/shared_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/campaign/economy.hpp"
#include "titer/units/text.hpp"

namespace titer {

double sharing_slowdown(std::span<const double> loads) {
  double sum = 0;
  for (const double load : loads) {
    sum += load;
  }
  return std::max(1.0, sum);
}

double SharingResult::saved_share() const {
  return 1 - slowdown / static_cast<double>(jobs.size());
}

SharingResult follow(const SharedJobs& course, Fidelity fidelity) {
  SharingResult result;
  Estimator estimator;
  StepResult step;
  std::vector<double> loads;
  for (const SharedJob& job : course.jobs) {
    evaluate(job.scenario, fidelity, estimator, step);
    loads.push_back(job.load.value_or(computing_share(step)));
    result.jobs.push_back({.name = job.name,
                           .load = loads.back(),
                           .alone = step.iteration_time,
                           .memory = step.memory_peak});
    result.devices = step.devices;
    result.load += loads.back();
    result.memory += step.memory_peak;
    result.capacity = result.jobs.size() == 1 ? step.memory_capacity
                                              : std::min(result.capacity, step.memory_capacity);
  }
  result.slowdown = sharing_slowdown(loads);
  const auto devices = static_cast<double>(result.devices);
  for (SharedJobResult& job : result.jobs) {
    job.shared = result.slowdown * job.alone;
    job.device_time_alone = devices * job.alone;
    job.device_time_shared = job.load / result.load * devices * job.shared;
  }
  return result;
}

std::string memory_sentence(const SharingResult& result) {
  std::string names;
  std::string parts;
  for (const SharedJobResult& job : result.jobs) {
    const bool is_last = &job == &result.jobs.back();
    names += (names.empty() ? "" : is_last ? " and " : ", ") + job.name;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", job.name, format(job.memory));
  }
  return fmt::format("{}: {} need {} of {} together: {}",
                     result.fits() ? "fits" : "does not fit",
                     names,
                     format(result.memory),
                     format(result.capacity),
                     parts);
}

}  // namespace titer
