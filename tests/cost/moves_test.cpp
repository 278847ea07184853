// What a sharding scheme moves, told by everything that folds its list: bytes, times, nodes of an
// export, loads of links and the explanation say the same.

#include "titer/cost/moves.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include <fmt/format.h>

#include "export/exported_graphs.hpp"
#include "scenario/plain.hpp"
#include "simulate/random_scenarios.hpp"
#include "titer/cost/data_volume.hpp"
#include "titer/cost/move_clock.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/explain/explain.hpp"
#include "titer/export/traffic_matrix.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Of every scheme plans in all its ways, on one node or more.
struct Way {
  std::int64_t pipeline = 1;
  std::int64_t tensor = 1;
  std::int64_t data = 8;
  bool beside = true;
  bool every_pass = true;
  bool again = true;
  bool in_groups = false;
  bool by_reduces = false;
  bool by_broadcasts = false;
  std::int64_t frozen = 0;
  std::int64_t islands = 1;
  std::optional<Offload> offload{};
};

constexpr Offload kHostUpdate{.optimizer = HostPlace::host, .update = UpdatePlace::host};
constexpr Offload kZeroOffload{
    .optimizer = HostPlace::host, .gradients = HostPlace::host, .update = UpdatePlace::host};
constexpr Offload kInTurn{
    .optimizer = HostPlace::nvme, .gradients = HostPlace::nvme, .prefetch = false};

std::vector<Way> ways() {
  return {{},
          {.beside = false},
          {.again = false},
          {.every_pass = false, .frozen = 5},
          {.in_groups = true},
          {.data = 16, .beside = false},
          {.data = 16, .beside = false, .in_groups = true},
          {.beside = false, .by_reduces = true},
          {.every_pass = false, .in_groups = true, .by_reduces = true},
          {.data = 16, .by_reduces = true},
          {.beside = false, .by_broadcasts = true},
          {.data = 16, .by_broadcasts = true},
          {.in_groups = true, .by_broadcasts = true},
          {.pipeline = 2, .data = 4, .beside = false, .by_broadcasts = true},
          {.every_pass = false, .in_groups = true},
          {.pipeline = 2, .data = 4, .beside = false},
          {.pipeline = 4, .data = 2, .frozen = 7},
          {.pipeline = 2, .data = 4, .every_pass = false, .in_groups = true},
          {.tensor = 2, .data = 8, .again = false},
          {.pipeline = 2, .tensor = 2, .data = 2},
          {.islands = 2},
          {.data = 16, .beside = false, .islands = 2},
          {.data = 16, .islands = 16},
          {.pipeline = 2, .data = 4, .every_pass = false, .islands = 2},
          {.offload = kHostUpdate},
          {.pipeline = 2, .data = 4, .every_pass = false, .offload = kHostUpdate},
          {.data = 1, .offload = kZeroOffload},
          {.offload = kZeroOffload},
          {.beside = false, .offload = kZeroOffload},
          {.pipeline = 2, .data = 4, .offload = kZeroOffload},
          {.data = 16, .beside = false, .offload = kInTurn},
          {.tensor = 2, .data = 8, .offload = kInTurn}};
}

Scenario scenario_of(Sharding sharding, const Way& way) {
  Plan plan;
  plan.pipeline = way.pipeline;
  plan.tensor = way.tensor;
  plan.data = way.data;
  plan.sharding = sharding;
  plan.overlap_grad_reduce = way.beside;
  plan.overlap_param_gather = false;
  plan.pipeline_send = PipelineSend::blocking;
  const bool passes = sharding == Sharding::zero2 || sharding == Sharding::zero3;
  plan.reduce_every_pass = !passes || way.every_pass;
  plan.reshard_after_forward = !plan.gathers_every_pass() || way.again;
  plan.prefetch = !plan.gathers_every_pass() || way.beside;
  if (way.in_groups && plan.shards()) {
    plan.shard = 2;
  }
  if (way.islands > 1) {
    plan.local_steps = LocalSteps{.islands = way.islands, .steps = 5};
  }
  if (sharding == Sharding::parameter_server) {
    plan.servers = way.data / 8;  // as many nodes as the workers are on
  }
  if (way.by_reduces && (sharding == Sharding::zero2 || sharding == Sharding::zero3)) {
    plan.gradient_collective = GradientCollective::reduce;
  }
  plan.offload = way.offload.value_or(Offload{});
  Scenario scenario = plain::scenario(plan);
  scenario.cluster.nvme =
      HostTier{.capacity = 10'000_GB, .bandwidth = 20_GBps, .per_device = 5_GBps};
  scenario.stack.overlap_slowdown = 1;
  scenario.stack.broadcasts_updates = way.by_broadcasts;
  scenario.training.frozen.first = way.frozen;
  return scenario;
}

std::string text_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return fmt::format(
      "{}, frozen {}, prefetch {}, gradients by {}, islands {}, gradients {} by {}{}",
      scenarios::text_of(scenario),
      scenario.training.frozen.first,
      plan.prefetch,
      name(plan.gradient_exchange()),
      plan.local_steps ? plan.local_steps->islands : 1,
      plan.offload.gradients ? "away" : "here",
      kUpdatePlaces[static_cast<std::size_t>(plan.offload.update)].name,
      scenario.stack.broadcasts_updates ? ", updates by broadcasts" : "");
}

