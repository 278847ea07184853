#pragma once
// Computing a sweep's points on several threads, and handing on their rows in order.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/sweep/row_log.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer {

/// The chunks of a sweep, the same for every process that shares it.
[[nodiscard]] Chunks sweep_chunks(const Sweep& sweep, std::optional<Fidelity> fidelity);

/// Throws InputError where a column is asked for that the fidelity has nothing in.
void check_columns(const Sweep& sweep, std::optional<Fidelity> fidelity);

struct SweepOptions {
  unsigned threads = 1;
  std::optional<Fidelity> fidelity{};       // none: each point's usual_fidelity()
  Shard shard{};                            // computes its own chunks only
  std::size_t done = 0;                     // of them, those that need not be computed again
  const std::atomic<bool>* stop = nullptr;  // set: no chunk is begun any more
};

/// The rows of one chunk.
struct SweepChunk {
  RowChunk chunk;
  std::string rows;
};

struct SweepOutcome {
  bool all = true;                      // false: stopped before
  std::vector<std::uint64_t> left_out;  // points, by each of the sweep's constraints
};

/// Computes points on `threads` threads. `append` adds a point's row to a text (each thread calls a
/// copy of its own); `emit` takes the chunks in order, all that are ready at once (called on this
/// thread). What is computed ahead of a chunk that takes long is bounded, and with it the memory.
/// Throws InputError as check_columns() does.
SweepOutcome run_sweep(const Sweep& sweep,
                       const SweepOptions& options,
                       const std::function<void(const SweepPoint&, std::string&)>& append,
                       const std::function<void(std::span<const SweepChunk>)>& emit);

}  // namespace titer
