#include "error_bar.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

Grade worse(Grade a, Grade b) { return std::max(a, b); }

/// The weakest evidence of their efficiencies; the best there is when there are none.
Grade weakest(const std::vector<Protocol>& protocols) {
  Grade grade{};
  for (const Protocol& protocol : protocols) {
    grade = worse(grade, protocol.grade);
  }
  return grade;
}

/// How far off fits leave the times of kernels, and those of transfers.
FitErrors kernel_errors(const Scenario& scenario) {
  FitErrors errors = scenario.cluster.chip.fit_errors;
  for (const Chip& other : scenario.conditions.chips) {
    errors = errors.wider(other.fit_errors);
  }
  return errors;
}

FitErrors transfer_errors(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  return scenario.plan.devices() > cluster.devices_per_node
             ? cluster.fit_errors.wider(cluster.network_fit_errors)
             : cluster.fit_errors;
}

/// What fits of chip and network leave open, each for its part of the step. Transfers beside
/// compute count where they may be longer: they may come out of its shadow.
ErrorBar error_of_parts(const Scenario& scenario, const StepResult& result) {
  Seconds exposed = result.breakdown.pipeline_comm;
  Seconds all = result.comm_total.pipeline;
  for (const CommSlots& slots : kCommSlots) {
    exposed += result.breakdown.*slots.exposed;
    all += result.comm_total.*slots.total;
  }
  const FitErrors kernels = kernel_errors(scenario);
  const FitErrors transfers = transfer_errors(scenario);
  const Seconds time = result.iteration_time;
  const Seconds computed = std::max(Seconds{}, time - exposed);
  return {.low = time - (1.0 - kernels.low) * computed - (1.0 - transfers.low) * exposed,
          .high = time + (kernels.high - 1.0) * computed +
                  (transfers.high - 1.0) * std::max(all, exposed)};
}

/// The public runs of its software that were of its kind of model, chip and precision.
const SupportCell* runs_like(const Scenario& scenario) {
  const std::string_view precision = name(scenario.training.precision);
  const auto& all = scenario.stack.measured;
  const auto found = std::ranges::find_if(all, [&](const SupportCell& cell) {
    const Combination& of = cell.combination;
    return of.precision == precision && of.chip == scenario.cluster.chip.name &&
           of.model == scenario.kind();
  });
  return found == all.end() ? nullptr : &*found;
}

// Of the mean error of one half of a combination's public runs, four of five of the other half lie
// within so many: 1.53 over all combinations of ten runs or more.
constexpr double kMeanErrors = 1.5;
// So many runs weigh as much as what is expected of results of a grade.
constexpr double kWeightOfGrade = 5;

/// How far a side of the bar goes, of logarithms: `expected` beforehand, with what is left of the
/// runs' own errors.
double with_runs(double expected, const SupportCell& like, double left) {
  const auto runs = static_cast<double>(like.runs);
  const double own = kMeanErrors * like.mean_error * left;
  return std::sqrt((kWeightOfGrade * expected * expected + runs * own * own) /
                   (kWeightOfGrade + runs));
}

/// By how far off measured runs of the software were: of results of this grade, and as far as there
/// are any of those like this one, unless it asks what would be. Where runs were measured, but none
/// like it, no narrower than those that a fit had not seen.
std::optional<ErrorShares> errors_of(const Scenario& scenario, Grade grade) {
  const Stack& stack = scenario.stack;
  const auto& unseen = stack.errors[static_cast<std::size_t>(Grade::extrapolated)];
  if (grade == Grade::given) {
    return unseen;
  }
  std::optional<ErrorShares> errors = stack.errors[static_cast<std::size_t>(grade)];
  if (!errors || stack.measured.empty()) {
    return errors;
  }
  if (const SupportCell* like = runs_like(scenario)) {
    errors->low = std::exp(-with_runs(std::log(errors->low), *like, stack.run_errors));
    errors->high = std::exp(with_runs(std::log(errors->high), *like, stack.run_errors));
  } else if (unseen) {
    errors->low = std::min(errors->low, unseen->low);
    errors->high = std::max(errors->high, unseen->high);
  }
  return errors;
}

}  // namespace

Grade grade_of(const Scenario& scenario) {
  const Chip& chip = scenario.cluster.chip;
  Grade grade = worse(chip.rate(scenario.training.precision)->grade, chip.memory.grade);
  for (const Chip& other : scenario.conditions.chips) {
    grade = worse(grade, worse(other.rate(scenario.training.precision)->grade, other.memory.grade));
  }
  if (scenario.stack.evidence.has_given()) {
    grade = Grade::given;
  }
  if (scenario.plan.devices() > 1) {
    grade = worse(grade, weakest(scenario.cluster.node_protocols));
    grade = worse(grade, weakest(scenario.cluster.node_switch_protocols));
  }
  if (scenario.plan.devices() > scenario.cluster.devices_per_node) {
    grade = worse(grade, weakest(scenario.cluster.network_protocols));
    grade = worse(grade, weakest(scenario.cluster.network_switch_protocols));
  }
  return grade;
}

std::optional<ErrorBar> error_bar_of(const Scenario& scenario, const StepResult& result) {
  const auto errors = errors_of(scenario, result.grade);
  if (!errors || scenario.formula != Formula::titer) {
    return std::nullopt;
  }
  const ErrorBar parts = error_of_parts(scenario, result);
  return ErrorBar{.low = std::min(errors->low * result.iteration_time, parts.low),
                  .high = std::max(errors->high * result.iteration_time, parts.high)};
}

}  // namespace titer
