// Lanes beside the passes of a pipeline: what PipelineClock says of them is what the engine does
// with a task for every piece of every lane.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "plan/pipeline_graph.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using pipeline_test::text_of;

/// A step with lanes as tasks: compute, messages and data-parallel transfers of every rank.
class LaneGraph {
 public:
  LaneGraph(const Schedule& schedule,
            PipelineShape shape,
            const PassTicks& ticks,
            const PipelineLanes& lanes)
      : placement_(placement(schedule)),
        shape_(shape),
        stages_(model_stages(placement_, shape)),
        ticks_(ticks),
        lanes_(lanes),
        ranks_(static_cast<std::size_t>(shape.stages)) {
    for (int rank = 0; rank < shape.stages; ++rank) {
      ranks_[static_cast<std::size_t>(rank)].list = actions(schedule, rank, shape);
      for (int lane = 0; lane < 3; ++lane) {
        graph_.add_resource();
      }
    }
    for (const Rank& rank : ranks_) {
      for (const Action& action : rank.list) {
        left_[place(rank, action)] += makes_gradients(action) ? 1 : 0;
      }
    }
    for (Rank& rank : ranks_) {
      const Ticks gathers = lanes.gathers.empty() ? 0 : lanes.gathers.through[number(rank)];
      if (gathers > 0) {
        add(rank, kData, gathers, {});
      }
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (Rank& rank : ranks_) {
        progress = (rank.next < rank.list.size() && take(rank)) || progress;
      }
    }
    for (std::size_t rank = 0; two_ways() && rank < ranks_.size() / 2; ++rank) {
      synchronise_both(rank);
    }
    timeline_ = titer::run(graph_);
  }

  [[nodiscard]] Ticks finish(std::size_t rank) const { return end(ranks_[rank].last[kCompute]); }
  [[nodiscard]] Ticks data_end(std::size_t rank) const { return end(ranks_[rank].last[kData]); }

  /// Ticks before its finish at which the rank computes nothing, and sends; or only synchronises.
  [[nodiscard]] std::pair<Ticks, Ticks> exposed(std::size_t rank) const {
    std::map<Ticks, std::array<int, 3>> changes;  // of the number of tasks on each lane
    for (TaskId task = 0; task < graph_.size(); ++task) {
      const std::size_t resource = graph_.resource(task);
      if (resource / 3 == rank && graph_.duration(task) > 0) {
        ++changes[timeline_.start[task]][resource % 3];
        --changes[timeline_.start[task] + graph_.duration(task)][resource % 3];
      }
    }
    std::pair<Ticks, Ticks> sum{0, 0};
    std::array<int, 3> busy{};
    Ticks before = 0;
    for (const auto& [tick, change] : changes) {
      const Ticks now = std::min(tick, finish(rank));
      if (busy[kCompute] == 0 && busy[kSend] > 0) {
        sum.first += now - before;
      } else if (busy[kCompute] == 0 && busy[kData] > 0) {
        sum.second += now - before;
      }
      before = now;
      for (std::size_t lane = 0; lane < 3; ++lane) {
        busy[lane] += change[lane];
      }
    }
    return sum;
  }

 private:
  static constexpr std::size_t kCompute = 0;
  static constexpr std::size_t kSend = 1;
  static constexpr std::size_t kData = 2;

  struct Rank {
    ActionList list;
    std::size_t next = 0;
    std::array<std::optional<TaskId>, 3> last;
  };

  [[nodiscard]] std::size_t number(const Rank& rank) const {
    return static_cast<std::size_t>(&rank - ranks_.data());
  }
  [[nodiscard]] int stage(const Rank& rank, const Action& a) const {
    return stage_of(placement_, {.rank = static_cast<int>(number(rank)), .chunk = a.chunk}, shape_);
  }
  [[nodiscard]] std::size_t place(const Rank& rank, const Action& a) const {
    return pass_place(placement_, stages_, static_cast<int>(number(rank)), stage(rank, a));
  }
  static bool makes_gradients(const Action& a) {
    return a.pass == Pass::backward || a.pass == Pass::weight_gradient;
  }
  [[nodiscard]] Ticks end(std::optional<TaskId> task) const {
    return task ? timeline_.start[*task] + graph_.duration(*task) : 0;
  }

  TaskId add(Rank& rank, std::size_t lane, Ticks duration, std::vector<TaskId> after) {
    if (rank.last[lane]) {
      after.push_back(*rank.last[lane]);
    }
    const auto resource = static_cast<ResourceId>(3 * number(rank) + lane);
    rank.last[lane] = graph_.add(resource, duration, after);
    return *rank.last[lane];
  }

