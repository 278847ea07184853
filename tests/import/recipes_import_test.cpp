// What programs in Python and configurations of recipes tell beyond plain values: functions that
// they call, models by names of their own, values that another file has.

#include <gtest/gtest.h>

#include <string>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;

ImportedRun of(const std::string& text, const std::string& file, std::int64_t devices) {
  return testing::of_file(text, file, devices);
}

std::string bridge(const std::string& body) {
  return "from megatron.bridge.recipes.common import _pretrain_common\n"
         "def _set_optimizer(cfg, kind, wide=False):\n"
         "    if kind == \"adam\":\n"
         "        opt, schedule = distributed_adam_with_cosine(max_lr=1e-4)\n"
         "        cfg.ddp.use_distributed_optimizer = True\n"
         "    elif kind == \"muon\":\n"
         "        opt, schedule = distributed_muon_with_cosine(max_lr=1e-4)\n"
         "        cfg.ddp.use_distributed_optimizer = False\n"
         "    else:\n"
         "        raise ValueError(kind)\n"
         "    cfg.optimizer = opt\n"
         "    cfg.scheduler = schedule\n"
         "    if not wide:\n"
         "        cfg.optimizer.clip_grad = 1.0\n"
         "def small_pretrain_config():\n"
         "    cfg = _pretrain_common()\n"
         "    cfg.model = GPTModelProvider(num_layers=8, hidden_size=512, ffn_hidden_size=2048,\n"
         "        num_attention_heads=8, seq_length=1024, tensor_model_parallel_size=2)\n"
         "    cfg.train.global_batch_size = 64\n"
         "    cfg.train.micro_batch_size = 2\n" +
         body + "    return cfg\n";
}

TEST(ImportRecipes, AModelBesideItsRecipeIsReadByItsWidths) {
  const ImportedRun run = of(bridge(""), "small.py", 16);
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(run.model->layers, 8);
  EXPECT_EQ(run.model->ffn, 2048);
  EXPECT_EQ(member(run.plan, "tensor"), "2");
  EXPECT_EQ(member(run.plan, "data"), "8");
  EXPECT_EQ(member(run.training, "global_batch"), "64");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");  // of recipes, which is said
  EXPECT_TRUE(any_has(run.assumed, "mixed_precision: taken as bf16"));
}

TEST(ImportRecipes, FunctionsOfTheFileAreFollowedWithWhatTheyAreGiven) {
  const ImportedRun muon = of(bridge("    _set_optimizer(cfg, \"muon\")\n"), "small.py", 16);
  EXPECT_EQ(member(muon.training, "optimizer"), "\"muon\"");
  EXPECT_EQ(member(muon.plan, "sharding"), "\"none\"");
  const ImportedRun adam = of(bridge("    _set_optimizer(cfg, kind=\"adam\")\n"), "small.py", 16);
  EXPECT_EQ(member(adam.training, "optimizer"), "\"adam\"");
  EXPECT_EQ(member(adam.plan, "sharding"), "\"zero1\"");
}

TEST(ImportRecipes, WhatIsNotFollowedIsSaid) {
  const ImportedRun run = of(bridge("    apply_settings(cfg, fast=True)\n    if cfg.model.fused:\n"
                                    "        cfg.train.micro_batch_size = 4\n"),
                             "small.py",
                             16);
  EXPECT_TRUE(any_has(run.assumed, ":21:5: apply_settings(cfg, fast=True) is not followed"));
  EXPECT_TRUE(any_has(run.assumed, ":22:5: if cfg.model.fused: is taken not to hold"));
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
}

TEST(ImportRecipes, APrecisionByNameKeepsItWhenPartsOfItAreChanged) {
  const ImportedRun run = of(bridge("    cfg.mixed_precision = get_config(\"fp16_mixed\")\n"
                                    "    cfg.mixed_precision.grad_reduce_in_fp32 = False\n"),
                             "small.py",
                             16);
  EXPECT_EQ(member(run.training, "precision"), "\"fp16\"");
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"bf16\"");
}

