#include "doctor_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "titer/trace/trace_comparison.hpp"
#include "titer/trace/trace_ranks.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// Fills a report's comparison.
class StepComparer {
 public:
  StepComparer(const DoctorFiles& files, const ScenarioProbe& probe, DoctorReport& report)
      : files_(files), probe_(probe), report_(report) {}

  void run() {
    const StepResult& step = probe_.base();
    std::optional<TraceRanks> ranks;
    if (!files_.traces.empty()) {
      ranks = join_ranks(files_.traces);
    }
    if (!files_.logs.empty()) {
      compare_log(files_.logs.front(), step);
    }
    if (ranks && ranks->mean.world_size &&
        *ranks->mean.world_size != probe_.scenario().plan.devices()) {
      report_.findings.push_back(
          fmt::format("{} is of {} ranks, the run has {} devices: another run",
                      files_.traces.front().source,
                      *ranks->mean.world_size,
                      probe_.scenario().plan.devices()));
    }
    const bool timed = ranks && !ranks->mean.only_shares;
    if (timed && !report_.measured) {
      report_.measured = ranks->mean.time;
      report_.measured_by = ranks->mean.source;
      add_figure("iteration_time_s", "iteration", step.iteration_time, *report_.measured);
    }
    if (!report_.measured) {
      report_.causes.clear();
      return;
    }
    Seconds rest = *report_.measured - *report_.predicted;
    for (const DoctorCause& cause : report_.causes) {
      rest -= cause.time;
    }
    if (timed) {
      rest -= share_out(*ranks);
      add_cause(
          report_,
          "beyond the traced steps",
          rest,
          fmt::format("{} has {}, the traced steps take {}: a profiler's cost where it is below "
                      "zero, or steps that were not typical",
                      report_.measured_by,
                      format(*report_.measured),
                      format(ranks->mean.time)));
    } else {
      add_cause(report_, "not told apart", rest, "a trace of a rank would share it out");
    }
    std::ranges::stable_sort(report_.causes, [](const DoctorCause& a, const DoctorCause& b) {
      return std::abs(a.time.si()) > std::abs(b.time.si());
    });
  }

 private:
  void compare_log(const TrainingLog& log, const StepResult& step) {
    const Scenario& scenario = probe_.scenario();
    const auto samples = static_cast<double>(scenario.training.global_batch);
    const double tokens = step.tokens_per_s_per_device * step.iteration_time.si();
    const auto time = iteration_time(log, samples, tokens);
    if (time) {
      report_.measured = time;
      report_.measured_by = log.source;
      add_figure("iteration_time_s", "iteration", step.iteration_time, *time);
      report_.figures.push_back({.key = "tokens_per_s_per_device",
                                 .label = "tokens/s of a device",
                                 .predicted = step.tokens_per_s_per_device,
                                 .measured = tokens / time->si(),
                                 .style = {.format = "{:.5g}"}});
    }
    if (log.flops) {
      add_figure("model_flops_per_device",
                 "FLOP/s of a device",
                 step.model_flops_per_device,
                 FlopsPerSecond::from_si(log.flops->median));
    }
    if (log.memory) {
      add_figure("memory_peak_bytes", "most memory", step.memory_peak, *log.memory);
    }
    for (const std::string& remark : log.remarks) {
      report_.findings.push_back(log.source + ": " + remark);
    }
  }

  /// Adds a cause for each term of the trace; their sum.
  Seconds share_out(const TraceRanks& ranks) {
    const std::optional<int> rank = ranks.ranks.size() == 1 ? ranks.mean.rank : std::nullopt;
    const PredictedStep predicted = predict_step(probe_.scenario(), rank);
    const TraceComparison comparison = compare(ranks.mean, &predicted);
    Seconds sum;
    for (const TraceTerm& term : comparison.terms) {
      const Seconds difference = term.difference().value_or(Seconds{});
      std::string evidence =
          fmt::format("measured {}, predicted {}",
                      format(term.measured.counted),
                      format(term.predicted ? term.predicted->counted : Seconds{}));
      for (const std::string& reading : comparison.readings) {
        if (reading.starts_with(term.name + ": ")) {
          evidence = reading.substr(term.name.size() + 2);
        }
      }
      add_cause(report_, term.name, difference, std::move(evidence));
      sum += difference;
    }
    if (const std::string late = straggler_sentence(ranks); !late.empty()) {
      report_.findings.push_back(late);
    }
    for (const std::string& remark : comparison.remarks) {
      report_.findings.push_back(remark);
    }
    return sum;
  }

  template <class Q>
  void add_figure(std::string key, std::string label, Q predicted, Q measured) {
    report_.figures.push_back({.key = std::move(key),
                               .label = std::move(label),
                               .predicted = predicted.si(),
                               .measured = measured.si(),
                               .style = kUnitsOf<Q>});
  }

  const DoctorFiles& files_;
  const ScenarioProbe& probe_;
  DoctorReport& report_;
};

}  // namespace

void add_cause(DoctorReport& report, std::string name, Seconds time, std::string evidence) {
  report.causes.push_back({.name = std::move(name), .time = time, .evidence = std::move(evidence)});
}

void compare_steps(const DoctorFiles& files, const ScenarioProbe& probe, DoctorReport& report) {
  StepComparer(files, probe, report).run();
}

void measure_alone(const DoctorFiles& files, DoctorReport& report) {
  if (!files.logs.empty() && files.logs.front().time) {
    report.measured = Seconds::from_si(files.logs.front().time->median);
    report.measured_by = files.logs.front().source;
  } else if (!files.traces.empty() && !files.traces.front().only_shares) {
    report.measured = join_ranks(files.traces).mean.time;
    report.measured_by = files.traces.front().source;
  }
}

}  // namespace titer
