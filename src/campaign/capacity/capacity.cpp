#include "titer/campaign/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "capacity_bill.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Tokens in a second of the whole time.
double useful_rate(const CapacityPoint& point) {
  return point.planned.step.tokens_per_s * point.goodput.fraction;
}

/// As long as deadline and budget allow. REQUIRES one of them.
Seconds allowed_time(const CapacityQuestion& question, const CapacityPoint& point) {
  Seconds time = question.deadline.value_or(Seconds::from_si(std::numeric_limits<double>::max()));
  time = std::max(Seconds{}, time - point.others);
  if (question.budget) {
    const double left = std::max(0.0, *question.budget - point.fixed_dollars);
    const Seconds least =
        device_price(*question.economy, question.scenario.cluster.chip).commitment - point.others;
    const Seconds paid = affordable_time(question, point, left, std::max(time, least));
    time = paid < least ? Seconds{} : std::min(time, paid);
  }
  return time;
}

/// REQUIRES its time.
std::optional<TrainingTime> spread_of(const CapacityQuestion& question,
                                      const CapacityPoint& point) {
  TrainingSamples samples = samples_of(point.planned.step);
  samples.samples = question.samples;
  samples.seed = question.seed;
  if (question.deadline) {
    samples.deadline = std::max(Seconds{}, *question.deadline - point.others);
  }
  if (question.reliability) {
    return simulate_training(point.goodput.job, point.goodput.fraction * point.time, samples);
  }
  return point.planned.step.error_bar ? std::optional(time_of_steps(samples, point.time))
                                      : std::nullopt;
}

void fill_time(const CapacityQuestion& question, CapacityPoint& point) {
  const double rate = useful_rate(point);
  for (const OtherRuns& runs : question.other_runs) {
    point.others += runs.device_time() / static_cast<double>(point.devices);
  }
  if (question.economy) {
    point.fixed_dollars = fixed_dollars(question, point);
  }
  if (question.deadline || question.budget) {
    point.possible = rate * allowed_time(question, point).si();
  }
  point.tokens = question.tokens ? *question.tokens : *point.possible;
  point.time = Seconds::from_si(point.tokens / rate);
  point.spread = spread_of(question, point);
  if (question.economy) {
    fill_bill(question, point);
  }
}

bool in_budget(const CapacityQuestion& question, const CapacityPoint& point) {
  return !question.budget || *point.bill->dollars <= *question.budget;
}

/// Of the points that may be, the one of which `figure` is least; the first of equal ones.
template <class May, class Figure>
std::optional<std::size_t> least(const std::vector<CapacityPoint>& points,
                                 const May& may,
                                 const Figure& figure) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].has_plan() && may(points[i]) &&
        (!best || figure(points[i]) < figure(points[*best]))) {
      best = i;
    }
  }
  return best;
}

const auto kTimeOf = [](const CapacityPoint& point) { return point.whole_time(); };
const auto kDollarsOf = [](const CapacityPoint& point) { return *point.bill->dollars; };
const auto kAny = [](const CapacityPoint& /*point*/) { return true; };

/// Where devices wait for sequences, not for a plan.
std::string batch_advice(const CapacityQuestion& question, const CapacityPoint& fastest) {
  const Scenario& scenario = *fastest.planned.scenario;
  return question.batch == BatchRule::fixed && scenario.micro_batches() == 1
             ? fmt::format(
                   "; a batch of {} has no work for more replicas, a larger one has (--set "
                   "training.global_batch=N, or --set batch=scaled)",
                   scenario.training.global_batch)
             : "";
}

