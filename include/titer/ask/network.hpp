#pragma once
// Collectives, topologies, and who sends how much to whom.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

/// What a collective takes among some devices of a cluster, and why.
struct CollectiveRequest {
  Asked cluster;
  std::string op;                       // "all_reduce", as nccl-tests call it
  std::string bytes = {};               // the full result, "64MiB"
  std::string to = {};                  // a sweep from there to this size
  double factor = 2;                    // from one of its sizes to the next
  std::vector<std::string> ranks = {};  // a group of devices each: "0-15", "0,8,16", "0-63:8"
  std::string algorithm = {};           // otherwise the one that the cluster's library takes
  std::int64_t servers = 0;             // parameter servers beside the ranks
  std::string fidelity = "closed";      // or busiest, flow
  std::string library = {};             // "nccl": by the rules of its tuner
  std::string measured = {};            // a file: what nccl-tests printed
};
[[nodiscard]] std::span<const Option<CollectiveRequest>> collective_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const CollectiveRequest& request);

enum class AnswerPicture { none, dot, svg };

/// Links, degrees, diameter, bisection and rings of a topology; or routes on it, or what its links
/// carry.
struct TopologyRequest {
  Asked topology;                         // a file may also be what a machine prints of itself
  std::optional<std::int64_t> from = {};  // the routes from this vertex
  std::optional<std::int64_t> to = {};
  std::string traffic = {};     // a file of demands: the loads of links
  bool time = false;            // when they have arrived
  std::string all_to_all = {};  // a size that every device hands out: the loads of links
  bool accept_unknown = false;  // of an XML without NVLinks take PCIe alone
  AnswerPicture picture = AnswerPicture::none;
  bool for_report = false;  // with what reports alone show, a picture
};
[[nodiscard]] std::span<const Option<TopologyRequest>> topology_options();
/// Throws InputError.
[[nodiscard]] PictureOutcome ask(const TopologyRequest& request);

/// Who sends how much to whom in one iteration, or how that of experts changes over iterations.
struct TrafficRequest {
  Asked scenario;
  std::string kind = "all";     // or tensor, context, expert, data, pipeline, embedding
  std::string spread = "ring";  // or direct
  std::optional<std::int64_t> seed = {};
  std::optional<std::int64_t> iterations = {};
  std::string routing_exponent = {};            // "0.5", or "1.0:0.1" over the iterations
  AnswerPicture picture = AnswerPicture::none;  // svg: a heat map
  bool for_report = false;                      // with what reports alone show, the heat map
};
[[nodiscard]] std::span<const Option<TrafficRequest>> traffic_options();
/// Throws InputError.
[[nodiscard]] PictureOutcome ask(const TrafficRequest& request);

/// What a step of another program, GOAL or Chakra traces, takes on a cluster.
struct ReplayRequest {
  std::vector<std::string> files;
  Asked cluster;             // rank i is device i
  double compute_scale = 1;  // of durations that the files say
};
[[nodiscard]] std::span<const Option<ReplayRequest>> replay_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const ReplayRequest& request);

}  // namespace titer
