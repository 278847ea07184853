#pragma once
// Work that several processes share: a list of points, cut into chunks of consecutive ones, dealt
// round robin. A process learns which of them it is from whatever started it.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace titer {

/// Points 0 … points - 1 in chunks of `size`; the last may be shorter.
struct Chunks {
  std::size_t points = 0;
  std::size_t size = 1;

  [[nodiscard]] std::size_t count() const { return (points + size - 1) / size; }
  [[nodiscard]] std::size_t begin(std::size_t chunk) const { return chunk * size; }
  [[nodiscard]] std::size_t end(std::size_t chunk) const;
  friend bool operator==(const Chunks&, const Chunks&) = default;
};

/// Chunks of at most `most` points: enough of them (about a thousand) that uneven costs balance,
/// not so many (a million) that the list of them is long. The same on every machine.
[[nodiscard]] Chunks cut_into_chunks(std::size_t points, std::size_t most);

/// One of `size` processes that share chunks: chunk k is the process's whose rank is k mod size.
struct Shard {
  std::size_t rank = 0;  // from 0; people and files count from 1
  std::size_t size = 1;

  [[nodiscard]] bool whole() const { return size == 1; }
  /// How many of the first `chunks` chunks are its own.
  [[nodiscard]] std::size_t count(std::size_t chunks) const;
  /// Its own chunk number `nth`, from 0.
  [[nodiscard]] std::size_t chunk(std::size_t nth) const { return rank + nth * size; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// "3/64": the third of 64. Throws InputError.
[[nodiscard]] Shard read_shard(std::string_view text);

/// What started this process, as its environment tells.
struct Launch {
  Shard shard;
  std::string launcher{};            // "srun", "Open MPI", …; empty: nobody who starts several
  std::size_t on_node = 1;           // processes of it on this machine
  std::size_t cores_of_job = 0;      // on this machine, for all of them; 0: not said
  std::size_t cores_of_process = 0;  // 0: not said
};

/// The value of a variable, or nullptr: std::getenv.
using Environment = std::function<const char*(const char*)>;

/// Slurm's array tasks and srun, mpirun of Open MPI, MPICH and their kin (PMI), one inside the
/// other too: four processes in each of 16 array tasks are 64 shards. What salloc and sbatch
/// themselves start is one process. Throws InputError where there is a rank but no size.
[[nodiscard]] Launch read_launch(const Environment& environment);

/// Threads that use this process's share of the machine: of `online` cores it may run on `allowed`.
[[nodiscard]] unsigned usual_threads(const Launch& launch, unsigned allowed, unsigned online);

}  // namespace titer