/// Runs `check` (scenario, its text) on each plan of each scheme that there may be.
template <class Check>
int on_each(const Check& check) {
  int checked = 0;
  for (const auto& choice : kShardings) {
    int of_scheme = 0;
    for (const Way& way : ways()) {
      const Scenario scenario = scenario_of(choice.value, way);
      if (validate(scenario).empty()) {
        check(scenario, text_of(scenario));
        ++of_scheme;
      }
    }
    EXPECT_GT(of_scheme, 0) << choice.name;
    checked += of_scheme;
  }
  return checked;
}

/// By the nodes of an exported rank: what it sends in collectives, and all messages through a root
/// or with servers, each once.
Bytes sent_by(const ExportedStep& step, int rank) {
  Bytes sum;
  const RankGraph graph = step.graph(rank);
  for (const GraphNode& node : graph.nodes()) {
    if (node.part != TaskPart::data_comm) {
      continue;
    }
    if (node.kind != NodeKind::collective) {
      sum += node.bytes;
    } else if (node.senders == Senders::all) {
      const bool reduces = node.collective == Collective::reduce;  // one to each rank
      const bool broadcasts = node.collective == Collective::broadcast;
      const auto ranks = static_cast<int>(step.group(node.group).ranks.size());
      sum += volume(reduces      ? Collective::reduce_scatter
                    : broadcasts ? Collective::all_gather
                                 : node.collective,
                    node.bytes,
                    ranks);
    } else if (node.what != "gradients of outputs, from the root") {
      for (const RankMessage& message : step.messages(node, rank)) {
        sum += message.bytes;
      }
    }
  }
  return sum;
}

Bytes sent_by_list(const ExportedStep& step, int stage) {
  Bytes sum;
  for (const DataMove& move : data_moves(step.scenario(), step.costs(), stage)) {
    sum += move.moved;
  }
  return sum;
}

void expect_same_bytes(const ExportedStep& step, const std::string& text) {
  for (int stage = 0; stage < step.costs().shape.stages; ++stage) {
    const Bytes listed = sent_by_list(step, stage);
    EXPECT_NEAR(
        sent_by(step, step.rank_at({.pipeline = stage})).si(), listed.si(), 1e-9 * listed.si())
        << text << ", stage " << stage;
  }
}

TEST(Moves, AreListedForEveryScheme) {
  for (const auto& choice : kShardings) {
    EXPECT_EQ(scheme_of(choice.value).sharding, choice.value);
    const Moves moves = list_moves(scenario_of(choice.value, {}));
    EXPECT_GT(moves.size(), 0u) << choice.name;
    for (const Move& move : moves) {
      EXPECT_FALSE(move.text->what.empty()) << choice.name;
      EXPECT_FALSE(move.text->source.empty()) << choice.name << ": " << move.text->what;
    }
  }
}

