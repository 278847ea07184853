// The textbook times that another simulator's runs were compared with (research/astra.md): our
// formulas give them, and so do the flows on our graphs. Where that simulator itself departs from
// them is told in src/collectives/README.md.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/graphs.hpp"
#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::filesystem::path kTable =
    root() / ".." / "shared" / "research" / "astra_collectives.csv";

/// One run: a network of up to three dimensions.
struct Case {
  int id = 0;
  std::string topology;
  std::string collective;
  std::string how;
  std::vector<int> lengths;
  std::vector<Link> links;
  Bytes size;
  double simulated_ns = 0.0;
  double ideal_ns = 0.0;  // 0: the table has none
  double ratio = 0.0;

  [[nodiscard]] int p() const { return lengths.front(); }
  [[nodiscard]] bool is(std::string_view what, std::string_view by) const {
    return collective == what && how == by;
  }
};

std::vector<std::string> split(const std::string& text, char at = 'x') {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Empty, and the test skipped, where the table is not there.
std::vector<Case> cases() {
  std::vector<Case> list;
  if (!std::filesystem::exists(kTable)) {
    return list;
  }
  const auto rows = parse_csv(file_text(kTable.string()));
  std::map<std::string, std::size_t> column;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    column[rows[0][i].substr(0, rows[0][i].find('('))] = i;
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto cell = [&](const char* name) { return rows[i][column.at(name)]; };
    const auto number = [&](const char* name) {
      return cell(name).empty() ? 0.0 : std::stod(cell(name));
    };
    Case row{.id = std::stoi(cell("id")),
             .topology = cell("topology"),
             .collective = cell("collective"),
             .how = cell("algorithm_per_dim"),
             .lengths = {},
             .links = {},
             .size = Bytes::from_si(number("size_bytes")),
             .simulated_ns = number("simulated_ns"),
             .ideal_ns = number("ideal_alpha_beta_ns"),
             .ratio = number("ratio_sim_over_ideal")};
    const auto kinds = split(row.topology);
    const auto lengths = split(cell("npus_per_dim"));
    const auto rates = split(cell("link_bw_GBps"));
    const auto latencies = split(cell("link_latency_ns"));
    for (std::size_t d = 0; d < kinds.size(); ++d) {
      // A switch is two hops of the latency each.
      const double hops = kinds[d] == "Switch" ? 2 : 1;
      row.lengths.push_back(std::stoi(lengths[d]));
      row.links.push_back(
          {.latency = Seconds::from_si(hops * std::stod(latencies[d]) * 1e-9),
           .bandwidth = BytesPerSecond::from_si(std::stod(rates[d]) * 1024 * 1024 * 1024)});
    }
    list.push_back(row);
  }
  return list;
}

#define CASES_OR_SKIP(name)                                             \
  const std::vector<Case> name = cases();                               \
  if (name.empty()) {                                                   \
    GTEST_SKIP() << kTable << " is not there: nothing to compare with"; \
  }

/// The catalogue's algorithm of a run of one dimension that has one, with what joins its ranks.
std::optional<Run1> run_of(const Case& row) {
  const std::map<std::string, Collective> collectives = {{"ar", Collective::all_reduce},
                                                         {"rs", Collective::reduce_scatter},
                                                         {"ag", Collective::all_gather},
                                                         {"a2a", Collective::all_to_all}};
  const std::map<std::pair<std::string, std::string>, std::string> names = {
      {{"ar", "ring"}, "ring"},
      {{"rs", "ring"}, "ring"},
      {{"ag", "ring"}, "ring"},
      {{"ar", "halvingDoubling"}, "halving-doubling"},
      {{"rs", "halvingDoubling"}, "recursive-halving"},
      {{"ag", "halvingDoubling"}, "recursive-doubling"},
      {{"ar", "direct"}, "two-shot"},
      {{"a2a", "direct"}, "direct"}};
  const auto name = names.find({row.collective, row.how});
  if (name == names.end() || row.lengths.size() != 1) {
    return std::nullopt;
  }
  Fabric fabric = switched_fabric(row.links[0], row.links[0]);
  if (row.topology == "FullyConnected") {  // a link to each other rank
    fabric.exchange = Channel(
        {.latency = row.links[0].latency, .bandwidth = (row.p() - 1) * row.links[0].bandwidth});
  }
  // There the size of an all-gather is a rank's piece.
  return Run1{.algorithm = algorithm(collectives.at(row.collective), name->second),
              .size = row.collective == "ag" ? row.p() * row.size : row.size,
              .group = {.per_node = row.p()},
              .fabric = fabric,
              .ranks = numbers(row.p())};
}

