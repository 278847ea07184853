#pragma once
// `--samples` and `--seed`: a step with noise, many times over.

#include <cstdint>
#include <optional>

#include "app/output/progress.hpp"
#include "command.hpp"
#include "titer/ask/run.hpp"

namespace titer {

struct SamplingOptions {
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> seed;
  unsigned jobs = 0;  // 0: all cores

  void add_to(CLI::App& app);
  /// Where there are samples, the progress is shown from now on. It must outlive what is returned.
  [[nodiscard]] AskedSamples asked(Progress& progress) const;
};

}  // namespace titer
