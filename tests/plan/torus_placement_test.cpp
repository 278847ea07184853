// Groups of a plan on a torus: their shapes, and what they take beside one another on its wires.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/collectives/algorithm/torus_all_to_all.hpp"
#include "titer/collectives/execution.hpp"
#include "titer/plan/place/torus_place.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kA = 1e-6;
constexpr double kB = 50e9;
constexpr Fabric kWires{.wire = Channel({.latency = 1_us, .bandwidth = 50_GBps})};

Torus torus_of(std::vector<int> dimensions, bool wrap = true) {
  const std::size_t axes = dimensions.size();
  return {.dimensions = std::move(dimensions),
          .wrap = std::vector<bool>(axes, wrap),
          .bandwidth = 50_GBps};
}

Plan tensor_data(std::int64_t tensor, std::int64_t data) {
  Plan plan;
  plan.tensor = tensor;
  plan.data = data;
  return plan;
}

/// All groups of a kind, ranks in their order.
std::vector<std::vector<int>> groups_on(const Torus& torus, const GroupRanks& of) {
  std::vector<std::vector<int>> groups;
  for (int device = 0; device < torus.devices(); ++device) {
    if (of.member(device) == 0) {
      std::vector<int>& ranks = groups.emplace_back();
      for (std::int64_t i = 0; i < of.ranks; ++i) {
        ranks.push_back(static_cast<int>(device + i * of.stride));
      }
    }
  }
  return groups;
}

Group group_of(const Torus& torus, const GroupRanks& of) {
  Group group{.per_node = static_cast<int>(of.ranks), .nodes = 1};
  group.torus = torus_shape(torus, of).value();
  return group;
}

// ---- Shapes ----------------------------------------------------------------------------------

TEST(TorusShapeOfAPlan, IsABoxOfNeighboursOrOfEveryKthChip) {
  const Torus pod = torus_of({32, 32});
  const TorusShape tensor = torus_shape(pod, {.ranks = 4, .stride = 1}).value();
  EXPECT_EQ(tensor.axes, 1U);
  EXPECT_EQ(tensor.length[0], 4);
  EXPECT_FALSE(tensor.wrap[0]) << "4 of 32 are a line";
  const TorusShape data = torus_shape(pod, {.ranks = 256, .stride = 4}).value();
  EXPECT_EQ(data.axes, 2U);
  EXPECT_EQ(data.length[0], 32 / 4);
  EXPECT_EQ(data.length[1], 32);
  EXPECT_TRUE(data.wrap[0] && data.wrap[1]);
  EXPECT_EQ(data.hops[0], 4);
  EXPECT_EQ(data.sharing[0], 4.0);
  EXPECT_EQ(data.hops[1], 1);
  EXPECT_EQ(data.sharing[1], 1.0);
  const TorusShape stages = torus_shape(pod, {.ranks = 4, .stride = 256}).value();
  EXPECT_EQ(stages.axes, 1U);
  EXPECT_EQ(stages.hops[0], 256 / 32);
}

TEST(TorusShapeOfAPlan, LeavesOutAxesOfOneChipAndCountsThemNowhere) {
  const TorusShape shape = torus_shape(torus_of({1, 4, 1, 6}), {.ranks = 12, .stride = 2}).value();
  EXPECT_EQ(shape.axes, 2U);
  EXPECT_EQ(shape.length[0], 2);
  EXPECT_EQ(shape.length[1], 6);
}

TEST(TorusShapeOfAPlan, IsNoneWhereAGroupEndsInsideAnAxis) {
  EXPECT_FALSE(torus_shape(torus_of({4, 6}), {.ranks = 6, .stride = 1}));
  EXPECT_FALSE(torus_shape(torus_of({4, 6}), {.ranks = 3, .stride = 1}));
  EXPECT_FALSE(torus_shape(torus_of({4, 6}), {.ranks = 2, .stride = 3}));
  EXPECT_TRUE(torus_shape(torus_of({4, 6}), {.ranks = 12, .stride = 1}));
  EXPECT_FALSE(torus_shape(torus_of({2, 2, 2, 2, 2}), {.ranks = 32, .stride = 1}));
}

