#include "titer/campaign/goodput.hpp"

#include <algorithm>
#include <cmath>

#include "titer/estimate/model_state.hpp"

namespace titer {
namespace {

Frequency per(double count, Seconds time) { return Frequency::from_si(count / time.si()); }

/// Shares of the time with k = 0, 1, … nodes in repair: Poisson's, up to where nothing is left to
/// fail, or hardly any more come.
std::vector<double> nodes_in_repair(const BreakingJob& job) {
  constexpr double negligible = 1e-20;
  constexpr double most_mean = 1e9;
  const double mean = std::min(job.rates.hardware * job.repair, most_mean);
  std::vector<double> shares = {0};  // their logarithms at first
  double largest = 0;
  for (std::int64_t k = 1; job.replicas_left(k - 1) > 0; ++k) {
    shares.push_back(shares.back() + std::log(mean / static_cast<double>(k)));
    largest = std::max(largest, shares.back());
    if (shares.back() < largest + std::log(negligible)) {
      break;
    }
  }
  double sum = 0;
  for (double& share : shares) {
    share = std::exp(share - largest);
    sum += share;
  }
  std::ranges::for_each(shares, [&](double& share) { share /= sum; });
  return shares;
}

/// What the nodes that are left make possible.
struct Capacity {
  double replicas = 0;  // there are on average, over all
  Frequency grown;      // how often replicas come back
};

Capacity capacity_left(const BreakingJob& job) {
  const std::vector<double> shares = nodes_in_repair(job);
  Capacity capacity;
  std::int64_t before = job.replicas;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const std::int64_t left = job.replicas_left(static_cast<std::int64_t>(k));
    capacity.replicas += shares[k] * static_cast<double>(left) / static_cast<double>(job.replicas);
    if (left < before) {
      capacity.grown += shares[k] * per(static_cast<double>(k), job.repair);
    }
    before = left;
  }
  return capacity;
}

/// What a checkpoint of the scenario and its loading take.
struct StateTimes {
  Bytes size;
  Seconds write{};
  Seconds stop{};  // of training
};

StateTimes state_times(const CheckpointPolicy& policy, const Scenario& scenario) {
  const auto nodes = static_cast<double>(plan_hosts(scenario));
  StateTimes times{.size = model_state(scenario).total()};
  times.write = times.size / std::min(policy.storage_bandwidth, nodes * policy.node_bandwidth);
  times.stop = times.write;
  const auto copied =
      policy.copy_bandwidth ? policy.copy_bandwidth : scenario.cluster.chip.host_link;
  if (policy.asynchronous && copied) {
    times.stop = times.size / (static_cast<double>(scenario.plan.devices()) * *copied);
  }
  times.stop += policy.pause;
  return times;
}

Seconds wanted_interval(const CheckpointPolicy& policy, Seconds checkpoint, Seconds mtbf) {
  if (policy.interval) {
    return *policy.interval;
  }
  switch (policy.rule) {
    case IntervalRule::young:
      return young_interval(checkpoint, mtbf);
    case IntervalRule::daly:
      return daly_interval(checkpoint, mtbf);
    case IntervalRule::best:
      break;
  }
  return best_interval(checkpoint, mtbf);
}

LostTime lost_time(
    const BreakingJob& job, double stretch, double planned, double slow, double capacity) {
  const Seconds mtbf = job.rates.mtbf();
  const Seconds again = job.restart + job.lag;
  const double running = capacity / (slow * planned * stretch);  // of a useful second
  LostTime lost;
  lost.too_few_nodes = 1 - capacity;
  lost.slow_devices = capacity * (1 - 1 / slow);
  lost.checkpoints = running * (job.checkpoint / job.interval);
  const double tries = std::expm1((job.interval + job.checkpoint) / mtbf) * (mtbf / job.interval);
  const double restarts = tries * std::expm1(again / mtbf);
  const double after_failures = again > Seconds{} ? job.restart / again : 1;
  lost.restarts = capacity / slow * (1 - 1 / planned) + running * restarts * after_failures;
  lost.rework =
      running * (tries - 1 - job.checkpoint / job.interval + restarts * (1 - after_failures));
  return lost;
}

}  // namespace

FailureRates failure_rates(const Reliability& reliability,
                           std::int64_t devices,
                           std::int64_t nodes) {
  FailureRates rates;
  for (const Component& component : reliability.components) {
    double count = component.count;
    if (component.per != FailureUnit::job) {
      count *= static_cast<double>(component.per == FailureUnit::device ? devices : nodes);
    }
    Frequency& rate = component.failure == Failure::hardware   ? rates.hardware
                      : component.failure == Failure::software ? rates.software
                                                               : rates.planned;
    rate += per(count, component.mtbf);
  }
  return rates;
}

