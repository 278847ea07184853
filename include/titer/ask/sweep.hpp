#pragma once
// A scenario along axes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/option.hpp"

namespace titer {

/// One row for each combination, all in memory: `titer sweep` writes tables that are longer.
struct SweepRequest {
  Asked sweep;                            // as its file has it, without changes
  std::string fidelity = {};              // otherwise each point's usual one
  std::vector<std::string> columns = {};  // beside those that all rows have
  std::int64_t limit = 100'000;           // the most points that the axes may make
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  // set: there is no answer
};
[[nodiscard]] std::span<const Option<SweepRequest>> sweep_options();
/// Good: some point fits in memory. Throws InputError, also where it was stopped.
[[nodiscard]] Answer ask(const SweepRequest& request);

}  // namespace titer
