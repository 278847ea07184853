#include "titer/sweep/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "titer/input/reader.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::size_t kChunksWanted = 1024;
constexpr std::size_t kMostChunks = std::size_t{1} << 20U;
constexpr std::size_t kMostShards = 1'000'000;

std::optional<std::size_t> number_of(const Environment& environment, const char* name) {
  const char* text = environment(name);
  return text == nullptr ? std::nullopt : number_of_text<std::size_t>(text);
}

/// How a launcher tells its processes who they are.
struct Dialect {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* on_node;  // nullptr: it does not say
};

// Those that may run inside another come first: mpirun starts its processes beside Slurm's.
constexpr std::array<Dialect, 4> kDialects = {{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"MPI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE"},
}};

/// "4(x2),1": four tasks on each of the first two nodes, one on the third.
std::size_t tasks_of_node(std::string_view text, std::size_t node) {
  for (std::string_view part : divided(text, ",")) {
    std::size_t nodes = 1;
    if (const std::size_t open = part.find("(x"); open != std::string_view::npos) {
      nodes =
          number_of_text<std::size_t>(part.substr(open + 2, part.size() - open - 3)).value_or(1);
      part = part.substr(0, open);
    }
    if (node < nodes) {
      return std::max<std::size_t>(1, number_of_text<std::size_t>(part).value_or(1));
    }
    node -= nodes;
  }
  return 1;
}

/// srun's tasks. A job's script and shell have ranks as well, but no step of their own, or one of
/// the steps that Slurm numbers from the top (batch, interactive).
bool read_step(const Environment& environment, Launch& launch) {
  constexpr std::size_t special_steps = 0xffff'fff0U;
  const auto step = number_of(environment, "SLURM_STEP_ID");
  const auto rank = number_of(environment, "SLURM_PROCID");
  const auto size = number_of(environment, "SLURM_STEP_NUM_TASKS");
  if (!step || *step >= special_steps || !rank || !size || *rank >= *size) {
    return false;
  }
  launch.shard = {.rank = *rank, .size = *size};
  launch.launcher = "srun";
  if (const char* tasks = environment("SLURM_STEP_TASKS_PER_NODE")) {
    launch.on_node = tasks_of_node(tasks, number_of(environment, "SLURM_NODEID").value_or(0));
  }
  return true;
}

bool read_dialect(const Environment& environment, const Dialect& dialect, Launch& launch) {
  const auto rank = number_of(environment, dialect.rank);
  if (!rank) {
    return false;
  }
  const auto size = number_of(environment, dialect.size);
  if (!size || *rank >= *size) {
    throw InputError(
        fmt::format("{}: {}: expected {} beside it; say which process this is with "
                    "--shard I/N",
                    dialect.rank,
                    *rank,
                    dialect.size));
  }
  launch.shard = {.rank = *rank, .size = *size};
  launch.launcher = dialect.launcher;
  launch.on_node = number_of(environment, dialect.on_node).value_or(1);
  return true;
}

void read_processes(const Environment& environment, Launch& launch) {
  // PMIx by itself tells no size, but is what srun or Open MPI may speak with their processes.
  for (const Dialect& dialect : kDialects) {
    const bool last = &dialect == &kDialects.back();
    if ((last && read_step(environment, launch)) || read_dialect(environment, dialect, launch)) {
      return;
    }
  }
}

/// A job array's task holds that task's part of the shards: all processes of the task before come
/// first.
void read_array(const Environment& environment, Launch& launch) {
  const auto task = number_of(environment, "SLURM_ARRAY_TASK_ID");
  const auto count = number_of(environment, "SLURM_ARRAY_TASK_COUNT");
  if (!task || !count) {
    return;
  }
  const std::size_t first = number_of(environment, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::size_t step = number_of(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
  const std::size_t rank =
      *task < first ? *count : (*task - first) / std::max<std::size_t>(1, step);
  if (rank >= *count) {
    throw InputError(fmt::format(
        "SLURM_ARRAY_TASK_ID: {}: expected array tasks at even distances, such as --array=0-{}; "
        "with others say which process this is with --shard I/N",
        *task,
        *count - 1));
  }
  launch.shard = {.rank = rank * launch.shard.size + launch.shard.rank,
                  .size = *count * launch.shard.size};
  launch.launcher =
      launch.launcher.empty() ? "a Slurm array" : "a Slurm array and " + launch.launcher;
}

}  // namespace

std::size_t Chunks::end(std::size_t chunk) const { return std::min(points, (chunk + 1) * size); }

Chunks cut_into_chunks(std::size_t points, std::size_t most) {
  const std::size_t balanced = std::clamp<std::size_t>(points / kChunksWanted, 1, most);
  return {.points = points, .size = std::max(balanced, points / kMostChunks)};
}

std::size_t Shard::count(std::size_t chunks) const {
  return chunks > rank ? (chunks - rank - 1) / size + 1 : 0;
}

Shard read_shard(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = number_of_text<std::size_t>(text.substr(0, slash));
  const auto size = number_of_text<std::size_t>(text.substr(std::min(slash + 1, text.size())));
  if (!number || !size || *number < 1 || *number > *size || *size > kMostShards) {
    throw InputError(
        fmt::format("--shard: {}: expected I/N, the I-th of N from 1 to N, such as 3/64", text));
  }
  return {.rank = *number - 1, .size = *size};
}

Launch read_launch(const Environment& environment) {
  Launch launch;
  read_processes(environment, launch);
  read_array(environment, launch);
  launch.cores_of_job = number_of(environment, "SLURM_CPUS_ON_NODE").value_or(0);
  launch.cores_of_process = number_of(environment, "SLURM_CPUS_PER_TASK").value_or(0);
  return launch;
}

unsigned usual_threads(const Launch& launch, unsigned allowed, unsigned online) {
  std::size_t share = launch.cores_of_process;
  if (share == 0) {
    const std::size_t cores = launch.cores_of_job > 0 ? launch.cores_of_job : online;
    share = cores / std::max<std::size_t>(1, launch.on_node);
  }
  // A process that was bound to cores has its share already.
  return static_cast<unsigned>(std::clamp<std::size_t>(share, 1, std::max(1U, allowed)));
}

}  // namespace titer
