// Models and plans from the files of other programs.

#include "titer/import/imported.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "import/imports.hpp"
#include "paths.hpp"
#include "titer/import/import_figures.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

std::filesystem::path data(std::string_view file) {
  return testing::root() / "tests/data/import" / file;
}

/// With what is not read left out, and listed.
ImportedRun imported(std::vector<std::filesystem::path> files, ImportOptions options = {}) {
  options.accept_unknown = true;
  return import_files(files, options);
}

/// The lines of an InputError that the text gets.
std::vector<std::string> refusal(std::string_view text,
                                 const std::string& file,
                                 const ImportOptions& options = {}) {
  try {
    static_cast<void>(import_text(text, file, options));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {"not refused"};
}

/// Arguments of a small GPT, with more after them.
std::string gpt(const std::string& more) {
  return "--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 "
         "--max-position-embeddings 1024 --vocab-size 50304 --micro-batch-size 2 " +
         more;
}

TEST(ImportMegatron, AScriptGivesModelPlanAndTraining) {
  const ImportedRun run = imported({data("pretrain.sh")});
  ASSERT_TRUE(run.model);
  const std::int64_t h = 2048;
  // Weights of attention 4 h^2 and MLP 8 h^2, biases 3 h + h + 4 h + h, two norms.
  const std::int64_t layer = 12 * h * h + 9 * h + 4 * h;
  EXPECT_EQ(parameters(*run.model), 24 * layer + 50257 * h + 2048 * h + 2 * h);
  EXPECT_EQ(run.model->vocabulary_multiple, 64);
  EXPECT_TRUE(run.model->dropout);           // 0.1 unless it is told otherwise
  EXPECT_EQ(member(run.plan, "data"), "2");  // 2 x 8 devices over 4 x 2
  EXPECT_EQ(member(run.plan, "recompute"), "\"selective\"");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.plan, "sequence_parallel"), "true");
  EXPECT_EQ(member(run.training, "global_batch"), "512");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  ASSERT_EQ(run.unread.size(), 1u);
  EXPECT_TRUE(run.unread.front().ends_with("pretrain.sh:30:5: --degree-of-tomorrow: 3"))
      << run.unread.front();
  EXPECT_EQ(run.stack, "megatron-lm");
  EXPECT_TRUE(any_has(run.assumed, "taken as 50257"));
  EXPECT_TRUE(run.open.empty());
}

TEST(ImportMegatron, ALayerPatternIsReadAsPythonWritesIt) {
  struct Case {
    std::string_view written;
    std::vector<LayerRun> order;  // kind 0 is that of the first layer
    bool first_has_experts;
  };
  const std::array<Case, 5> cases = {
      {{"([0]*3+[1]*9)", {{0, 3}, {1, 9}}, false},
       {"\"'([0]*1+[1]*11)'\"", {{0, 1}, {1, 11}}, false},
       {"'[1,1,0]*4'", {{0, 2}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {1, 1}}, true},
       {"1", {{0, 12}}, true},
       {"4", {{0, 1}, {1, 3}, {0, 1}, {1, 3}, {0, 1}, {1, 3}}, true}}};
  for (const Case& c : cases) {
    const std::string text =
        "MODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 64\n"
        "  --num-attention-heads: 4\n  --max-position-embeddings: 128\n"
        "  --vocab-size: 512\n  --num-experts: 8\n  --moe-layer-freq: " +
        std::string(c.written) + "\n";
    const ImportedRun run = import_text(text, "moe.yaml");
    EXPECT_EQ(run.model->runs(), c.order) << c.written;
    EXPECT_EQ(run.model->kinds.front().experts, c.first_has_experts) << c.written;
    EXPECT_EQ(run.model->experts->per_token, 2) << "Megatron's default";
  }
}

TEST(ImportMegatron, WhatAFileLeavesOpenIsListedOrDefined) {
  const std::string text = gpt("--tensor-model-parallel-size ${TP} --global-batch-size ${GBS:-64}");
  const ImportedRun open = import_text(text, "run.sh");
  EXPECT_EQ(open.open,
            std::vector<std::string>{"run.sh:1:" + std::to_string(gpt("").size() + 1) +
                                     ": --tensor-model-parallel-size: ${TP}"});
  EXPECT_EQ(member(open.plan, "tensor"), "\"left open by the import\"");
  EXPECT_EQ(member(open.plan, "data"), "absent");
  EXPECT_EQ(member(open.training, "global_batch"), "64");
  ImportOptions options;
  options.defines["TP"] = "4";
  options.devices = 16;
  const ImportedRun known = import_text(text, "run.sh", options);
  EXPECT_TRUE(known.open.empty());
  EXPECT_EQ(member(known.plan, "tensor"), "4");
  EXPECT_EQ(member(known.plan, "data"), "4");  // 16 / 4
}

