#include "titer/simulate/network_loads.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "contention.hpp"
#include "network_transfers.hpp"

namespace titer {
namespace {

/// What runs one after the other on a device of a pipeline rank: never two of its uses at once.
struct Slot {
  std::size_t of_class = 0;  // of devices
  int rank = 0;
  Track track = Track::main;
  friend auto operator<=>(const Slot&, const Slot&) = default;
};

/// What tells the transfers of a slot apart.
struct Kind {
  Affected affected = Affected::nothing;
  bool gathers = false;
  bool meets = false;
  Ticks duration = 0;           // of data-parallel transfers
  std::array<int, 4> passes{};  // of those of passes: chunk and pass of one or two
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// A use of links by instructions of a slot.
struct SlotUse {
  Slot slot;
  Affected affected = Affected::nothing;
  double stretch = 1;  // of its duration, by its algorithm and its own messages that meet
  Seconds lasting{};   // of all its instructions in an iteration
  std::vector<std::pair<std::uint32_t, double>> shares{};
  std::vector<LoadShare> load{};  // of links, by all devices of the pipeline rank together
};

/// Shares of what takes `duration` by its cost.
void spread(const LinkUse& use, Seconds duration, SlotUse& into) {
  constexpr double least = 1e-6;
  constexpr double slack = 1e-9;  // of sums of shares
  double most = std::max(1 + slack, 1 + use.beyond / duration);
  for (const auto& [link, share] : use.shares) {
    most = std::max(most, share * (use.time / duration));
  }
  into.stretch = most > 1 + slack ? most : 1;
  for (const auto& [link, share] : use.shares) {
    const double spread = share * (use.time / duration) / into.stretch;
    if (spread >= least) {
      into.shares.emplace_back(link, std::min(1.0, spread));
    }
  }
}

class LinkSharer {
 public:
  LinkSharer(const SharedStep& step, std::span<StepProgram> programs)
      : step_(step), contention_(step.contention), programs_(programs) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
      transfers_.push_back(std::make_unique<NetworkTransfers>(step.scenarios[i], step.costs[i]));
    }
  }

  LinkLoads share() {
    for (std::size_t of_class = 0; of_class < programs_.size(); ++of_class) {
      for (std::size_t rank = 0; rank < programs_[of_class].ranks.size(); ++rank) {
        for (std::size_t track = 0; track < kTracks; ++track) {
          visit({.of_class = of_class,
                 .rank = static_cast<int>(rank),
                 .track = static_cast<Track>(track)});
        }
      }
    }
    for (std::size_t i = 0; i < contention_.loads().resources(); ++i) {
      loads_.add_resource();
    }
    add_links();
    LinkLoads found{.algorithms = transfers_.front()->algorithms(), .busy = busy()};
    const auto stages = static_cast<std::size_t>(step_.world.stages());
    if (step_.world.ranks().size() == stages) {
      for (const SlotUse& use : uses_) {
        loads_.add(load_of(use, static_cast<std::size_t>(use.slot.rank), 1));
      }
    } else {
      found.uses = uses_.size();
      found.of_device = loads_of_devices();
    }
    found.loads = std::move(loads_);
    return found;
  }

 private:
  /// What a device takes of itself, as in events without links, and of links that so many share.
  [[nodiscard]] std::vector<LoadShare> load_of(const SlotUse& use,
                                               std::size_t device,
                                               double sharers) const {
    std::vector<LoadShare> load = contention_.shares(device, use.affected);
    for (const LoadShare& link : use.load) {
      load.push_back({.resource = link.resource, .share = link.share / sharers});
    }
    return load;
  }

  /// Of a pipeline rank's devices those of this class.
  [[nodiscard]] double share_of_class(const Slot& slot) const {
    if (programs_.size() == 1) {
      return 1;
    }
    const std::vector<TimelineRank>& ranks = step_.world.ranks();
    double own = 0;
    double all = 0;
    for (std::size_t device = 0; device < ranks.size(); ++device) {
      const bool is_of_rank = ranks[device].stage == slot.rank;
      all += is_of_rank ? 1 : 0;
      own += is_of_rank && step_.classes[device] == slot.of_class ? 1 : 0;
    }
    return own / all;
  }

  [[nodiscard]] std::vector<Seconds> busy() const {
    std::vector<Seconds> busy;
    for (const SlotUse& use : uses_) {
      const Seconds lasting = share_of_class(use.slot) * use.lasting;
      for (const auto& [link, share] : use.shares) {
        busy.resize(std::max<std::size_t>(busy.size(), link + 1));
        busy[link] += share * lasting;
      }
    }
    return busy;
  }

  std::vector<LoadId> loads_of_devices() {
    const std::vector<TimelineRank>& ranks = step_.world.ranks();
    const double sharers = static_cast<double>(ranks.size()) / step_.world.stages();
    std::vector<LoadId> ids;
    ids.reserve(ranks.size() * uses_.size());
    for (std::size_t device = 0; device < ranks.size(); ++device) {
      for (const SlotUse& use : uses_) {
        const bool is_own =
            use.slot.rank == ranks[device].stage && use.slot.of_class == step_.classes[device];
        ids.push_back(is_own ? loads_.add(load_of(use, device, sharers)) : kNoLoad);
      }
    }
    return ids;
  }

