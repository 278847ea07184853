#pragma once
// Writes the graph of one rank of an exported step.

#include <map>
#include <utility>

#include "titer/cost/block_moves.hpp"
#include "titer/cost/root_cost.hpp"
#include "titer/export/exported_step.hpp"

namespace titer {

/// What the next node of a row waits for.
using Frontier = std::vector<RankGraph::Id>;
void add_once(Frontier& frontier, RankGraph::Id id);

/// Whether its groups have the same parameters: all their collectives are in a row.
[[nodiscard]] constexpr bool synchronises(GroupRole role) {
  return role == GroupRole::data || role == GroupRole::experts || role >= GroupRole::shard;
}

/// Whether kernels after it wait for it.
[[nodiscard]] inline bool is_waited_for(const PassItem& item) {
  return item.is_transfer() && !item.beside && !item.apart && !item.meets_aside;
}

/// An item of a pass, and what it is of.
struct PassPiece {
  const PassItem* item = nullptr;
  TaskPart part = TaskPart::forward;  // of its kernel
  std::string_view block{};
  std::optional<std::int32_t> layer{};
  int number = 0;  // of the block in its pass, from 0
};

/// A gather of parameters, and the first block of a forward pass that needs it.
struct Gather {
  RankGraph::Id id = 0;
  int block = 0;
};

/// A collective, or a copy from or to the host, that comes with the passes of a block.
struct MoveNode {
  MoveTime when = MoveTime::forward;
  GroupRole role = GroupRole::data;
  GraphNode node{};
};

/// A block of a pass.
struct RowBlock {
  std::size_t kind = 0;  // of layers; then the embedding, then the head
  std::optional<std::int32_t> layer{};
};

/// A pass on its way into the graph: nodes in a row.
struct PassRow {
  /// What its kernels of one part take, exactly and as rounded so far.
  struct Computed {
    Seconds exact;
    Ticks rounded = 0;
    RankGraph::Id last = 0;
  };

  Action action;
  std::int32_t stage = 0;
  std::vector<PassPiece> pieces{};
  std::size_t next = 0;
  Frontier frontier{};
  std::optional<RankGraph::Id> open{};         // a compute node that the next kernel may join
  std::optional<RankGraph::Id> beside{};       // a transfer that runs beside the next kernel
  std::optional<RankGraph::Id> meets_aside{};  // one beside what is on a stream of its own
  std::optional<RankGraph::Id> apart{};  // the last that runs beside all of the block's kernels,
  Frontier block_begin{};                // and after what
  std::map<TaskPart, Computed> computed{};
  std::vector<RowBlock> blocks{};         // of the stage
  int begun = 0;                          // of these
  int reduced = 0;                        // of these: their gradients are on their way
  int copied = 0;                         // likewise to the host
  Frontier moving{};                      // beside the block: the next one waits for it
  std::vector<MoveNode> waiting{};        // to go on beside its kernels: what is left of them
  Frontier beside_kernels{};              // of these, beside kernels up to the next transfer
  std::vector<GradientBucket> buckets{};  // that the pass completes, but those that are complete
  int synchronised = 0;                   // blocks of those
  std::vector<Gather> gathers{};          // that it waits for, the next one last

  [[nodiscard]] bool done() const { return next == pieces.size(); }
  [[nodiscard]] int count() const { return static_cast<int>(blocks.size()); }
  /// The share of its pieces that is in the graph.
  [[nodiscard]] double progress() const {
    return static_cast<double>(next) / static_cast<double>(pieces.size());
  }
};

class ExportedStep::Writer {
 public:
  Writer(const ExportedStep& step, int rank);
  RankGraph run();

 private:
  [[nodiscard]] StagePlace place_of_chunk(int chunk) const {
    return {.rank = at_.pipeline, .chunk = chunk};
  }
  [[nodiscard]] PassRow row_of(std::size_t index);
  void list_blocks(PassRow& row) const;
  void list_moves();
  [[nodiscard]] Frontier inputs(const Action& action, std::int32_t stage);
  [[nodiscard]] std::optional<RankGraph::Id> receive(const Action& action, std::int32_t stage);
  void do_one(std::size_t index);
  void do_pair(std::size_t index);