TEST(Moves, OfShardsOfExpertsAreThoseOfTheRanksThatSplitThem) {
  const Scenario scenario = scenarios::shipped_run(
      {"model=deepseek-v2-lite",
       "cluster={\"name\": \"gb200-nvl72\"}",
       "stack=megatron-core",
       "plan={\"data\": 16, \"expert\": 4, \"sharding\": \"zero1\"}",
       "training={\"global_batch\": 64, \"sequence\": 4096, \"precision\": \"bf16\"}"});
  const SyncGroups places = sync_groups(scenario, Placement::loop, 0);
  const MoveParts parts =
      parts_of({.among = MoveAmong::copies, .each = 2_B, .own = true}, {160, 80}, places);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].size, 20_B) << "of 16 ranks";
  EXPECT_EQ(parts[1].size, 40_B) << "of the 4 that have the same experts";
}

TEST(Moves, HaveRoomForAllThatAPlanMayMove) {
  std::size_t most = 0;
  for (const auto& choice : kShardings) {
    for (const OptimizerRule& rule : kOptimizerRules) {
      Scenario scenario = scenario_of(choice.value, {.in_groups = true});
      scenario.training.optimizer = rule;
      scenario.plan.offload.weights = HostPlace::host;
      scenario.plan.offload.activations = HostPlace::host;
      scenario.plan.offload.optimizer = HostPlace::host;
      scenario.plan.offload.gradients = HostPlace::host;
      scenario.plan.local_steps = LocalSteps{.state = HostPlace::host};
      most = std::max(most, list_moves(scenario).size());
    }
  }
  // Gradients in groups and among them, parameters twice, and all that a host keeps; matrices;
  // islands that meet.
  EXPECT_EQ(most, 2u + 2 + 6 + 1 + 2);
}

// Whole shards of hybrid groups, of an optimizer that needs whole matrices, kept on the host.
TEST(Moves, OfTheMostThatAPlanMayMoveTakeTime) {
  Scenario scenario = scenario_of(Sharding::zero3, {.data = 16, .in_groups = true});
  const Seconds kept = estimate(scenario).iteration_time;
  scenario.training.optimizer = kMuon;
  scenario.plan.offload = {
      .weights = HostPlace::host, .optimizer = HostPlace::host, .activations = HostPlace::host};
  EXPECT_GT(estimate(scenario).iteration_time, kept);
}

TEST(Moves, HaveANodeEachInExports) {
  const int checked = on_each([](const Scenario& scenario, const std::string& text) {
    for (const auto& detail : kExportDetails) {
      const ExportedStep step(scenario, detail.value);
      expect_same_bytes(step, fmt::format("{}, by {}", text, detail.name));
      for (const int rank : {0, step.ranks() - 1}) {
        EXPECT_LE(static_cast<double>(step.graph(rank).size()), step.most_nodes()) << text;
      }
    }
  });
  EXPECT_GT(checked, 30);
}

// A pass as one node has the closed form's own parts, but one bucket. Block by block a stage hides
// what its own blocks move, where the closed form has the mean of all places of the model.
TEST(Moves, TakeTheTimeOfTheClosedFormInExports) {
  on_each([](const Scenario& scenario, const std::string& text) {
    const double closed = estimate(scenario).iteration_time.si();
    for (const auto& detail : kExportDetails) {
      const ExportedStep step(scenario, detail.value);
      const auto taken = exported::time(step);
      ASSERT_TRUE(taken.has_value()) << text;
      const bool alone = scenario.plan.pipeline == 1 && scenario.plan.tensor == 1;
      const bool exact = detail.value == ExportDetail::pass ? step.costs().buckets.empty() : alone;
      EXPECT_NEAR(to_seconds(*taken).si() / closed, 1.0, exact ? 1e-7 : 0.07)
          << text << ", by " << detail.name;
    }
  });
}

TEST(Moves, TakeAsLongOnLinksThatNobodyShares) {
  on_each([](const Scenario& scenario, const std::string& text) {
    if (scenario.plan.pipeline > 1) {
      return;
    }
    const double closed = estimate(scenario).iteration_time.si();
    const double links = simulate(scenario, {.network = true}).result.iteration_time.si();
    EXPECT_NEAR(links / closed, 1.0, 1e-9) << text;
  });
}

TEST(Moves, TakeMoreTimeOnFewerInterfaces) {
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    Scenario scenario = scenario_of(sharding, {.tensor = 8, .data = 4, .beside = false});
    const Seconds wide = simulate(scenario, {.network = true}).result.comm_total.data;
    StepCosts costs;
    step_costs(scenario, costs);  // that know nothing of it
    scenario.cluster.nics = 2;
    const Seconds narrow = simulate(scenario, costs, {.network = true}).result.comm_total.data;
    EXPECT_NEAR(narrow / wide, 4.0, 0.1) << name(sharding);
  }
}

