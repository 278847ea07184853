// Of the instructions of a rank: gradients and parameters, and what follows the passes.

#include <algorithm>
#include <numeric>

#include "rank_builder.hpp"

namespace titer {

void RankBuilder::add_transfer(const BucketPlace& place, std::uint32_t ready) {
  const bool gathers = ready == 0;
  const Ticks all = to_ticks(gathers ? bucket(place).gather : bucket(place).sync);
  const Ticks experts =
      std::min(all, to_ticks(gathers ? bucket(place).expert_gather : bucket(place).expert_sync));
  Instruction transfer{.lane = DeviceLane::data_comm,
                       .part = TaskPart::data_comm,
                       .gathers = gathers,
                       .stage = static_cast<std::int16_t>(place.stage),
                       .bucket = static_cast<std::int16_t>(place.bucket)};
  if (experts < all || experts == 0) {
    transfer.duration = all - experts;
    add_transfer(transfer, Meeting::data, ready);
  }
  if (experts > 0) {
    transfer.duration = experts;
    add_transfer(transfer, Meeting::experts, ready);
  }
  ++transfers_;
  track(Track::data).back().signals.add(Post::data);
}

void RankBuilder::add_transfer(Instruction transfer, Meeting meeting, std::uint32_t ready) {
  transfer.affected = affected_by(meeting);
  transfer.draw = number(transfer.affected);
  const Post post = post_of(meeting);
  const auto members = static_cast<std::uint32_t>(plans_.members[meeting]);
  ++meetings(meeting);
  if (members > 1) {
    Instruction arrival;
    if (ready > 0) {
      arrival.waits.add({Post::ready, ready});
    }
    arrival.signals.add(post);
    track(Track::data).push_back(arrival);
    transfer.waits.add({post, meetings(meeting) * members});
  } else if (ready > 0) {
    transfer.waits.add({Post::ready, ready});
  }
  if (members > 1 && plans_.leave_together) {
    transfer.signals.add(post);
    track(Track::data).push_back(transfer);
    transfer = Instruction{};
    transfer.waits.add({post, ++meetings(meeting) * members});
  }
  track(Track::data).push_back(transfer);
}

void RankBuilder::add_gathers() {
  for (const BucketPlace& place : cutter_.gathers()) {
    add_transfer(place, 0);
  }
}

const GradientBucket& RankBuilder::bucket(const BucketPlace& place) const {
  return costs_.buckets[static_cast<std::size_t>(place.stage)][place.bucket];
}

void RankBuilder::add_syncs() {
  std::vector<std::uint32_t> order(complete_.size());
  std::iota(order.begin(), order.end(), 0);
  if (costs_.placement == Placement::two_ways) {
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return complete_[a].stage > complete_[b].stage;
    });
  }
  for (const std::uint32_t index : order) {
    add_transfer(complete_[index], index + 1);
  }
}

void RankBuilder::add_tail() {
  const StageTail& tail = costs_.tails[static_cast<std::size_t>(rank_)];
  unit_ = static_cast<std::uint32_t>(program_.units.size());
  if (plans_.send == PipelineSend::batched && sent_ > 0) {
    wait(Post::sent, sent_);
  }
  if (costs_.embedding_sync > Seconds{} && (rank_ == 0 || rank_ == costs_.shape.stages - 1)) {
    std::uint32_t first = 0;
    meet(Post::ends, first, 2);
    on_main({.duration = to_ticks(costs_.embedding_sync),
             .lane = DeviceLane::pipeline_send,
             .part = TaskPart::pipeline_comm,
             .affected = Affected::ends});
  }
  add_syncs();
  synchronise(tail.gradient_sync, tail.expert_gradients, false);
  if (transfers_ > 0) {
    wait(Post::data, transfers_);
  }
  if (tail.optimizer > Seconds{} || !pending_.empty()) {
    on_main({.duration = to_ticks(tail.optimizer),
             .lane = DeviceLane::optimizer,
             .part = TaskPart::optimizer,
             .affected = Affected::compute});
  }
  if (tail.host > Seconds{}) {
    on_main({.duration = to_ticks(tail.host),
             .lane = DeviceLane::host_copy,
             .part = TaskPart::host_copy,
             .affected = Affected::nothing});
  }
  synchronise(tail.parameter_sync, tail.expert_parameters, true);
  if (tail.meeting > Seconds{}) {
    on_main({.duration = to_ticks(tail.meeting),
             .lane = DeviceLane::data_comm,
             .part = TaskPart::data_comm,
             .affected = plans_.islands_have_links ? Affected::nothing : Affected::data,
             .meets = true});
  }
}

void RankBuilder::synchronise(Seconds time, Seconds experts, bool gathers) {
  const Ticks own = std::min(to_ticks(time), to_ticks(experts));
  synchronise(to_ticks(time) - own, Meeting::data, gathers);
  synchronise(own, Meeting::experts, gathers);
}

void RankBuilder::synchronise(Ticks duration, Meeting meeting, bool gathers) {
  if (duration > 0) {
    meet(meeting);
    on_main({.duration = duration,
             .lane = DeviceLane::data_comm,
             .part = TaskPart::data_comm,
             .affected = affected_by(meeting),
             .gathers = gathers,
             .draw = number(affected_by(meeting))});
    leave(meeting);
  }
}

}  // namespace titer
