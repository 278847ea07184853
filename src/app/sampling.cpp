#include "sampling.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <thread>

#include "titer/simulate/samples.hpp"

namespace titer {
void SamplingOptions::add_to(CLI::App& app) {
  app.add_option(
         "--samples",
         samples,
         "simulate so many steps with the noise of the conditions, and tell how they spread")
      ->check(CLI::Range(std::int64_t{1}, kMostSamples))
      ->type_name("N");
  app.add_option("--seed", seed, "of the noise; otherwise the scenario's conditions.seed, or 1")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  app.add_option("--jobs", jobs, "threads that simulate samples; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
}

AskedSamples SamplingOptions::asked(Progress& progress) const {
  return {.count = samples,
          .seed = seed,
          .threads = jobs > 0 ? jobs : std::thread::hardware_concurrency(),
          .progress = [tell = progress.counting("samples"),
                       all = static_cast<std::size_t>(samples.value_or(0))](std::size_t done) {
            tell(done, all);
          }};
}

}  // namespace titer
