// Runs from the files of programs that train with recipes: HuggingFace's trainer and what is built
// on it, torchtune, nanotron, llm-foundry, OLMo, MaxText, Megatron-Bridge and NeMo.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "import/imports.hpp"
#include "paths.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::refusal_of;

std::filesystem::path data(std::string_view file) {
  return testing::root() / "tests/data/import/formats" / file;
}

ImportedRun imported(const std::vector<std::string_view>& names, ImportOptions options = {}) {
  std::vector<std::filesystem::path> files;
  for (const std::string_view name : names) {
    files.push_back(data(name));
  }
  return import_files(files, options);
}

ImportedRun imported(std::string_view name, std::int64_t devices) {
  ImportOptions options;
  options.devices = devices;
  return imported(std::vector<std::string_view>{name}, options);
}

std::string refusal(std::string_view text,
                    const std::string& file,
                    const ImportOptions& options = {}) {
  return refusal_of([&] { return import_text(text, file, options); });
}

std::string plan_of(const ImportedRun& run) { return to_json(run.plan, 0); }
std::string training_of(const ImportedRun& run) { return to_json(run.training, 0); }

TEST(ImportFormats, LlamaFactoryNamesModelBatchesAndDeepSpeed) {
  const ImportedRun run = imported("llama_factory.yaml", 16);
  EXPECT_EQ(run.stack, "deepspeed");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(parameters(*run.model), 7'615'616'512);  // as the Hub counts Qwen2.5-7B
  EXPECT_EQ(plan_of(run),
            R"({"data":16,"sharding":"zero3","overlap_grad_reduce":false,"micro_batch":2,)"
            R"("recompute":"full"})");
  // 2 sequences x 4 times x 16 ranks.
  EXPECT_EQ(training_of(run),
            R"({"precision":"bf16","global_batch":128,"sequence":4096,)"
            R"("adapters":{"rank":16,"targets":"all-linear"}})");
  EXPECT_TRUE(any_has(run.assumed, "ds_z3_config.json"));
}

TEST(ImportFormats, WhatDevicesWouldTellIsLeftOpen) {
  const ImportedRun run = imported(std::vector<std::string_view>{"llama_factory.yaml"});
  EXPECT_EQ(run.plan.find("data")->text, kLeftOpen);
  EXPECT_EQ(run.training.find("global_batch")->text, kLeftOpen);
  EXPECT_TRUE(any_has(run.open, "training.global_batch: 8 for each data-parallel rank"));
  const Value document = run_document(run);
  const Value* const notes = document.find("notes");
  ASSERT_NE(notes, nullptr);
  EXPECT_TRUE(notes->items.front().text.starts_with("left open: training.global_batch"));
}

TEST(ImportFormats, AxolotlOffloadsAndAdapts) {
  const ImportedRun run = imported("axolotl.yaml", 16);
  EXPECT_EQ(run.stack, "fsdp");
  EXPECT_EQ(plan_of(run),
            R"({"data":16,"sharding":"zero3",)"
            R"("offload":{"weights":"host","optimizer":"host","update":"host"},)"
            R"("reduce_every_pass":false,"micro_batch":1,"recompute":"full","attention":"flash"})");
  EXPECT_EQ(training_of(run),
            R"({"precision":"bf16","global_batch":128,"sequence":8192,"optimizer":"adam-8bit",)"
            R"("adapters":{"rank":32,"targets":["query","value"]}})");
}

TEST(ImportFormats, QuantisedWeightsAreThoseOfARank) {
  const std::string text =
      "base_model: meta-llama/Llama-3.2-1B\nadapter: qlora\nlora_r: 16\n"
      "lora_target_linear: true\nsequence_len: 512\nmicro_batch_size: 1\nbf16: true\n";
  const ImportedRun run = import_text(text, "qlora.yaml");
  EXPECT_EQ(to_json(*run.training.find("adapters"), 0),
            R"({"rank":16,"targets":"all-linear","base":"nf4"})");
  const ImportedRun shared = import_text(text + "deepspeed: zero3.json\n", "qlora.yaml");
  EXPECT_EQ(to_json(*shared.training.find("adapters"), 0), R"({"rank":16,"targets":"all-linear"})");
  EXPECT_TRUE(
      any_has(shared.unread, "qlora.yaml:2:1: adapter: qlora: weights of 4 bits that ranks"));
  EXPECT_TRUE(any_has(shared.unread, "with ZeRO-2 or without sharding"));
  const ImportedRun fully =
      import_text(text + "load_in_4bit: true\nfsdp: [full_shard, auto_wrap]\n", "qlora.yaml");
  EXPECT_TRUE(any_has(fully.unread, "qlora.yaml:8:1: load_in_4bit: weights of 4 bits"));
  const ImportedRun second = import_text(text + "deepspeed: zero2.json\n", "qlora.yaml");
  EXPECT_EQ(to_json(*second.training.find("adapters")->find("base"), 0), "\"nf4\"");
}

TEST(ImportFormats, AccelerateTellsDevicesOfAnotherFile) {
  const ImportedRun run =
      imported(std::vector<std::string_view>{"axolotl.yaml", "accelerate.yaml"});
  EXPECT_EQ(run.plan.find("data")->integer, 16);
  EXPECT_EQ(run.training.find("global_batch")->integer, 8 * 16);
  EXPECT_EQ(run.plan.find("shard")->integer, 8);  // HYBRID_SHARD
  EXPECT_TRUE(run.open.empty());
}

TEST(ImportFormats, ATrainersOwnPrecisionGoesBeforeItsLaunchers) {
  const std::filesystem::path trainer =
      std::filesystem::path(::testing::TempDir()) / "titer_own_precision.yaml";
  const auto told = [&](std::string_view own) {
    std::ofstream(trainer) << "base_model: meta-llama/Llama-3.2-1B\nadapter: qlora\nlora_r: 16\n"
                              "sequence_len: 512\nmicro_batch_size: 1\n"
                           << own;
    const std::vector<std::filesystem::path> files = {trainer, data("accelerate.yaml")};
    ImportOptions options;
    options.accept_unknown = true;
    return import_files(files, options);
  };
  const ImportedRun fp16 = told("fp16: true\n");
  EXPECT_EQ(fp16.training.find("precision")->text, "fp16");
  EXPECT_TRUE(any_has(fp16.assumed, "the trainer's own fp16 counts"));
  EXPECT_EQ(told("").training.find("precision")->text, "bf16");
  EXPECT_FALSE(any_has(told("bf16: true\n").assumed, "counts"));
  // The launcher's file shares out what the trainer's quantises.
  EXPECT_TRUE(any_has(fp16.unread, "training.adapters.base: nf4: weights of 4 bits that ranks"));
  EXPECT_EQ(fp16.training.find("adapters")->find("base"), nullptr);
  std::filesystem::remove(trainer);
}

TEST(ImportFormats, ATrainersScriptSaysWhatDeepSpeedLeavesToIt) {
  const ImportedRun run = imported(std::vector<std::string_view>{"trainer.sh"});
  EXPECT_EQ(plan_of(run),
            R"({"data":16,"sharding":"zero2","overlap_grad_reduce":true,)"
            R"("offload":{"optimizer":"host","gradients":"host","update":"host"},)"
            R"("micro_batch":2,"recompute":"full",)"
            R"("attention":"flash"})");
  EXPECT_EQ(training_of(run), R"({"precision":"bf16","global_batch":128,"sequence":4096})");
  EXPECT_EQ(run.model->vocabulary, 32768);
  EXPECT_TRUE(run.open.empty());
}

TEST(ImportFormats, TheFileOfALauncherIsReadWithItsScript) {
  const ImportedRun run = imported(std::vector<std::string_view>{"launch.sh"});
  EXPECT_EQ(run.stack, "fsdp");
  EXPECT_EQ(run.plan.find("data")->integer, 16);
  EXPECT_EQ(run.plan.find("sharding")->text, "zero3");
  EXPECT_EQ(run.plan.find("shard")->integer, 8);
  EXPECT_EQ(run.training.find("precision")->text, "bf16");
  EXPECT_EQ(run.training.find("global_batch")->integer, 4 * 2 * 16);
  EXPECT_TRUE(run.unread.empty());
  const ImportedRun far = import_text(
      "accelerate launch --config_file far.yaml t.py --model_name_or_path openai/gpt-oss-20b "
      "--per_device_train_batch_size 1 --max_length 512\n",
      "run.sh");
  EXPECT_TRUE(any_has(far.unread, "--config_file: far.yaml: is not beside the file"));
}

TEST(ImportFormats, TorchtuneIsInSixteenBits) {
  const ImportedRun run = imported("torchtune.yaml", 16);
  EXPECT_EQ(run.shipped, "llama3.2-3b");
  EXPECT_EQ(training_of(run),
            R"({"precision":"bf16","gradient_precision":"bf16","state_precision":"bf16",)"
            R"("master_precision":"bf16","adapters":{"rank":64,"targets":["query","value",)"
            R"("output","gate","up","down"]},"global_batch":512,"sequence":2048,)"
            R"("optimizer":"adam"})");
  EXPECT_EQ(import_text("model:\n  _component_: torchtune.models.gemma2.gemma_9b\nbatch_size: 1\n"
                        "dtype: bf16\noptimizer:\n  _component_: torch.optim.AdamW\n",
                        "full.yaml")
                .shipped,
            "gemma2-9b");
}

TEST(ImportFormats, NanotronHasItsPlanBesideTheModel) {
  const ImportedRun run = imported(std::vector<std::string_view>{"nanotron.yaml"});
  EXPECT_EQ(plan_of(run),
            R"({"pipeline":2,"tensor":2,"context":1,"data":4,"schedule":"1f1b",)"
            R"("sequence_parallel":true,"sharding":"zero1","recompute":"none","micro_batch":2})");
  EXPECT_EQ(run.training.find("global_batch")->integer, 16 * 2 * 4);
  EXPECT_EQ(run.model->kv_heads, 8);
  EXPECT_EQ(run.model->vocabulary_multiple, 128);
  EXPECT_TRUE(any_has(run.assumed, "stands for nanotron"));
}

TEST(ImportFormats, LlmFoundryHasMptInItsOwnKeys) {
  const ImportedRun run = imported("llm_foundry.yaml", 16);
  EXPECT_EQ(run.stack, "llm-foundry");
  EXPECT_EQ(run.model->ffn, 4 * 2048);
  EXPECT_EQ(run.model->positions, Positions::alibi);
  EXPECT_EQ(plan_of(run), R"({"sharding":"zero2","recompute":"none","data":16,"micro_batch":4})");
  EXPECT_EQ(training_of(run),
            R"({"precision":"bf16","gradient_precision":"fp32","global_batch":512,)"
            R"("sequence":4096,"optimizer":"lion"})");
}

TEST(ImportFormats, OlmoGivesBothHalvesOfAGatedMlp) {
  const ImportedRun run = imported("olmo.yaml", 16);
  EXPECT_EQ(run.model->ffn, 16384 / 2);
  EXPECT_TRUE(run.model->tied_embeddings);
  EXPECT_EQ(run.model->vocabulary, 50304);
  EXPECT_EQ(run.plan.find("recompute")->text, "full");
  EXPECT_EQ(run.training.find("gradient_precision")->text, "fp32");
}

TEST(ImportFormats, MaxTextsBatchIsOfADevice) {
  const ImportedRun run = imported("maxtext.yml", 16);
  EXPECT_EQ(run.stack, "maxtext-gpu");
  // 8 data-parallel ranks of 2 devices, in 2 copies of 4 that share out.
  EXPECT_EQ(run.plan.find("data")->integer, 16 / 2);
  EXPECT_EQ(run.plan.find("shard")->integer, 16 / 2 / 2);
  EXPECT_EQ(run.plan.find("micro_batch")->integer, 2 * 2);
  EXPECT_EQ(run.training.find("global_batch")->integer, 2 * 16 * 2);
  EXPECT_EQ(to_json(*run.plan.find("recompute"), 0), R"(["layer_norm","mlp_activation"])");
  EXPECT_EQ(run.training.find("precision")->text, "fp8");
  EXPECT_EQ(run.model->max_sequence, 131072);
}

TEST(ImportFormats, ARecipeInPythonIsReadAsText) {
  ImportOptions options;
  options.devices = 32;
  options.defines["recipe"] = "llama3_8b_long_pretrain_config";
  const ImportedRun run = imported(std::vector<std::string_view>{"bridge_recipe.py"}, options);
  EXPECT_EQ(run.shipped, "llama3-8b");
  EXPECT_EQ(run.stack, "megatron-bridge");
  EXPECT_EQ(plan_of(run),
            R"({"pipeline":2,"tensor":4,"context":2,"data":2,"schedule":"1f1b","sharding":"zero1",)"
            R"("overlap_grad_reduce":true,"overlap_param_gather":true,"recompute":"none",)"
            R"("sequence_parallel":true,"tensor_overlap":"ring","micro_batch":1,)"
            R"("cuda_graph":["attention","mlp"]})");
  EXPECT_EQ(training_of(run),
            R"({"global_batch":256,"sequence":16384,"precision":"bf16",)"
            R"("gradient_precision":"bf16"})");
  try {
    static_cast<void>(imported(std::vector<std::string_view>{"bridge_recipe.py"}));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("--define recipe=NAME tells which: "
                                       "llama3_8b_pretrain_config, llama3_8b_long_pretrain_config"),
              std::string::npos)
        << error.lines.front();
  }
}