  using Key = std::array<int, 3>;  // backward or not, stage, micro-batch
  bool wait(const Rank& rank, const Action& a, std::vector<TaskId>& after) const {
    const int at = stage(rank, a);
    if (a.pass == Pass::weight_gradient || (a.pass == Pass::forward && at == 0)) {
      return true;
    }
    const bool forward = a.pass == Pass::forward;
    const bool turns = !forward && at + 1 == stages_;
    const Key key = {
        forward || turns ? 0 : 1, forward ? at - 1 : (turns ? at : at + 1), a.micro_batch};
    const auto found = arrived_.find(key);
    if (found != arrived_.end()) {
      after.push_back(found->second);
    }
    return found != arrived_.end();
  }

  bool take(Rank& rank) {
    const Action first = rank.list[rank.next];
    const std::size_t count = first.with_next ? 2 : 1;
    std::vector<Action> together(
        rank.list.begin() + static_cast<std::ptrdiff_t>(rank.next),
        rank.list.begin() + static_cast<std::ptrdiff_t>(rank.next + count));
    std::vector<TaskId> after;
    for (const Action& action : together) {
      if (!wait(rank, action, after)) {
        return false;
      }
    }
    rank.next += count;
    // The backward of a pair first: its gradient is sent before the activation.
    if (count == 2 && together.front().pass == Pass::forward) {
      std::swap(together.front(), together.back());
    }
    compute(rank, together, after);
    for (const Action& action : together) {
      send(rank, action);
    }
    return true;
  }

  /// Cut into pieces where buckets become ready.
  void compute(Rank& rank, const std::vector<Action>& together, const std::vector<TaskId>& after) {
    const bool pair = together.size() == 2;
    const std::size_t kind = pair ? pair_kind(place(rank, together.back()))
                                  : pass_kind(place(rank, together.front()),
                                              together.front().pass,
                                              together.front().overlapped);
    Ticks duration = ticks_[kind];
    const Action& first = together.front();
    std::vector<BucketTicks> buckets;
    if (makes_gradients(first) && --left_[place(rank, first)] == 0 && lanes_.has_buckets()) {
      const auto way = static_cast<std::size_t>(*gradient_pass(kind, lanes_.send.size()));
      buckets = lanes_.buckets[way][static_cast<std::size_t>(stage(rank, first))];
    }
    std::vector<TaskId> waits = after;
    for (const BucketTicks& bucket : buckets) {
      const TaskId piece = add(rank, kCompute, duration - bucket.left, waits);
      waits.clear();
      duration = bucket.left;
      if (two_ways()) {
        pieces_[place(rank, first)].emplace_back(piece, bucket.sync);
      } else {
        add(rank, kData, bucket.sync, {piece});
      }
    }
    add(rank, kCompute, duration, waits);
  }

  /// Both ranks of a stage at the same time, the later stage's buckets first.
  void synchronise_both(std::size_t rank) {
    const std::size_t other = ranks_.size() - 1 - rank;
    for (const std::size_t stage : {other, rank}) {
      const auto& here = pieces_[stage];
      const auto& there = pieces_[ranks_.size() + stage];
      for (std::size_t i = 0; i < here.size(); ++i) {
        std::vector<TaskId> after = {here[i].first, there[i].first};
        for (const std::size_t lane : {rank, other}) {
          if (ranks_[lane].last[kData]) {
            after.push_back(*ranks_[lane].last[kData]);
          }
        }
        add(ranks_[rank], kData, here[i].second, after);
        add(ranks_[other], kData, there[i].second, after);
      }
    }
  }
  [[nodiscard]] bool two_ways() const { return placement_ == Placement::two_ways; }

  void send(Rank& rank, const Action& action) {
    if (action.pass == Pass::weight_gradient) {
      return;
    }
    const int at = stage(rank, action);
    const Pass way = action.pass == Pass::forward ? Pass::forward : Pass::backward;
    const Ticks time = lanes_.send[pass_kind(place(rank, action), way)];
    TaskId arrival = *rank.last[kCompute];
    if (time > 0) {
      arrival = lanes_.overlapped_sends ? add(rank, kSend, time, {arrival})
                                        : add(rank, kCompute, time, {});
    }
    arrived_[{way == Pass::forward ? 0 : 1, at, action.micro_batch}] = arrival;
  }

