#include "titer/collectives/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "titer/collectives/algorithms.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kInside{.latency = 2_us, .bandwidth = 240_GBps};
constexpr Link kBetween{.latency = 10_us, .bandwidth = 20_GBps};
constexpr Fabric kFabric{.node = Channel(kInside),
                         .network = Channel(kBetween),
                         .pair = Channel(kInside),
                         .exchange = Channel(kInside)};

TEST(AlgorithmCatalogue, ListsEveryAlternativeWithItsFormulaAndSource) {
  const auto catalogue = algorithm_catalogue();
  EXPECT_EQ(catalogue.size(),
            std::variant_size_v<AllReduce> + std::variant_size_v<AllGather> +
                std::variant_size_v<ReduceScatter> + std::variant_size_v<AllToAll> +
                std::variant_size_v<Broadcast> + std::variant_size_v<Reduce> +
                std::variant_size_v<SendRecv>);
  std::set<std::pair<Collective, std::string_view>> keys;
  for (const AlgorithmEntry& entry : catalogue) {
    keys.emplace(entry.collective, entry.name);
    EXPECT_FALSE(entry.formula.empty()) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    EXPECT_FALSE(entry.needs.empty()) << entry.name;
  }
  EXPECT_EQ(keys.size(), catalogue.size()) << "a name stands for one algorithm of a collective";
}

TEST(AlgorithmCatalogue, HasTheFunctionsOfTheAlgorithm) {
  const Group group{.per_node = 8};
  const auto catalogue = algorithm_catalogue();
  const auto found = std::find_if(catalogue.begin(), catalogue.end(), [](const auto& entry) {
    return entry.collective == Collective::all_reduce && entry.name == RingAllReduce::name;
  });
  ASSERT_NE(found, catalogue.end());
  const AlgorithmEntry& ring = *found;
  EXPECT_EQ(ring.formula, RingAllReduce::formula);
  EXPECT_TRUE(ring.applies(group, kFabric));
  EXPECT_FALSE(ring.applies(group, Fabric{}));
  EXPECT_EQ(ring.time(1_MB, group, kFabric), RingAllReduce::time(1_MB, group, kFabric));
  EXPECT_EQ(ring.volume(1_MB, group), RingAllReduce::volume(1_MB, group));
  EXPECT_EQ(ring.steps(1_MB, group, kFabric).size(), 2U * 7 * 8);
}

TEST(AlgorithmCatalogue, MarksWhatLibrariesRunAndWhatGathers) {
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == Collective::all_reduce) {
      EXPECT_EQ(entry.gathers, entry.name == "one-shot") << entry.name;
      EXPECT_TRUE(!entry.in_library || entry.name != "naive-ring");
    }
    EXPECT_TRUE(entry.in_library || entry.name != "hierarchical");
  }
}

/// Whether every rank sends every other one message, all alike and at once.
bool is_pattern(const Steps& steps) {
  std::set<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.is_join()) {
      continue;
    }
    if (!steps.after(i).empty() || message.size != steps.message(0).size) {
      return false;
    }
    const bool is_first = pairs.emplace(message.from, message.to).second;
    if (!is_first) {
      return false;
    }
  }
  const auto ranks = static_cast<std::size_t>(steps.ranks());
  return pairs.size() == ranks * (ranks - 1);
}

TEST(AlgorithmCatalogue, MarksAllToAllsThatAreOneExchange) {
  int exchanges = 0;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    for (const Group& group : {Group{.per_node = 8}, Group{.per_node = 4, .nodes = 2}}) {
      if (entry.collective == Collective::all_to_all && entry.applies(group, kFabric)) {
        EXPECT_EQ(entry.one_exchange, is_pattern(entry.steps(1_MB, group, kFabric))) << entry.name;
      }
    }
    EXPECT_TRUE(!entry.one_exchange || entry.collective == Collective::all_to_all) << entry.name;
    exchanges += entry.one_exchange ? 1 : 0;
  }
  EXPECT_GT(exchanges, 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