TEST(ImportMegatron, StagesAndRecomputationFollowTheFlags) {
  struct Case {
    std::string_view flags;
    std::string_view key;
    std::string_view value;
  };
  const std::array<Case, 18> cases = {
      {{"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
        "Et*3\\|\\(tt\\|\\)*3tttL",
        "layers",
        "\"Et*3|(tt|)*3tttL\""},
       {"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
        "'Et*3\\|\\(tt\\|\\)*3tttL'",
        "layers",
        "\"Et*3|(tt|)*3tttL\""},
       {"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*3|(tt|)*3tttL'",
        "layers",
        "\"Et*3|(tt|)*3tttL\""},
       {"--pipeline-model-parallel-size 2 --num-layers-in-first-pipeline-stage 5",
        "layers",
        "[5,7]"},
       {"--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 2",
        "virtual_stages",
        "3"},
       {"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 2 "
        "--decoder-last-pipeline-num-layers 2",
        "layers",
        "[2,4,4,2]"},
       {"--pipeline-model-parallel-size 7 --account-for-embedding-in-pipeline-split "
        "--account-for-loss-in-pipeline-split",
        "layers",
        "[1,2,2,2,2,2,1]"},
       {"--recompute-granularity full --recompute-method uniform --recompute-num-layers 4",
        "recompute_every",
        "4"},
       {"--recompute-granularity full --recompute-method block --recompute-num-layers 3",
        "recompute_layers",
        "3"},
       {"--recompute-granularity full --tensor-model-parallel-size 2 "
        "--distribute-saved-activations",
        "distribute_saved_activations",
        "true"},
       {"--checkpoint-activations --tensor-model-parallel-size 2 --partition-activations",
        "distribute_saved_activations",
        "true"},
       {"--recompute-granularity selective --recompute-modules core_attn moe_act layernorm",
        "recompute",
        R"(["core_attention","activation","layer_norm"])"},
       {"--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads",
        "sharding",
        "\"zero2\""},
       {"--use-torch-fsdp2", "sharding", "\"zero3\""},
       {"--optimizer-cpu-offload", "offload", R"({"optimizer":"host","update":"host"})"},
       {"--context-parallel-size 2 --cp-comm-type a2a", "context_method", "\"ulysses\""},
       {"--use-tp-pp-dp-mapping", "rank_order", "\"tp-cp-ep-pp-dp\""},
       {"--tp-comm-overlap", "tensor_overlap", "\"ring\""}}};
  for (const Case& c : cases) {
    const ImportedRun run = import_text(gpt(std::string(c.flags)), "run.sh");
    EXPECT_EQ(member(run.plan, c.key), c.value) << c.flags;
    EXPECT_TRUE(run.unread.empty()) << c.flags << ": " << run.unread.front();
  }
}

TEST(ImportMegatron, TrainingFollowsTheFlags) {
  struct Case {
    std::string flags;
    std::string_view key;
    std::string_view value;
  };
  const std::string states = "--bf16 --use-precision-aware-optimizer ";
  const std::array<Case, 20> cases = {
      {{"--global-batch-size 64", "global_batch", "64"},
       {"--bf16 --fp8-format e4m3 --fp8-recipe mxfp8", "narrow_scaling", "\"block\""},
       {"--bf16 --fp8-format e4m3 --no-fp8-weight-transpose-cache",
        "transposes_narrow_weights",
        "true"},
       {"--bf16 --fp8-format e4m3 --fp8-param-gather", "narrow_weights", "\"instead\""},
       {"--bf16 --fp4-format e2m1 --fp4-recipe nvfp4", "precision", "\"fp4\""},
       {states + "--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16", "state_precision", "\"bf16\""},
       {states + "--main-params-dtype fp16", "master_precision", "\"fp16\""},
       {states + "--main-grads-dtype bf16", "gradient_precision", "\"bf16\""},
       {"--bf16 --main-grads-dtype bf16", "gradient_precision", "absent"},
       {"--step-batch-size-schedule '0:384 200B:768'", "global_batch", "768"},
       {"--bf16", "precision", "\"bf16\""},
       {"--fp16", "precision", "\"fp16\""},
       {"", "precision", "\"fp32\""},
       {"--bf16 --fp8-format hybrid", "precision", "\"fp8\""},
       {"--bf16 --grad-reduce-in-bf16", "gradient_precision", "\"bf16\""},
       {"--bf16 --accumulate-allreduce-grads-in-fp32", "gradient_precision", "\"fp32\""},
       {"--optimizer sgd", "optimizer", "\"sgd\""},
       {"--optimizer dist_muon", "optimizer", "\"muon\""},
       {"--optimizer lion", "optimizer", "\"lion\""},
       {"--optimizer adamw_8bit", "optimizer", "\"adam-8bit\""}}};
  for (const Case& c : cases) {
    const ImportedRun run = import_text(gpt(c.flags), "run.sh");
    EXPECT_EQ(member(run.training, c.key), c.value) << c.flags;
  }
  for (const char* compressed : {"onebitadam", "zerooneadam", "muon_8bit"}) {
    EXPECT_TRUE(any_has(refusal(gpt(std::string("--optimizer ") + compressed), "run.sh"),
                        "expected an optimizer that is known here"))
        << compressed;
  }
}