TEST(TorusMisfit, NamesTheInnermostGroupAndWhatWouldFit) {
  const auto found = torus_misfit(tensor_data(6, 4), torus_of({4, 6}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "plan.tensor");
  EXPECT_EQ(found->degree, 6);
  EXPECT_EQ(found->expected,
            "expected the chips of a tensor group, their numbers 1 apart, to be a box of the torus "
            "4 x 6: groups of 1, 2, 4, 8, 12, 24 would be; so would these with the rank order "
            "dp-tp-pp");
  Plan turned = tensor_data(6, 4);
  std::swap(turned.rank_order[0], turned.rank_order[2]);
  EXPECT_FALSE(torus_misfit(turned, torus_of({4, 6})));
}

TEST(TorusMisfit, IsOfTheInnerGroupWhoseStrideEndsBadly) {
  Plan plan = tensor_data(2, 3);
  plan.pipeline = 4;
  const auto found = torus_misfit(plan, torus_of({4, 6}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "plan.data");
}

// ---- Collectives, beside the other groups of their kind ---------------------------------------

struct Kind {
  Torus torus;
  GroupRanks of;
};

/// Rings, lines, every k-th chip of both, two chips half a ring apart.
std::vector<Kind> kinds() {
  return {{torus_of({8, 4}), {.ranks = 4, .stride = 1}},
          {torus_of({8, 4}), {.ranks = 16, .stride = 1}},
          {torus_of({8, 4}), {.ranks = 8, .stride = 4}},
          {torus_of({9, 4}), {.ranks = 12, .stride = 3}},
          {torus_of({8, 4}), {.ranks = 16, .stride = 2}},
          {torus_of({6}), {.ranks = 2, .stride = 3}},
          {torus_of({8}), {.ranks = 2, .stride = 2}},
          {torus_of({8}, false), {.ranks = 4, .stride = 2}},
          {torus_of({6, 4}, false), {.ranks = 8, .stride = 3}},
          {torus_of({4, 12}), {.ranks = 4, .stride = 12}}};
}

/// All groups of the kind at once, round by round on the wires.
template <class Algorithm>
Seconds executed(const Kind& kind, Bytes size) {
  const Group group = group_of(kind.torus, kind.of);
  const Steps steps = Algorithm::steps(size, group, kWires);
  std::vector<PlacedSteps> placed;
  for (std::vector<int>& ranks : groups_on(kind.torus, kind.of)) {
    placed.push_back({.steps = &steps, .ranks = std::move(ranks), .helpers = {}, .host = {}});
  }
  Router router(kind.torus.build(), kind.torus.dimensions);
  return execute_by_rounds(placed, router, kWires).time;
}

template <class Algorithm>
void expect_formula() {
  for (const Kind& kind : kinds()) {
    const Group group = group_of(kind.torus, kind.of);
    const double formula = Algorithm::time(1_GB, group, kWires).si();
    EXPECT_NEAR(executed<Algorithm>(kind, 1_GB).si(), formula, 1e-9 * formula)
        << torus_name(kind.torus) << ": " << kind.of.ranks << " by " << kind.of.stride;
  }
}

TEST(TorusGroups, TakeTurnsOnTheWiresAsTheFormulaSays) {
  expect_formula<TorusAllReduce>();
  expect_formula<TorusAllGather>();
  expect_formula<TorusReduceScatter>();
  expect_formula<TorusAllToAll>();
}

TEST(TorusGroups, GoAlongTheirOwnWiresFirst) {
  // Kumar et al. 2021: beside 4-way model parallelism the columns first, then every fourth chip of
  // a row.
  const Group data = group_of(torus_of({32, 32}), {.ranks = 256, .stride = 4});
  EXPECT_EQ(axis_order(data.torus)[0], 1U);
  EXPECT_NEAR(TorusReduceScatter::time(1_GB, data, kWires).si(),
              31 * (kA + 1e9 / 32 / (2 * kB)) + 7 * (4 * kA + 4 * (1e9 / 32 / 8 / (2 * kB))),
              1e-12);
}

// ---- Sends between stages --------------------------------------------------------------------

TEST(TorusSend, PutsOnTheWiresWhatTheLinkLoadsSay) {
  for (const Kind& kind : kinds()) {
    Router router(kind.torus.build(), kind.torus.dimensions);
    const auto ranks = static_cast<int>(kind.of.ranks);
    for (int from = 0; from < ranks; ++from) {
      const int to = (from + 1) % ranks;
      Traffic traffic;
      int hops = 0;
      for (const std::vector<int>& group : groups_on(kind.torus, kind.of)) {
        const int a = group[static_cast<std::size_t>(from)];
        const int b = group[static_cast<std::size_t>(to)];
        traffic.demands.push_back({.from = a, .to = b, .bytes = 1_GB});
        hops = std::max(hops, router.hops(a, b).value());
      }
      const auto busiest = busiest_link(router.topology(), link_loads(router, traffic));
      const WireLoad load = torus_send(kind.torus, kind.of, from, to);
      EXPECT_EQ(load.messages, hops) << torus_name(kind.torus) << ", " << from;
      EXPECT_NEAR(load.share, busiest->bytes / 1_GB, 1e-12)
          << torus_name(kind.torus) << ", " << kind.of.ranks << " by " << kind.of.stride << ", "
          << from;
    }
  }
}

// ---- Slices ----------------------------------------------------------------------------------

TEST(TorusSlices, AreOpenWhereTheyDoNotGoRound) {
  const auto torus_named = [](const std::string& name) {
    return torus_name(*shipped::cluster(name).torus());
  };
  EXPECT_EQ(torus_named("tpu-v3-32"), "4 (open) x 4 (open)");
  EXPECT_EQ(torus_named("tpu-v3-64"), "4 (open) x 8 (open)");
  EXPECT_EQ(torus_named("tpu-v3-128"), "8 (open) x 8 (open)");
  EXPECT_EQ(torus_named("tpu-v3-pod"), "32 x 32");
  EXPECT_EQ(torus_named("tpu-v3-multipod"), "128 (open) x 32") << "trap T18";
  EXPECT_EQ(shipped::cluster("tpu-v3-32").devices_per_node, 32 / 2) << "two cores in a chip";
}

Cluster sliced(const std::string& name, const std::vector<int>& lengths) {
  Document document = shipped::cluster_document(name);
  Value list = Value::make_array();
  for (const int length : lengths) {
    list.items.emplace_back(static_cast<std::int64_t>(length));
  }
  document.root.add("slice", std::move(list));
  return shipped::read_all(document, read_cluster);
}

TEST(TorusSlices, StayClosedAlongWholeAxes) {
  EXPECT_EQ(torus_name(*sliced("tpu-v3-pod", {8, 32}).torus()), "8 (open) x 32");
  EXPECT_THROW((void)sliced("tpu-v3-pod", {64, 8}), InputError);
  EXPECT_THROW((void)sliced("tpu-v3-pod", {8}), InputError);
  EXPECT_THROW((void)sliced("dgx-h100", {2, 4}), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