TEST(Moves, AddUpInTheExplanation) {
  on_each([](const Scenario& scenario, const std::string& text) {
    StepCosts costs;
    step_costs(scenario, costs);
    const int stage = estimate(scenario).reference_stage;
    const std::vector<DataMove> moves = data_moves(scenario, costs, stage);
    Bytes sum;
    for (const DataMove& move : moves) {
      sum += move.moved;
    }
    bool found = false;
    for (const Section& section : explain(scenario)) {
      if (section.title.starts_with("bytes of data parallelism")) {
        found = true;
        ASSERT_EQ(section.terms.size(), moves.size() + (moves.size() > 1 ? 1 : 0)) << text;
        EXPECT_EQ(section.terms.back().value, format(sum)) << text;
      }
    }
    EXPECT_EQ(found, scenario.plan.data > 1) << text;
  });
}

/// The terms of what comes after the passes whose name has these words.
std::vector<Term> tail_terms(const Scenario& scenario, std::string_view words) {
  std::vector<Term> found;
  for (const Section& section : explain(scenario)) {
    for (const Term& term : section.terms) {
      if (section.title.starts_with("after the passes") &&
          term.name.find(words) != std::string::npos) {
        found.push_back(term);
      }
    }
  }
  return found;
}

TEST(Moves, AreATermEachWhereTheyComeOnce) {
  const Scenario plain = scenario_of(Sharding::zero1, {.beside = false});
  StepCosts costs;
  step_costs(plain, costs);
  const std::vector<Term> gradients = tail_terms(plain, "gradients");
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients.front().value, format(costs.tails.front().gradient_sync));
  EXPECT_EQ(tail_terms(plain, "updated parameters").front().value,
            format(costs.tails.front().parameter_sync));
  const Scenario groups =
      scenario_of(Sharding::zero1, {.data = 16, .beside = false, .in_groups = true});
  EXPECT_EQ(tail_terms(groups, "gradients").size(), 2u);
  EXPECT_EQ(tail_terms(groups, "gradients of equal shards").size(), 1u);
  const std::vector<Term> served =
      tail_terms(scenario_of(Sharding::parameter_server, {}), "servers");
  ASSERT_EQ(served.size(), 2u);
  EXPECT_EQ(served.front().formula, "t1 = N g / (M BW_node)");
  EXPECT_EQ(served.front().numbers, "N = 8, M = 1");
}

TEST(Moves, AreSoundExportsOfAnyScenario) {
  scenarios::Numbered numbered;
  Scenario scenario;
  int compared = 0;
  for (std::uint64_t number = 0; number < 4000 && compared < 40; ++number) {
    try {
      static_cast<void>(numbered.question(number, scenario));
      if (scenario.plan.devices() > 64 || scenario.unlike() ||
          scenario.model.if_transformer() == nullptr || !validate(scenario).empty()) {
        continue;
      }
      const ExportedStep step(scenario, ExportDetail::layer);
      if (step.most_nodes() < 1e5) {
        expect_same_bytes(step, text_of(scenario));
        EXPECT_TRUE(exported::time(step).has_value()) << "waits for ever: " << text_of(scenario);
        ++compared;
      }
    } catch (const InputError&) {
      // Refused, as it is read or for what it is.
    }
  }
  EXPECT_EQ(compared, 40);
}

/// What is sent of parameters and gradients, on the links over in closed form.
double links_over_closed(const Scenario& scenario) {
  return simulate(scenario, {.network = true}).result.comm_total.data /
         estimate(scenario).comm_total.data;
}

// Eight workers on a node: of two servers each has half of what the node can take or send.
TEST(Moves, OfMoreServersThanNodesOfWorkersMeetAtTheWorkers) {
  Scenario scenario = scenario_of(Sharding::parameter_server, {});
  EXPECT_NEAR(links_over_closed(scenario), 1.0, 1e-9);
  scenario.plan.servers = 2;
  EXPECT_NEAR(links_over_closed(scenario), 2.0, 1e-6);
  scenario.plan.servers = 4;
  EXPECT_NEAR(links_over_closed(scenario), 4.0, 1e-6);
}