  void visit(Slot slot) {
    RankProgram& own = programs_[slot.of_class].ranks[static_cast<std::size_t>(slot.rank)];
    for (Instruction& instruction : own.tracks[static_cast<std::size_t>(slot.track)]) {
      const bool computes = instruction.affected == Affected::compute;
      if (instruction.affected == Affected::nothing || instruction.duration == 0 ||
          (computes && !contention_.exists())) {
        continue;
      }
      const std::span<const Action> passes = passes_of(own, instruction);
      Kind kind{.affected = instruction.affected,
                .gathers = instruction.gathers,
                .meets = instruction.meets};
      if (is_synchronisation(instruction.affected)) {
        kind.duration = instruction.duration;
      }
      for (std::size_t i = 0; i < passes.size(); ++i) {
        kind.passes[2 * i] = 1 + passes[i].chunk;  // none is 0
        kind.passes[2 * i + 1] = static_cast<int>(passes[i].pass);
      }
      const auto [known, is_new] =
          known_.try_emplace({slot, kind}, static_cast<LoadId>(uses_.size()));
      if (is_new) {
        uses_.push_back(use_of(slot, instruction, passes));
      }
      instruction.load = known->second;
      const double stretch = uses_[instruction.load].stretch;
      if (stretch > 1) {
        const double time = stretch * static_cast<double>(instruction.duration);
        instruction.duration = std::llround(std::min(time, static_cast<double>(kMaxTicks)));
      }
      uses_[instruction.load].lasting += to_seconds(instruction.duration);
    }
  }

  static bool is_synchronisation(Affected affected) {
    return affected == Affected::data || affected == Affected::experts;
  }

  /// The passes whose transfers an instruction is of.
  static std::span<const Action> passes_of(const RankProgram& program,
                                           const Instruction& instruction) {
    if (!comm_of(instruction.affected)) {
      return {};
    }
    const std::size_t first = program.units[instruction.unit];
    return std::span(program.actions).subspan(first, done_together(program.actions, first));
  }

  SlotUse use_of(Slot slot, const Instruction& instruction, std::span<const Action> passes) {
    SlotUse use{.slot = slot, .affected = instruction.affected};
    const Seconds duration = to_seconds(instruction.duration);
    NetworkTransfers& transfers = *transfers_[slot.of_class];
    switch (instruction.affected) {
      case Affected::tensor:
      case Affected::context:
      case Affected::expert:
      case Affected::shard: {
        const PassComm comm = *comm_of(instruction.affected);
        const Seconds time = transfer_time(slot, passes, comm);
        spread(transfers.of_passes(slot.rank, passes, comm, time), time, use);
        break;
      }
      case Affected::data:
      case Affected::experts:
        spread(transfers.of_data(slot.rank, instruction), duration, use);
        break;
      case Affected::to_previous:
      case Affected::to_next:
        spread(
            transfers.of_send(slot.rank, instruction.affected == Affected::to_next), duration, use);
        break;
      case Affected::ends:
        spread(transfers.of_ends(), duration, use);
        break;
      case Affected::compute:
      case Affected::nothing:
        break;
    }
    return use;
  }

  /// What all transfers of these passes cost that count as `comm`.
  [[nodiscard]] Seconds transfer_time(const Slot& slot,
                                      std::span<const Action> passes,
                                      PassComm comm) const {
    const StepCosts& costs = step_.costs[slot.of_class];
    Seconds time;
    for (const Action& action : passes) {
      const int stage =
          stage_of(costs.placement, {.rank = slot.rank, .chunk = action.chunk}, costs.shape);
      const BlockCost cost = costs.chunk(stage);
      time += cost.of(action.pass).transfers[comm];
      if (sends_gradient(action.pass)) {
        time += cost.recompute.transfers[comm];
      }
    }
    return time;
  }

  using Row = std::vector<std::pair<std::size_t, double>>;  // uses of a link, and their shares

  /// A resource for links that are taken alike.
  void add_links() {
    std::map<std::vector<std::pair<std::size_t, std::int64_t>>, bool> seen;
    for (const Row& row : rows()) {
      if (most_at_once(row) <= 1.0) {
        continue;
      }
      std::vector<std::pair<std::size_t, std::int64_t>> alike;
      for (const auto& [use, share] : row) {
        alike.emplace_back(use, std::llround(share * 1e9));
      }
      if (!seen.try_emplace(std::move(alike), true).second) {
        continue;
      }
      const LoadResource resource = loads_.add_resource();
      for (const auto& [use, share] : row) {
        uses_[use].load.push_back({.resource = resource, .share = share});
      }
    }
  }

  [[nodiscard]] std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      for (const auto& [link, share] : uses_[use].shares) {
        rows.resize(std::max<std::size_t>(rows.size(), link + 1));
        rows[link].emplace_back(use, share);
      }
    }
    return rows;
  }

  /// What can be asked of a link when every slot does what takes the most of it. The uses of a slot
  /// are numbered in a row.
  [[nodiscard]] double most_at_once(const Row& row) const {
    double sum = 0;
    double most = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0 && uses_[row[i].first].slot != uses_[row[i - 1].first].slot) {
        sum += std::exchange(most, 0.0);
      }
      most = std::max(most, row[i].second);
    }
    return sum + most;
  }

  const SharedStep& step_;
  const Contention& contention_;
  std::span<StepProgram> programs_;                           // of each class
  std::vector<std::unique_ptr<NetworkTransfers>> transfers_;  // likewise
  std::map<std::pair<Slot, Kind>, LoadId> known_;
  std::vector<SlotUse> uses_;
  Loads loads_;
};

}  // namespace

LinkLoads share_links(const SharedStep& step, std::span<StepProgram> programs) {
  return LinkSharer(step, programs).share();
}

}  // namespace titer