TEST(ImportNemo, ReferencesAreFollowed) {
  const ImportedRun run = imported({data("nemo.yaml")});
  EXPECT_EQ(run.model->max_sequence, 4096);
  EXPECT_EQ(run.model->ffn, 3 * 1024);
  EXPECT_EQ(run.model->kv_heads, 8);
  EXPECT_TRUE(run.model->gated);
  EXPECT_EQ(member(run.plan, "data"), "4");  // 4 x 8 devices over 4 x 2
  EXPECT_EQ(member(run.plan, "recompute_every"), "2");
  EXPECT_EQ(member(run.plan, "overlap_grad_reduce"), "true");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_TRUE(run.open.empty());
  EXPECT_EQ(run.stack, "nemo");
}

TEST(ImportBridge, ChangesTheModelThatItIsGiven) {
  const std::string text =
      "dataset:\n  seq_length: 4096\ntrain:\n  global_batch_size: 8\n  micro_batch_size: 1\n"
      "model:\n  seq_length: 4096\n  num_layers: 4\n  tensor_model_parallel_size: 2\n";
  EXPECT_TRUE(any_has(refusal(text, "bridge.yaml"), "--model NAME"));
  ImportOptions options;
  options.base = *import_text(gpt(""), "base.sh").model;
  const ImportedRun run = import_text(text, "bridge.yaml", options);
  EXPECT_EQ(run.model->layers, 4);
  EXPECT_EQ(run.model->hidden, 768);
  EXPECT_EQ(member(run.training, "sequence"), "4096");
  // What the recipe has and the file does not change. [recipes/common.py]
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_EQ(member(run.plan, "overlap_grad_reduce"), "true");
  EXPECT_EQ(member(run.plan, "overlap_param_gather"), "true");
  EXPECT_TRUE(any_has(run.assumed, "recipes/common.py"));
  EXPECT_EQ(run.stack, "megatron-bridge");
  const std::string off = text + "ddp: {overlap_grad_reduce: false}\n";
  EXPECT_EQ(member(import_text(off, "bridge.yaml", options).plan, "overlap_grad_reduce"), "false");
  // Two sections that tell the same have to agree.
  std::string other = text;
  other.replace(other.find("4096"), 4, "2048");
  EXPECT_TRUE(any_has(refusal(other, "bridge.yaml", options), "expected the same as"));
}

TEST(ImportMegatron, QuotedElementsOfAnArrayAreTheWordsInThem) {
  const std::string array =
      "ARGS=(\n  --num-layers 12 --hidden-size 768 --bf16 --num-attention-heads 12\n"
      "  \"--seq-length 1024\"\n  \"--fp8-format hybrid\"\n"
      "  \"--vocab-size 50304\"\n  \"--degree-of-tomorrow 2\"\n)\n";
  const ImportedRun run = import_text(array + "torchrun pretrain_gpt.py ${ARGS[@]}\n", "run.sh");
  EXPECT_EQ(member(run.training, "precision"), "\"fp8\"");
  EXPECT_EQ(run.model->vocabulary, 50304);
  ASSERT_EQ(run.unread.size(), 1u);
  EXPECT_TRUE(any_has(run.unread, "run.sh:6:4: --degree-of-tomorrow: 2"));
  const ImportedRun printed =
      import_text("echo \"tip: --num-layers must be even\"\n" + gpt("--swiglu"), "run.sh");
  EXPECT_EQ(printed.model->layers, 12);
}