std::string olmo(const std::string& model, const std::string& launch) {
  return "from olmo_core.nn.transformer import TransformerConfig\n"
         "LENGTH = 2048\n"
         "BATCH = 128 * LENGTH\n"
         "def build_model(common):\n"
         "    config = " +
         model +
         "\n    return config\n"
         "def build_train_module(common):\n"
         "    return TransformerTrainModuleConfig(rank_microbatch_size=2 * LENGTH,\n"
         "        max_sequence_length=common.max_sequence_length,\n"
         "        dp_config=TransformerDataParallelConfig(name=DataParallelType.fsdp,\n"
         "            param_dtype=DType.bfloat16))\n"
         "def build_trainer(common):\n"
         "    config = (TrainerConfig(save_folder=\"x\"))\n"
         "    config.callbacks[\"grow\"] = BatchSizeSchedulerCallback(batch_sizes=[BATCH])\n"
         "    return config\n"
         "if __name__ == \"__main__\":\n"
         "    " +
         launch + "\n";
}

TEST(ImportRecipes, ContextsOfOlmoCoreAreSplitByTheFunctionThatMakesThem) {
  const auto method = [](const std::string& function) {
    std::string text = olmo(
        "TransformerConfig.olmo2_7B(vocab_size=100352)",
        "main(global_batch_size=BATCH, sequence_length=LENGTH, model_config_builder=build_model)");
    const std::string place = "        dp_config=";
    text.insert(text.find(place),
                "        cp_config=TransformerContextParallelConfig." + function + "(degree=2),\n");
    return member(of(text, "train.py", 16).plan, "context_method");
  };
  EXPECT_EQ(method("zig_zag"), "absent");
  EXPECT_EQ(method("llama3"), "\"all-gather\"");
  EXPECT_EQ(method("ulysses"), "\"ulysses\"");
}

TEST(ImportRecipes, BatchesOfOlmoCoreAreToldWhereItsProgramIsStarted) {
  for (const std::string launch :
       {"main(global_batch_size=BATCH, sequence_length=LENGTH, model_config_builder=build_model)",
        "builder = partial(build_config, global_batch_size=BATCH, max_sequence_length=LENGTH)"}) {
    const ImportedRun run =
        of(olmo("TransformerConfig.olmo2_7B(vocab_size=100352)", launch), "train.py", 32);
    EXPECT_EQ(member(run.training, "global_batch"), "128") << launch;
    EXPECT_EQ(member(run.training, "sequence"), "2048") << launch;
    EXPECT_EQ(member(run.plan, "micro_batch"), "2") << launch;
    EXPECT_TRUE(any_has(run.assumed, "BatchSizeSchedulerCallback")) << launch;
    EXPECT_EQ(parameters(*run.model), 7'298'617'344) << launch;  // as the Hub counts OLMo 2 7B
  }
}

TEST(ImportRecipes, WidthsOfOlmoCoreThatAProgramChangesAreItsOwn) {
  const ImportedRun run = of(olmo("TransformerConfig.olmo2_7B(vocab_size=100352, n_kv_heads=8, "
                                  "hidden_size_multiplier=1.2, hidden_size_multiple_of=1024)",
                                  "main(global_batch_size=BATCH, sequence_length=LENGTH)"),
                             "train.py",
                             32);
  EXPECT_EQ(run.model->kv_heads, 8);
  // 8 h / 3 = 10922, times 1.2, up to a multiple of 1024.
  EXPECT_EQ(run.model->ffn, (10922 * 12 / 10 + 1023) / 1024 * 1024);
}

std::string titan(const std::string& model, const std::string& training) {
  return "[model]\n" + model + "\n[training]\nlocal_batch_size = 1\nseq_len = 1024\n" + training +
         "\n[parallelism]\ndata_parallel_shard_degree = 8\n";
}

TEST(ImportRecipes, ModelsOfTorchtitanAreKnownByTheirPublishedSizes) {
  const auto shipped = [](const std::string& name, const std::string& flavor) {
    return of(titan("name = \"" + name + "\"\nflavor = \"" + flavor + "\"", ""), "t.toml", 8)
        .shipped;
  };
  EXPECT_EQ(shipped("deepseek_v3", "16B"), "deepseek-v2-lite");
  EXPECT_EQ(shipped("qwen3", "30B-A3B"), "qwen3-30b-a3b");
  EXPECT_EQ(shipped("llama4", "17bx16e"), "llama4-scout");
  const ImportedRun small = of(titan("name = \"qwen3\"\nflavor = \"0.6B\"", ""), "t.toml", 8);
  EXPECT_EQ(parameters(*small.model), 596'049'920);  // as the Hub counts Qwen3-0.6B
  EXPECT_THROW(shipped("llama3", "debugmodel"), InputError);
}

TEST(ImportRecipes, WeightsOfTorchtitanMayBeKeptInSixteenBits) {
  const std::string model = "name = \"llama3\"\nflavor = \"8B\"";
  const ImportedRun wide = of(titan(model, ""), "t.toml", 8);
  EXPECT_EQ(member(wide.training, "master_precision"), "absent");
  const ImportedRun run = of(
      titan(
          model,
          "dtype = \"bfloat16\"\nmixed_precision_reduce = \"float32\"\nenable_cpu_offload = true"),
      "t.toml",
      8);
  EXPECT_EQ(member(run.training, "master_precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "state_precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "gradient_precision"), "\"fp32\"");
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"weights":"host","optimizer":"host","update":"host"})");
}

