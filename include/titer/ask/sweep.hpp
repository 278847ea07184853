#pragma once
// A scenario along axes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

struct Sweep;

/// One row for each combination, all in memory: `titer sweep` writes tables that are longer.
struct SweepRequest {
  Asked sweep;                             // as its file has it, without changes
  std::optional<Fidelity> fidelity = {};   // otherwise each point's usual one
  std::vector<std::string> columns = {};   // beside those that all rows have
  std::vector<std::string> measured = {};  // tables of runs to learn figures from
  std::optional<std::int64_t> limit = {};  // the most points that the axes may make
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  // set: there is no answer
};
[[nodiscard]] std::span<const Option<SweepRequest>> sweep_options();
/// What is to be computed, of at most so many points unless the request says otherwise; `notes` are
/// what to say of what was learned. Throws InputError.
[[nodiscard]] Sweep asked_sweep(const SweepRequest& request,
                                std::size_t most_points,
                                std::vector<std::string>& notes);
/// Good: some point fits in memory. Throws InputError, also where it was stopped.
[[nodiscard]] Answer ask(const SweepRequest& request);

}  // namespace titer