TEST(ImportMegatron, ArchitecturesThatAreNoPlainModelAreRefusedByName) {
  const std::string nemo =
      "trainer: {devices: 8}\nmodel: {num_layers: 2, hidden_size: 64, num_attention_heads: 2, "
      "encoder_seq_length: 64}\n";
  struct Case {
    std::string text;
    std::string_view file;
    std::string_view what;
  };
  const std::array<Case, 10> cases = {
      {{gpt("--linear-attention-type gated_delta_net"), "run.sh", "gated delta-net layers"},
       {gpt("--experimental-attention-variant gated_delta_net"), "run.sh", "gated delta-net"},
       {gpt("--hybrid-attention-ratio 0.1"), "run.sh", "Mamba layers"},
       {gpt("--spec megatron.core.models.mamba.mamba_layer_specs mamba"), "run.sh", "Mamba"},
       {gpt("--is-hybrid-model"), "run.sh", "Mamba layers"},
       {"python pretrain_ict.py " + gpt(""), "run.sh", "two encoders, of questions and of texts"},
       {gpt("--encoder-num-layers 12"), "run.sh", "an encoder beside a decoder"},
       {gpt("--retro-add-retriever"), "run.sh", "retrieved texts"},
       {gpt("--vision-model-type clip"), "run.sh", "a vision tower"},
       {"name: megatron_t5\n" + nemo, "n.yaml", "an encoder beside a decoder"}}};
  for (const Case& c : cases) {
    const std::vector<std::string> lines = refusal(c.text, std::string(c.file));
    ASSERT_EQ(lines.size(), 1u) << c.what;
    EXPECT_TRUE(any_has(lines, c.what)) << lines.front();
    EXPECT_TRUE(any_has(lines, "this architecture has")) << lines.front();
  }
}

TEST(ImportMegatron, SettingsAreUsedHarmlessOrMayChangeTheResult) {
  const std::string text =
      gpt("--lr 1e-4 --save here --log-interval 1 --moe-router-topk 2 --fp32-residual-connection "
          "--moe-token-dispatcher-type hashed --num-experts 4");
  const ImportedRun run = import_text(text, "run.sh");
  EXPECT_NE(std::find(run.used.begin(), run.used.end(), "--num-layers"), run.used.end());
  EXPECT_TRUE(any_has(run.harmless, "checkpoints: --save"));
  EXPECT_TRUE(any_has(run.harmless, "logs and profiles: --log-interval"));
  ASSERT_EQ(run.unread.size(), 2u);
  EXPECT_TRUE(any_has(run.unread, "--fp32-residual-connection"));
  EXPECT_TRUE(any_has(run.unread, "hashed: taken as alltoall, which alone is modelled"));
  // A switch that is off, and what belongs to something that the run has not, ask for nothing.
  const ImportedRun none = import_text(
      gpt("--moe-shared-expert-overlap --tp-comm-overlap-cfg x --cp-comm-type a2a"), "run.sh");
  EXPECT_TRUE(none.unread.empty()) << none.unread.front();
}

TEST(ImportMegatron, DeepSpeedsForkHasDefaultsOfItsOwn) {
  const std::string flags = "--deepspeed --moe-expert-parallel-size 8 --num_nodes 1 --num_gpus 8 ";
  const ImportedRun run = import_text(gpt(flags + "--num-experts 16"), "run.sh");
  ASSERT_TRUE(run.model->experts);
  EXPECT_EQ(run.model->experts->per_token, 1);
  EXPECT_EQ(run.model->experts->count, 16);
  EXPECT_EQ(run.model->experts->routing.capacity_factor, 1.0);
  ASSERT_EQ(run.model->runs().size(), 12u);  // every second layer has experts, from the second on
  EXPECT_FALSE(
      run.model->kinds.at(static_cast<std::size_t>(run.model->runs().front().kind)).experts);
  EXPECT_EQ(member(run.plan, "expert"), "8");
  EXPECT_EQ(member(run.plan, "data"), "8");
  EXPECT_EQ(member(run.plan, "sharding"), "\"left open by the import\"");
  EXPECT_EQ(run.stack, "deepspeed");
  EXPECT_TRUE(any_has(run.assumed, "every second layer"));
  EXPECT_FALSE(
      import_text(gpt("--deepspeed --num-experts 1 --zero-stage 1"), "r.sh").model->experts);
  EXPECT_EQ(import_text(gpt(flags + "--num-experts 16 16"), "run.sh").model->experts->count, 16);
  EXPECT_TRUE(any_has(refusal(gpt(flags + "--num-experts 16 32"), "run.sh"),
                      "layers with different numbers of experts (PR-MoE) are not modelled"));
  const ImportedRun residual =
      import_text(gpt(flags + "--num-experts 16 --mlp-type residual"), "run.sh");
  EXPECT_EQ(residual.model->experts->shared_ffn, residual.model->ffn);
  EXPECT_TRUE(any_has(residual.assumed, "is taken as an expert of all tokens"));
}