void fill_misses(const CapacityQuestion& question, CapacityResult& result) {
  const auto fastest = least(result.points, kAny, kTimeOf);
  if (!fastest) {
    result.misses.emplace_back("no number of devices has a plan that fits");
    return;
  }
  const CapacityPoint& fast = result.points[*fastest];
  if (!keeps_deadline(question, fast)) {
    result.misses.push_back(
        fast.whole_time() > *question.deadline
            ? fmt::format(
                  "the deadline is missed by {:.1f} days: the fastest, {} devices, take {:.1f}",
                  (fast.whole_time() - *question.deadline) / kDay,
                  fast.devices,
                  fast.whole_time() / kDay)
            : fmt::format("the deadline is kept by {:.0f} % of the runs: the fastest, {} devices, "
                          "take {:.1f} days on average",
                          100 * chance_in_time(question, fast),
                          fast.devices,
                          fast.whole_time() / kDay));
    result.misses.back() += batch_advice(question, fast);
  }
  if (!question.budget) {
    return;
  }
  const auto amount = [&](double dollars) { return question.currency.amount_of(dollars); };
  const CapacityPoint& cheap = result.points[*least(result.points, kAny, kDollarsOf)];
  if (!in_budget(question, cheap)) {
    result.misses.push_back(
        fmt::format("the budget is exceeded by {:.0f} {}: the cheapest, {} devices, cost {:.0f}",
                    amount(*cheap.bill->dollars - *question.budget),
                    question.currency.words(),
                    cheap.devices,
                    amount(*cheap.bill->dollars)));
  }
  if (result.misses.empty()) {
    const auto timely = [&](const CapacityPoint& point) { return keeps_deadline(question, point); };
    const CapacityPoint& both = result.points[*least(result.points, timely, kDollarsOf)];
    result.misses.push_back(
        fmt::format("deadline and budget are not met together: the cheapest in time, {} devices, "
                    "cost {:.0f} {} more than the budget",
                    both.devices,
                    amount(*both.bill->dollars - *question.budget),
                    question.currency.words()));
  }
}

/// What a little more time or more devices than the fewest make of it.
void fill_neighbours(const CapacityQuestion& question, CapacityResult& result) {
  const std::int64_t fewest = result.points[*result.fewest].devices;
  const auto devices = [](const CapacityPoint& point) { return point.devices; };
  const auto is_more = [&](const CapacityPoint& point) {
    return point.devices > fewest && in_budget(question, point);
  };
  result.more = least(result.points, is_more, devices);
  if (question.deadline) {
    CapacityQuestion with_more = question;
    *with_more.deadline += kLater;
    const auto keeps_later = [&](const CapacityPoint& point) {
      return point.devices < fewest && !question.chance && keeps_deadline(with_more, point) &&
             in_budget(question, point);
    };
    result.later = least(result.points, keeps_later, devices);
    if (result.later) {
      result.later_spread = spread_of(with_more, result.points[*result.later]);
    }
  }
}

/// The same plan with faster interfaces; nothing where nodes are not joined by any, or need none.
std::optional<Seconds> time_with_faster_network(const CapacityPoint& point) {
  Scenario scenario = *point.planned.scenario;
  if (scenario.cluster.nics == 0 || plan_nodes(scenario) < 2) {
    return std::nullopt;
  }
  scenario.cluster.nic_bandwidth = kFasterNetwork * scenario.cluster.nic_bandwidth;
  if (!validate(scenario).empty()) {
    return std::nullopt;
  }
  Estimator estimator;
  StepResult step;
  evaluate(scenario, usual_fidelity(scenario), estimator, step);
  return point.others + (step.iteration_time / point.planned.step.iteration_time) * point.time;
}

void fill_answers(const CapacityQuestion& question, CapacityResult& result) {
  if (question.deadline || question.budget) {
    const auto possible = [](const CapacityPoint& point) { return -*point.possible; };
    result.most = least(result.points, kAny, possible);
  }
  if (!question.tokens) {
    if (!result.most) {
      fill_misses(question, result);
    }
    return;
  }
  const auto may = [&](const CapacityPoint& point) {
    return keeps_deadline(question, point) && in_budget(question, point);
  };
  const auto devices = [](const CapacityPoint& point) { return point.devices; };
  result.fewest = least(result.points, may, devices);
  result.fastest = least(result.points, may, kTimeOf);
  const auto may_cost = [&](const CapacityPoint& point) {
    return may(point) && point.bill && point.bill->dollars;
  };
  result.cheapest = least(result.points, may_cost, kDollarsOf);
  if (question.deadline) {
    const auto surely = [&](const CapacityPoint& point) {
      return may(point) && point.spread && point.others + point.spread->high <= *question.deadline;
    };
    result.certain = least(result.points, surely, devices);
  }
  if (result.fewest) {
    fill_neighbours(question, result);
  } else {
    fill_misses(question, result);
  }
  if (const auto seen = result.fewest ? result.fewest : least(result.points, kAny, kTimeOf)) {
    result.faster_network = time_with_faster_network(result.points[*seen]);
  }
}

