// Spaces of the largest models that were drawn: whatever is asked for, what bounds leave out is
// never among the best of all their plans.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "searches.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

struct Machine {
  std::string_view scenario;  // without its batch
  std::array<int, 2> devices;
  std::string_view experts;  // "": its layers have none
};
constexpr std::array kMachines = {
    Machine{R"("model": "llama3-405b", "cluster": "dgx-h100", "stack": "megatron-core")",
            {1024, 2048},
            ""},
    Machine{
        R"("model": "llama3-405b", "cluster": "dgx-b200", "stack": "torchtitan")", {256, 512}, ""},
    Machine{R"("model": "deepseek-v3", "cluster": "hgx-h800", "stack": "megatron-core")",
            {512, 1024},
            "[1, 16, 64]"},
    Machine{R"("model": "qwen3-235b-a22b", "cluster": "dgx-h100", "stack": "megatron-core")",
            {128, 256},
            "[8, 32]"},
    Machine{R"("model": "mixtral-8x22b", "cluster": "tpu-v5p-pod", "stack": "maxtext")",
            {128, 256},
            "[1, 8]"}};

/// A key and what is drawn from.
struct Choices {
  std::string_view key;
  std::vector<std::string_view> values;
  std::size_t most = 2;
};
const std::vector<Choices>& choices() {
  static const std::vector<Choices> all = {
      {"tensor", {"1", "2", "4", "8", "16"}, 4},
      {"pipeline", {"1", "2", "4", "8", "16", "32"}, 4},
      {"context", {"1", "2", "4"}},
      {"micro_batch", {"1", "2", "4"}},
      {"sequence_parallel", {"true", "false"}},
      {"sharding", {R"("none")", R"("zero1")", R"("zero2")", R"("zero3")"}, 3},
      {"recompute", {R"("none")", R"("selective")", R"("full")"}, 3},
      {"schedule", {R"("1f1b")", R"("gpipe")", R"("zb-h1")", R"("zb-v")", R"("dualpipev")"}, 3},
      {"virtual_stages", {"1", "2", "4"}},
      {"rank_order", {R"("tp-cp-dp-pp")", R"("tp-pp-cp-dp")", R"("tp-cp-pp-dp")"}},
      {"overlap_grad_reduce", {"true", "false"}},
      {"overlap_param_gather", {"true", "false"}},
      {"tensor_overlap", {R"("none")", R"("bulk")", R"("ring")"}}};
  return all;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(list.size())];
  }
  /// Some of them, in an order that is drawn, too.
  std::string some_of(const Choices& choices) {
    std::vector<std::string_view> values = choices.values;
    std::string text;
    const std::size_t count = 1 + below(choices.most);
    for (std::size_t i = 0; i < count && !values.empty(); ++i) {
      const std::size_t at = below(values.size());
      text += fmt::format("{}{}", text.empty() ? "" : ", ", values[at]);
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return fmt::format("[{}]", text);
  }

 private:
  std::mt19937 random_;
};

std::string drawn_search(Draw& draw) {
  constexpr std::array<std::string_view, 5> objectives = {R"("objective": "memory")",
                                                          R"("objective": "memory")",
                                                          R"("objective": "time")",
                                                          R"("objective": "mfu")",
                                                          R"("pareto": ["time", "memory"])"};
  constexpr std::array<double, 3> margins = {0, 0.07, 0.3};
  const Machine& machine = draw.one_of(kMachines);
  const int devices = draw.one_of(machine.devices);
  std::string space;
  for (const Choices& key : choices()) {
    space += fmt::format("\"{}\": {}, ", key.key, draw.some_of(key));
  }
  space +=
      machine.experts.empty() ? "\"expert\": 1" : fmt::format("\"expert\": {}", machine.experts);
  return fmt::format(
      R"({{"scenario": {{{}, "training": {{"global_batch": {}, "sequence": 4096, "precision": "bf16"}}}},
  "devices": {}, "any_software": {}, "constraints": {{"memory_margin": {}}},
  "space": {{{}}}, {}, "top": {}, "best_of": "{}"}})",
      machine.scenario,
      devices * static_cast<int>(1 + draw.below(2)),
      devices,
      draw.below(4) > 0,
      draw.one_of(margins),
      space,
      draw.one_of(objectives),
      1 + draw.below(8),
      draw.below(2) == 0 ? "shape" : "plan");
}

std::size_t plans_of(const Search& search) {
  const PlanTree tree(search.scenario, search.space, search.devices);
  std::size_t count = 0;
  for (const LayerChoice& layer : tree.layers()) {
    for (const PlanPlace& place : tree.layout(layer).places) {
      count += tree.has_batch(layer, place) ? tree.count(layer, place) : 0;
    }
  }
  return count;
}

/// Of spaces that have plans, and not too many to evaluate them all. TITER_RANDOM_SPACES asks for
/// more than these.
TEST(SearchExhaustive, FindsTheSamePlansOfSpacesThatWereDrawn) {
  constexpr std::size_t most_plans = 4000;
  const char* asked = std::getenv("TITER_RANDOM_SPACES");
  const int wanted = asked == nullptr ? 25 : std::atoi(asked);
  std::size_t bounded = 0;
  int compared = 0;
  for (unsigned seed = 1; compared < wanted && seed < 100'000; ++seed) {
    Draw draw(seed);
    const std::string text = drawn_search(draw);
    const Search search = search_of(text);
    const std::size_t plans = plans_of(search);
    if (plans == 0 || plans > most_plans) {
      continue;
    }
    const SearchAnswer all = run_search(search, {.exhaustive = true});
    if (all.plans.empty()) {
      continue;
    }
    ++compared;
    const SearchAnswer pruned = run_search(search);
    EXPECT_EQ(lines_of(pruned), lines_of(all)) << "seed " << seed << "\n" << text;
    EXPECT_EQ(pruned.counts.plans, all.counts.plans);
    bounded += pruned.counts.bounded;
  }
  EXPECT_EQ(compared, wanted);
  EXPECT_GT(bounded, 0u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