Seconds young_interval(Seconds checkpoint, Seconds mtbf) {
  return Seconds::from_si(std::sqrt(2 * checkpoint.si() * mtbf.si()));
}

Seconds daly_interval(Seconds checkpoint, Seconds mtbf) {
  if (checkpoint >= 2 * mtbf) {
    return mtbf;
  }
  const double half = checkpoint / (2 * mtbf);
  return young_interval(checkpoint, mtbf) * (1 + std::sqrt(half) / 3 + half / 9) - checkpoint;
}

Seconds best_interval(Seconds checkpoint, Seconds mtbf) {
  // The logarithm of the condition, x + C/M + ln(1 - x) = 0 with x = T/M, falls from C/M.
  constexpr int halvings = 60;
  const double cost = checkpoint / mtbf;
  double low = 0;
  double high = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (middle + cost + std::log1p(-middle) > 0 ? low : high) = middle;
  }
  return low * mtbf;
}

double time_stretch(Seconds interval, Seconds checkpoint, Seconds restart, Seconds mtbf) {
  return mtbf / interval * std::exp(restart / mtbf) * std::expm1((interval + checkpoint) / mtbf);
}

std::int64_t BreakingJob::replicas_left(std::int64_t in_repair) const {
  const std::int64_t missing = std::max<std::int64_t>(0, in_repair - spare_nodes);
  if (missing == 0) {
    return replicas;
  }
  if (without == WithoutSpare::wait) {
    return 0;
  }
  const double lost = std::ceil(static_cast<double>(missing) * replicas_per_node);
  return std::max<std::int64_t>(0, replicas - static_cast<std::int64_t>(lost));
}

Goodput goodput(const BreakingJob& job) {
  const Capacity capacity = capacity_left(job);
  Frequency again = job.rates.planned + job.becoming_slow;
  if (job.without == WithoutSpare::shrink) {
    again += capacity.grown;
  }
  const double stretch =
      time_stretch(job.interval, job.checkpoint, job.restart + job.lag, job.rates.mtbf());
  const double planned = 1 + again * (job.checkpoint + job.restart);
  const double slow_share = -std::expm1(-(job.becoming_slow * job.slow_detect));
  const double slow = 1 / (1 - slow_share * (1 - 1 / job.slowdown));
  Goodput result{.fraction = capacity.replicas / (stretch * planned * slow),
                 .checkpoint_interval = job.interval,
                 .lost = {},
                 .job = job};
  if (std::isfinite(stretch)) {
    result.lost = lost_time(job, stretch, planned, slow, capacity.replicas);
  }
  return result;
}

std::int64_t spare_nodes(const Reliability& reliability, std::int64_t nodes) {
  return static_cast<std::int64_t>(
      std::ceil(reliability.spares.share * static_cast<double>(nodes)));
}

Goodput goodput(const Reliability& reliability, const Scenario& scenario, Seconds iteration_time) {
  const std::int64_t devices = scenario.plan.devices();
  const std::int64_t nodes = plan_hosts(scenario);
  const StateTimes state = state_times(reliability.checkpoint, scenario);
  BreakingJob job{.rates = failure_rates(reliability, devices, nodes)};
  job.checkpoint = state.stop;
  job.lag = reliability.checkpoint.asynchronous ? state.write : Seconds{};
  job.restart = reliability.detect + reliability.reschedule + reliability.start + state.write;
  const Seconds wanted =
      std::max(wanted_interval(reliability.checkpoint, job.checkpoint, job.rates.mtbf()), job.lag);
  job.interval = std::max(1.0, std::round(wanted / iteration_time)) * iteration_time;
  job.replicas = scenario.plan.data;
  job.replicas_per_node = static_cast<double>(scenario.plan.data) / static_cast<double>(nodes);
  job.spare_nodes = spare_nodes(reliability, nodes);
  job.repair = reliability.spares.repair;
  job.without = reliability.spares.without;
  if (const auto& slow = reliability.slow_devices) {
    job.becoming_slow = per(static_cast<double>(devices), slow->mtbf);
    job.slowdown = slow->slowdown;
    job.slow_detect = slow->detect;
  }
  Goodput result = goodput(job);
  result.checkpoint_size = state.size;
  return result;
}

}  // namespace titer