TEST(ImportMegatron, DeepSpeedsStageIsWhatTheScriptItselfWrites) {
  const std::string run =
      "deepspeed --num_gpus 8 t.py --deepspeed --deepspeed_config ds.json " + gpt("");
  const std::string config = "{\"zero_optimization\": {\"stage\": $STAGE}}";
  const std::string written = "STAGE=2\ncat <<END > ds.json\n" + config + "\nEND\n" + run;
  const std::string changed = "STAGE=3\nsed \"s/ZERO_STAGE/${STAGE}/\" in.json > ds.json\n" + run;
  for (const auto& [script, sharding] : {std::pair(written, "\"zero2\""), {changed, "\"zero3\""}}) {
    const ImportedRun found = import_text(script, "run.sh");
    EXPECT_EQ(member(found.plan, "sharding"), sharding) << script;
    EXPECT_TRUE(any_has(found.assumed, "its stage is that which the script writes")) << script;
  }
  EXPECT_EQ(member(import_text(run, "run.sh").plan, "sharding"), "\"left open by the import\"");
  // What the flags say is what the program takes.
  const ImportedRun told = import_text(written + " --zero-stage 1", "run.sh");
  EXPECT_EQ(member(told.plan, "sharding"), "\"zero1\"");
}

TEST(ImportMegatron, RowsOfTokenizersAreTakenAndSaid) {
  struct Rows {
    std::string tokenizer;
    std::int64_t rows;
    std::string_view said;
  };
  const std::array<Rows, 5> cases = {
      {{"--tokenizer-model Qwen/Qwen2.5-72B", 152064, "for the tokenizer qwen2.5-72b"},
       {"--tokenizer-model Qwen/Qwen2.5-1.5B", 151936, "152064 of Qwen2 and 2.5 from 7B on"},
       {"--tokenizer-model meta-llama/Llama-3.1-8B", 128256, "for the tokenizer llama-3"},
       {"--tokenizer-model ours/tokenizer", 128256, "--vocabulary ROWS tells it"},
       {"", 50257, "--vocabulary ROWS tells it"}}};
  std::string without = gpt("");
  without.replace(without.find("--vocab-size 50304"), 18, "");
  for (const Rows& c : cases) {
    const ImportedRun run = import_text(without + c.tokenizer, "run.sh");
    EXPECT_EQ(run.model->vocabulary, c.rows) << c.tokenizer;
    EXPECT_TRUE(any_has(run.assumed, "taken as " + std::to_string(c.rows))) << c.tokenizer;
    EXPECT_TRUE(any_has(run.assumed, c.said)) << c.tokenizer;
  }
  EXPECT_EQ(import_text(gpt("--pad-vocab-size-to 51200"), "run.sh").model->vocabulary, 51200);
}

TEST(ImportNeox, AGatedMlpGetsTwoThirdsOfTheWidth) {
  ImportOptions options;
  options.devices = 24;
  const ImportedRun run = imported({data("neox.yml")}, options);
  EXPECT_EQ(run.model->ffn, 4 * 768 * 2 / 3 / 2);
  EXPECT_TRUE(run.model->parallel);
  EXPECT_FALSE(run.model->tied_embeddings);
  EXPECT_EQ(member(run.plan, "data"), "6");
  EXPECT_EQ(member(run.plan, "recompute_every"), "3");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 8 * 6));
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_TRUE(run.unread.empty());
  EXPECT_TRUE(any_has(run.harmless, "sizes of buckets"));
}

