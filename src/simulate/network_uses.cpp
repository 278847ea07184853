// What passes, updates and messages use of the links: sums of the transfers that they have.

#include <list>
#include <map>
#include <tuple>

#include "network_transfers.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {
namespace {

/// What one of two that do a transfer together takes of it.
LinkUse half(LinkUse use) {
  for (auto& [link, share] : use.shares) {
    share /= 2;
  }
  return use;
}

}  // namespace

/// Transfers of a kind and size among some ranks, and how many of them there are.
class NetworkTransfers::Counted {
 public:
  Counted(const NetworkTransfers& of, PassComm comm) : of_(of), comm_(comm) {}

  void add(const PassItems& items, double count) {
    for (const PassItem& item : items) {
      if (item.is_transfer() && comm_of(item.transfer.group) == comm_) {
        add(plan_group(item.transfer.group), item.whole, item.transfer.size, count * item.share);
        listed_ += count * item.time;
      }
    }
  }
  void add(const BlockMoves& moves, Pass pass, double count) {
    for (const BlockMove& move : moves) {
      if (comm_ == PassComm::data && comes_with(move.move->when, pass) &&
          move.move->among == MoveAmong::shard) {
        for (const MovePart& part : parts_of(*move.move, move.parameters, of_.clock_.places())) {
          add(plan_group(of_.scenario_, *move.move, part), move.move->collective, part.size, count);
        }
        listed_ += count * move.time;
      }
    }
  }

  [[nodiscard]] auto begin() const { return counts_.begin(); }
  [[nodiscard]] auto end() const { return counts_.end(); }
  /// What all of it takes by its costs.
  [[nodiscard]] Seconds listed() const { return listed_; }

 private:
  void add(PlanGroup among, Collective kind, Bytes size, double count) {
    counts_[{among, kind, size.si()}] += count;
  }

  const NetworkTransfers& of_;
  PassComm comm_;
  std::map<std::tuple<PlanGroup, Collective, double>, double> counts_;
  Seconds listed_;
};

LinkUse NetworkTransfers::of_passes(int rank,
                                    std::span<const Action> passes,
                                    PassComm comm,
                                    Seconds time) {
  if (scenario_.plan.sharding == Sharding::data_parallel_root && comm == PassComm::data) {
    return of_root(passes);
  }
  Counted counted(*this, comm);
  for (const Action& action : passes) {
    const int stage =
        stage_of(costs_.placement, {.rank = rank, .chunk = action.chunk}, costs_.shape);
    const auto add_block =
        [&](const BlockItems& block, std::size_t index, double count, double repeated) {
          counted.add(block.of(action.pass), count);
          if (sends_gradient(action.pass)) {
            counted.add(block.recompute, repeated);
          }
          counted.add(moves_[index], action.pass, count);
        };
    const std::span<const double> kinds = costs_.contents.kinds(stage);
    const std::span<const double> repeated = costs_.contents.repeated(stage);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      add_block(items_.kinds[kind], kind, kinds[kind], repeated[kind]);
    }
    if (stage == 0) {
      add_block(items_.embedding, kinds.size(), 1, 1);
    }
    if (stage == costs_.stages - 1) {
      add_block(items_.head, kinds.size() + 1, 1, 1);
    }
  }
  // A block's parameters come beside its neighbour, which may be another pass's: as long as costs
  // have it, with the mix of its own.
  const double share =
      comm == PassComm::data && counted.listed() > Seconds{} ? time / counted.listed() : 1.0;
  std::vector<RepeatedUse> uses;
  for (const auto& [transfer, count] : counted) {
    const auto& [group, kind, size] = transfer;
    uses.push_back(
        {.count = share * count, .use = &collective(group, rank, kind, Bytes::from_si(size))});
  }
  return one_after_the_other(uses);
}

namespace {

MoveTime time_of(const Instruction& instruction) {
  if (instruction.meets) {
    return MoveTime::met;
  }
  return instruction.gathers ? MoveTime::updated : MoveTime::complete;
}

}  // namespace

LinkUse NetworkTransfers::of_data(int rank, const Instruction& instruction) {
  const DeviceParameters parameters =
      instruction.bucket ? costs_
                               .buckets[static_cast<std::size_t>(*instruction.stage)]
                                       [static_cast<std::size_t>(*instruction.bucket)]
                               .parameters
                         : costs_.trained[static_cast<std::size_t>(rank)];
  const bool experts = instruction.affected == Affected::experts;
  std::vector<RepeatedUse> uses;
  std::list<LinkUse> served;
  const auto add_parts = [&](const Move& move) {
    for (const MovePart& part : parts_of(move, parameters, clock_.places())) {
      if (part.experts == experts || instruction.meets) {
        uses.push_back({.count = 1 / move.every,
                        .use = &collective(
                            plan_group(scenario_, move, part), rank, move.collective, part.size)});
      }
    }
  };
  const MoveTime when = time_of(instruction);
  for (const Move& move : clock_.moves()) {
    if (move.when == when && move.among == MoveAmong::servers) {
      uses.push_back({.use = &served.emplace_back(of_servers(move, parameters))});
    } else if (move.when == when && !move.is_of_host()) {
      add_parts(move);
    }
  }
  const LinkUse use = one_after_the_other(uses);
  return costs_.placement == Placement::two_ways ? half(use) : use;
}

LinkUse NetworkTransfers::of_send(int rank, bool onward) {
  const auto p = static_cast<int>(scenario_.plan.pipeline);
  const int to = (rank + (onward ? 1 : p - 1)) % p;
  const auto stride = static_cast<int>(group_ranks(scenario_.plan, PlanGroup::pipeline).stride);
  std::vector<Demand> messages;
  for (const std::vector<int>& ranks : groups_of(scenario_.plan, PlanGroup::pipeline, 0)) {
    messages.push_back({.from = ranks.front() + rank * stride,
                        .to = ranks.front() + to * stride,
                        .bytes = stage_message(scenario_, costs_.blocks).size});
  }
  const Seconds time = costs_.send[static_cast<std::size_t>(onward ? rank : to)];
  std::vector<LinkUse> uses = {links_.of_messages(messages, time)};
  if (stage_message(scenario_, costs_.blocks).regathered) {
    uses.push_back(
        collective(PlanGroup::tensor, to, Collective::all_gather, boundary_bytes(costs_.blocks)));
  }
  return one_after_the_other(uses);
}

LinkUse NetworkTransfers::of_ends() {
  return half(collective(PlanGroup::pipeline,
                         0,
                         Collective::all_reduce,
                         token_table_gradient(scenario_, costs_.blocks)));
}

}  // namespace titer
