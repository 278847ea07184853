#include "titer/simulate/network_loads.hpp"

#include <algorithm>
#include <cmath>

#include "contention.hpp"
#include "network_transfers.hpp"

namespace titer {
namespace {

/// What runs one after the other on a pipeline rank: never two of its uses at once.
struct Slot {
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
  std::vector<std::pair<std::uint32_t, double>> shares{};
  std::vector<LoadShare> load{};
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
  LinkSharer(const Scenario& scenario,
             const StepCosts& costs,
             const Contention& contention,
             StepProgram& program)
      : costs_(costs), contention_(contention), program_(program), transfers_(scenario, costs) {}

  LinkLoads share() {
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
      for (std::size_t track = 0; track < kTracks; ++track) {
        visit({.rank = static_cast<int>(rank), .track = static_cast<Track>(track)});
      }
    }
    add_device_parts();
    add_links();
    for (const SlotUse& use : uses_) {
      loads_.add(use.load);
    }
    return {std::move(loads_), transfers_.algorithms()};
  }

 private:
  void visit(Slot slot) {
    RankProgram& own = program_.ranks[static_cast<std::size_t>(slot.rank)];
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
    return std::span(program.actions).subspan(first, program.actions[first].with_next ? 2 : 1);
  }

  SlotUse use_of(Slot slot, const Instruction& instruction, std::span<const Action> passes) {
    SlotUse use{.slot = slot, .affected = instruction.affected};
    const Seconds duration = to_seconds(instruction.duration);
    switch (instruction.affected) {
      case Affected::tensor:
      case Affected::context:
      case Affected::expert:
      case Affected::shard: {
        const PassComm comm = *comm_of(instruction.affected);
        const Seconds time = transfer_time(slot.rank, passes, comm);
        spread(transfers_.of_passes(slot.rank, passes, comm, time), time, use);
        break;
      }
      case Affected::data:
      case Affected::experts:
        spread(transfers_.of_data(slot.rank, instruction), duration, use);
        break;
      case Affected::to_previous:
      case Affected::to_next:
        spread(transfers_.of_send(slot.rank, instruction.affected == Affected::to_next),
               duration,
               use);
        break;
      case Affected::ends:
        spread(transfers_.of_ends(), duration, use);
        break;
      case Affected::compute:
      case Affected::nothing:
        break;
    }
    return use;
  }

  /// What all transfers of these passes cost that count as `comm`.
  [[nodiscard]] Seconds transfer_time(int rank,
                                      std::span<const Action> passes,
                                      PassComm comm) const {
    Seconds time;
    for (const Action& action : passes) {
      const int stage =
          stage_of(costs_.placement, {.rank = rank, .chunk = action.chunk}, costs_.shape);
      const BlockCost cost = costs_.chunk(stage);
      time += cost.of(action.pass).transfers[comm];
      if (sends_gradient(action.pass)) {
        time += cost.recompute.transfers[comm];
      }
    }
    return time;
  }

  /// Of the devices, as in events without links.
  void add_device_parts() {
    for (std::size_t i = 0; i < contention_.loads().resources(); ++i) {
      loads_.add_resource();
    }
    for (SlotUse& use : uses_) {
      use.load = contention_.shares(static_cast<std::size_t>(use.slot.rank), use.affected);
    }
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

  const StepCosts& costs_;
  const Contention& contention_;
  StepProgram& program_;
  NetworkTransfers transfers_;
  std::map<std::pair<Slot, Kind>, LoadId> known_;
  std::vector<SlotUse> uses_;
  Loads loads_;
};

}  // namespace

LinkLoads share_links(const Scenario& scenario,
                      const StepCosts& costs,
                      const Contention& contention,
                      StepProgram& program) {
  return LinkSharer(scenario, costs, contention, program).share();
}

}  // namespace titer