/// Everything is in proportion to the work, which devices of a later year do faster.
void fill_years(const CapacityQuestion& question, CapacityResult& result) {
  if (!question.growth) {
    return;
  }
  for (int year = 0; year <= question.growth->years; ++year) {
    const double demand = std::pow(question.growth->demand, year);
    const double work = demand / std::pow(question.growth->performance, year);
    CapacityYear row{.year = year, .tokens = demand * *question.tokens};
    row.point = least(
        result.points,
        [&](const CapacityPoint& point) { return work * point.time <= *question.deadline; },
        [](const CapacityPoint& point) { return point.devices; });
    if (row.point) {
      const CapacityPoint& point = result.points[*row.point];
      row.time = work * point.time;
      if (point.bill && point.bill->dollars) {
        row.dollars = work * *point.bill->dollars;
      }
    }
    result.years.push_back(row);
  }
}

}  // namespace

CapacityPoint capacity_point(const CapacityQuestion& question,
                             const PlanFinder& plan,
                             std::int64_t devices) {
  CapacityPoint point{.devices = devices, .planned = plan(question, devices)};
  if (!point.has_plan()) {
    return point;
  }
  const Scenario& scenario = *point.planned.scenario;
  point.nodes = plan_hosts(scenario);
  if (question.reliability) {
    point.goodput = goodput(*question.reliability, scenario, point.planned.step.iteration_time);
    const std::int64_t per_host = std::min(devices_per_host(scenario.cluster), devices);
    point.spare_devices = spare_nodes(*question.reliability, point.nodes) * per_host;
  }
  constexpr double least_goodput = 1e-3;
  if (!(point.goodput.fraction >= least_goodput)) {
    point.planned.problem = "fails faster than it starts again";
    point.planned.scenario.reset();
    return point;
  }
  for (const OtherRuns& runs : question.other_runs) {
    if (runs.devices > devices) {
      point.planned.problem = fmt::format("{} beside it needs {} devices", runs.name, runs.devices);
      point.planned.scenario.reset();
      return point;
    }
  }
  fill_time(question, point);
  return point;
}

double chance_in_time(const CapacityQuestion& question, const CapacityPoint& point) {
  const bool is_mean_in_time = point.whole_time() <= *question.deadline;
  return point.spread && point.spread->in_time ? *point.spread->in_time : is_mean_in_time ? 1 : 0;
}

bool keeps_deadline(const CapacityQuestion& question, const CapacityPoint& point) {
  return !question.deadline ||
         (question.chance ? chance_in_time(question, point) >= *question.chance
                          : point.whole_time() <= *question.deadline);
}

CapacityResult capacity_of(const CapacityQuestion& question, std::vector<CapacityPoint> points) {
  CapacityResult result{.points = std::move(points)};
  fill_answers(question, result);
  fill_years(question, result);
  return result;
}

CapacityResult find_capacity(const CapacityQuestion& question, const PlanFinder& plan) {
  std::vector<CapacityPoint> points = each_of(question.devices, [&](const std::int64_t devices) {
    return capacity_point(question, plan, devices);
  });
  return capacity_of(question, std::move(points));
}

std::vector<std::string> capacity_notes(const CapacityQuestion& question,
                                        const CapacityResult& result) {
  std::vector<std::string> missing;
  std::vector<std::int64_t> planned;
  std::vector<std::string> uneven;
  const auto add = [](std::string one, std::vector<std::string>& list) {
    if (!includes(list, one)) {
      list.push_back(std::move(one));
    }
  };
  for (const CapacityPoint& point : result.points) {
    if (!point.has_plan()) {
      continue;
    }
    planned.push_back(point.devices);
    for (std::string& one : beyond_software(question.abilities, *point.planned.scenario)) {
      add(std::move(one), missing);
    }
    for (std::string& one : plan_notes(*point.planned.scenario)) {
      add(std::move(one), uneven);
    }
    const Cluster& cluster = point.planned.scenario->cluster;
    if (question.economy && cluster.devices_per_node < cluster.devices_of_whole_node()) {
      add("dollars, energy and carbon are of the devices that are used, not of whole nodes",
          uneven);
    }
  }
  std::vector<std::string> notes =
      notes_of(question.sequence_note, question.scenario.stack.name, missing);
  if (question.economy && !question.economy->assumed.empty()) {
    notes.push_back(question.economy->assumed);
  }
  add_slice_notes(question.scenario.cluster, planned, notes);
  notes.insert(notes.end(), uneven.begin(), uneven.end());
  notes.insert(notes.end(), question.source_notes.begin(), question.source_notes.end());
  return notes;
}

}  // namespace titer