TEST(ImportRecipes, MptIsAsWideAsItsFeedForwardSectionSays) {
  const std::string foundry =
      "max_seq_len: 512\nmodel:\n  name: mpt_causal_lm\n  d_model: 256\n  n_heads: 4\n"
      "  n_layers: 2\n  vocab_size: 1000\n  ffn_config:\n    expansion_ratio: 6\n"
      "train_loader: {name: text}\nglobal_train_batch_size: 16\n"
      "device_train_microbatch_size: 2\nexpandable_segments: true\n";
  const ImportedRun run = of(foundry, "mpt.yaml", 8);
  EXPECT_EQ(run.model->ffn, 6 * 256);
  // What its class has by itself, unlike the models on the Hub.
  EXPECT_EQ(run.model->positions, Positions::learned);
  EXPECT_TRUE(run.model->biases.mlp);
  EXPECT_EQ(run.model->norm, Norm::layernorm);
}

std::string nemo(const std::string& body) {
  return "NAME = \"mixtral_8x7b\"\n"
         "@run.cli.factory(name=NAME)\n"
         "def model():\n"
         "    return run.Config(MixtralModel, config=run.Config(MixtralConfig8x7B))\n"
         "def trainer(pp: int = 4, vp: Optional[int] = 8, nodes: int = 8, callbacks=None):\n"
         "    strategy = run.Config(nl.MegatronStrategy, pipeline_model_parallel_size=pp,\n"
         "        virtual_pipeline_model_parallel_size=vp, expert_model_parallel_size=8,\n"
         "        ddp=run.Config(DistributedDataParallelConfig, grad_reduce_in_fp32=True))\n"
         "    made = run.Config(nl.Trainer, devices=8, num_nodes=nodes, strategy=strategy,\n"
         "        callbacks=callbacks, plugins=run.Config(Mixed, precision=\"bf16-mixed\"))\n"
         "    made.max_steps = 10\n"
         "    return made\n"
         "def pretrain_recipe(nodes: int = 4, fn=pretrain):\n"
         "    return run.Partial(fn, model=model(),\n"
         "        trainer=trainer(nodes=nodes, callbacks=[run.Config(TimingCallback)]),\n"
         "        data=run.Config(Mock, seq_length=8192, global_batch_size=512,\n"
         "            micro_batch_size=1), log=default_log(name=NAME), resume=default_resume(),\n"
         "        optim=distributed_fused_adam_with_cosine_annealing(max_lr=3e-4))\n" +
         body;
}

ImportedRun recipe(const std::string& body, const std::string& name) {
  ImportOptions options;
  options.defines["recipe"] = name;
  return import_text(nemo(body), "mixtral.py", options);
}

