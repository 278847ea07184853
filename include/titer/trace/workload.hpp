#pragma once
// A step of another program as a graph per rank: GOAL schedules (LogGOPSim) and Chakra traces
// (ASTRA-sim), to be followed on a cluster of ours.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/hardware/kernel.hpp"

namespace titer {

enum class WorkKind : std::uint8_t { compute, collective, send, receive };

/// What a rank does.
struct WorkNode {
  std::string name;
  WorkKind kind = WorkKind::compute;
  std::optional<Seconds> duration{};  // as it was measured or written; none: follows from `kernel`
  Kernel kernel{};                    // work without a duration
  Collective collective = Collective::all_reduce;
  Bytes bytes;                       // of a collective its full result, of a message what is sent
  std::size_t group = 0;             // in Workload::groups, of a collective
  int peer = 0;                      // rank, of a message
  int tag = 0;                       // likewise
  std::uint64_t lane = 0;            // nodes of a lane run one at a time
  std::vector<std::uint32_t> after;  // numbers of nodes of this rank
  int line = 0;                      // in its file, where that is a text
};

struct Workload {
  std::string source;
  std::string format;
  std::vector<std::vector<WorkNode>> ranks;
  std::vector<std::vector<int>> groups;  // ranks that take part in collectives, ascending
  std::vector<std::string> remarks;      // what was taken otherwise than it is written
};

/// "num_ranks 4", "rank 0 {", "l1: calc 100" (nanoseconds), "l2: send 8b to 1 tag 0", "l2 requires
/// l1", each with "cpu N" perhaps. Throws InputError with the place of what cannot be read.
[[nodiscard]] Workload parse_goal(std::string_view text, const std::string& source_name);
[[nodiscard]] bool is_goal(std::string_view text);

/// The Chakra trace of each rank, and perhaps a file of groups ("comm_group.json"): {"0": [0, 1],
/// …}. Collectives that name no group are of all ranks. Throws InputError with the place of what
/// cannot be read. REQUIRES a trace.
[[nodiscard]] Workload load_chakra_workload(std::span<const std::filesystem::path> traces,
                                            const std::optional<std::filesystem::path>& groups);

/// Whichever of them these files are; ranks by the numbers at the ends of their names
/// ("step.0.et"). Throws InputError where they are neither, or a rank is missing.
[[nodiscard]] Workload load_workload(std::span<const std::filesystem::path> files);

}  // namespace titer
