#include "pass_work.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace titer {
namespace {

Ticks share_of(Ticks duration, double share) {
  return std::llround(share * static_cast<double>(duration));
}

/// A place where a pass is cut: what is before it belongs to a bucket.
struct Cut {
  double share = 1;  // of the pass, its exposed transfers included
  std::uint32_t gathers = 0;
  std::optional<BucketPlace> bucket{};
};

/// Compute in a row, taken from the front.
class Row {
 public:
  explicit Row(const std::vector<Segment>& row) : row_(row), left_(row.front().compute) {}

  /// The next piece, of at most so many ticks.
  Segment take(Ticks most) {
    while (left_ == 0 && at_ + 1 < row_.size()) {
      left_ = row_[++at_].compute;
    }
    Segment piece = row_[at_];
    piece.compute = std::clamp<Ticks>(most, 0, left_);
    left_ -= piece.compute;
    return piece;
  }
  [[nodiscard]] bool empty() const { return left_ == 0 && at_ + 1 == row_.size(); }

 private:
  const std::vector<Segment>& row_;
  std::size_t at_ = 0;
  Ticks left_;
};

/// Compute in a row, and transfers that are spread over it evenly, cut into pieces. The last cut is
/// at the end.
std::vector<Segment> cut_at(const std::vector<Cut>& cuts,
                            const std::vector<Segment>& row,
                            const CommTicks& exposed) {
  Ticks total = std::accumulate(exposed.begin(), exposed.end(), Ticks{0});
  for (const Segment& part : row) {
    total += part.compute;
  }
  std::vector<Segment> pieces;
  Row rest(row);
  Ticks done = 0;
  CommTicks sent{};
  for (const Cut& cut : cuts) {
    CommTicks comm_end{};
    Ticks compute_end = share_of(total, cut.share);
    for (std::size_t comm = 0; comm < exposed.size(); ++comm) {
      comm_end[comm] = share_of(exposed[comm], cut.share);
      compute_end -= comm_end[comm];
    }
    const std::size_t first = pieces.size();
    do {
      pieces.push_back(rest.take(compute_end - done));
      done += pieces.back().compute;
    } while (done < compute_end && !rest.empty());
    pieces[first].gathers = cut.gathers;
    for (std::size_t comm = 0; comm < exposed.size(); ++comm) {
      pieces.back().exposed[comm] = comm_end[comm] - sent[comm];
    }
    pieces.back().bucket = cut.bucket;
    sent = comm_end;
  }
  return pieces;
}

/// Transfers beside compute go on evenly with it, so that those after a piece begin when its own
/// are through.
void hide(std::size_t comm, Ticks hidden, std::vector<Segment>& pieces) {
  Ticks all = 0;
  for (const Segment& piece : pieces) {
    all += piece.compute;
  }
  Ticks done = 0;
  Ticks sent = 0;
  for (Segment& piece : pieces) {
    done += piece.compute;
    const double share = static_cast<double>(done) / static_cast<double>(std::max<Ticks>(all, 1));
    piece.hidden[comm] = share_of(hidden, share) - sent;
    sent += piece.hidden[comm];
  }
}

/// The work of compute in a row with the transfers of `cost`.
PassWork work_of(const PassCost& cost, const std::vector<Segment>& row, std::vector<Cut> cuts) {
  if (cuts.empty() || cuts.back().share < 1) {
    cuts.emplace_back();
  }
  CommTicks exposed{};
  for (const PassComm comm : kAllPassComms) {
    exposed[static_cast<std::size_t>(comm)] = to_ticks(cost.exposed[comm]);
  }
  PassWork work{.segments = cut_at(cuts, row, exposed)};
  Ticks room = to_ticks(cost.compute);
  for (const PassComm comm : kAllPassComms) {
    const auto at = static_cast<std::size_t>(comm);
    const Ticks hidden = std::clamp<Ticks>(to_ticks(cost.transfers[comm]) - exposed[at], 0, room);
    room -= hidden;
    if (hidden > 0) {
      hide(at, hidden, work.segments);
    }
  }
  return work;
}

/// The last backward pass of a chunk completes its gradients bucket by bucket.
std::vector<Cut> completions(int stage, const std::vector<GradientBucket>& buckets) {
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    cuts.push_back({.share = buckets[i].ready, .bucket = BucketPlace{.stage = stage, .bucket = i}});
  }
  return cuts;
}

/// The first forward pass of a chunk goes bucket by bucket, as its parameters come after those
/// `before`: a bucket that is complete early in the backward pass is needed late in the forward
/// pass.
std::vector<Cut> arrivals(const std::vector<GradientBucket>& buckets, std::uint32_t before) {
  std::vector<Cut> cuts;
  for (std::size_t i = buckets.size(); i > 0; --i) {
    cuts.push_back({.share = i > 1 ? 1.0 - buckets[i - 2].ready : 1.0, .gathers = ++before});
  }
  return cuts;
}

}  // namespace

