#pragma once
// A workload of another program on a cluster, as it is read.

#include "titer/trace/replay.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each rank.
[[nodiscard]] View replay_view(const Workload& workload,
                               const Replay& replay,
                               const Cluster& cluster,
                               const ReplayOptions& options);

}  // namespace titer
