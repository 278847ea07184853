// What a search's file says is searched, and what stays.

#include <gtest/gtest.h>

#include "paths.hpp"
#include "searches.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Numbers = std::vector<std::int64_t>;

/// Of the one problem.
std::string refusal_of_file(std::string_view text) {
  try {
    static_cast<void>(search_of(text));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(SearchFile, KeepsThePlanOfItsOwnScenario) {
  const Search search = search_of(R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb",
                 "plan": {"tensor": 8, "recompute": "full", "attention": "flash"},
                 "training": {"global_batch": 64, "sequence": 2048, "precision": "bf16"}},
    "devices": 64, "space": {"recompute": ["none", "full"]}})");
  EXPECT_EQ(search.space.tensor, Numbers{8});
  EXPECT_EQ(search.space.recompute,
            (std::vector<Recomputation>{{Recompute::none, 0}, {Recompute::full, 0}}));
  EXPECT_EQ(search.space.pipeline, (Numbers{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(search.scenario.plan.attention, AttentionKernel::flash);
}

TEST(SearchFile, TakesAllOfARunButItsPlan) {
  constexpr std::string_view text = R"({"scenario": "gpt3-175b-64xa100"})";
  const Search search = search_of(text);
  EXPECT_EQ(search.devices, Numbers{64});
  EXPECT_EQ(search.space.tensor, (Numbers{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(search.scenario.training.global_batch, 64);
  const std::vector<std::string> changes = {"plan.tensor=8", "training.global_batch=128"};
  const Search changed = search_of(text, changes);
  EXPECT_EQ(changed.space.tensor, Numbers{8});
  EXPECT_EQ(changed.space.schedule.size(), search.space.schedule.size());
  EXPECT_EQ(changed.scenario.training.global_batch, 128);
}

// A pod is one node of thousands of chips, of which a run has a slice.
TEST(SearchFile, TakesAsManyChipsOfAPodAsARunHas) {
  const std::string text = R"({"scenario": ")" +
                           (root() / "configs/seeds/runs/gshard-mt.json").string() +
                           R"(", "space": {"expert": [1, 64]}})";
  const std::vector<std::string> on_pod = {"cluster=tpu-v3-pod"};
  EXPECT_EQ(search_of(text, on_pod).devices, Numbers{64});
  const std::vector<std::string> own = {"cluster=tpu-v3-pod", "devices=256"};
  EXPECT_EQ(search_of(text, own).devices, Numbers{256});
}

/// 1f1b with every number of chunks that shares the layers out, but one.
TEST(SearchFile, TakesInterleavedForItsChunks) {
  const auto space = [](const std::string& schedule, const std::string& more = "") {
    return search_of(R"({"scenario": "gpt3-175b-64xa100", "space": {"schedule": )" + schedule +
                     more + "}}")
        .space;
  };
  const SearchSpace plain = space(R"("1f1b")");
  const SearchSpace interleaved = space(R"("interleaved")");
  ASSERT_EQ(interleaved.schedule.size(), 1U);
  EXPECT_EQ(name(interleaved.schedule.front()), "1f1b");
  ASSERT_EQ(plain.virtual_stages.front(), 1);
  EXPECT_EQ(interleaved.virtual_stages,
            Numbers(plain.virtual_stages.begin() + 1, plain.virtual_stages.end()));
  EXPECT_EQ(space(R"("interleaved")", R"(, "virtual_stages": [1, 3])").virtual_stages, Numbers{3});
  EXPECT_TRUE(
      refusal_of_file(
          R"({"scenario": "gpt3-175b-64xa100", "space": {"schedule": ["interleaved", "gpipe"]}})")
          .ends_with("schedule: [\"interleaved\",\"gpipe\"]: expected no other schedule beside "
                     "interleaved, or 1f1b and the virtual_stages to try in its place"));
  EXPECT_TRUE(
      refusal_of_file(
          R"({"scenario": "gpt3-175b-64xa100", "space": {"schedule": "interleaved", "virtual_stages": 1}})")
          .ends_with("expected space.virtual_stages above 1 beside it"));
}

TEST(SearchFile, CountsDevicesInManyWays) {
  const auto devices = [](const std::string& written) {
    const std::vector<std::string> changes = {"devices=" + written};
    return search_of(R"({"scenario": "gpt3-175b-64xa100"})", changes).devices;
  };
  EXPECT_EQ(devices("[512, 256]"), (Numbers{256, 512}));
  EXPECT_EQ(devices(R"({"nodes": [2, 4]})"), (Numbers{2 * 8, 4 * 8}));
  EXPECT_EQ(devices(R"({"most": 64})"), (Numbers{8, 16, 32, 64}));
  EXPECT_EQ(devices(R"({"most": 32, "every": 12})"), (Numbers{12, 24}));
  EXPECT_EQ(devices(R"({"least": 3, "most": 12})"), (Numbers{3, 6, 12}));
}

TEST(SearchFile, RefusesADataDegreeAndWhatHasNoDevices) {
  EXPECT_EQ(refusal_of_file(R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb", "plan": {"data": 8},
                 "training": {"global_batch": 64, "sequence": 2048}}, "devices": 64})"),
            "plan.data: expected none in a search: it follows from the other degrees");
  EXPECT_EQ(refusal_of_file(R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb",
                 "training": {"global_batch": 64, "sequence": 2048}}})"),
            "search.json:1:1: expected \"devices\": a number, a list, {\"nodes\": …} or "
            "{\"most\": …}");
}

