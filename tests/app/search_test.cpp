// titer search, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "report/csv.hpp"
#include "titer/study/search.hpp"

namespace titer {
namespace {

using testing::contains;
using testing::data_of;
using testing::parse_csv;
using testing::refusal_of;
using testing::TemporaryFolder;
using testing::titer;

constexpr const char* kSmall = R"({
  "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
               "training": {"global_batch": 16, "precision": "bf16"}},
  "devices": 8,
  "space": {"schedule": "1f1b", "micro_batch": [1, 2], "rank_order": "tp-dp-pp"},
  "top": 3})";

TEST(AppSearch, SaysTheSameInEveryFormat) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::string text = data_of(titer({"search", file}));
  const auto rows = parse_csv(data_of(titer({"search", file, "--format", "csv"})));
  const Document json = parse_json(data_of(titer({"search", file, "--format", "json"})), "out");
  ASSERT_EQ(rows.size(), 1u + 3u);
  const Value& plans = *json.at("plans");
  ASSERT_EQ(plans.items.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t c = 0; c < rows[0].size(); ++c) {
      if (const Value* value = plans.items[i].find("plan")->find(rows[0][c])) {
        EXPECT_EQ(rows[i + 1][c],
                  value->kind == Value::Kind::boolean ? (value->boolean ? "yes" : "no")
                  : value->kind == Value::Kind::text  ? value->text
                                                      : to_json(*value, 0));
      }
    }
  }
  EXPECT_TRUE(contains(text, "Megatron GPT 1.7B on 8 x"));
  EXPECT_TRUE(contains(text, "batch 16: best by time\n"));
  EXPECT_TRUE(contains(text, "  best: data "));
  EXPECT_TRUE(contains(text, "\n  other than the best:\n  2: "));
}

TEST(AppSearch, WritesTheBestPlanAsARun) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::string best = (folder.path() / "best.json").string();
  const auto found =
      parse_csv(data_of(titer({"search", file, "--format", "csv", "--top", "1", "--out", best})));
  const auto run = parse_csv(data_of(titer({"run", best, "--format", "csv"})));
  const auto cell = [](const auto& rows, std::string_view name) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin();
    return rows[1][static_cast<std::size_t>(at)];
  };
  EXPECT_EQ(cell(found, "iteration_time_s"), cell(run, "iteration_time_s"));
  EXPECT_EQ(cell(found, "memory_peak_bytes"), cell(run, "memory_peak_bytes"));
}

TEST(AppSearch, TakesModelClusterAndBatchWithoutAFile) {
  const std::vector<std::string> arguments = {"search",
                                              "--model",
                                              "megatron-1.7b",
                                              "--cluster",
                                              "dgx-a100-80gb",
                                              "--devices",
                                              "4",
                                              "--batch",
                                              "8",
                                              "--set=space.schedule=1f1b",
                                              "--top",
                                              "1",
                                              "--jobs",
                                              "1"};
  EXPECT_TRUE(contains(data_of(titer(arguments)), "on 4 x NVIDIA A100"));
}

TEST(AppSearch, SaysWhatEveryPlanFailsFor) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const auto outcome = titer({"search", file, "--set", "constraints.least_mfu=0.99"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.out, "no plan is left of "));
  EXPECT_TRUE(contains(outcome.out, " over a limit"));
  const auto unsound = titer({"search", file, "--set", "plan.context_inner=2"});
  EXPECT_EQ(unsound.code, 1);
  EXPECT_TRUE(contains(unsound.out, "; not sound, for one: plan.context_inner: 2: expected "));
}

TEST(AppSearch, RefusesWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const auto refusal = [&](const std::string& change) {
    return refusal_of(titer({"search", file, "--set", change}));
  };
  EXPECT_TRUE(contains(refusal("space.tenser=2"), "did you mean \"tensor\"?"));
  EXPECT_TRUE(contains(refusal("space.schedule=1f2b"), "did you mean \"1f1b\"?"));
  EXPECT_TRUE(contains(refusal("space.tensor=[]"), "expected at least one value"));
  EXPECT_TRUE(contains(refusal("devices=0"), "expected a whole number of at least 1"));
  EXPECT_TRUE(contains(refusal("objective=cost"), "expected \"economy\" too"));
  EXPECT_TRUE(contains(refusal("pareto=[\"time\"]"), "pareto"));
  EXPECT_TRUE(contains(refusal_of(titer({"search"})), "expected either a SEARCH or --model"));
  EXPECT_TRUE(contains(refusal_of(titer({"search", "gpt3-175b-64xa10"})),
                       "did you mean \"gpt3-175b-64xa100\"?"));
}

TEST(AppSearch, OfEveryShippedNameLoads) {
  const std::vector<std::string> names = shipped_names(kSearchData);
  EXPECT_GE(names.size(), 5u);
  for (const std::string& name : names) {
    const Search search = load_search(name);
    EXPECT_FALSE(search.title.empty());
    EXPECT_FALSE(search.devices.empty());
  }
}

}  // namespace
}  // namespace titer
