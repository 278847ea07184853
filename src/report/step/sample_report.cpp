#include "titer/report/step/sample_report.hpp"
#include "titer/units/text.hpp"

#include <fmt/format.h>

namespace titer {

Figures sample_figures(const SampleStatistics& samples) {
  const auto over_quiet = [&](Seconds time, const std::string& more = {}) {
    const double over = 100 * (time / samples.quiet - 1);
    return Datum(time, fmt::format("{} ({:+.2f} %){}", format(time), over, more));
  };
  const auto error = samples.standard_error();
  return {{"n", samples.count},
          {"quiet_s", samples.quiet, "without noise"},
          {"mean_s",
           over_quiet(samples.mean, error ? ", standard error " + format(*error) : ""),
           "mean"},
          {"standard_error_s", error},
          {"deviation_s", samples.deviation, "standard deviation"},
          {"min_s", over_quiet(samples.least), "least"},
          {"p50_s", over_quiet(samples.p50), "p50"},
          {"p95_s", over_quiet(samples.p95), "p95"},
          {"max_s", over_quiet(samples.most), "most"},
          {"slowdown", samples.slowdown()},
          {"expected_slowdown", samples.expected_slowdown}};
}

Figures sample_columns(Figures figures) {
  for (Figure& figure : figures) {
    figure.key = figure.key == "n" ? "samples" : "samples_" + figure.key;
  }
  return figures;
}

TextView sample_text(const SampleStatistics& samples) {
  TextView text =
      fmt::format("iteration time of {} samples with noise (above: sample 0)\n", samples.count);
  text.pairs(sample_figures(samples));
  if (samples.expected_slowdown) {
    text.add(fmt::format(
        "  the slowest of all devices, each by itself until the step's end, would compute {:+.2f} "
        "%\n",
        100 * (*samples.expected_slowdown - 1)));
  }
  return text;
}

}  // namespace titer