  Placement placement_;
  PipelineShape shape_;
  int stages_;
  const PassTicks& ticks_;
  const PipelineLanes& lanes_;
  std::vector<Rank> ranks_;
  TaskGraph graph_;
  Timeline timeline_;
  std::map<Key, TaskId> arrived_;
  std::map<std::size_t, int> left_;
  std::map<std::size_t, std::vector<std::pair<TaskId, Ticks>>>
      pieces_;  // of a place, and its syncs
};

struct Stages {
  std::size_t stages = 0;  // of the model
  std::size_t places = 0;  // of passes
};
Stages stages_of(Placement placement, const PipelineShape& shape) {
  const int stages = model_stages(placement, shape);
  return {.stages = static_cast<std::size_t>(stages), .places = pass_places(placement, stages)};
}

/// Costs and lanes of any kind.
class LaneMaker {
 public:
  explicit LaneMaker(unsigned seed) : random_(seed) {}

  /// `places`: of passes.
  PassTicks ticks(std::size_t places) {
    PassTicks ticks(pass_kinds(places), 0);
    for (std::size_t kind = 0; kind < instant_kind(places); ++kind) {
      ticks[kind] = time(1'000);
    }
    return ticks;
  }

  PipelineLanes lanes(const PassTicks& ticks, Stages of, bool overlapped, bool buckets) {
    const std::size_t places = of.places;
    PipelineLanes lanes;
    lanes.overlapped_sends = overlapped;
    lanes.send.assign(pass_kinds(places), 0);
    for (std::size_t s = 0; s < places; ++s) {
      const Ticks forward = (s + 1) % of.stages > 0 ? time(600) : 0;
      const Ticks backward = s % of.stages > 0 ? time(600) : 0;
      for (const bool beside : {false, true}) {
        lanes.send[pass_kind(s, Pass::forward, beside)] = forward;
        lanes.send[pass_kind(s, Pass::backward, beside)] = backward;
        lanes.send[pass_kind(s, Pass::input_gradient, beside)] = backward;
      }
      lanes.send[pair_end_kind(places, s)] = forward;
      lanes.send[pair_kind(opposite_place(places, s))] = backward;
    }
    for (std::size_t s = 0; buckets && s < of.stages; ++s) {
      add_buckets(ticks, of, s, lanes);
    }
    return lanes;
  }

  /// A rank's in the order of its chunks; each goes on in the middle of its forward pass.
  StartGathers gathers(const PassTicks& ticks, Placement placement, const PipelineShape& shape) {
    const int stages = model_stages(placement, shape);
    StartGathers gathers;
    gathers.through.assign(static_cast<std::size_t>(shape.stages), 0);
    gathers.arrivals.resize(pass_places(placement, stages));
    for (std::size_t place = 0; place < gathers.arrivals.size(); ++place) {
      gathers.ends.push_back(static_cast<std::uint32_t>(place + 1));
    }
    for (int rank = 0; rank < shape.stages; ++rank) {
      Ticks& through = gathers.through[static_cast<std::size_t>(rank)];
      for (int chunk = 0; chunk < chunks_per_rank(placement, shape); ++chunk) {
        const int stage = stage_of(placement, {.rank = rank, .chunk = chunk}, shape);
        const std::size_t place = pass_place(placement, stages, rank, stage);
        through += time(5'000);
        gathers.arrivals[place] = {.there = through,
                                   .left = ticks[pass_kind(place, Pass::forward)] / 2};
      }
    }
    return gathers;
  }

  /// As if compute were some of each pass.
  PassSlowdowns slower(std::size_t kinds) {
    PassSlowdowns slower(kinds, 0.0);
    for (double& one : slower) {
      one = 0.05 * static_cast<double>(random_() % 6);
    }
    return slower;
  }

 private:
  Ticks time(int most) { return random_() % 6 == 0 ? 0 : static_cast<Ticks>(random_()) % most; }

  /// As many buckets, as long, whatever pass makes them; where that ends, differs.
  void add_buckets(const PassTicks& ticks, Stages of, std::size_t stage, PipelineLanes& lanes) {
    std::vector<Ticks> syncs(1 + random_() % 4);
    for (Ticks& sync : syncs) {
      sync = 1 + time(2'000);
    }
    for (std::size_t kind = 0; kind < kGradientPasses; ++kind) {
      Ticks left = std::numeric_limits<Ticks>::max();
      for (std::size_t place = stage; place < of.places; place += of.stages) {
        const std::array<std::size_t, kGradientPasses> made = {
            pass_kind(place, Pass::backward),
            pass_kind(place, Pass::weight_gradient),
            pair_kind(opposite_place(of.places, place)),
            pass_kind(place, Pass::backward, true)};
        left = std::min(left, ticks[made[kind]]);
      }
      lanes.buckets[kind].resize(of.stages);
      for (std::size_t i = 0; i < syncs.size(); ++i) {
        left -= left == 0 ? 0 : static_cast<Ticks>(random_()) % left;
        const bool last = i + 1 == syncs.size();
        lanes.buckets[kind][stage].push_back({.left = last ? 0 : left, .sync = syncs[i]});
      }
    }
  }

  std::mt19937 random_;
};

TEST(PipelineLanes, EndAndAreExposedAsTheEngineRunsThem) {
  LaneMaker maker(1);
  PipelineClock clock;
  std::vector<Ticks> finish;
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape shape : pipeline_test::shapes_of(schedule)) {
      const Stages stages = stages_of(placement(schedule), shape);
      for (const int lanes_of : {0, 1, 2, 3}) {
        const PassTicks ticks = maker.ticks(stages.places);
        const PipelineLanes lanes =
            maker.lanes(ticks, stages, lanes_of % 2 == 1, lanes_of / 2 == 1);
        clock.run(schedule, shape, ticks, lanes, finish);
        const LaneGraph graph(schedule, shape, ticks, lanes);
        const std::string text = std::string(name(schedule)) + ": " + text_of(shape) + ", lanes " +
                                 std::to_string(lanes_of);
        for (std::size_t rank = 0; rank < finish.size(); ++rank) {
          const LaneEnds& ends = clock.lane_ends()[rank];
          EXPECT_EQ(finish[rank], graph.finish(rank)) << text << ", rank " << rank;
          EXPECT_EQ(ends.data, graph.data_end(rank)) << text << ", rank " << rank;
          EXPECT_EQ(std::pair(ends.send_exposed, ends.data_exposed), graph.exposed(rank))
              << text << ", rank " << rank;
        }
      }
    }
  }
}

TEST(PipelineLanes, LeaveOutPeriodsWithoutATickOfDifference) {
  LaneMaker maker(2);
  PipelineClock clock;
  std::vector<Ticks> finish;
  for (const PipelineShape shape :
       {PipelineShape{.stages = 4, .micro_batches = 200},
        PipelineShape{.stages = 4, .micro_batches = 64, .virtual_stages = 3}}) {
    const Stages stages = stages_of(Placement::loop, shape);
    for (int i = 0; i < 20; ++i) {
      const PassTicks ticks = maker.ticks(stages.places);
      const PipelineLanes lanes = maker.lanes(ticks, stages, false, true);
      clock.run(named_schedule("1f1b"), shape, ticks, lanes, finish);
      const LaneGraph graph(named_schedule("1f1b"), shape, ticks, lanes);
      for (std::size_t rank = 0; rank < finish.size(); ++rank) {
        EXPECT_EQ(finish[rank], graph.finish(rank)) << text_of(shape);
        EXPECT_EQ(clock.lane_ends()[rank].data, graph.data_end(rank)) << text_of(shape);
        EXPECT_EQ(clock.lane_ends()[rank].data_exposed, graph.exposed(rank).second);
      }
      EXPECT_EQ(clock.counts().of(0).of(Pass::forward), shape.micro_batches);
      EXPECT_EQ(clock.counts().of(0).of(Pass::backward), shape.micro_batches);
    }
  }
}

TEST(PipelineLanes, OfDataAreFoundAfterThePassesAsBesideThem) {
  LaneMaker maker(3);
  PipelineClock beside;
  PipelineClock after;
  std::vector<Ticks> finish;
  std::vector<Ticks> other;
  std::vector<LaneEnds> ends;
  int exposed = 0;
  Ticks slowed = 0;
  const auto expect_same = [&](const Schedule& schedule, const PipelineShape& shape, bool gathers) {
    const Stages stages = stages_of(placement(schedule), shape);
    const PassTicks passes = maker.ticks(stages.places);
    PipelineLanes lanes = maker.lanes(passes, stages, false, true);
    PassTicks ticks = passes;
    StartGathers with_sends;
    if (gathers) {
      lanes.gathers = maker.gathers(passes, placement(schedule), shape);
      with_sends = lanes.gathers;
    }
    for (std::size_t kind = 0; kind < ticks.size(); ++kind) {
      ticks[kind] += lanes.send[kind];
    }
    for (std::size_t place = 0; place < with_sends.arrivals.size(); ++place) {
      with_sends.arrivals[place].left += lanes.send[pass_kind(place, Pass::forward)];
    }
    if (shape.micro_batches % 2 == 0) {
      lanes.slower = maker.slower(ticks.size());
      with_sends.slower = gathers ? lanes.slower : PassSlowdowns{};
    }
    beside.run(schedule, shape, passes, lanes, finish);
    // First without the events, which are asked for later, after another pipeline or at once.
    (void)after.followed(schedule, shape, ticks, with_sends, false);
    if (shape.micro_batches % 3 == 0) {
      after.run(named_schedule("gpipe"), {.stages = 2, .micro_batches = 2}, maker.ticks(2), other);
    }
    const FollowedPipeline& one = after.followed(schedule, shape, ticks, with_sends, true);
    after.end_beside(lanes, ends, other);
    ASSERT_EQ(other, finish) << name(schedule) << ": " << text_of(shape);
    if (lanes.slower.empty()) {
      EXPECT_EQ(one.finish, finish) << name(schedule) << ": " << text_of(shape);
    }
    for (std::size_t rank = 0; rank < finish.size(); ++rank) {
      const LaneEnds& expected = beside.lane_ends()[rank];
      EXPECT_EQ(ends[rank].data, expected.data) << text_of(shape) << ", rank " << rank;
      EXPECT_EQ(ends[rank].data_exposed, expected.data_exposed)
          << name(schedule) << ": " << text_of(shape) << ", rank " << rank;
      EXPECT_EQ(std::pair(ends[rank].forward_slowed, ends[rank].backward_slowed),
                std::pair(expected.forward_slowed, expected.backward_slowed))
          << name(schedule) << ": " << text_of(shape) << ", rank " << rank;
      exposed += expected.data_exposed > 0 ? 1 : 0;
      slowed += std::min(expected.forward_slowed, expected.backward_slowed);
    }
    EXPECT_EQ(one.counts.of(0).of(Pass::forward), beside.counts().of(0).of(Pass::forward));
  };
  for (const Schedule& schedule : testing::all_schedules()) {
    for (const PipelineShape& shape : pipeline_test::shapes_of(schedule)) {
      const bool two_ways = placement(schedule) == Placement::two_ways;
      if (!two_ways) {
        expect_same(schedule, shape, false);
      }
      if (!two_ways && !schedule.entry().pairs) {
        expect_same(schedule, shape, true);
      }
    }
  }
  for (const PipelineShape shape :
       {PipelineShape{.stages = 4, .micro_batches = 200},
        PipelineShape{.stages = 8, .micro_batches = 64},
        PipelineShape{.stages = 4, .micro_batches = 64, .virtual_stages = 3},
        PipelineShape{.stages = 2, .micro_batches = 96, .virtual_stages = 6}}) {
    for (int i = 0; i < 40; ++i) {
      expect_same(named_schedule("1f1b"), shape, i % 2 == 0);
    }
  }
  EXPECT_GT(exposed, 100);
  EXPECT_GT(slowed, 0);
}

/// One rank, one micro-batch: a forward of 10 and a backward of 20 ticks.
struct OneRank {
  PipelineShape shape{.stages = 1, .micro_batches = 1};
  PassTicks ticks = PassTicks(pass_kinds(1), 0);
  PipelineLanes lanes;
  std::vector<Ticks> finish;
  PipelineClock clock;

