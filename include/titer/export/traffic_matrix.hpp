#pragma once
// Who sends how much to whom in one iteration: a pure function of the plan's degrees, its rank
// order and the model. Bytes are those of an exported step, group by group; how a collective's
// bytes spread over the pairs of its group is chosen.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "titer/export/exported_step.hpp"
#include "titer/model/routing/routing.hpp"

namespace titer {

enum class TrafficKind : std::uint8_t { tensor, context, expert, data, pipeline, embedding };
inline constexpr std::array<Choice<TrafficKind>, 6> kTrafficKinds = {
    {{"tensor", TrafficKind::tensor},
     {"context", TrafficKind::context},
     {"expert", TrafficKind::expert},
     {"data", TrafficKind::data},
     {"pipeline", TrafficKind::pipeline},
     {"embedding", TrafficKind::embedding}}};
[[nodiscard]] constexpr std::string_view name(TrafficKind kind) {
  return kTrafficKinds[static_cast<std::size_t>(kind)].name;
}

/// Where a rank sends what it sends in a collective, volume() in all. An all-to-all goes to every
/// other rank of the group in either case.
enum class CollectiveSpread {
  ring,    // to the next rank of the group, from the last one to the first
  direct,  // to all others of the group alike
};
inline constexpr std::array<Choice<CollectiveSpread>, 2> kCollectiveSpreads = {
    {{"ring", CollectiveSpread::ring}, {"direct", CollectiveSpread::direct}}};

inline constexpr std::size_t kMostTrafficPairs = 5'000'000;

/// What one rank sends to another of one kind; never to itself, never nothing.
struct TrafficPair {
  int from = 0;
  int to = 0;
  TrafficKind kind = TrafficKind::tensor;
  Bytes bytes;
};

/// Sparse; its pairs are sorted by sender, receiver and kind, each there once.
class TrafficMatrix {
 public:
  /// Pairs in any order; those of the same ranks and kind are added up.
  TrafficMatrix(int ranks, std::vector<TrafficPair> pairs);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<TrafficPair>& pairs() const { return pairs_; }

 private:
  int ranks_;
  std::vector<TrafficPair> pairs_;
};

/// What is random in one iteration: which experts the tokens choose.
struct ExpertDraw {
  std::uint64_t seed = 1;
  std::uint32_t iteration = 0;
};

struct TrafficOptions {
  CollectiveSpread spread = CollectiveSpread::ring;
  std::optional<TrafficKind> only{};
  std::optional<Routing> routing{};  // otherwise the model's
  // Otherwise what the routing makes on average. Drawn: every rank's choices are multinomial over
  // the experts, one independent of the other, over all its layers and micro-batches.
  std::optional<ExpertDraw> draw{};
};

/// The traffic of a step whose ranks are listed once: those of a class and a pipeline rank send
/// alike.
class StepTraffic {
 public:
  /// `step` outlives it.
  explicit StepTraffic(const ExportedStep& step);

  /// Tokens go to the experts that the routing gives them, and their results back; all other
  /// transfers are as the step has them. Throws InputError for more than kMostTrafficPairs pairs,
  /// and where the draws would be too many. REQUIRES a routing that refusal() says nothing of.
  [[nodiscard]] TrafficMatrix matrix(const TrafficOptions& options) const;
  /// Ordered pairs of ranks with different experts of the same layers.
  [[nodiscard]] std::int64_t expert_pairs() const;

 private:
  class Filler;
  struct GroupSends {
    GroupRole role = GroupRole::tensor;
    TrafficKind kind = TrafficKind::tensor;
    bool to_all = false;  // all-to-all
    Senders senders = Senders::all;
    auto operator<=>(const GroupSends&) const = default;
  };
  struct RankSends {
    std::map<GroupSends, Bytes> to_groups;  // what leaves the rank
    std::map<int, Bytes> to_stages;         // messages, by the rank of the pipeline
    Bytes to_servers;                       // to all of them
    double expert_layers = 0;               // that tokens pass: of all its layers and micro-batches
  };

  [[nodiscard]] RankSends sends_of(int rank) const;
  [[nodiscard]] int stages() const { return step_.costs().shape.stages; }
  /// Where in `sends_` what a rank sends is.
  [[nodiscard]] std::size_t like_rank(int rank) const;
  [[nodiscard]] double expert_layers(int pipeline) const;

  const ExportedStep& step_;
  std::vector<RankSends> sends_;  // by class and rank of the pipeline
};

struct TrafficStatistics {
  Bytes total;
  Bytes within_nodes;
  Bytes largest;              // of a pair, kinds together
  std::int64_t pairs = 0;     // that communicate
  std::int64_t possible = 0;  // that could
  double entropy = 0;         // H = - sum of s log2 s over the pairs' shares s of the total, bits
  double uniformity = 0;      // H / log2(possible): 1 where all pairs send as much
  double largest_over_mean = 0;  // the largest pair over total / possible

  [[nodiscard]] double share_within_nodes() const {
    return total > Bytes{} ? within_nodes / total : 0.0;
  }
};
/// `possible`: pairs; of a whole plan ranks (ranks - 1). `nodes`: of each rank.
[[nodiscard]] TrafficStatistics traffic_statistics(const TrafficMatrix& matrix,
                                                   std::int64_t possible,
                                                   std::span<const int> nodes);

}  // namespace titer