// Of eight devices in a cube of wires the root has one to four others: the way to the rest is over
// these, and what it takes for all of them is what its ports have, in closed form and on links.
TEST(Moves, OfARootGoOverItsOwnWires) {
  Scenario scenario = scenario_of(Sharding::data_parallel_root, {});
  EXPECT_NEAR(links_over_closed(scenario), 1.0, 1e-9);
  scenario.cluster = shipped::cluster("dgx1-v100-32gb");
  EXPECT_GE(links_over_closed(scenario), 1 - 1e-9);
}

// A chain has one wire between two nodes: half as many interfaces make it no longer, where a
// reduce-scatter, which has all of them, takes longer.
TEST(Moves, OfChainsOfReducesNeedOneInterfaceOfANode) {
  const auto narrow_over_wide = [](bool by_reduces) {
    Scenario scenario =
        scenario_of(Sharding::zero2, {.data = 16, .beside = false, .by_reduces = by_reduces});
    StepCosts costs;
    step_costs(scenario, costs);
    const Seconds wide = simulate(scenario, costs, {.network = true}).result.comm_total.data;
    scenario.cluster.nics = 4;
    return simulate(scenario, costs, {.network = true}).result.comm_total.data / wide;
  };
  EXPECT_NEAR(narrow_over_wide(true), 1.0, 0.01);
  EXPECT_GT(narrow_over_wide(false), narrow_over_wide(true) + 0.02);
}

// Reduces to all ranks and broadcasts from them are the same messages there and back.
TEST(Moves, OfChainsKeepLinksAsBusyEitherWay) {
  const auto busy = [](bool reduces, bool broadcasts) {
    Scenario scenario = scenario_of(Sharding::zero2,
                                    {.tensor = 2,
                                     .data = 8,
                                     .beside = false,
                                     .every_pass = false,
                                     .by_reduces = reduces,
                                     .by_broadcasts = broadcasts});
    EXPECT_TRUE(validate(scenario).empty());
    StepCosts costs;
    step_costs(scenario, costs);
    const std::vector<Seconds> links =
        simulate(scenario, costs, {.network = true}).result.contention.value().busy;
    return std::accumulate(links.begin(), links.end(), Seconds{}).si();
  };
  EXPECT_GT(busy(true, false), 0.0);
  EXPECT_NEAR(busy(false, true) / busy(true, false), 1.0, 1e-9);
}

/// Of all ranks to one another.
Bytes sent_by_all(const ExportedStep& step) {
  Bytes sum;
  const TrafficMatrix matrix = StepTraffic(step).matrix({.only = TrafficKind::data});
  for (const TrafficPair& pair : matrix.pairs()) {
    EXPECT_LT(std::max(pair.from, pair.to), step.ranks());
    sum += pair.bytes;
  }
  return sum;
}

TEST(Moves, OfServersAndARootAreAsManyBytesInTrafficAsInTheList) {
  const Scenario served = scenario_of(Sharding::parameter_server, {.data = 16});
  const ExportedStep step(served, ExportDetail::layer);
  EXPECT_EQ(step.ranks(), 18);
  EXPECT_NEAR(sent_by_all(step) / (16 * sent_by_list(step, 0)), 1.0, 1e-9);
  const std::vector<int> nodes = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3};
  EXPECT_EQ(step.nodes(), nodes);
  const ExportedStep root(scenario_of(Sharding::data_parallel_root, {}), ExportDetail::layer);
  std::vector<DataMove> moves = data_moves(root.scenario(), root.costs(), 0);
  Bytes listed;
  for (const DataMove& move : moves) {
    const bool back = move.what.find("gradients back") != std::string::npos;
    listed += (back ? 2.0 : 1.0) * move.moved;
  }
  EXPECT_NEAR(sent_by_all(root) / listed, 1.0, 1e-9);
}

TEST(Moves, OfChainsAreThoseOfReduceScattersAndAllGathersInTraffic) {
  const auto sent = [](const Way& way) {
    return sent_by_all(ExportedStep(scenario_of(Sharding::zero2, way), ExportDetail::layer));
  };
  EXPECT_NEAR(sent({.by_reduces = true}) / sent({}), 1.0, 1e-9);
  EXPECT_NEAR(sent({.by_broadcasts = true}) / sent({}), 1.0, 1e-9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