  void advance(PassRow& row);
  void add_kernel(const PassPiece& piece, PassRow& row);
  [[nodiscard]] static Frontier before_transfer(const PassRow& row, bool apart);
  void add_transfer(const PassPiece& piece, PassRow& row);
  void join_apart(PassRow& row);
  void add_whole(PassRow& row);
  void add_kernels_of(TaskPart part, PassRow& row);
  [[nodiscard]] PassCost cost_of(TaskPart part, const PassRow& row) const;
  [[nodiscard]] double share_beside(const PassItem& item, TaskPart part, const PassRow& row) const;
  [[nodiscard]] GraphNode transfers_of(
      TaskPart part, LayerGroup group, Collective kind, bool beside, const PassRow& row) const;
  void add_transfers_of(TaskPart part, bool beside, PassRow& row);
  void add_transfers_of(TaskPart part, LayerGroup group, bool beside, PassRow& row);
  void begin_blocks(PassRow& row, int count);
  void begin_block(PassRow& row, int number);
  /// Fetches what the block needs, or ahead of it what the next one does: collectives, or copies.
  void fetch(PassRow& row, int number, NodeKind kind);
  void begin_gradients(PassRow& row);
  /// Collectives of a block of the row, beside the block that has begun.
  void move_beside(PassRow& row, int number, MoveTime when);
  [[nodiscard]] bool cuts_moves(const PassRow& row) const;
  void go_on_beside(PassRow& row, const PassItem& item);
  [[nodiscard]] static Ticks room_beside(const PassRow& row);
  void move_waiting(PassRow& row, Ticks room);
  void join_moves(PassRow& row);
  void end_block(PassRow& row);
  void end_pass(PassRow& row);
  void add_gradients(PassRow& row);
  /// Of the row's blocks before a number, to the host.
  void copy_gradients(PassRow& row, int before, bool beside);
  using MoveSums = std::map<std::pair<MoveTime, GroupRole>, GraphNode>;
  [[nodiscard]] MoveSums moves_of(const PassRow& row) const;
  void add_moves_of(TaskPart part, bool beside, PassRow& row);
  void add_copies_of(TaskPart part, bool beside, PassRow& row);
  void add_move_of(const GraphNode& node, GroupRole role, bool beside, PassRow& row);
  /// What a block of the row moves then, collectives or copies, one after the other; the last one.
  std::optional<RankGraph::Id> add_moves(
      const PassRow& row, int number, MoveTime when, NodeKind kind, Frontier after);
  /// Of a block of the row.
  [[nodiscard]] static GraphNode move_node(const PassRow& row, int number, const MoveNode& of);
  RankGraph::Id add_copy(const GraphNode& node, Frontier after);
  void finish(PassRow& row);
  void settle(PassRow& row);
  void wait_for_gathers(PassRow& row);
  void complete_blocks(PassRow& row, int count);
  void synchronise(const GradientBucket& bucket, const PassRow& row);
  void flush_held();
  [[nodiscard]] int opposite(int stage) const { return costs_.stages - 1 - stage; }
  [[nodiscard]] std::vector<GradientBucket> buckets_of(int stage) const;
  void send(const PassRow& row);

  [[nodiscard]] GraphNode about(const PassRow& row, TaskPart part) const;
  /// Nothing where the rank is alone in its group.
  std::optional<RankGraph::Id> add_collective(GraphNode node, GroupRole role, Frontier after);
  [[nodiscard]] Ticks transfer_ticks(const GraphNode& node, int group) const;
  /// What a synchronisation takes, and of it what experts do; none: as its collectives do.
  struct SyncTicks {
    Ticks all = 0;
    Ticks experts = 0;
  };
  /// The collectives of a time: of all but experts, and of experts among those that have the same,
  /// in that order; what they are through with.
  Frontier add_synchronisation(GraphNode node,
                               MoveTime when,
                               const DeviceParameters& parameters,
                               const SyncTicks& ticks,
                               Frontier after);
  /// Those of one move. `left`: what its parts still take, all of it where no move follows.
  struct SyncLeft {
    Ticks others = 0;
    Ticks experts = 0;
    bool is_all = false;
  };
  Frontier add_sums(GraphNode node,
                    const Move& move,
                    const DeviceParameters& parameters,
                    SyncLeft& left,
                    Frontier after);
  /// A collective of gradients or parameters; shards are summed one after the other.
  Frontier add_sum(const GraphNode& node, GroupRole role, Frontier after);
  Frontier add_served(const Move& move, const DeviceParameters& parameters, Frontier after);
  void add_root_moves(bool ends, PassRow& row);
  void slow_down();
  void gather_parameters();
  void add_tail();
  void add_meeting(const DeviceParameters& parameters, Seconds time);

  const ExportedStep& step_;
  const Scenario& scenario_;
  const StepCosts& costs_;
  RankPlace at_;
  int rank_;
  ActionList actions_;
  std::vector<std::size_t> last_of_chunk_;  // the action that completes its gradients
  RankGraph graph_;
  Frontier frontier_;                                   // of the row of passes
  std::map<GroupRole, RankGraph::Id> last_collective_;  // all of a group's are in a row
  std::optional<RankGraph::Id> last_send_;
  std::vector<std::vector<Gather>> gathers_;  // of each chunk, before its first forward
  SyncGroups places_;
  MoveClock clock_;
  RootMoves root_;
  std::vector<std::vector<MoveNode>> moves_;  // of each kind of layers, the embedding and the head
  std::optional<RankGraph::Id> moved_last_;   // of their collectives: one after the other
  std::optional<RankGraph::Id> copied_last_;  // of their copies, likewise
  std::optional<RankGraph::Id> summed_last_;  // of shards and their copies, likewise
  Frontier ahead_;                            // what the last block of the pass before waited for
  bool concurrent_ = false;                   // two passes at a time
  // With two ways: synchronisations that come after those of the opposite stage.
  struct Held {
    GraphNode node;
    DeviceParameters parameters;
    Frontier after;
  };
  std::vector<Held> held_;
  bool holds_ = true;
};

}  // namespace titer