TEST(ImportDeepSpeed, JoinsTheModelOfAConfig) {
  const ImportedRun run = imported({data("config.json"), data("deepspeed.json")});
  EXPECT_EQ(run.format, "a HuggingFace configuration and a DeepSpeed configuration");
  EXPECT_EQ(run.model->layers, 8);
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"optimizer":"host","weights":"nvme","gradients":"host","update":"host"})");
  EXPECT_EQ(member(run.plan, "data"), "64");  // 512 / (4 x 2)
  const ImportFigures figures = import_figures(*run.model, run);
  EXPECT_EQ(figures.weights, Bytes{});
  EXPECT_EQ(figures.optimizer, Bytes{});
  const auto n = static_cast<double>(figures.parameters);
  EXPECT_DOUBLE_EQ(figures.gradients.si(), 4.0 * n / 64);
}

TEST(ImportDeepSpeed, TensorRanksAreNoDataRanks) {
  ImportOptions options;
  options.devices = 8;
  const std::string text =
      R"({"train_micro_batch_size_per_gpu": 1, "tensor_parallel": {"autotp_size": 4}})";
  const ImportedRun run = import_text(text, "ds.json", options);
  EXPECT_EQ(member(run.plan, "tensor"), "4");
  EXPECT_EQ(member(run.plan, "data"), "2");
  options.devices = 6;
  EXPECT_TRUE(any_has(refusal(text, "ds.json", options), "expected a divisor of the 6 devices"));
}

TEST(Import, WhatNothingTellsIsLeftOpenAndNoRunTakesIt) {
  const ImportedRun run = import_files(std::vector{data("neox.yml")});
  EXPECT_EQ(member(run.plan, "data"), "\"left open by the import\"");
  EXPECT_TRUE(any_has(run.open, "--devices N tells it"));
  EXPECT_EQ(member(run.training, "sequence"), "2048");
  ImportOptions options;
  options.devices = 64;
  const ImportedRun told = imported({data("scripts/open_degree.sh")}, options);
  EXPECT_EQ(member(told.plan, "tensor"), "\"left open by the import\"");
  EXPECT_TRUE(any_has(told.open, "plan.data: is what the degrees that are left open leave"));
  const ImportedRun joined = imported({data("config.json"), data("deepspeed.json")});
  EXPECT_EQ(member(joined.training, "sequence"), "\"left open by the import\"");
  EXPECT_EQ(run_document(joined).find("stack")->text, "deepspeed");
}

TEST(Import, WhatMayChangeTheResultIsRefusedUnlessAccepted) {
  try {
    static_cast<void>(import_files(std::vector{data("titan.toml")}));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 2u);
    EXPECT_TRUE(error.lines.front().ends_with(
        "titan.toml:16:1: parallelism.a_degree_of_tomorrow: 3: is not read, and may change the "
        "result"));
    EXPECT_TRUE(any_has(error.lines, "--accept-unknown leaves it out"));
  }
  EXPECT_EQ(imported({data("titan.toml")}).unread.size(), 1u);
}

TEST(ImportTorchtitan, NamesAShippedModel) {
  const ImportedRun run = imported({data("titan.toml")});
  EXPECT_EQ(run.shipped, "llama3-70b");
  EXPECT_EQ(member(run.plan, "data"), "32");
  EXPECT_EQ(member(run.plan, "shard"), "16");
  EXPECT_EQ(member(run.plan, "virtual_stages"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), "32");
  ASSERT_EQ(run.unread.size(), 1u);
  EXPECT_TRUE(any_has(run.unread, "titan.toml:16:1: parallelism.a_degree_of_tomorrow: 3"));
  EXPECT_EQ(run.stack, "torchtitan");
}

TEST(ImportFigures, MemoryOfTheFullestRankFollowsThePlan) {
  const ImportedRun run =
      import_text(gpt("--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --bf16 "
                      "--use-distributed-optimizer --untie-embeddings-and-output-weights "
                      "--disable-bias-linear --normalization RMSNorm --world-size 16"),
                  "run.sh");
  const ImportFigures figures = import_figures(*run.model, run);
  const double h = 768;
  // Half of the layers and the token and position tables; norms and positions are not split.
  const double rows = 197 * 128 * 2;  // 50304, padded to a multiple of 128 t
  const double n = 6 * (12 * h * h / 2 + 2 * h) + rows * h / 2 + 1024 * h;
  EXPECT_EQ(figures.rank, 0);
  EXPECT_DOUBLE_EQ(figures.on_device, n);
  EXPECT_DOUBLE_EQ(figures.weights.si(), 2 * n);
  EXPECT_DOUBLE_EQ(figures.gradients.si(), 4 * n);
  EXPECT_DOUBLE_EQ(figures.optimizer.si(), 12 * n / 4);  // 16 devices: d = 4
}