TEST(ImportRecipes, FunctionsAreFollowedToWhatTheyReturn) {
  const std::string tuning =
      "def finetune_recipe():\n"
      "    recipe = pretrain_recipe(nodes=16, fn=finetune)\n"
      "    recipe.peft = run.Config(LoRA, target_modules=['linear_qkv', 'linear_proj'], dim=16)\n"
      "    recipe.data = run.Config(Squad, seq_length=4096, global_batch_size=256,\n"
      "        micro_batch_size=1)\n"
      "    return recipe\n";
  const ImportedRun whole = recipe(tuning, "pretrain_recipe");
  EXPECT_EQ(whole.shipped, "mixtral-8x7b");
  EXPECT_EQ(whole.stack, "nemo");
  EXPECT_EQ(member(whole.plan, "pipeline"), "4");
  EXPECT_EQ(member(whole.plan, "virtual_stages"), "8");  // though the file tells no layers
  EXPECT_EQ(member(whole.plan, "data"), std::to_string(4 * 8 / 4));
  // Its data-parallel settings are the file's own, which switches no overlap on.
  EXPECT_EQ(member(whole.plan, "overlap_grad_reduce"), "false");
  EXPECT_EQ(member(whole.training, "global_batch"), "512");
  EXPECT_EQ(member(whole.training, "precision"), "\"bf16\"");
  EXPECT_TRUE(whole.unread.empty()) << whole.unread.front();
  const ImportedRun tuned = recipe(tuning, "finetune_recipe");
  EXPECT_EQ(member(tuned.plan, "data"), std::to_string(16 * 8 / 4));
  EXPECT_EQ(member(tuned.training, "sequence"), "4096");
  EXPECT_EQ(member(tuned.training, "adapters"),
            R"({"rank":16,"targets":["query","key","value","output"],"fused":true})");
}

TEST(ImportRecipes, FunctionsThatCallEachOtherEnd) {
  const std::string calls =
      "def a(x):\n    y = b(b(x))\n    return b(y=y)\n"
      "def b(x):\n    y = a(a(x))\n    return a(y=y)\n"
      "def small():\n    cfg.model.num_layers = a(b(1))\n    return cfg\n";
  EXPECT_THROW(static_cast<void>(recipe(calls, "small")), InputError);
}

TEST(ImportRecipes, NamesOnTheHubMayBeInVariables) {
  const std::string body =
      "    path = \"Qwen/Qwen2.5-7B\"\n"
      "    cfg.model = AutoBridge.from_hf_pretrained(path).to_megatron_provider()\n"
      "    cfg.model.tensor_model_parallel_size = 2\n"
      "    cfg.model.mtp_num_layers = 1\n";
  const ImportedRun run = of("def tune_config():\n    cfg = _sft_common()\n" + body +
                                 "    cfg.train.global_batch_size = 16\n"
                                 "    cfg.train.micro_batch_size = 1\n"
                                 "    cfg.dataset.seq_length = 1024\n    return cfg\n",
                             "tune.py",
                             8);
  EXPECT_EQ(run.model->hidden, 3584);
  EXPECT_EQ(run.model->predicted_tokens, 1);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
}

TEST(ImportRecipes, WhatAFileThatMaxTextIsGivenHasIsLeftOpenWithoutIt) {
  const std::string command =
      "python3 -m MaxText.train MaxText/configs/models/gpu/llama2_7b.yml run_name=a "
      "base_config=base.yml dcn_data_parallelism=2 ici_fsdp_parallelism=8 ";
  const testing::TemporaryFolder folder;
  const std::string script = folder.file("run.sh", command);
  const std::vector<std::filesystem::path> alone = {script};
  const ImportedRun run = import_files(alone, {});
  EXPECT_EQ(run.shipped, "llama2-7b");
  EXPECT_EQ(member(run.plan, "micro_batch"), "\"" + std::string(kLeftOpen) + "\"");
  EXPECT_EQ(member(run.training, "sequence"), "\"" + std::string(kLeftOpen) + "\"");
  EXPECT_TRUE(any_has(run.open, "per_device_batch_size: is what llama2_7b.yml has"));
  const std::vector<std::filesystem::path> both = {
      folder.file("llama2_7b.yml",
                  "base_config: base.yml\nmodel_name: llama2-7b\nper_device_batch_size: 4\n"
                  "max_target_length: 4096\nremat_policy: minimal_flash\n"),
      script};
  const ImportedRun whole = import_files(both, {});
  EXPECT_EQ(member(whole.plan, "micro_batch"), "4");
  EXPECT_EQ(member(whole.training, "sequence"), "4096");
  EXPECT_EQ(member(whole.training, "global_batch"), std::to_string(4 * 16));
}

