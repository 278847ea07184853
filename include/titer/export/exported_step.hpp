#pragma once
// A step as the graphs of all its ranks, for simulators that time it by their own rules. The order
// of passes is the schedule's, the work of each the model's; every collective and every message is
// in it with its bytes. Nothing here depends on how we run a step ourselves.
//
// A rank's passes, transfers and tail run in a row, but for what the scenario lets run beside them.
// Parameter servers are ranks behind those of the plan. Receives wait for nothing: a buffer is
// ready for each from the start, so that sends that wait for their receiver cannot block one
// another. Collectives of one group are in the same order on all of its ranks.

#include <array>
#include <vector>

#include "titer/cost/pass_items.hpp"
#include "titer/export/rank_graph.hpp"

namespace titer {

/// What becomes a node of its own.
enum class ExportDetail {
  pass,       // of a pass: all kernels, and all transfers of one kind with all their bytes
  layer,      // of a layer's pass: kernels between transfers, and every transfer
  operation,  // every kernel and transfer
};
inline constexpr std::array<Choice<ExportDetail>, 3> kExportDetails = {
    {{"pass", ExportDetail::pass},
     {"layer", ExportDetail::layer},
     {"operation", ExportDetail::operation}}};

/// Ranks that have collectives together.
enum class GroupRole {
  tensor,
  data,  // with two copies of the model in opposite ways, also of the other copy's rank
  ends,  // the first and the last stage of the model, which share the token table
  context,
  expert,         // different experts
  expert_tensor,  // parts of the same experts, where these are not those of other layers
  experts,        // of `data`, those that have the same experts, where these are not all of them
  context_inner,  // of the hierarchical context method: neighbours, and those with the same place
  context_outer,  // among them
  all_experts,    // those that have all experts of a layer between them, where tokens are gathered
  // Of `data` and `experts`, those that split among them what is sharded, and those that have the
  // same shard, where the plan shards in groups; or the ranks of an island, and those that meet.
  shard,
  shard_copies,
  expert_shard,
  expert_shard_copies,
};
inline constexpr std::size_t kGroupRoleCount = 14;
inline constexpr std::array<GroupRole, kGroupRoleCount> kGroupRoles = {
    GroupRole::tensor,
    GroupRole::data,
    GroupRole::ends,
    GroupRole::context,
    GroupRole::expert,
    GroupRole::expert_tensor,
    GroupRole::experts,
    GroupRole::context_inner,
    GroupRole::context_outer,
    GroupRole::all_experts,
    GroupRole::shard,
    GroupRole::shard_copies,
    GroupRole::expert_shard,
    GroupRole::expert_shard_copies};

struct RankGroup {
  int number = 0;  // from 1
  GroupRole role = GroupRole::tensor;
  std::size_t ways = 0;  // of the exported step: how it lies
  std::vector<int> ranks;
};

/// How a group lies; most of a role lie alike.
struct GroupWays {
  Group group;
  Fabric fabric;
};

/// A message that a rank has a part in.
struct RankMessage {
  bool sends = false;
  int peer = 0;
  Bytes bytes;
};

/// Where a rank is in the plan.
struct RankPlace {
  int pipeline = 0;
  int tensor = 0;
  int data = 0;
  int context = 0;
};

class ExportedStep {
 public:
  /// REQUIRES a valid scenario. Its noise is left out.
  ExportedStep(Scenario scenario, ExportDetail detail);

  /// Devices, then servers.
  [[nodiscard]] int ranks() const { return devices() + servers(); }
  [[nodiscard]] int devices() const { return static_cast<int>(scenario_.plan.devices()); }
  [[nodiscard]] int servers() const { return static_cast<int>(scenario_.plan.servers.value_or(0)); }
  /// That the ranks are on; servers have one each of their own.
  [[nodiscard]] std::vector<int> nodes() const;
  [[nodiscard]] RankGraph graph(int rank) const;
  /// No rank's graph has more nodes.
  [[nodiscard]] double most_nodes() const;

  [[nodiscard]] const std::vector<RankGroup>& groups() const { return groups_; }
  [[nodiscard]] const RankGroup& group(int number) const {
    return groups_[static_cast<std::size_t>(number) - 1];
  }
  [[nodiscard]] const GroupWays& ways(const RankGroup& group) const { return ways_[group.ways]; }
  /// What a rank sends and receives in a collective of which not all ranks send alike, in order.
  [[nodiscard]] std::vector<RankMessage> messages(const GraphNode& node, int rank) const;
  /// Tags of messages that are nodes are below this.
  [[nodiscard]] int tags() const { return 2 * costs_.stages * costs_.shape.micro_batches; }
  /// Devices of a class, at the same rank of the pipeline, have the same graph but for who their
  /// peers are and how fast they are.
  [[nodiscard]] std::size_t class_of(int rank) const {
    return class_of_.empty() ? 0 : class_of_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::size_t classes() const { return seen_.size(); }
  /// REQUIRES a device.
  [[nodiscard]] RankPlace place_of_rank(int rank) const;
  [[nodiscard]] int rank_at(const RankPlace& place) const;
  [[nodiscard]] const StepCosts& costs() const { return costs_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  class Writer;
  [[nodiscard]] int stride(Dimension dimension) const {
    return strides_[static_cast<std::size_t>(dimension)];
  }
  void fill_ways();
  void fill_roles();
  void fill_groups();
  [[nodiscard]] std::size_t ways_of(GroupRole role, int pipeline) const;
  /// Whether the plan has groups of the role.
  [[nodiscard]] bool is_in_use(GroupRole role) const;
  /// The number of a rank's group among those of the role, from 0.
  [[nodiscard]] int number_in_role(GroupRole role, int rank) const;
  [[nodiscard]] RankGraph server_graph() const;
  /// What devices of a class see: of a chip, or of a size of micro-batches.
  struct Seen {
    Scenario scenario;
    StepCosts costs;
    ModelItems items;
    ModelItems overlapped_items{};  // of passes with others beside them, where there are any
    [[nodiscard]] const ModelItems& items_of(const Action& action) const {
      return action.overlapped ? overlapped_items : items;
    }
  };
  [[nodiscard]] const Seen& seen_by(int rank) const { return seen_[class_of(rank)]; }
  [[nodiscard]] PlanGroup ranks_of(GroupRole role) const;
  /// As what a group of the plan does its collectives.
  [[nodiscard]] GroupRole role_of(PlanGroup group) const;
  /// The number of the rank's group; nothing where it is alone.
  [[nodiscard]] std::optional<int> group_of(int rank, GroupRole role) const;
  /// The ranks of the pipeline that have the model's first and last stage, where they are two and
  /// share the token table.
  [[nodiscard]] std::optional<std::array<int, 2>> ends() const;

  Scenario scenario_;
  ExportDetail detail_;
  StepCosts costs_;                         // of the first class
  std::vector<Seen> seen_;                  // by each class
  std::vector<std::size_t> class_of_;       // of each device; empty: all are of the first
  std::array<int, kDimensions> strides_{};  // of each Dimension
  struct Role {
    int first = 0;   // number of its first group
    int groups = 0;  // none where every rank is alone
    std::size_t ways = 0;
  };
  std::array<Role, kGroupRoleCount> roles_{};
  std::vector<GroupWays> ways_;
  std::vector<RankGroup> groups_;
};

}  // namespace titer