PassCutter::PassCutter(const StepCosts& costs, int rank, const ActionList& list)
    : costs_(costs), rank_(rank), list_(list) {
  const auto chunks = static_cast<std::size_t>(chunks_per_rank(costs.placement, costs.shape));
  first_.resize(chunks);
  last_.resize(chunks);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto chunk = static_cast<std::size_t>(list[i].chunk);
    if (list[i].pass == Pass::forward && !first_[chunk]) {
      first_[chunk] = i;
    }
    if (makes_gradients(list[i].pass)) {
      last_[chunk] = i;
    }
  }
}

int PassCutter::stage(std::size_t index) const {
  return stage_of(costs_.placement, {.rank = rank_, .chunk = list_[index].chunk}, costs_.shape);
}

Segment PassCutter::segment(std::size_t index, Ticks compute) const {
  constexpr std::array parts = {
      TaskPart::forward, TaskPart::backward, TaskPart::backward, TaskPart::weight_gradient};
  return {.compute = compute,
          .part = parts[static_cast<std::size_t>(list_[index].pass)],
          .stage = stage(index),
          .micro_batch = list_[index].micro_batch};
}

PassWork PassCutter::pass(std::size_t index) const {
  const Action& action = list_[index];
  const PassCost cost = costs_.chunk(stage(index)).of(action.pass).of(action);
  const std::vector<Segment> row = {segment(index, to_ticks(cost.compute))};
  if (gathers_of(index) > 0) {
    const auto& all = *buckets(index, &GradientBucket::gather);
    return work_of(cost, row, arrivals(all, gathers_before(index)));
  }
  return work_of(cost, row, completions(stage(index), completed_by(index)));
}

PassWork PassCutter::recomputation(std::size_t index) const {
  if (!sends_gradient(list_[index].pass)) {
    return {};
  }
  const PassCost cost = costs_.chunk(stage(index)).recompute.of(list_[index]);
  Segment part = segment(index, to_ticks(cost.compute));
  part.part = TaskPart::recompute;
  return work_of(cost, {part}, {});
}

PassWork PassCutter::pair(std::size_t index) const {
  const auto [forth, back] = opposite_passes(list_[index].pass, index);
  const PassCost pair = costs_.pair(stage(forth));
  Ticks left = to_ticks(pair.compute);
  const auto take = [&](Seconds time) {
    const Ticks taken = std::min(left, to_ticks(time));
    left -= taken;
    return taken;
  };
  const Ticks forward = take(costs_.chunk(stage(forth)).forward.compute);
  Segment repeated = segment(back, take(costs_.chunk(stage(back)).recompute.compute));
  repeated.part = TaskPart::recompute;
  PassWork work = work_of(pair,
                          {segment(forth, forward), repeated, segment(back, left)},
                          completions(stage(back), completed_by(back)));
  if (gathers_of(forth) > 0) {
    work.segments.front().gathers =
        gathers_before(forth) + static_cast<std::uint32_t>(gathers_of(forth));
  }
  return work;
}

std::vector<BucketPlace> PassCutter::gathers() const {
  std::vector<std::size_t> order;
  for (const auto& first : first_) {
    if (first) {
      order.push_back(*first);
    }
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return stage(a) < stage(b); });
  std::vector<BucketPlace> places;
  for (const std::size_t index : order) {
    for (std::size_t i = gathers_of(index); i > 0; --i) {
      places.push_back({.stage = stage(index), .bucket = i - 1});
    }
  }
  return places;
}

/// Buckets of parameters that a pass waits for.
std::size_t PassCutter::gathers_of(std::size_t index) const {
  const bool first = first_[static_cast<std::size_t>(list_[index].chunk)] == index;
  const auto* const all = first ? buckets(index, &GradientBucket::gather) : nullptr;
  return all != nullptr ? all->size() : 0;
}

std::uint32_t PassCutter::gathers_before(std::size_t index) const {
  std::size_t before = 0;
  for (const auto& first : first_) {
    before += first && stage(*first) < stage(index) ? gathers_of(*first) : 0;
  }
  return static_cast<std::uint32_t>(before);
}

std::vector<GradientBucket> PassCutter::completed_by(std::size_t index) const {
  const bool last = last_[static_cast<std::size_t>(list_[index].chunk)] == index;
  const auto* const all = last ? buckets(index, &GradientBucket::sync) : nullptr;
  return all != nullptr ? *all : std::vector<GradientBucket>{};
}

/// Of the pass's stage, if any of them takes that time.
const std::vector<GradientBucket>* PassCutter::buckets(std::size_t index, BucketTime time) const {
  if (costs_.buckets.empty()) {
    return nullptr;
  }
  const auto& all = costs_.buckets[static_cast<std::size_t>(stage(index))];
  const bool any =
      std::ranges::any_of(all, [&](const auto& bucket) { return bucket.*time > Seconds{}; });
  return any ? &all : nullptr;
}

}  // namespace titer
