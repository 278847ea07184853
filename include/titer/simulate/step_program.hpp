#pragma once
// A step as instructions: what the streams of a device of each pipeline rank do, in order, and what
// they wait for. All ranks of a pipeline rank follow the same program, so programs grow with the
// schedule and not with the devices.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/engine/streams.hpp"
#include "titer/simulate/meetings.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// What runs one after the other on a device. Exposed transfers, which its compute waits for, are
/// in the main stream with it; a lane of the timeline is what an instruction says.
enum class Track : std::uint8_t {
  main,
  beside,  // transfers of passes beside compute
  send,    // pipeline sends that compute does not wait for at once
  data,    // gradients and parameters, bucket by bucket
};
inline constexpr std::size_t kTracks = 4;

struct PostWait {
  Post post = Post::done;
  std::uint32_t count = 0;
};

struct Instruction {
  Ticks duration = 0;
  DeviceLane lane = DeviceLane::compute;
  TaskPart part = TaskPart::forward;
  Affected affected = Affected::nothing;
  bool opens = false;    // begins a pass or a pair
  bool closes = false;   // ends one
  bool gathers = false;  // parameters, not gradients
  bool meets = false;    // islands, neither
  std::optional<std::int16_t> stage{};
  std::optional<std::int16_t> bucket{};
  std::optional<std::int32_t> micro_batch{};
  std::uint32_t draw = 0;  // number of the transfer among those of its rank that are affected alike
  std::uint32_t unit = 0;  // number of the pass or pair on its rank
  FewOf<PostWait, 4> waits{};
  FewOf<Post, 4> signals{};
  LoadId load = kNoLoad;  // of links, see share_links()
};

/// Bytes that the passes of a rank have in use.
struct MemoryWalk {
  std::vector<Bytes> during;  // of each pass or pair, working space included
  std::vector<Bytes> after;
  std::uint32_t peak = 0;  // the first with the most in use
};

struct RankProgram {
  std::array<std::vector<Instruction>, kTracks> tracks;
  ActionList actions;
  std::vector<std::uint32_t> units;  // where each pass or pair begins in `actions`
  MemoryWalk memory;
};

struct StepProgram {
  std::vector<RankProgram> ranks;  // of the pipeline

  [[nodiscard]] bool uses(Track track) const;
};

/// REQUIRES a valid scenario and its costs.
[[nodiscard]] StepProgram step_program(const Scenario& scenario,
                                       const StepCosts& costs,
                                       SimulatedMembers members);

/// "forward of stage 3, micro-batch 5"; with a pair, both.
[[nodiscard]] std::string unit_text(const StepCosts& costs,
                                    const RankProgram& program,
                                    int rank,
                                    std::uint32_t unit);

/// What the passes of a rank keep in memory, in order. `stages`: of each stage of the model.
[[nodiscard]] MemoryWalk walk_memory(const StepCosts& costs,
                                     const RankProgram& program,
                                     int rank,
                                     const std::vector<StageActivations>& stages);

}  // namespace titer