TEST(ImportFormats, WhatChangesARecipeLeavesTheRestOpen) {
  const ImportedRun run = imported(std::vector<std::string_view>{"nemo_recipe.py"});
  EXPECT_EQ(run.stack, "nemo");
  EXPECT_EQ(run.plan.find("data")->integer, 2 * 8 / 2);
  EXPECT_EQ(run.training.find("precision")->text, "bf16");
  EXPECT_TRUE(run.open.empty());
  const ImportedRun open = import_text(
      "recipe = llm.llama31_405b.pretrain_recipe(num_nodes=72)\nrecipe.data.seq_length = 8192\n",
      "run.py");
  EXPECT_EQ(open.shipped, "llama3-405b");
  EXPECT_EQ(open.plan.find("tensor")->text, kLeftOpen);
  EXPECT_EQ(open.plan.find("virtual_stages")->text, kLeftOpen);
  EXPECT_EQ(open.plan.find("sequence_parallel")->text, kLeftOpen);
  EXPECT_TRUE(any_has(open.open, "plan.tensor: is the recipe's own"));
}

struct NamedModel {
  std::string_view name;
  std::int64_t parameters;  // as the Hub counts them
};

TEST(ImportFormats, ModelsOfTheHubAreKnownByTheirNames) {
  constexpr std::array<NamedModel, 13> models = {
      {{"Qwen/Qwen2.5-0.5B-Instruct", 494'032'768},
       {"Qwen/Qwen2.5-1.5B", 1'543'714'304},
       {"Qwen/Qwen2.5-14B-Instruct", 14'770'033'664},
       {"Qwen/Qwen2.5-72B", 72'706'203'648},
       {"Qwen/Qwen3-8B", 8'190'735'360},
       {"Qwen/Qwen3-32B", 32'762'123'264},
       {"meta-llama/Llama-3.1-8B", 8'030'261'248},
       {"unsloth/Meta-Llama-3.1-8B-bnb-4bit", 8'030'261'248},
       {"deepseek-ai/DeepSeek-R1-Distill-Llama-70B", 70'553'706'496},
       {"mistralai/Mistral-7B-v0.1", 7'241'732'096},
       {"HuggingFaceTB/SmolLM2-135M", 134'515'008},
       {"google/gemma-2-2b-it", 2'614'341'888},
       {"microsoft/phi-4", 14'659'507'200}}};
  for (const NamedModel& model : models) {
    const ImportedRun run = import_text(
        "model_name_or_path: " + std::string(model.name) + "\nper_device_train_batch_size: 1\n",
        "sft.yaml");
    ASSERT_TRUE(run.model.has_value()) << model.name;
    EXPECT_EQ(parameters(*run.model), model.parameters) << model.name;
  }
  EXPECT_NE(refusal("model_name_or_path: someone/something-9B\nper_device_train_batch_size: 1\n",
                    "sft.yaml")
                .find("--with CONFIG.json"),
            std::string::npos);
}

TEST(ImportFormats, OtherTrainingsAreRefused) {
  struct Case {
    std::string_view text;
    std::string_view says;
  };
  constexpr std::array<Case, 4> cases = {
      {{"model_name_or_path: Qwen/Qwen3-8B\nfinetuning_type: full\nstage: dpo\n", "stage: dpo"},
       {"model_name_or_path: Qwen/Qwen3-8B\nfinetuning_type: freeze\nstage: sft\n", "frozen"},
       {"base_model: Qwen/Qwen3-8B\nsequence_len: 512\nrl: dpo\n", "rl: dpo"},
       {"model_name_or_path: Qwen/Qwen3-8B\ncutoff_len: 9\ndeepspeed: mine.json\n", "beside"}}};
  for (const Case& c : cases) {
    EXPECT_NE(refusal(c.text, "t.yaml").find(c.says), std::string::npos)
        << c.text << refusal(c.text, "t.yaml");
  }
}

TEST(ImportFormats, FilesAreNamedAsWhatTheyAre) {
  struct Case {
    std::string_view text;
    std::string_view file;
    std::string_view says;
  };
  constexpr std::array<Case, 8> cases = {
      {{"actor_rollout_ref:\n  model:\n    path: a\n",
        "a.yaml",
        "a configuration of verl, which is not read"},
       {"apiVersion: v1\nkind: Pod\n", "a.yaml", "Kubernetes objects, which is not read"},
       {R"({"weight_map": {}})", "model.safetensors.index.json", "give the folder"},
       {R"({"log_history": []})", "trainer_state.json", "`titer trace` reads logs"},
       {"colour: red\nshape: round\n",
        "a.yaml",
        "its keys are colour, shape; `titer import --help`"},
       {"[project]\nname = 'x'\n", "pyproject.toml", "the configuration of a Python project"},
       {"#!/bin/bash\nexport A=1\nbash scripts/train_7b.sh\n",
        "go.sh",
        "starts scripts/train_7b.sh"},
       {"import os\nprint(1)\n", "a.py", "is a program in Python"}}};
  for (const Case& c : cases) {
    const std::string line = refusal(c.text, std::string(c.file));
    EXPECT_NE(line.find(c.says), std::string::npos) << line;
  }
}

TEST(ImportFormats, GraphsOfMegatronArePartsOfLayers) {
  const std::string gpt =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--max-position-embeddings 128 --vocab-size 512 --micro-batch-size 1 ";
  struct Case {
    std::string_view flags;
    std::string_view graph;
  };
  constexpr std::array<Case, 10> cases = {
      {{"", "absent"},
       {"--cuda-graph-impl none --cuda-graph-scope full", "absent"},
       {"--enable-cuda-graph", R"(["attention","mlp"])"},
       {"--external-cuda-graph --cuda-graph-scope attn", R"(["attention"])"},
       {"--cuda-graph-impl transformer_engine --cuda-graph-scope attn mlp --num-experts 8",
        R"(["attention","mlp"])"},
       {"--enable-cuda-graph --num-experts 8", R"(["attention","router","experts"])"},
       {"--cuda-graph-impl local --cuda-graph-scope full moe --num-experts 8",
        R"(["attention","router","experts"])"},
       {"--cuda-graph-impl local --cuda-graph-scope moe moe_preprocess --num-experts 8",
        R"(["experts","router"])"},
       {"--cuda-graph-impl local --cuda-graph-scope full_iteration", R"("iteration")"},
       {"--cuda-graph-impl full_iteration", R"("iteration")"}}};
  for (const Case& c : cases) {
    const ImportedRun run = import_text(gpt + std::string(c.flags), "run.sh");
    const Value* const graph = run.plan.find("cuda_graph");
    EXPECT_EQ(graph == nullptr ? "absent" : to_json(*graph, 0), c.graph) << c.flags;
    EXPECT_FALSE(any_has(run.unread, "graph")) << c.flags;
  }
  EXPECT_NE(refusal(gpt + "--enable-cuda-graph --cuda-graph-scope moon", "run.sh")
                .find("moon: expected full"),
            std::string::npos);
}

TEST(ImportFormats, OfAModelThatSeesTheLanguageModelIsReadAndThatIsSaid) {
  const std::string text = R"({"model_type": "internvl_chat", "vision_config": {"hidden_size": 32},
      "projector_hidden_act": "gelu", "shared_intermediate_size": 0, "text_config": {
      "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,
      "num_attention_heads": 4, "vocab_size": 100}})";
  const ImportedRun run = import_text(text, "config.json");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_TRUE(any_has(run.assumed, "vision_config: is not read: the language model alone"));
  EXPECT_TRUE(any_has(run.harmless, "shared_intermediate_size"));
}

TEST(ImportFormats, AFolderOfTheHubIsAModel) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "titer-import-folder";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
          "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100})";
  std::ofstream(folder / "model.safetensors.index.json")
      << R"({"metadata": {"total_size": 190080}, "weight_map": {"a": "1", "b": "1"}})";
  const ImportedRun run = import_files(std::vector<std::filesystem::path>{folder});
  std::filesystem::remove_all(folder);
  // Tables of 2 x 100 x 64; layers of 4 x 64 x 64 + 3 x 64 x 128 + 2 x 64; a norm of 64.
  const std::int64_t counted = 2 * 100 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64;
  EXPECT_EQ(parameters(*run.model), counted);
  EXPECT_TRUE(any_has(run.assumed,
                      "2 tensors of 190080 bytes, 2 for each of the " + std::to_string(counted)))
      << run.assumed.front();
}

TEST(ImportFormats, LlmFoundryReshapesModelsOfTheHubAndTrainsAdapters) {
  const auto with = [](const std::string& model, const std::string& more) {
    ImportOptions options;
    options.devices = 32;
    return import_text(
        "max_seq_len: 4096\ntrain_loader: {}\nglobal_train_batch_size: 64\n"
        "device_train_microbatch_size: 2\nmodel:\n  name: hf_causal_lm\n"
        "  attn_implementation: flash_attention_2\n"
        "  pretrained_model_name_or_path: mistralai/Mistral-7B-v0.1\n" +
            model + more,
        "foundry.yaml",
        options);
  };
  const ImportedRun run = with(
      "  config_overrides:\n    vocab_size: 51200\n    sliding_window: null\n"
      "    max_position_embeddings: ${max_seq_len}\n",
      "fsdp_config:\n  sharding_strategy: HYBRID_SHARD\n  mixed_precision: PURE\n");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(run.model->vocabulary, 51200);
  EXPECT_FALSE(run.model->kinds.front().window.has_value());
  EXPECT_EQ(run.plan.find("shard")->integer, 8);  // of a node, which is said
  EXPECT_TRUE(any_has(run.assumed, "HYBRID_SHARD"));
  const ImportedRun tuned = with(
      "  peft_config:\n    r: 4\n    peft_type: LORA\n    lora_alpha: 16\n"
      "    target_modules: [q_proj, o_proj]\n",
      "");
  EXPECT_TRUE(tuned.unread.empty()) << tuned.unread.front();
  EXPECT_EQ(to_json(*tuned.training.find("adapters"), 0),
            R"({"rank":4,"targets":["query","output"]})");
  EXPECT_EQ(tuned.model->vocabulary, 32000);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
