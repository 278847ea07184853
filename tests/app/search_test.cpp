// titer search, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/search/search.hpp"
#include "titer/units/text.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kSmall = R"({
  "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
               "training": {"global_batch": 16, "sequence": 2048, "precision": "bf16"}},
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
  EXPECT_TRUE(contains(text, "Megatron GPT 1.7B on 8 x NVIDIA A100 SXM4 80 GB (dgx-a100-80gb): "));
  EXPECT_TRUE(contains(text, "  best: data "));
  EXPECT_TRUE(contains(text, "\n  other than the best:\n  2: "));
}

/// A list of layers, and what is trained, are of the question, too.
TEST(AppSearch, SaysWhatAllPlansHave) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::string text = data_of(titer({"search",
                                          file,
                                          "--set",
                                          "plan.layers=[11,13]",
                                          "--set",
                                          "training.adapters={\"rank\": 8}"}));
  EXPECT_TRUE(contains(text, "adam, adapters of rank 8: ")) << text;
  EXPECT_TRUE(contains(text, "layers [11,13]")) << text;
}

/// The question is part of the answer.
TEST(AppSearch, SaysWhatWasAsked) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::vector<std::string> asked = {
      "search", file, "--sequence", "1024", "--precision", "fp16", "--stack", "megatron-core"};
  const auto as = [&](const char* format) {
    std::vector<std::string> arguments = asked;
    arguments.insert(arguments.end(), {"--format", format});
    return data_of(titer(arguments));
  };
  const std::string text = as("text");
  EXPECT_TRUE(contains(text, ": best by time, one plan of each shape\n"));
  EXPECT_TRUE(contains(text,
                       "  batch 16 x 1024 tokens, fp16, gradients fp16, adam; stack megatron-core; "
                       "16,384 tokens per step\n"));
  EXPECT_TRUE(contains(text, "  plans with micro_batch 1, 2; schedule 1f1b; rank_order tp-"));
  EXPECT_TRUE(contains(text, "; keeps 7 % of memory free, the error of predicted memory\n"));
  EXPECT_TRUE(contains(text, "causal MFU"));
  const Document json = parse_json(as("json"), "out");
  const auto rows = parse_csv(as("csv"));
  const std::vector<std::pair<std::string, std::string>> keys = {{"model", "megatron-1.7b"},
                                                                 {"cluster", "dgx-a100-80gb"},
                                                                 {"chip", "a100-sxm4-80gb"},
                                                                 {"stack", "megatron-core"},
                                                                 {"precision", "fp16"}};
  for (const auto& [key, value] : keys) {
    EXPECT_EQ(json.at("scenario." + key)->text, value);
    const auto at = std::find(rows[0].begin(), rows[0].end(), key) - rows[0].begin();
    EXPECT_EQ(rows[1].at(static_cast<std::size_t>(at)), value);
  }
  EXPECT_EQ(json.at("scenario.tokens_per_step")->integer, 16 * 1024);
  EXPECT_EQ(to_json(*json.at("space.micro_batch"), 0), "[1,2]");
  EXPECT_EQ(json.at("memory_margin")->number, kMemoryError);
}

TEST(AppSearch, SaysWhatItsSoftwareCannotRunAndWhatThatCosts) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::vector<std::string> asked = {
      "search", file, "--set", "space.schedule=null", "--set", "space.pipeline=4"};
  const std::string text = data_of(titer(asked));
  EXPECT_TRUE(contains(text, " plans that megatron-lm cannot run\n"));
  EXPECT_TRUE(contains(text, "  beyond megatron-lm (--any-software): "));
  EXPECT_TRUE(contains(text, " % faster), with "));
  std::vector<std::string> any = asked;
  any.insert(any.end(), {"--any-software", "--format", "json"});
  const Document best = parse_json(data_of(titer(any)), "out");
  std::vector<std::string> inside = asked;
  inside.insert(inside.end(), {"--format", "json"});
  const Document json = parse_json(data_of(titer(inside)), "out");
  EXPECT_EQ(json.at("beyond_software.iteration_time_s")->number,
            best.at("plans.0.iteration_time_s")->number);
  EXPECT_FALSE(json.at("beyond_software.beyond")->items.empty());
  EXPECT_EQ(best.at("beyond_software")->kind, Value::Kind::null);
  EXPECT_EQ(json.at("counts.plans")->integer + json.at("counts.beyond_software")->integer,
            best.at("counts.plans")->integer);
}