std::string primus(const std::string& framework,
                   const std::string& model,
                   const std::string& more) {
  return "work_group: amd\nmodules:\n  pre_trainer:\n    framework: " + framework +
         "\n    config: pre_trainer.yaml\n    model: " + model + "\n    overrides:\n" + more;
}

TEST(ImportRecipes, AnAxisOfMaxTextTakesTheRestOfANode) {
  const ImportedRun run = of(primus("maxtext",
                                    "mixtral_8x7B.yaml",
                                    "      ici_expert_parallelism: -1\n"
                                    "      ici_tensor_parallelism: 2\n"
                                    "      dcn_data_parallelism: -1\n"
                                    "      ici_fsdp_parallelism: 1\n"
                                    "      per_device_batch_size: 2\n"
                                    "      capacity_factor: 1\n"
                                    "      remat_policy: save_dot_with_context_except_mlp\n"),
                             "p.yaml",
                             16);
  EXPECT_EQ(member(run.plan, "expert"), std::to_string(8 / 2));
  EXPECT_TRUE(any_has(run.assumed, "ici_expert_parallelism: -1: taken as 4"));
  // Every layer of Mixtral has experts, and none an MLP.
  EXPECT_EQ(member(run.plan, "recompute"), R"(["layer_norm","moe"])");
}

TEST(ImportRecipes, PrimusOverMegatronBridgeIsReadLikeMegatron) {
  const std::string plan =
      "      micro_batch_size: 2\n      global_batch_size: 128\n      seq_length: 4096\n"
      "      expert_model_parallel_size: 8\n      bf16: true\n";
  const ImportedRun run =
      of(primus("megatron_bridge", "qwen3_30B_A3B.yaml", plan + "      use_lora: false\n"),
         "p.yaml",
         8);
  EXPECT_EQ(run.stack, "megatron-bridge");
  EXPECT_EQ(run.shipped, "qwen3-30b-a3b");
  EXPECT_EQ(member(run.plan, "expert"), "8");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero1\"");
  EXPECT_THROW(of(primus("megatron_bridge", "qwen3_30B_A3B.yaml", plan + "      use_lora: true\n"),
                  "p.yaml",
                  8),
               InputError);
}

