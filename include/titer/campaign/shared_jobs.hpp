#pragma once
// Several jobs that take turns on the same devices: job multiplexing.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/simulate/evaluate.hpp"

namespace titer {

struct SharedJob {
  std::string name;
  Scenario scenario;
  std::optional<double> load;  // share of its iteration that its devices compute; else by breakdown
};

/// Jobs on one set of devices. REQUIRES as many devices of the same chip in all.
struct SharedJobs {
  std::vector<SharedJob> jobs;
};

/// What every job's iteration takes over what it takes alone: max(1, sum of the loads). A job
/// computes while others wait for their communication; beyond what the devices can do all are
/// slowed alike. It is the least: jobs that want a device at the same instant wait for one another,
/// unless they fall into step, as those of equally long iterations do.
[[nodiscard]] double sharing_slowdown(std::span<const double> loads);

struct SharedJobResult {
  std::string name;
  double load = 0;
  Seconds alone{};   // an iteration
  Seconds shared{};  // an iteration beside the others
  Bytes memory{};    // peak of a device
  // Device time of an iteration: alone, and the part of the shared devices' that its load is of
  // all.
  Seconds device_time_alone{};
  Seconds device_time_shared{};
};

struct SharingResult {
  std::vector<SharedJobResult> jobs;
  std::int64_t devices = 0;
  double load = 0;      // the sum
  double slowdown = 1;  // of every job
  Bytes memory;         // the sum of the peaks: nothing is moved away between turns
  Bytes capacity;       // of a device; the least that a job knows of

  [[nodiscard]] bool fits() const { return memory <= capacity; }
  /// Of the device time that as many jobs take on devices of their own, for the same iterations:
  /// 1 - slowdown / jobs.
  [[nodiscard]] double saved_share() const;
};

/// Throws InputError where the fidelity does not go with a job.
[[nodiscard]] SharingResult follow(const SharedJobs& course, Fidelity fidelity);

/// "does not fit: train and tune need 91.2 GiB of 80 GiB together: train 60 GiB, tune 31.2 GiB"
[[nodiscard]] std::string memory_sentence(const SharingResult& result);

}  // namespace titer