TEST(AppSearch, SharesOutLayersThatStagesDoNotDivide) {
  const auto outcome = titer({"search",
                              "--model=deepseek-v3",
                              "--cluster=dgx-h100",
                              "--stack=megatron-core",
                              "--devices=256",
                              "--batch=256",
                              "--sequence=4096",
                              "--set=space.pipeline=16",
                              "--set=space.virtual_stages=1",
                              "--set=space.tensor=1"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, "61 layers evenly over 16 stages: 1 x 3, 14 x 4, 1 x 2\n"));
}

TEST(AppSearch, WantsToKnowTheSequence) {
  EXPECT_EQ(
      refusal_of(titer(
          {"search", "--model=llama3-70b", "--cluster=dgx-h100", "--devices=64", "--batch=64"})),
      "training.sequence: missing; expected --sequence N, for example 8192; the "
      "model's longest is 131072");
}

TEST(AppSearch, TakesARunsNameAndFile) {
  const TemporaryFolder folder;
  const std::vector<std::string> narrow = {"--set=space.schedule=1f1b", "--top=1"};
  const auto searched = [&](const std::string& run) {
    return data_of(titer({"search", run, narrow[0], narrow[1]}));
  };
  const std::string text = searched("llama3-70b-64xh100");
  EXPECT_TRUE(contains(text, "Llama 3 70B on 64 x NVIDIA H100"));
  EXPECT_TRUE(contains(text, "  batch 128 x 8192 tokens, "));
  EXPECT_EQ(searched(root().string() + "/configs/runs/llama3-70b-64xh100.json"), text);
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
                                              "--sequence",
                                              "2048",
                                              "--set=space.schedule=1f1b",
                                              "--top",
                                              "1",
                                              "--jobs",
                                              "1"};
  EXPECT_TRUE(contains(data_of(titer(arguments)), "on 4 x NVIDIA A100"));
}

/// What a file would hold may stand in the place of its name.
TEST(AppSearch, TakesAModelAndAClusterAsJson) {
  const auto time_with = [&](const char* model, const char* cluster) {
    return parse_json(data_of(titer({"search",
                                     "--model",
                                     model,
                                     "--cluster",
                                     cluster,
                                     "--devices=8",
                                     "--batch=16",
                                     "--sequence=2048",
                                     "--top=1",
                                     "--format=json"})),
                      "out")
        .at("plans.0.iteration_time_s")
        ->number;
  };
  EXPECT_EQ(time_with(R"({"name": "megatron-1.7b", "layers": 24})",
                      R"({"base": "dgx-a100-80gb", "name": "ours"})"),
            time_with("megatron-1.7b", "dgx-a100-80gb"));
  EXPECT_TRUE(contains(
      refusal_of(titer({"search", "--model={\"name\": 1", "--cluster=dgx-h100", "--batch=8"})),
      "--model"));
}

TEST(AppSearch, PricesTheTokensOfAnIteration) {
  const TemporaryFolder folder;
  const std::string file = folder.file("search.json", kSmall);
  const std::vector<std::string> asked = {
      "search", file, "--set", "economy=gpu-clouds-2026", "--format", "json"};
  const Document json = parse_json(data_of(titer(asked)), "out");
  ASSERT_EQ(json.at("plans")->items.size(), 3u);
  for (const Value& plan : json.at("plans")->items) {
    const auto number = [&](std::string_view key) { return plan.find(key)->number; };
    EXPECT_NEAR(
        number("iteration_dollars") * number("tokens_per_dollar"), 16.0 * 2048, 1e-6 * 16 * 2048);
    EXPECT_NEAR(number("tokens_per_s") * number("iteration_time_s"), 16.0 * 2048, 1e-3);
  }
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

/// The plan that it names is found by a search without limits by memory, and needs as much.
TEST(AppSearch, SaysByHowMuchTheNearestPlanIsOverTheMemory) {
  const std::vector<std::string> asked = {"search",
                                          "--model=llama3-8b",
                                          "--cluster=rtx-3090-8",
                                          "--devices=4",
                                          "--batch=16",
                                          "--sequence=2048",
                                          "--stack=fsdp"};
  const Outcome none = titer(asked);
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.out, "the least that any of them needs is ")) << none.out;
  std::vector<std::string> roomy = asked;
  roomy.insert(roomy.end(), {"--objective=memory", "--top=1", "--format=json"});
  roomy.insert(roomy.end(), {"--set", "cluster.chip.memory.capacity=\"999 GiB\""});
  const Document found = parse_json(data_of(titer(roomy)), "out");
  const Bytes least = Bytes::from_si(found.at("plans.0.memory_peak_bytes")->number);
  const Bytes most = 0.93 * 24_GiB;
  EXPECT_GT(least, most);
  EXPECT_TRUE(contains(none.out,
                       "needs is " + format(least) + " of a device, " + format(least - most) +
                           " over the " + format(most)))
      << none.out;
}