TEST(ImportRecipes, APluginOfNemosTrainerIsItsPrecision) {
  const auto with = [](const std::string& plugin) {
    return of(
        "import nemo_run as run\nfrom nemo.collections import llm\n"
        "recipe = llm.llama3_8b.pretrain_recipe(name=\"a\", num_nodes=1, "
        "num_gpus_per_node=8)\n"
        "recipe.trainer.strategy.tensor_model_parallel_size = 2\n"
        "recipe.data.global_batch_size = 128\nrecipe.data.seq_length = 8192\n"
        "recipe.trainer.plugins = " +
            plugin + "\n",
        "train.py",
        8);
  };
  const ImportedRun delayed = with("bf16_with_fp8_mixed()");
  EXPECT_EQ(member(delayed.training, "precision"), "\"fp8\"");
  EXPECT_EQ(member(delayed.training, "narrow_scaling"), "absent");
  EXPECT_TRUE(delayed.unread.empty()) << delayed.unread.front();
  const ImportedRun blocks = with("mixed_precision.bf16_with_mxfp8_mixed()");
  EXPECT_EQ(member(blocks.training, "precision"), "\"fp8\"");
  EXPECT_EQ(member(blocks.training, "narrow_scaling"), "\"block\"");
  EXPECT_EQ(member(with("bf16_with_nvfp4_mixed()").training, "precision"), "\"fp4\"");
  EXPECT_EQ(member(with("bf16_mixed()").training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(with("fp16_mixed()").training, "precision"), "\"fp16\"");
}

TEST(ImportRecipes, NemosLlama3HasDataOfItsOwn) {
  const auto with = [](const std::string& recipe, const std::string& more) {
    return of(
        "import nemo_run as run\nfrom nemo.collections import llm\n"
        "recipe = llm." +
            recipe +
            ".pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n"
            "recipe.trainer.strategy.tensor_model_parallel_size = 2\n" +
            more,
        "train.py",
        8);
  };
  const ImportedRun run = with("llama31_8b", "recipe.data.global_batch_size = 64\n");
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  EXPECT_EQ(member(run.training, "global_batch"), "64");
  EXPECT_EQ(member(run.plan, "micro_batch"), "1");
  EXPECT_TRUE(any_has(run.assumed, "seq_length: taken as 8192, as the recipe has it"));
  EXPECT_EQ(member(with("llama3_8b_64k", "").training, "sequence"), "65536");
  // Of others it is not known.
  EXPECT_EQ(member(with("mixtral_8x7b", "").plan, "micro_batch"), "\"left open by the import\"");
}

TEST(ImportRecipes, WhatOlmoLeavesOutIsAsItsModelConfigHasIt) {
  const auto with = [](const std::string& model, const std::string& more) {
    return of("run_name: a\nmodel:\n  d_model: 1024\n  n_heads: 16\n  n_layers: 2\n" + model +
                  "global_train_batch_size: 16\ndevice_train_microbatch_size: 2\n"
                  "precision: amp_bf16\nmax_duration: 10ba\n" +
                  more,
              "olmo.yaml",
              8);
  };
  const ImportedRun plain = with("  max_sequence_length: 2048\n", "");
  EXPECT_EQ(plain.model->positions, Positions::learned);
  EXPECT_TRUE(plain.model->biases.qkv && plain.model->biases.mlp);
  EXPECT_EQ(plain.model->vocabulary, 50304);
  EXPECT_EQ(with("  embedding_size: null\n  vocab_size: 50257\n", "").model->vocabulary, 50257);
  const ImportedRun rotary = with("  rope: true\n  include_bias: false\n", "");
  EXPECT_EQ(rotary.model->positions, Positions::rotary);
  EXPECT_FALSE(rotary.model->biases.qkv || rotary.model->biases.mlp);
  // The first of its files.
  const ImportedRun old = with("  alibi: true\n  alibi_bias_max: 8.0\n",
                               "algorithms:\n  gradient_clipping:\n    clipping_threshold: 1.0\n"
                               "device_train_batch_size: auto\nn_gpus: null\n"
                               "fsdp_config:\n  sharding_strategy: SHARD_GRAD_OP\n"
                               "  mixed_precision: DEFAULT\n  activation_checkpointing: true\n"
                               "  activation_cpu_offload: false\n  verbose: false\n");
  EXPECT_EQ(old.model->positions, Positions::alibi);
  EXPECT_EQ(member(old.plan, "sharding"), "\"zero2\"");
  EXPECT_EQ(member(old.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(old.training, "gradient_precision"), "\"fp32\"");
  EXPECT_TRUE(old.unread.empty()) << old.unread.front();
}

// Most are asked for by their names alone.
TEST(ImportRecipes, AlgorithmsOfComposerAreNotTakenInSilence) {
  const std::string clipped =
      "model:\n  name: mpt_causal_lm\n  d_model: 768\n  n_heads: 12\n  n_layers: 12\n"
      "  expansion_ratio: 4\n  max_seq_len: 2048\n  vocab_size: 50368\n"
      "max_seq_len: 2048\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\n"
      "precision: amp_bf16\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n"
      "callbacks:\n  lr_monitor: {}\n"
      "algorithms:\n  gradient_clipping:\n    clipping_threshold: 1.0\n";
  const ImportedRun plain = of(clipped, "mpt.yaml", 8);
  EXPECT_TRUE(plain.unread.empty()) << plain.unread.front();
  for (const char* const more : {"  low_precision_layernorm: {}\n", "  alibi:\n"}) {
    EXPECT_NE(testing::refusal_of([&] {
                return of(clipped + more, "mpt.yaml", 8);
              }).find("an algorithm of Composer"),
              std::string::npos)
        << more;
  }
}

TEST(ImportRecipes, NemosLlama3HasDegreesOfItsOwn) {
  const auto with = [](const std::string& recipe, const std::string& more) {
    return of("from nemo.collections import llm\nrecipe = llm." + recipe +
                  ".pretrain_recipe(num_nodes=4, num_gpus_per_node=8)\n" + more,
              "train.py",
              32);
  };
  const ImportedRun whole = with("llama3_70b", "");
  EXPECT_EQ(member(whole.plan, "tensor"), "4");
  EXPECT_EQ(member(whole.plan, "pipeline"), "4");
  EXPECT_EQ(member(whole.plan, "virtual_stages"), "5");
  EXPECT_EQ(member(whole.plan, "context"), "2");
  EXPECT_EQ(member(whole.plan, "sequence_parallel"), "true");
  EXPECT_TRUE(whole.open.empty()) << whole.open.front();
  const std::string strategy = "recipe.trainer.strategy.";
  const ImportedRun changed = with("llama31_70b",
                                   strategy + "virtual_pipeline_model_parallel_size = None\n" +
                                       strategy + "sequence_parallel = False\n");
  EXPECT_EQ(member(changed.plan, "virtual_stages"), "absent");
  EXPECT_EQ(member(changed.plan, "sequence_parallel"), "false");
  const ImportedRun small = with("llama3_8b", "");
  EXPECT_EQ(member(small.plan, "tensor"), "1");
  EXPECT_EQ(member(small.plan, "virtual_stages"), "absent");
  // Degrees of others are not known: which of them count is open, too.
  const ImportedRun other = with("mixtral_8x7b", strategy + "tensor_model_parallel_size = 2\n");
  EXPECT_EQ(member(other.plan, "sequence_parallel"), "\"left open by the import\"");
}

TEST(ImportRecipes, PrecisionsByNameReduceInFp32) {
  const auto with = [](const std::string& plugin) {
    return of(
        "from nemo.collections import llm\n"
        "recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n" +
            plugin,
        "train.py",
        8);
  };
  EXPECT_EQ(member(with("").training, "gradient_precision"), "\"fp32\"");
  EXPECT_EQ(member(with("recipe.trainer.plugins = bf16_with_fp8_mixed()\n").training,
                   "gradient_precision"),
            "\"fp32\"");
  EXPECT_EQ(member(with("recipe.trainer.plugins = fp16_mixed()\n").training, "gradient_precision"),
            "absent");
  EXPECT_EQ(member(with("recipe.trainer.plugins.grad_reduce_in_fp32 = False\n").training,
                   "gradient_precision"),
            "\"bf16\"");
}

TEST(ImportRecipes, MaxTextBeforeGroupsOfQueriesHasAnotherModel) {
  const std::string command =
      "python3 MaxText/train.py MaxText/configs/base.yml run_name=a per_device_batch_size=16 "
      "dcn_data_parallelism=2 ici_fsdp_parallelism=8 remat_policy=full base_emb_dim=4096 "
      "base_mlp_dim=16384 head_dim=256 base_num_decoder_layers=32 ";
  const ImportedRun old = of(command + "base_num_heads=16", "run.sh", 16);
  EXPECT_TRUE(old.unread.empty()) << old.unread.front();
  EXPECT_FALSE(old.model->gated);
  EXPECT_EQ(old.model->kv_heads, 16);
  // Two matrices: 4 x 4096 x 4096 + 2 x 4096 x 16384 and two norms in each of 32 layers, a table
  // that is its own output matrix, and a norm: the 6 B of its name.
  EXPECT_EQ(parameters(*old.model),
            32 * (4LL * 4096 * 4096 + 2LL * 4096 * 16384 + 2 * 4096) + 32768LL * 4096 + 4096);
  EXPECT_TRUE(
      of(command + "base_num_query_heads=16 base_num_kv_heads=16", "run.sh", 16).model->gated);
  EXPECT_FALSE(
      of(command + "base_num_query_heads=16 mlp_activations=['gelu']", "run.sh", 16).model->gated);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
