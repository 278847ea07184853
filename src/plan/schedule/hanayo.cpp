// Hanayo: waves of chunks, whose order is found by playing the passes cell by cell.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedules.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// One unit of Hanayo: at most as many micro-batches as ranks, a backward twice a forward.
class WavePlayer {
 public:
  explicit WavePlayer(const PipelineShape& shape)
      : shape_(shape),
        stages_(shape.stages * shape.virtual_stages),
        ranks_(static_cast<std::size_t>(shape.stages)) {
    for (int i = 0; i < shape.micro_batches; ++i) {
      offer(Pass::forward, 0, i, 0);
    }
  }

  std::vector<ActionList> run() {
    int left = 2 * stages_ * shape_.micro_batches;
    for (int cell = 0; left > 0; ++cell) {
      for (Rank& rank : ranks_) {
        left -= play(rank, cell) ? 1 : 0;
      }
    }
    return each_of(ranks_, [](Rank& rank) { return std::move(rank.list); });
  }

 private:
  struct Offer {
    Pass pass;
    int stage;
    int micro_batch;
    int from;  // cell
  };
  struct Rank {
    ActionList list;
    std::vector<Offer> offers;
    int free = 0;
  };

  void offer(Pass pass, int stage, int micro_batch, int from) {
    const StagePlace place = place_of(Placement::wave, stage, 0, shape_);
    ranks_[static_cast<std::size_t>(place.rank)].offers.push_back(
        {.pass = pass, .stage = stage, .micro_batch = micro_batch, .from = from});
  }

  static bool goes_first(const Offer& a, const Offer& b) {
    if (a.pass != b.pass) {
      return a.pass == Pass::backward;
    }
    if (a.pass == Pass::forward) {
      return std::pair(-a.stage, a.micro_batch) < std::pair(-b.stage, b.micro_batch);
    }
    return std::pair(a.micro_batch, -a.stage) < std::pair(b.micro_batch, -b.stage);
  }

  bool play(Rank& rank, int cell) {
    if (rank.free > cell) {
      return false;
    }
    auto best = rank.offers.end();
    for (auto it = rank.offers.begin(); it != rank.offers.end(); ++it) {
      if (it->from <= cell && (best == rank.offers.end() || goes_first(*it, *best))) {
        best = it;
      }
    }
    if (best == rank.offers.end()) {
      return false;
    }
    const Offer done = *best;
    rank.offers.erase(best);
    rank.free = cell + (done.pass == Pass::forward ? 1 : 2);
    rank.list.push_back(
        {.pass = done.pass, .chunk = done.stage / shape_.stages, .micro_batch = done.micro_batch});
    offer_after(done, rank.free);
    return true;
  }

  void offer_after(const Offer& done, int from) {
    if (done.pass == Pass::forward) {
      const bool turns = done.stage + 1 == stages_;
      offer(turns ? Pass::backward : Pass::forward,
            turns ? done.stage : done.stage + 1,
            done.micro_batch,
            from);
    } else if (done.stage > 0) {
      offer(Pass::backward, done.stage - 1, done.micro_batch, from);
    }
  }

  PipelineShape shape_;
  int stages_;
  std::vector<Rank> ranks_;
};

std::vector<ActionList> wave_after_wave(const PipelineShape& shape) {
  std::vector<ActionList> lists(static_cast<std::size_t>(shape.stages));
  PipelineShape unit = shape;
  std::vector<ActionList> wave;
  for (int first = 0; first < shape.micro_batches; first += shape.stages) {
    const int size = std::min(shape.stages, shape.micro_batches - first);
    if (wave.empty() || size != unit.micro_batches) {
      unit.micro_batches = size;
      wave = WavePlayer(unit).run();
    }
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
      for (Action action : wave[rank]) {
        action.micro_batch += first;
        lists[rank].push_back(action);
      }
    }
  }
  return lists;
}

}  // namespace

/// v / 2 waves down and up the ranks. As many micro-batches as there are stages, each rank doing
/// the backward pass of the earliest micro-batch that it can, or else the forward of the latest
/// stage; more micro-batches in units of p, one unit after the other.  [Liu 2023, arXiv 2308.15762]
constinit const ScheduleEntry kHanayo{
    .name = "hanayo",
    .source = "Liu et al. 2023, arXiv 2308.15762",
    .placement = Placement::wave,
    .interleaves = true,
    .chunks = 2,
    .splits = false,
    .refusal = [](const PipelineShape& shape) -> std::optional<std::string> {
      return shape.virtual_stages % 2 == 0
                 ? std::nullopt
                 : std::optional(fmt::format(
                       "expected an even number of virtual stages, two for each wave, got {}",
                       shape.virtual_stages));
    },
    .lists = wave_after_wave,
    .in_flight = [](int rank, const PipelineShape& shape) -> std::optional<int> {
      PipelineShape unit = shape;
      unit.micro_batches = std::min(shape.micro_batches, shape.stages);
      return most_alive(wave_after_wave(unit)[static_cast<std::size_t>(rank)]);
    }};

}  // namespace titer