TEST(ImportFigures, MemoryFollowsThePrecisionOfWhatIsHeld) {
  ImportedRun run = import_text(gpt("--bf16 --world-size 8"), "run.sh");
  run.training.add("state_precision", Value("bf16"));
  const auto n = static_cast<double>(import_figures(*run.model, run).parameters);
  EXPECT_DOUBLE_EQ(import_figures(*run.model, run).optimizer.si(), (4 + 2 + 2) * n);
  run.training.add("master_precision", Value("bf16"));  // the weights themselves
  EXPECT_DOUBLE_EQ(import_figures(*run.model, run).optimizer.si(), (2 + 2) * n);
}

TEST(Import, ContradictionsGetALineWithPlaceAndFlag) {
  struct Case {
    std::string text;
    std::string_view file;
    std::string_view line;
  };
  const std::string place = "run.sh:1:" + std::to_string(gpt("").size() + 1) + ": ";
  const std::array<Case, 14> cases = {
      {{gpt("--num-query-groups 5 --group-query-attention"),
        "run.sh",
        "--num-query-groups: 5: expected a divisor of the 12 attention heads"},
       {gpt("--tensor-model-parallel-size 8"),
        "run.sh",
        "--tensor-model-parallel-size: 8: expected a divisor of the 12 attention heads"},
       {gpt("--num-experts 8 --expert-model-parallel-size 3"),
        "run.sh",
        "--expert-model-parallel-size: 3: expected a divisor of the 8 experts"},
       {gpt("--num-experts 8 --moe-router-topk 9"),
        "run.sh",
        "--moe-router-topk: 9: expected at most"},
       {gpt("--num-experts 8 --moe-layer-freq [1]*11"), "run.sh", "12, not 11"},
       {gpt("--pipeline-model-parallel-size 5"), "run.sh", "to divide the 12 layers"},
       {gpt("--world-size 8 --global-batch-size 24"),
        "run.sh",
        "expected a multiple of micro-batch"},
       {gpt("--world-size 8 --tensor-model-parallel-size 3"),
        "run.sh",
        "to be a multiple of tensor"},
       {gpt("--kv-channels 0"), "run.sh", "--kv-channels: 0: expected an integer from 1"},
       {gpt("--context-parallel-size 3"), "run.sh", "expected a divisor of the 1024 tokens"},
       {gpt("--num-layers twelve"), "run.sh", "--num-layers: twelve: expected a number"},
       {R"({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}})",
        "ds.json",
        "ds.json:1:54: zero_optimization.offload_param.device: cpu: expected stage 3"},
       {"[model]\nname = \"flux\"\nflavor = \"dev\"\n", "t.toml", "t.toml:3:1: model.flavor: dev"},
       {"trainer: {devices: 8}\nmodel: {num_layers: 2, hidden_size: 64}\n",
        "n.yaml",
        "n.yaml: num_attention_heads: missing"}}};
  for (const Case& c : cases) {
    const std::vector<std::string> lines = refusal(c.text, std::string(c.file));
    EXPECT_TRUE(any_has(lines, c.line)) << c.line << "\n got: " << lines.front();
    EXPECT_TRUE(lines.front().starts_with(c.file)) << lines.front();
    EXPECT_EQ(lines.size(), c.file == "n.yaml" ? lines.size() : 1u) << lines.back();
  }
}

TEST(Import, OtherTextsAreRefusedInOneLine) {
  const std::string deep(100'000, '[');
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) {
      bomb += (i == 0 ? "*" : ", *") + before;
    }
    bomb += "]\n";
  }
  struct Case {
    std::string text;
    std::string_view file;
    std::string_view part;
  };
  const std::array<Case, 12> cases = {
      {{"", "empty.sh", "expected arguments of Megatron-LM"},
       {"hello", "a.txt", "expected arguments of Megatron-LM"},
       {"{\"a\": 1}", "a.json", "no format that is known here; its keys are a;"},
       {"{\"train_batch_size\": CONFIG_BATCH_SIZE}",
        "a.json",
        "put a value in the place of CONFIG_"},
       {"{\"train_batch_size\": NaN}", "a.json", "a.json:1:22: not valid JSON"},
       {"a: [1, 2", "a.yaml", "not valid YAML"},
       {"a: .nan\n", "a.yaml", "expected a finite number"},
       {"a = \n", "a.toml", "not valid TOML"},
       {"a = nan\n", "a.toml", "expected a finite number"},
       {deep, "a.yaml", "a.yaml:1:"},
       {"a = " + deep, "a.toml", "a.toml:1:"},
       {bomb, "a.yaml", "expected at most 100000 values"}}};
  for (const Case& c : cases) {
    const std::vector<std::string> lines = refusal(c.text, std::string(c.file));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(any_has(lines, c.part)) << lines.front();
    EXPECT_LT(lines.front().size(), 300u);
  }
}

