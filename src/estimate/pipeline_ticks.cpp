#include "pipeline_ticks.hpp"

#include <algorithm>
#include <span>

namespace titer {
namespace {

/// Whether the passes of a stage, alone and with those of the stage as far from the end, are those
/// of the stage before.
bool is_alike(const StepCosts& costs, int stage) {
  const int opposite = costs.stages - 1 - stage;
  return costs.alike(stage, stage - 1) && costs.contents.same(opposite, opposite + 1);
}

/// One of the places where passes are done.
StagePlace stage_at(const StepCosts& costs, std::size_t place) {
  const auto stages = static_cast<std::size_t>(costs.stages);
  return place_of(costs.placement,
                  static_cast<int>(place % stages),
                  static_cast<int>(place / stages),
                  costs.shape);
}

/// Whether passes are overlapped: no, and where they may be, yes.
std::span<const bool> overlaps(const StepCosts& costs) {
  static constexpr std::array both = {false, true};
  return std::span(both).first(costs.shape.overlaps ? 2 : 1);
}

/// Hands on every message of a step with the kinds of pass that send it. Of a pair, the gradient
/// goes before the activation.
template <class Put>
void for_each_message(const StepCosts& costs, const Put& put) {
  const std::size_t places = pass_places(costs.placement, costs.stages);
  for (std::size_t place = 0; costs.shape.stages > 1 && place < places; ++place) {
    const StagePlace from = stage_at(costs, place);
    if (const auto activation = costs.message_after(from, Pass::forward)) {
      for (const bool overlapped : overlaps(costs)) {
        put(pass_kind(place, Pass::forward, overlapped), *activation);
      }
      put(pair_end_kind(places, place), *activation);
    }
    if (const auto gradient = costs.message_after(from, Pass::backward)) {
      for (const bool overlapped : overlaps(costs)) {
        put(pass_kind(place, Pass::backward, overlapped), *gradient);
        put(pass_kind(place, Pass::input_gradient, overlapped), *gradient);
      }
      put(pair_kind(opposite_place(places, place)), *gradient);
    }
  }
}

/// Hands on every kind of pass but pairs, with what it takes and what is recomputed before it.
template <class Put>
void for_each_pass(const StepCosts& costs, const StagePasses& passes, const Put& put) {
  for (std::size_t place = 0; place < pass_places(costs.placement, costs.stages); ++place) {
    for (const bool overlapped : overlaps(costs)) {
      const BlockCost& cost = passes.cost(static_cast<int>(place) % costs.stages, overlapped);
      for (const Pass pass : kAllPasses) {
        PassCost whole = cost.of(pass);
        whole += sends_gradient(pass) ? cost.recompute : PassCost{};
        put(pass_kind(place, pass, overlapped), whole);
      }
    }
  }
}

/// Of each kind of pass the rank to which its message goes, if that meets the data lanes.
void fill_receivers(const StepCosts& costs, std::vector<std::size_t>& receivers) {
  receivers.assign(pass_kinds(pass_places(costs.placement, costs.stages)), kNoReceiver);
  for_each_message(costs, [&](std::size_t kind, const StepCosts::Message& message) {
    if (costs.meets_sync(message)) {
      receivers[kind] = static_cast<std::size_t>(message.to);
    }
  });
}

Ticks share(double part, Ticks of) { return nearest_tick(part * static_cast<double>(of)); }

}  // namespace

void fill_send_ticks(const StepCosts& costs, PassTicks& send) {
  send.assign(pass_kinds(pass_places(costs.placement, costs.stages)), 0);
  for_each_message(costs, [&](std::size_t kind, const StepCosts::Message& message) {
    send[kind] = to_ticks(costs.send[message.after]);
  });
}

void fill_pass_ticks(const StepCosts& costs,
                     const StagePasses& passes,
                     bool pairs,
                     PassTicks& ticks) {
  const std::size_t places = pass_places(costs.placement, costs.stages);
  ticks.resize(pass_kinds(places));
  for (int stage = 0; stage < costs.stages; ++stage) {
    const auto place = static_cast<std::size_t>(stage);
    for (const bool overlapped : overlaps(costs)) {
      std::ranges::copy(passes.occupied(stage, overlapped),
                        &ticks[pass_kind(place, kAllPasses.front(), overlapped)]);
    }
    Ticks& pair = ticks[pair_kind(place)];
    if (!pairs) {
      pair = 0;
    } else if (is_alike(costs, stage)) {
      pair = ticks[pair_kind(place - 1)];
    } else {
      pair = busy_ticks(costs.pair(stage));
    }
  }
  Ticks* const end = ticks.data() + instant_kind(places);
  if (costs.placement == Placement::two_ways) {
    Ticks* const second = ticks.data() + instant_kind(places) / 2;
    std::copy(ticks.data(), second, second);
  }
  std::fill(end, ticks.data() + ticks.size(), 0);
}

void fill_slowdowns(const StepCosts& costs,
                    const StagePasses& passes,
                    const PassTicks& ticks,
                    PipelineLanes& lanes) {
  lanes.slower.clear();
  lanes.receivers.clear();
  if (costs.slowdown <= 1) {
    return;
  }
  const double share_taken = std::min(1.0, costs.slowdown - 1);
  fill_receivers(costs, lanes.receivers);
  lanes.slower.resize(pass_kinds(pass_places(costs.placement, costs.stages)), 0.0);
  const auto put = [&](std::size_t kind, const PassCost& cost) {
    const Ticks message = lanes.overlapped_sends ? 0 : lanes.send[kind];
    const Seconds all = to_seconds(ticks[kind] + message);
    const Seconds met = lanes.receivers[kind] == kNoReceiver ? Seconds{} : to_seconds(message);
    const Seconds longer = share_taken * cost.compute + costs.meeting_sync(cost) + met;
    lanes.slower[kind] = all > Seconds{} ? longer / all : 0.0;
  };
  for_each_pass(costs, passes, put);
  for (std::size_t place = 0; place < pass_places(costs.placement, costs.stages); ++place) {
    if (ticks[pair_kind(place)] > 0) {
      put(pair_kind(place), costs.pair(static_cast<int>(place) % costs.stages));
    }
  }
}

void fill_bucket_ticks(const StepCosts& costs,
                       const StagePasses& passes,
                       bool pairs,
                       PipelineLanes& lanes) {
  for (auto& by_stage : lanes.buckets) {
    by_stage.resize(costs.buckets.size());
  }
  lanes.like.resize(costs.buckets.size());
  const bool one_kind = costs.kinds.size() == 1;  // whose layers come in one order only
  for (std::size_t stage = 0; stage < costs.buckets.size(); ++stage) {
    const int at = static_cast<int>(stage);
    if (one_kind && is_alike(costs, at) && costs.placement != Placement::two_ways) {
      lanes.like[stage] = lanes.like[stage - 1];
      continue;
    }
    lanes.like[stage] = stage;
    // By GradientPass.
    const std::array<Ticks, kGradientPasses> making = {
        passes.alone(at, Pass::backward),
        passes.alone(at, Pass::weight_gradient),
        pairs ? busy_ticks(costs.pair(costs.stages - 1 - at)) : 0,
        passes.alone(at, Pass::backward, true)};
    const std::array<bool, kGradientPasses> may_make = {
        true, passes.splits(), pairs, costs.shape.overlaps};
    for (std::size_t kind = 0; kind < making.size(); ++kind) {
      auto& buckets = lanes.buckets[kind][stage];
      buckets.clear();
      if (!may_make[kind]) {
        continue;
      }
      for (const GradientBucket& bucket : costs.buckets[stage]) {
        buckets.push_back({.left = making[kind] - share(bucket.ready, making[kind]),
                           .sync = to_ticks(bucket.sync)});
      }
    }
  }
}

void fill_gather_ticks(const StepCosts& costs, const StagePasses& passes, PipelineLanes& lanes) {
  const int p = costs.shape.stages;
  const int chunks = chunks_per_rank(costs.placement, costs.shape);
  StartGathers& gathers = lanes.gathers;
  gathers.through.assign(static_cast<std::size_t>(p), 0);
  const std::size_t places = pass_places(costs.placement, costs.stages);
  gathers.ends.resize(places);
  std::size_t all = 0;
  for (std::size_t place = 0; place < places; ++place) {
    all += costs.buckets[place % costs.buckets.size()].size();
    gathers.ends[place] = static_cast<std::uint32_t>(all);
  }
  gathers.arrivals.resize(all);
  for (int rank = 0; rank < p; ++rank) {
    Ticks& now = gathers.through[static_cast<std::size_t>(rank)];
    // With two ways, the second half of the ranks has the earlier stage in chunk 1.
    const bool turned = costs.placement == Placement::two_ways && rank >= p / 2;
    for (int i = 0; i < chunks; ++i) {
      const int chunk = turned ? chunks - 1 - i : i;
      const int stage = stage_of(costs.placement, {.rank = rank, .chunk = chunk}, costs.shape);
      const std::size_t place = pass_place(costs.placement, costs.stages, rank, stage);
      std::size_t arrival = gathers.begin(place);
      const Ticks forward = passes.alone(stage, Pass::forward);
      const auto& buckets = costs.buckets[static_cast<std::size_t>(stage)];
      for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
        now += to_ticks(bucket->gather);
        gathers.arrivals[arrival++] = {.there = now,
                                       .left = forward - share(1.0 - bucket->ready, forward)};
      }
    }
  }
}

}  // namespace titer
