#include "titer/trace/trace_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/units/text.hpp"

namespace titer {
namespace {

// A difference is worth a sentence from these on.
constexpr double kBigShare = 0.03;  // of the step
constexpr double kBigRatio = 1.15;
constexpr std::size_t kMostReadings = 6;
// A collective's calls take this many times the fastest of them: most of it is waiting.
constexpr double kWaiting = 1.5;

bool is_plain_compute(TraceCategory category) {
  return class_of(category) == TraceClass::compute && category != TraceCategory::optimizer;
}

TermTime measured_term(const StepBreakdown& step, TraceCategory category, double factor) {
  const CategoryTime& of = step[category];
  TermTime term{.counted = factor * of.communication_first,
                .exposed = factor * of.compute_first,
                .busy = factor * of.busy};
  if (of.calls > 0) {
    term.calls = of.calls;
  }
  const KindUse* longest = nullptr;
  double bytes = 0;
  double sized = 0;
  for (const KindUse& use : step.collectives) {
    if (use.kind.category != category) {
      continue;
    }
    longest = longest == nullptr || use.time > longest->time ? &use : longest;
    bytes += use.kind.bytes ? use.calls * use.kind.bytes->si() : 0;
    sized += use.kind.bytes ? use.calls : 0;
  }
  if (sized > 0) {
    term.bytes = Bytes::from_si(bytes / sized);
  }
  if (longest != nullptr) {
    term.ranks = longest->kind.ranks;
  }
  return term;
}

TermTime sum_of(const StepBreakdown& step, bool (*is_in)(TraceCategory), double factor) {
  TermTime sum;
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    const auto category = static_cast<TraceCategory>(i);
    if (!is_in(category)) {
      continue;
    }
    const TermTime term = measured_term(step, category, factor);
    sum.counted += term.counted;
    sum.exposed += term.exposed;
    sum.busy += term.busy;
    if (term.calls) {
      sum.calls = sum.calls.value_or(0) + *term.calls;
    }
  }
  return sum;
}

std::optional<TermTime> seconds_only(const PredictedStep* predicted, Seconds PredictedStep::*part) {
  if (predicted == nullptr) {
    return std::nullopt;
  }
  const Seconds time = predicted->*part;
  return TermTime{.counted = time, .exposed = time, .busy = time};
}

/// "96 calls of 50 MB at 61.2 GB/s"
std::string calls_text(const TermTime& term) {
  if (!term.calls) {
    return "";
  }
  std::string text = fmt::format("{:.4g} calls", *term.calls);
  if (term.bytes && term.busy > Seconds{}) {
    text += fmt::format(
        " of {} at {}", format(*term.bytes), format(*term.calls * *term.bytes / term.busy));
  }
  return text;
}

/// What makes the two sides of a collective differ most.
std::string likely(const TermTime& measured, const TermTime& predicted, bool waits) {
  const bool told = measured.calls && predicted.calls && measured.bytes && predicted.bytes &&
                    measured.busy > Seconds{} && predicted.busy > Seconds{};
  if (!told) {
    return "the run's plan, sizes or links differ from the scenario's";
  }
  const double calls = *measured.calls / *predicted.calls;
  const double bytes = *measured.bytes / *predicted.bytes;
  const double speed = (measured.busy / predicted.busy) / (calls * bytes);
  const auto size = [](double ratio) { return std::abs(std::log(ratio)); };
  const double volume = calls * bytes;
  if (size(volume) > size(speed)) {
    return fmt::format("{:.3g}x the bytes: the run's plan, model or number formats differ", volume);
  }
  if (speed < 1) {
    return "the links or the algorithm are faster than assumed";
  }
  return waits ? "its fastest calls are much faster: most of it is waiting for ranks that come late"
               : "the links or the algorithm are slower than assumed, or every call waits";
}

/// Whether a collective's mean call takes much longer than its fastest of the same group.
bool waits(const StepBreakdown& step, std::string_view category) {
  return std::ranges::any_of(step.collectives, [&](const KindUse& use) {
    return name(use.kind.category) == category && use.calls > 0 &&
           use.time / use.calls > kWaiting * use.fastest;
  });
}

std::string reading_of(const TraceTerm& term, const StepBreakdown& step) {
  const TermTime& measured = term.measured;
  const TermTime& predicted = *term.predicted;
  const bool more = measured.counted > predicted.counted;
  if (term.name == "idle") {
    return more ? "the device waits longer: for its host (launches, input data), or for other "
                  "stages and ranks"
                : "what the prediction has as waiting may be in the kernels of collectives";
  }
  if (term.name == "compute" || term.name == "optimizer") {
    return more ? "kernels are slower or more than predicted: shapes that suit the chip less, "
                  "recomputation that the plan does not name, or a lower clock"
                : "kernels are faster or fewer than predicted: fused, or not recomputed";
  }
  if (term.name.starts_with("copy ")) {
    return "copies of input data, of states, or between layouts are not as in the scenario";
  }
  if (!(predicted.busy > Seconds{})) {
    return "the scenario has none: the run's plan or library differs";
  }
  if (!(measured.busy > Seconds{})) {
    return "the trace has none: the run's plan or library differs";
  }
  return likely(measured, predicted, waits(step, term.name));
}

/// "all-reduce: measured 31 ms, 2.1x the predicted 15 ms; 96 calls …: …"
std::string sentence(const TraceTerm& term, const StepBreakdown& step) {
  const TermTime& measured = term.measured;
  const TermTime& predicted = *term.predicted;
  if (!(measured.busy > Seconds{})) {
    return fmt::format("{}: predicted {}, not measured: {}",
                       term.name,
                       format(predicted.counted),
                       reading_of(term, step));
  }
  std::string text = fmt::format("{}: measured {}", term.name, format(measured.counted));
  text += predicted.counted > Seconds{} ? fmt::format(", {:.3g}x the predicted {}",
                                                      measured.counted / predicted.counted,
                                                      format(predicted.counted))
                                        : ", not predicted";
  const std::string of_measured = predicted.calls ? calls_text(measured) : "";
  if (!of_measured.empty()) {
    text += fmt::format("; {} against {} predicted", of_measured, calls_text(predicted));
  }
  return text + ": " + reading_of(term, step);
}

bool is_big(const TraceTerm& term, Seconds step) {
  const Seconds more = std::max(term.measured.counted, term.predicted->counted);
  const Seconds less = std::min(term.measured.counted, term.predicted->counted);
  return more - less > kBigShare * step && more > kBigRatio * less;
}

void read(TraceComparison& comparison, const StepBreakdown& measured) {
  std::vector<const TraceTerm*> big;
  for (const TraceTerm& term : comparison.terms) {
    if (term.predicted && is_big(term, comparison.step.measured.counted)) {
      big.push_back(&term);
    }
  }
  const auto size = [](const TraceTerm* term) { return std::abs(term->difference()->si()); };
  std::ranges::stable_sort(
      big, [&](const TraceTerm* a, const TraceTerm* b) { return size(a) > size(b); });
  big.resize(std::min(big.size(), kMostReadings));
  for (const TraceTerm* term : big) {
    comparison.readings.push_back(sentence(*term, measured));
  }
}

void add_if_there(TraceTerm term, TraceComparison& comparison) {
  const bool there =
      term.measured.busy > Seconds{} || (term.predicted && term.predicted->busy > Seconds{});
  if (there) {
    comparison.terms.push_back(std::move(term));
  }
}

void add_remarks(TraceComparison& comparison,
                 const StepBreakdown& measured,
                 const PredictedStep& predicted) {
  comparison.remarks.insert(
      comparison.remarks.end(), predicted.remarks.begin(), predicted.remarks.end());
  if (measured.only_shares) {
    comparison.remarks.emplace_back("measured times are shares of the predicted step");
  }
  if (measured.world_size && *measured.world_size != predicted.result.devices) {
    comparison.remarks.push_back(fmt::format("the trace is of {} ranks, the scenario of {}",
                                             *measured.world_size,
                                             predicted.result.devices));
  }
}

}  // namespace