Topology graph_of(const Case& row) {
  const BytesPerSecond bandwidth = row.links[0].bandwidth;
  if (row.topology == "Ring") {
    return RingNode{.devices = row.p(), .bandwidth = bandwidth}.build();
  }
  if (row.topology == "FullyConnected") {
    return FullyConnectedNode{.devices = row.p(), .links = 1, .bandwidth = bandwidth}.build();
  }
  return SwitchedNode{.devices = row.p(), .bandwidth = bandwidth}.build();
}

bool is_exchange_on_a_ring(const Case& row) {
  return row.topology == "Ring" && row.is("a2a", "direct");
}

// The table's times are whole nanoseconds.
constexpr double kNanosecond = 1.0;

TEST(Textbook, OurFormulasAndFlowsGiveItsTimesInOneDimension) {
  CASES_OR_SKIP(table);
  int compared = 0;
  for (const Case& row : table) {
    const std::optional<Run1> run = run_of(row);
    if (!run || is_exchange_on_a_ring(row)) {
      continue;
    }
    EXPECT_NEAR(run->formula() * 1e9, row.ideal_ns, kNanosecond) << "row " << row.id;
    const testing::Both both = run->on(graph_of(row));
    EXPECT_NEAR(both.rounds.time.si() * 1e9, row.ideal_ns, kNanosecond) << "row " << row.id;
    EXPECT_NEAR(both.flows.time.si() * 1e9, row.ideal_ns, kNanosecond) << "row " << row.id;
    EXPECT_NEAR(row.simulated_ns / (both.flows.time.si() * 1e9), row.ratio, 1e-3)
        << "row " << row.id;
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

TEST(Textbook, AllToAllOnARingSharesItsLinks) {
  CASES_OR_SKIP(table);
  int compared = 0;
  for (const Case& row : table) {
    if (!is_exchange_on_a_ring(row)) {
      continue;
    }
    const int p = row.p();
    const double message = row.size.si() / p / row.links[0].bandwidth.si();
    const double latency = row.links[0].latency.si();
    // The table sends what goes half-way round one way: 1 + 2 + .. + p/2 messages on a link. We
    // split these p messages of p/2 links each, which leaves p/4 fewer on each of p links.
    const double one_way = p / 2.0 * (p / 2.0 + 1) / 2;
    EXPECT_NEAR((p / 2.0 * latency + one_way * message) * 1e9, row.ideal_ns, kNanosecond);
    Run1 run = run_of(row).value();
    run.fabric = switched_fabric({.latency = {}, .bandwidth = row.links[0].bandwidth}, {});
    Topology graph = graph_of(row);
    for (Wire& wire : graph.wires) {
      wire.latency = row.links[0].latency;
    }
    const testing::Both both = run.on(graph);
    const double split = p / 2.0 * latency + (one_way - p / 4.0) * message;
    EXPECT_NEAR(both.rounds.time.si(), split, 1e-9);
    EXPECT_GE(both.flows.time.si(), (one_way - p / 4.0) * message);
    // The runs that ignore sharing are ten times too fast.
    EXPECT_TRUE(row.ratio > 0.99 || row.simulated_ns * 1e-9 < 0.15 * split) << "row " << row.id;
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

TEST(Textbook, TwoRingsAreOurHierarchicalAllReduceAndATorusTakesHalfTheBytesEachWay) {
  CASES_OR_SKIP(table);
  int compared = 0;
  for (const Case& row : table) {
    if (row.topology != "RingxRing") {
      continue;
    }
    const int g = row.lengths[0];
    const int n = row.lengths[1];
    const Torus torus{
        .dimensions = row.lengths, .wrap = {true, true}, .bandwidth = row.links[0].bandwidth};
    Router router(torus.build(), torus.dimensions);
    Run1 run{.algorithm = algorithm(Collective::all_reduce, "hierarchical"),
             .size = row.size,
             .group = {.per_node = g, .nodes = n},
             .fabric = switched_fabric(row.links[0], row.links[1]),
             .ranks = numbers(g * n)};
    EXPECT_NEAR(run.formula() * 1e9, row.ideal_ns, kNanosecond);
    EXPECT_NEAR(run.on(router).flows.time.si() * 1e9, row.ideal_ns, kNanosecond);
    Run1 both_ways{.algorithm = algorithm(Collective::all_reduce, "torus-bucket"),
                   .size = row.size,
                   .group = torus_group(row.lengths, true),
                   .fabric = {.wire = Channel(row.links[0])},
                   .ranks = run.ranks};
    const double latencies = 2 * ((g - 1) + (n - 1)) * row.links[0].latency.si();
    const double expected = latencies + (row.ideal_ns * 1e-9 - latencies) / 2;
    EXPECT_NEAR(both_ways.formula(), expected, 1e-9);
    EXPECT_NEAR(both_ways.on(router).flows.time.si(), expected, 1e-9);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST(Textbook, SeveralDimensionsAddUpTheirPhases) {
  CASES_OR_SKIP(table);
  const auto time = [](Collective collective, const char* name, int ranks, Bytes size, Link link) {
    const Fabric fabric = switched_fabric(link, link);
    return algorithm(collective, name).time(size, Group{.per_node = ranks}, fabric).si() * 1e9;
  };
  int compared = 0;
  for (const Case& row : table) {
    if (row.topology == "SwitchxSwitch") {
      const double sum =
          time(Collective::all_reduce, "halving-doubling", row.lengths[0], row.size, row.links[0]) +
          time(Collective::all_reduce,
               "halving-doubling",
               row.lengths[1],
               row.size / row.lengths[0],
               row.links[1]);
      EXPECT_NEAR(sum, row.ideal_ns, kNanosecond) << "row " << row.id;
      ++compared;
    } else if (row.lengths.size() == 3) {
      // A ring, a full mesh (a link to each other rank), a switch; reduced, and gathered back.
      const Link mesh{.latency = row.links[1].latency,
                      .bandwidth = (row.lengths[1] - 1) * row.links[1].bandwidth};
      const Bytes second = row.size / row.lengths[0];
      const Bytes third = second / row.lengths[1];
      const double sum =
          2 * time(Collective::all_gather, "ring", row.lengths[0], row.size, row.links[0]) +
          2 * time(Collective::all_gather, "direct", row.lengths[1], second, mesh) +
          time(Collective::all_reduce, "halving-doubling", row.lengths[2], third, row.links[2]);
      EXPECT_NEAR(sum, row.simulated_ns, 1e-4 * row.simulated_ns) << "row " << row.id;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3);
}

TEST(Textbook, ADoubleTreeInBlocksIsNearItsBandwidthBound) {
  CASES_OR_SKIP(table);
  int compared = 0;
  for (const Case& row : table) {
    if (!row.is("ar", "doubleBinaryTree")) {
      continue;
    }
    Run1 run{.algorithm = algorithm(Collective::all_reduce, "double-tree"),
             .size = row.size,
             .group = {.per_node = row.p()},
             .fabric = switched_fabric(row.links[0], row.links[0]),
             .ranks = numbers(row.p())};
    const double found =
        run.on(SwitchedNode{.devices = row.p(), .bandwidth = row.links[0].bandwidth}.build())
            .flows.time.si() *
        1e9;
    // The bound has no time to fill the pipeline of blocks.
    EXPECT_GT(found, row.ideal_ns);
    EXPECT_LT(found, 1.15 * row.ideal_ns);
    EXPECT_GT(row.simulated_ns, 2.5 * found);
    ++compared;
  }
  EXPECT_EQ(compared, 1);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