TEST(ForeignText, OfAKeyGivenTwiceInYamlTheLastOneCounts) {
  const Document found = parse_yaml("a: 1\nb: 2\na: 3\n", "a.yaml");
  EXPECT_EQ(to_json(found.root, 0), R"({"b":2,"a":3})");
  EXPECT_EQ(found.where(found.root.find("a")->origin), "a.yaml:3:4");
}

TEST(TransformerDocument, IsReadBackToTheSameModel) {
  Transformer model = *import_text(gpt(""), "base.sh").model;
  model.kinds = {{.window = 128}, {.experts = true}, {.chunked = false, .rotary = false}};
  model.order = {{0, 1}, {1, 3}, {0, 1}, {1, 3}, {2, 4}};
  model.biases = {.qkv = true, .output = false, .mlp = false, .head = true};
  model.norms = 2;
  model.norm = Norm::layernorm_without_bias;
  model.norm_place = NormPlace::output;
  model.qk_norm = true;
  model.qk_norm_of = QkNorm::all_heads;
  model.activation_parameters = 2;
  model.positions = Positions::relative;
  model.position_rows = 32;
  model.token_types = 2;
  model.head_transform = true;
  model.encoder_ends = true;
  model.sinks = true;
  model.predicted_tokens = 2;
  model.predicted_by_one = true;
  model.predicted_layer = LayerKind{.experts = true, .window = 16};
  Experts experts;
  experts.count = 16;
  experts.per_token = 2;
  experts.ffn = 256;
  experts.latent = 48;
  experts.shared_ffn = 512;
  experts.shared_gate = true;
  experts.router_bias = true;
  experts.routing.shape = RoutingShape::zipf;
  experts.routing.exponent = 0.5;
  experts.routing.capacity_factor = 1.25;
  experts.routing.groups = 4;
  experts.routing.groups_chosen = 2;
  model.experts = experts;
  const Document document{.root = transformer_document(model), .sources = {"made"}};
  Problems problems;
  Reader in(document, problems);
  const Transformer back = read_transformer(in);
  EXPECT_NO_THROW(problems.raise());
  EXPECT_EQ(to_json(transformer_document(back)), to_json(document.root));
  EXPECT_EQ(parameters(back), parameters(model));
  EXPECT_EQ(back.kinds, model.kinds);
  EXPECT_EQ(back.order, model.order);
  EXPECT_EQ(back.predicted_layer, model.predicted_layer);
}

TEST(ImportSamples, PublishedModelsHaveTheirPublishedParameters) {
  const std::filesystem::path samples = testing::root() / ".." / "shared" / "samples";
  if (!std::filesystem::exists(samples)) {
    GTEST_SKIP() << samples << " is not there";
  }
  struct Case {
    std::string_view file;
    std::int64_t parameters;
    std::optional<std::int64_t> vocabulary;
  };
  const std::array<Case, 9> cases = {
      {{"megatron/DeepSeek-V2-Lite.yaml", 15'706'484'224, {}},
       {"megatron/DeepSeek-V2.yaml", 235'741'434'880, {}},
       {"megatron/Kimi-K2.yaml", 1'026'408'232'448, {}},
       {"megatron/Mixtral-8x7B.yaml", 46'702'792'704, {}},
       {"megatron/Mixtral-8x22B.yaml", 140'620'634'112, {}},
       {"megatron/Qwen3-235B-A22B.yaml", 235'093'634'560, {}},
       {"nemo/llama2_70b.yaml", 68'976'648'192, {}},
       // Published with 50432 rows, of which the tokenizer has 50277.
       {"gptneox/20B.yml", 20'554'567'680 - 155 * 2 * 6144, {}},
       // GPT-NeoX's MLP has biases unless it is told otherwise.
       {"gptneox/llama2-70B.yml", 68'976'648'192 + 80 * (2 * 28672 + 8192), 32000}}};
  for (const Case& c : cases) {
    ImportOptions options;
    options.defines["SEQ_LEN"] = "4096";
    options.vocabulary = c.vocabulary;
    const ImportedRun run = imported({samples / c.file}, options);
    EXPECT_EQ(parameters(*run.model), c.parameters) << c.file;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
