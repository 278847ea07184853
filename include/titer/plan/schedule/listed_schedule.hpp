#pragma once
// A schedule of the user's own: the actions of every rank, written down in a file.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/plan/schedule/actions.hpp"

namespace titer {

/// A table without a header, a line for each rank, its actions as cells in order, in the notation
/// of PyTorch's pipelining: the stage of the model, F forward, B whole backward, I gradient of the
/// input or W of the weights, the micro-batch, such as 0F0. A forward and a whole backward done
/// together are (0F1;3B0)OVERLAP_F_B. Empty cells, in which a rank waits, say nothing, since every
/// action begins as soon as it can. Stages may lie in a loop, in a wave, or both ways; in the last
/// case the first half of the micro-batches goes from the first rank on.
struct ListedSchedule {
  std::string name = "FILE.csv";  // of the file
  Placement placement = Placement::loop;
  int chunks = 1;
  int micro_batches = 0;
  std::vector<ActionList> ranks{};

  /// Throws InputError with every ill-formed cell; or with the first pass that is in the wrong
  /// place, missing, done twice or before what it needs, or that waits in a ring.
  [[nodiscard]] static ListedSchedule parse(std::string_view text, std::string source_name);
  /// An unreadable file is an InputError naming the path.
  [[nodiscard]] static ListedSchedule load(const std::string& path);

  [[nodiscard]] std::optional<std::string> refusal(const PipelineShape& shape) const;
  [[nodiscard]] PipelineShape shape() const {
    return {.stages = static_cast<int>(ranks.size()),
            .micro_batches = micro_batches,
            .virtual_stages = chunks};
  }

  friend bool operator==(const ListedSchedule&, const ListedSchedule&) = default;
};

inline constexpr std::string_view kPairMark = "OVERLAP_F_B";
/// "3F0": a cell of the table.
[[nodiscard]] std::string action_text(const Action& action, int stage);

}  // namespace titer