  OneRank() {
    ticks[pass_kind(0, Pass::forward)] = 10;
    ticks[pass_kind(0, Pass::backward)] = 20;
    lanes.send.assign(pass_kinds(1), 0);
  }
  const LaneEnds& run() {
    clock.run(named_schedule("1f1b"), shape, ticks, lanes, finish);
    return clock.lane_ends().front();
  }
};

TEST(PipelineLanes, SynchroniseABucketWhileTheNextIsMade) {
  OneRank one;
  one.lanes.buckets[0] = {{{.left = 15, .sync = 12}, {.left = 0, .sync = 4}}};
  const LaneEnds& ends = one.run();
  EXPECT_EQ(one.finish.front(), 10 + 20);
  // The first bucket from 15 to 27, the second from the end of the pass.
  EXPECT_EQ(ends.data, 30 + 4);
  one.lanes.buckets[0][0][0].sync = 18;
  EXPECT_EQ(one.run().data, 15 + 18 + 4) << "one after the other";
}

TEST(PipelineLanes, HoldAFirstForwardUntilItsParametersAreThere) {
  OneRank one;
  // Two gathers of 6: the first half of the pass from 6 to 11, the second from 12 to 17.
  one.lanes.gathers = {.through = {12},
                       .arrivals = {{.there = 6, .left = 10}, {.there = 12, .left = 5}},
                       .ends = {2},
                       .slower = {}};
  const LaneEnds& ends = one.run();
  EXPECT_EQ(one.finish.front(), 17 + 20);
  EXPECT_EQ(ends.data_exposed, 17 - 10);
}

TEST(PipelineLanes, AndPassesBesideThemTakeLongerBoth) {
  OneRank one;
  one.lanes.slower.assign(pass_kinds(1), 0.4);
  // Compute and the second gather from 6 on: 5 ticks of each take 7, then the gather's last tick.
  one.lanes.gathers = {.through = {12},
                       .arrivals = {{.there = 6, .left = 10}, {.there = 12, .left = 5}},
                       .ends = {2},
                       .slower = {}};
  // The bucket is ready after 10 of 20 ticks; 5 ticks of its transfer take 7.
  one.lanes.buckets[0] = {{{.left = 10, .sync = 5}}};
  const LaneEnds& ends = one.run();
  const Ticks forward = 6 + (5 + 2) + 1 + 5;
  EXPECT_EQ(one.finish.front(), forward + 20 + 2);
  EXPECT_EQ(ends.data, forward + 10 + 5 + 2);
  EXPECT_EQ(ends.data_exposed, 6 + 1);
  EXPECT_EQ(std::pair(ends.forward_slowed, ends.backward_slowed), std::pair(Ticks{2}, Ticks{2}));
}

TEST(PipelineLanes, AndMessagesOnTheSameLinksHoldOneAnotherUp) {
  // Two stages; the second gathers until 40, when the first has long sent, on links that both need.
  PassTicks ticks(pass_kinds(2), 0);
  PipelineLanes lanes;
  lanes.overlapped_sends = true;
  lanes.send.assign(pass_kinds(2), 0);
  lanes.send[pass_kind(0, Pass::forward)] = 4;
  lanes.receivers.assign(pass_kinds(2), kNoReceiver);
  lanes.receivers[pass_kind(0, Pass::forward)] = 1;
  for (const std::size_t stage : {0UL, 1UL}) {
    ticks[pass_kind(stage, Pass::forward)] = 10;
    ticks[pass_kind(stage, Pass::backward)] = 20;
  }
  lanes.gathers = {.through = {0, 40},
                   .arrivals = {{.there = 0, .left = 10}, {.there = 40, .left = 10}},
                   .ends = {1, 2},
                   .slower = {}};
  std::vector<Ticks> finish;
  PipelineClock clock;
  clock.run(named_schedule("gpipe"), {.stages = 2, .micro_batches = 1}, ticks, lanes, finish);
  EXPECT_EQ(clock.lane_ends()[0].send, 10 + 2 * 4);
  EXPECT_EQ(clock.lane_ends()[1].data, 40 + 4);
  EXPECT_EQ(finish[1], 44 + 10 + 20);
}

TEST(PipelineLanes, SendBesideTheNextPass) {
  // Two stages, two micro-batches of GPipe: forwards of 10, messages of 4 or of 30.
  PassTicks ticks(pass_kinds(2), 0);
  PipelineLanes lanes;
  lanes.send.assign(pass_kinds(2), 0);
  for (const std::size_t stage : {0UL, 1UL}) {
    ticks[pass_kind(stage, Pass::forward)] = 10;
    ticks[pass_kind(stage, Pass::backward)] = 20;
  }
  std::vector<Ticks> finish;
  PipelineClock clock;
  const auto second_ends = [&](bool overlapped, Ticks send) {
    lanes.overlapped_sends = overlapped;
    lanes.send[pass_kind(0, Pass::forward)] = send;
    clock.run(named_schedule("gpipe"), {.stages = 2, .micro_batches = 2}, ticks, lanes, finish);
    return finish.back();
  };
  EXPECT_EQ(second_ends(false, 4), 10 + 4 + 10 + 4 + 10 + 2 * 20);
  EXPECT_EQ(second_ends(true, 4), 10 + 10 + 4 + 10 + 2 * 20) << "the first message is hidden";
  EXPECT_EQ(second_ends(true, 30), 10 + 30 + 30 + 10 + 2 * 20) << "one message after the other";
  EXPECT_EQ(second_ends(true, 0), second_ends(false, 0));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
