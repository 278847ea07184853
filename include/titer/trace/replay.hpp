#pragma once
// A workload of another program followed on a cluster: what ranks compute takes what it says, times
// a factor, or what the cluster's chip needs for it; messages and collectives take what they do on
// the cluster.

#include <vector>

#include "titer/plan/place/cluster.hpp"
#include "titer/trace/workload.hpp"

namespace titer {

struct ReplayOptions {
  double compute_scale = 1;  // of durations that the workload says
};

/// What one rank did.
struct ReplayedRank {
  Seconds end;            // of its last node
  Seconds compute;        // sum of its nodes
  Seconds communication;  // likewise
  Seconds exposed;        // of communication, beside no compute
  Seconds idle;           // until the end of all, in neither
};

struct Replay {
  Seconds makespan;
  std::vector<ReplayedRank> ranks;
  std::int64_t nodes = 0;
  std::int64_t collectives = 0;
  std::int64_t messages = 0;
  Bytes sent;  // in messages
};

/// Rank i is device i of the cluster, node by node. A collective begins when the last of its group
/// is there, a message when both ends are; of a group one collective at a time, from a rank to
/// another one message at a time. They share no links with others. Throws InputError for ranks that
/// the cluster has no place for, collectives and messages that not all take part in, and nodes that
/// wait for one another in a circle.
[[nodiscard]] Replay replay(const Workload& workload,
                            const Cluster& cluster,
                            const ReplayOptions& options = {});

}  // namespace titer