/// Where events say another time of the best plan, its answer says so, as that of a run does.
TEST(AppSearch, SaysWhereEventsDiffer) {
  const TemporaryFolder folder;
  const std::string best = (folder.path() / "best.json").string();
  const std::string text = data_of(titer({"search",
                                          "--model=gpt-oss-20b",
                                          "--cluster=dgx-b200",
                                          "--devices=64",
                                          "--batch=32",
                                          "--sequence=4096",
                                          "--set=space.tensor=1",
                                          "--set=space.pipeline=2",
                                          "--set=space.context=2",
                                          "--top=1",
                                          "--out=" + best}));
  const Document events =
      parse_json(data_of(titer({"run", best, "--fidelity=event", "--format=json"})), "out");
  const Seconds time = Seconds::from_si(events.at("iteration_time_s")->number);
  EXPECT_TRUE(contains(text, "the best plan by events: " + format(time) + ", +")) << text;
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

TEST(AppSearch, SaysWhatIsNotReadOfAConfiguration) {
  const TemporaryFolder folder;
  const std::string model = folder.file("ours.json", R"({"model_type": "llama",
"num_hidden_layers": 4, "hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8,
"vocab_size": 1024, "max_position_embeddings": 1024, "attention_of_ours": true})");
  const std::vector<std::string> asked = {
      "--model=" + model, "--cluster=dgx-h100", "--batch=64", "--devices=8"};
  const auto text_of = [&](std::vector<std::string> words) {
    words.insert(words.end(), asked.begin(), asked.end());
    return titer(words).out;
  };
  constexpr std::string_view unread =
      "not read of the model's configuration, and may change the result: attention_of_ours";
  EXPECT_TRUE(contains(text_of({"search", "--sequence=1024"}), unread));
  EXPECT_TRUE(contains(text_of({"compare", "--tokens=1B"}), unread));
}

TEST(AppSearch, ARunInTheModelsPlaceIsSaidInOneLine) {
  const TemporaryFolder folder;
  const std::string run = folder.file(
      "my-run.json", R"({"model": "llama3-8b", "cluster": "dgx-h100", "plan": {"tensor": 2}})");
  const std::string refused = refusal_of(titer(
      {"search", "--model", run, "--cluster", "dgx-h100", "--batch", "64", "--devices", "8"}));
  EXPECT_TRUE(contains(refused, "my-run.json:1:1: model: this is a run")) << refused;
}

/// A prime number of nodes: nothing but replicas has so many parts, if the batch has.
TEST(AppSearch, OffersTheNearestBatchWhereDevicesShareOutNone) {
  const Outcome none = titer({"search",
                              "--model=llama3-70b",
                              "--cluster=dgx-h100",
                              "--devices=1208",
                              "--batch=128",
                              "--sequence=8192"});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.out, "layers, heads and batch; batch 151 would do (--batch 151)"));
}

TEST(AppSearch, PutsClusterAndBatchInPlaceOfARuns) {
  const Outcome other =
      titer({"search", "llama3-70b-64xh100", "--batch=64", "--cluster=dgx-b200", "--top=1"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_TRUE(contains(other.out, "(dgx-b200): best by time"));
  EXPECT_TRUE(contains(other.out, "batch 64 x 8192 tokens"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