TraceComparison compare(const StepBreakdown& measured, const PredictedStep* predicted) {
  TraceComparison comparison;
  comparison.remarks = measured.remarks;
  const bool scales = measured.only_shares && predicted != nullptr;
  const double factor = scales ? predicted->result.iteration_time / measured.time : 1.0;
  comparison.terms.push_back({.name = "compute",
                              .measured = sum_of(measured, is_plain_compute, factor),
                              .predicted = seconds_only(predicted, &PredictedStep::compute)});
  add_if_there({.name = "optimizer",
                .measured = measured_term(measured, TraceCategory::optimizer, factor),
                .predicted = seconds_only(predicted, &PredictedStep::optimizer)},
               comparison);
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    const auto category = static_cast<TraceCategory>(i);
    if (class_of(category) == TraceClass::compute) {
      continue;
    }
    TraceTerm term{.name = std::string(name(category)),
                   .measured = measured_term(measured, category, factor)};
    if (predicted != nullptr) {
      term.predicted = predicted->communication[i];
    }
    add_if_there(std::move(term), comparison);
  }
  const Seconds idle = factor * measured.idle;
  comparison.terms.push_back({.name = "idle",
                              .measured = {.counted = idle, .exposed = idle, .busy = idle},
                              .predicted = seconds_only(predicted, &PredictedStep::idle)});
  const Seconds time = factor * measured.time;
  comparison.step = {.name = "step", .measured = {.counted = time, .exposed = time, .busy = time}};
  if (predicted != nullptr) {
    const Seconds step = predicted->result.iteration_time;
    comparison.step.predicted = TermTime{.counted = step, .exposed = step, .busy = step};
    read(comparison, measured);
    add_remarks(comparison, measured, *predicted);
  }
  return comparison;
}

}  // namespace titer