TEST(SearchFile, UsesAsMuchOfEachRackAsItsDevicesFill) {
  const auto text = [](const std::string& devices) {
    return R"({"scenario": {"model": "llama3-70b", "cluster": "gb200-nvl72",
               "training": {"global_batch": 2304, "sequence": 8192}}, "devices": )" +
           devices + "}";
  };
  const auto used = [&](const std::string& devices) {
    return search_of(text(devices)).scenario.cluster.devices_per_node;
  };
  EXPECT_EQ(used("[72, 144]"), 72);
  EXPECT_EQ(used("[64, 128, 256]"), 64);
  EXPECT_TRUE(refusal_of_file(text("[128, 144]"))
                  .ends_with("128 devices use 64 of the 72 of each node, the others together use "
                             "72; expected numbers that use as many, or one of them at a time"))
      << refusal_of_file(text("[128, 144]"));
}

/// Of what other softwares and predictions of memory would say: sequences, memory, software.
TEST(SearchFile, RefusesToTakeTheLongestSequenceByItself) {
  EXPECT_EQ(
      refusal_of_file(R"({
    "scenario": {"model": "llama3-70b", "cluster": "dgx-h100",
                 "training": {"global_batch": 64}}, "devices": 64})"),
      "search.json:3:30: training.sequence: missing; expected --sequence N, for example 8192; "
      "the model's longest is 131072");
  EXPECT_EQ(
      refusal_of_file(R"({
    "scenario": {"model": "gpt3-175b", "cluster": "dgx-a100-80gb",
                 "training": {"global_batch": 64}}, "devices": 64})"),
      "search.json:3:30: training.sequence: missing; expected --sequence N, for example 2048; "
      "the model's longest is 2048");
  // Images have none.
  EXPECT_EQ(refusal_of_file(R"({"scenario": "resnet-50-8xa100"})"), "");
}

TEST(SearchFile, KeepsAsMuchMemoryFreeAsPredictionsAreOff) {
  constexpr std::string_view text = R"({"scenario": "gpt3-175b-64xa100"})";
  EXPECT_EQ(search_of(text).limits.memory_margin, kMemoryError);
  const std::vector<std::string> none = {"constraints.memory_margin=0"};
  EXPECT_EQ(search_of(text, none).limits.memory_margin, 0);
}

TEST(SearchFile, IsThatAroundARunByItsName) {
  const Search search = load_search("llama3-70b-64xh100");
  EXPECT_EQ(search.devices, Numbers{64});
  EXPECT_EQ(search.scenario.training.sequence, 8192);
  EXPECT_EQ(search.space.tensor, (Numbers{1, 2, 4, 8, 16, 32, 64}));
  // A cluster as large as the plan: as many devices as the run's plan has.
  EXPECT_EQ(load_search("mixtral-8x7b-64xh100").devices, Numbers{64});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
