// Trainers on HuggingFace's models: what their commands and files tell in words of their own.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "import/imports.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;
using testing::member;
using testing::of;

std::string refusal(std::string_view text, const std::string& file) {
  return testing::refusal(text, file, 8);
}

constexpr std::string_view kExample =
    "#SBATCH --nodes=2\nARGS=(--max_context_width=4096 --num_key_value_heads=8 --num_heads=32\n"
    "  --intermediate_size=14336 --hidden_width=4096 --num_layers=32 --vocab_size=128256\n"
    "  --model_type=llama_v3 --tokenizer=some/name --train_batch_size=2 --max_steps=30 ";

std::string example(std::string_view more) {
  return std::string(kExample) + std::string(more) +
         ")\nsrun torchrun --nproc_per_node=8 --nnodes=$SLURM_JOB_NUM_NODES ../src/train.py "
         "\"${ARGS[@]}\"\n";
}

TEST(ImportTrainers, TheExampleOfFsdpTellsAModelByItsWidths) {
  const ImportedRun run = of(example("--offload_activations=1"), "fsdp.sbatch");
  EXPECT_EQ(run.stack, "fsdp");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(parameters(*run.model), 8'030'261'248);  // as Llama 3 8B is published
  EXPECT_EQ(member(run.plan, "data"), std::to_string(2 * 8));
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");  // unless it is switched off
  EXPECT_EQ(member(run.plan, "offload"), R"({"activations":"host"})");
  EXPECT_EQ(member(run.training, "sequence"), "4096");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 16));
  EXPECT_TRUE(run.unread.empty());
}

TEST(ImportTrainers, TheExampleOfFsdpMayShareOutWithinNodes) {
  const ImportedRun run = of(
      example("--sharding_strategy=hybrid --activation_checkpointing=0 --cpu_offload=1"), "f.sh");
  EXPECT_EQ(member(run.plan, "shard"), "8");
  EXPECT_EQ(member(run.plan, "recompute"), "\"none\"");
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"weights":"host","optimizer":"host","update":"host"})");
  EXPECT_EQ(of(example("--model_type=mixtral"), "f.sh").model->experts->count, 8);
  EXPECT_NE(refusal(example("--model_type=bloom"), "f.sh").find("expected gpt_neox"),
            std::string::npos);
}

std::string verl(std::string_view more) {
  return "torchrun --nnodes=2 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer "
         "data.max_length=8192 data.train_batch_size=64 data.micro_batch_size_per_gpu=2 "
         "data.train_files=$HOME/a.parquet model.partial_pretrain=$HOME/models/Qwen/Qwen2.5-7B "
         "optim.lr=1e-6 trainer.project_name=p " +
         std::string(more);
}

TEST(ImportTrainers, VerlSplitsSequencesAndTellsTheBatchOfAllRanks) {
  const ImportedRun run = of(verl("ulysses_sequence_parallel_size=4 data.prompt_key=extra_info "
                                  "data.response_key=answer +data.prompt_dict_keys=['question']"),
                             "sft.sh");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(parameters(*run.model), 7'615'616'512);  // as the Hub counts Qwen2.5-7B
  EXPECT_EQ(member(run.plan, "context"), "4");
  EXPECT_EQ(member(run.plan, "context_method"), "\"ulysses\"");
  EXPECT_EQ(member(run.plan, "data"), std::to_string(16 / 4));
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.training, "global_batch"), "64");
  EXPECT_EQ(member(run.training, "sequence"), "8192");
  EXPECT_EQ(member(run.training, "adapters"), "absent");
}

TEST(ImportTrainers, VerlRecomputesByTheAgeOfItsConfiguration) {
  const ImportedRun old = of(verl(""), "sft.sh");
  EXPECT_EQ(member(old.plan, "recompute"), "\"none\"");
  EXPECT_TRUE(any_has(old.assumed, "enable_gradient_checkpointing: taken as false"));
  const ImportedRun recent = of(verl("model.strategy=fsdp2"), "sft.sh");
  EXPECT_EQ(member(recent.plan, "recompute"), "\"full\"");
  EXPECT_TRUE(any_has(recent.assumed, "enable_gradient_checkpointing: taken as true"));
}

TEST(ImportTrainers, VerlAdaptsAndOffloadsWhereItIsToldTo) {
  const ImportedRun run =
      of(verl("model.lora_rank=16 model.fsdp_config.cpu_offload=true "
              "model.fsdp_config.model_dtype=bf16 model.enable_gradient_checkpointing=true"),
         "sft.sh");
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":16,"targets":"all-linear"})");
  EXPECT_EQ(member(run.plan, "offload"),
            R"({"weights":"host","optimizer":"host","update":"host"})");
  EXPECT_EQ(member(run.plan, "recompute"), "\"full\"");
  EXPECT_EQ(member(run.training, "master_precision"), "\"bf16\"");
  EXPECT_NE(refusal("python -m verl.trainer.sft_trainer model.path=a data.train_files=b "
                    "data.use_dynamic_bsz=True engine=fsdp",
                    "sft.sh"),
            "not refused");
}

TEST(ImportTrainers, LaunchersMayBeGivenTheCommandOfAnother) {
  const ImportedRun run = of(
      "uv run python mason.py --cluster c --num_nodes 2 --gpus 8 --priority urgent -- accelerate "
      "launch --mixed_precision bf16 --num_processes 8 --use_deepspeed --deepspeed_config_file "
      "configs/stage3_no_offloading_accelerate.conf finetune.py --model_name_or_path "
      "allenai/OLMo-2-1124-7B --per_device_train_batch_size 1 --gradient_accumulation_steps 4 "
      "--max_seq_length 4096 --with_tracking",
      "sft.sh");
  EXPECT_EQ(run.shipped, "olmo2-7b");
  EXPECT_EQ(member(run.plan, "data"), "16");
  EXPECT_EQ(member(run.plan, "sharding"), "\"zero3\"");
  EXPECT_EQ(member(run.plan, "offload"), "absent");
  EXPECT_EQ(member(run.training, "precision"), "\"bf16\"");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(4 * 16));
  EXPECT_TRUE(any_has(run.assumed, "taken for what its name says: ZeRO of stage 3"));
}

std::string trainer(std::string_view more) {
  return "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 1\nmax_length: 2048\n"
         "bf16: true\n" +
         std::string(more);
}

TEST(ImportTrainers, AFileOfDeepSpeedThatIsNotAtHandIsTakenForItsName) {
  struct Named {
    std::string_view file;
    std::string_view sharding;
    std::string_view offload;
  };
  constexpr std::array<Named, 4> files = {
      {{"my/zero_2.json", "\"zero2\"", "absent"},
       {"ds_z1_conf.json", "\"zero1\"", "absent"},
       {"stage3_offload_all.json",
        "\"zero3\"",
        R"({"optimizer":"host","weights":"host","gradients":"host","update":"host"})"},
       {"stage2-offload.json",
        "\"zero2\"",
        R"({"optimizer":"host","gradients":"host","update":"host"})"}}};
  for (const Named& named : files) {
    const ImportedRun run = of(trainer("deepspeed: " + std::string(named.file)), "t.yaml", 8);
    EXPECT_EQ(member(run.plan, "sharding"), named.sharding) << named.file;
    EXPECT_EQ(member(run.plan, "offload"), named.offload) << named.file;
  }
  EXPECT_NE(refusal(trainer("deepspeed: ds_config.json"), "t.yaml"), "not refused");
  EXPECT_NE(refusal(trainer("deepspeed: ds_z3_partial_offload.json"), "t.yaml"), "not refused");
}

TEST(ImportTrainers, PreferencesAreNotTakenForPlainTuning) {
  EXPECT_NE(refusal(trainer("beta: 0.01"), "t.yaml").find("beta: 0.01: is of training by preferen"),
            std::string::npos);
  EXPECT_EQ(refusal(trainer("loss_type: nll"), "t.yaml"), "not refused");
}

TEST(ImportTrainers, AxolotlMaySplitSequencesBySections) {
  const ImportedRun run =
      of("base_model: NousResearch/Meta-Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 32768\n"
         "context_parallel:\n  size: 8\n  backend: auto\nfsdp_version: 2\nbf16: true\n"
         "datasets: []\nfsdp_config:\n  reshard_after_forward: true\n",
         "a.yaml",
         16);
  EXPECT_EQ(member(run.plan, "context"), "8");
  EXPECT_EQ(member(run.plan, "data"), "2");
  EXPECT_TRUE(run.unread.empty());
}

TEST(ImportTrainers, ModelsOfTheHubAreCountedToTheLastParameter) {
  struct Model {
    std::string_view name;
    std::int64_t parameters;  // as the Hub counts them
  };
  constexpr std::array<Model, 8> models = {{{"openai-community/gpt2", 124'439'808},
                                            {"facebook/opt-125m", 125'239'296},
                                            {"EleutherAI/pythia-6.9b", 6'857'302'016},
                                            {"HuggingFaceTB/SmolLM3-3B", 3'075'098'624},
                                            {"huggyllama/llama-7b", 6'738'415'616},
                                            {"microsoft/phi-2", 2'779'683'840},
                                            {"Qwen/Qwen1.5-7B", 7'721'324'544},
                                            {"bigcode/starcoder2-3b", 3'030'371'328}}};
  for (const Model& model : models) {
    const ImportedRun run =
        of("model_name_or_path: " + std::string(model.name) +
               "\nper_device_train_batch_size: 1\nmax_length: 512\nbf16: true\n",
           "t.yaml",
           8);
    ASSERT_TRUE(run.model.has_value()) << model.name;
    EXPECT_EQ(parameters(*run.model), model.parameters) << model.name;
  }
}

TEST(ImportTrainers, ThePlainExampleOfTheTransformersTakes1024Tokens) {
  const std::string command =
      "deepspeed --num_gpus 2 run_clm.py --per_device_train_batch_size 8 --do_train "
      "--model_name_or_path ";
  const ImportedRun run = of(command + "gpt2", "run.sh");
  EXPECT_EQ(member(run.training, "sequence"), "1024");
  EXPECT_TRUE(any_has(run.assumed, "as run_clm.py has it at most"));
  EXPECT_EQ(member(of(command + "EleutherAI/pythia-14m", "run.sh").training, "sequence"), "512");
  EXPECT_EQ(member(of(command + "gpt2 --block_size 256", "run.sh").training, "sequence"), "256");
  std::string own = command + "gpt2";
  own.replace(own.find("run_clm.py"), 10, "my_clm.py");
  EXPECT_EQ(member(of(own, "run.sh").training, "sequence"), "absent");
}

TEST(ImportTrainers, AMicroBatchOfVerlWasOnceOneOfAllRanks) {
  const std::string command =
      "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer "
      "model.partial_pretrain=Qwen/Qwen2.5-1.5B ulysses_sequence_parallel_size=2 ";
  const ImportedRun run = of(command + "data.micro_batch_size=8", "run.sh");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(run.plan, "data"), "4");
  EXPECT_EQ(member(run.plan, "micro_batch"), std::to_string(8 / 4));
  EXPECT_EQ(member(of(command + "data.micro_batch_size_per_gpu=8", "run.sh").plan, "micro_batch"),
            "8");
  EXPECT_NE(refusal(command + "data.micro_batch_size=6", "run.sh").find("data-parallel ranks"),
            std::string::npos);
}

TEST(ImportTrainers, AxolotlTrainsAllWeightsAsTheyAreLoaded) {
  const auto with = [](const std::string& more) {
    return of(
        "base_model: HuggingFaceTB/SmolLM2-360M-Instruct\ndatasets: []\nbf16: auto\n"
        "micro_batch_size: 4\nsequence_len: 2048\nlearning_rate: 0.0002\n" +
            more,
        "axolotl.yml",
        1);
  };
  EXPECT_EQ(member(with("").training, "state_precision"), "\"bf16\"");
  // Adapters are of fp32, and what shares weights out or a DeepSpeed file keeps fp32 ones.
  EXPECT_EQ(member(with("adapter: lora\nlora_r: 8\n").training, "state_precision"), "absent");
  EXPECT_EQ(member(with("fsdp:\n  - full_shard\n").training, "state_precision"), "absent");
  EXPECT_EQ(member(with("deepspeed: zero2.json\n").training, "state_precision"), "absent");
}

TEST(ImportTrainers, AFlagGoesBeforeTheConfigurationThatItsCommandNames) {
  const testing::TemporaryFolder folder;
  const auto script =
      folder.file("run.sh",
                  "accelerate launch --num_processes 4 sft.py --config recipes/sft.yaml "
                  "--per_device_train_batch_size 2\n");
  const auto recipe = folder.file("sft.yaml",
                                  "model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct\n"
                                  "per_device_train_batch_size: 16\nmax_length: 4096\n"
                                  "gradient_accumulation_steps: 8\nbf16: true\n");
  const ImportedRun run = import_files(std::vector<std::filesystem::path>{script, recipe});
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(run.plan, "micro_batch"), "2");
  EXPECT_EQ(member(run.training, "sequence"), "4096");
  EXPECT_EQ(member(run.training, "global_batch"), std::to_string(2 * 8 * 4));
  const ImportedRun without =
      of("accelerate launch --num_processes 4 sft.py --config recipes/other.yaml --max_length 512 "
         "--model_name_or_path gpt2 --per_device_train_batch_size 2\n",
         "run.sh");
  EXPECT_TRUE(any_has(without.unread, "recipes/other.yaml: is not beside it, and may tell more"));
}

TEST(ImportTrainers, AnExampleOfTheTransformersMayBeginFromAType) {
  const ImportedRun run =
      of("python run_clm.py --model_type gpt2 --tokenizer t --train_file x.txt --do_train "
         "--output_dir out --config_overrides n_embd=1024,n_layer=24,n_head=16",
         "run.sh",
         1);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(run.model->hidden, 1024);
  EXPECT_EQ(run.model->layers, 24);
  EXPECT_EQ(member(run.plan, "micro_batch"), "8");
  EXPECT_EQ(member(run.training, "sequence"), "1024");
}

TEST(ImportTrainers, LlamaFactorysTextsAreNoLongerForTheirMaximum) {
  const ImportedRun run = of(
      "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\ncutoff_len: 1024\n"
      "max_length: 64\ntop_p: 0.7\nper_device_train_batch_size: 1\n",
      "sft.yaml",
      1);
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(run.training, "sequence"), "1024");
}

TEST(ImportTrainers, FsdpThatIsSwitchedOffSharesNothingOut) {
  const std::string text =
      "base_model: Qwen/Qwen2.5-7B\ndatasets: []\nmicro_batch_size: 1\nsequence_len: 512\n"
      "learning_rate: 0.0002\nbf16: true\nadapter: qlora\nload_in_4bit: true\nlora_r: 8\n"
      "lora_target_linear: true\nfsdp: ";
  const ImportedRun run = of(text + "false\n", "axolotl.yml", 8);
  EXPECT_EQ(member(run.plan, "sharding"), "absent");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(of(text + "\n  - full_shard\n", "axolotl.yml", 8).plan, "sharding"),
            "\"zero3\"");
}

TEST(ImportTrainers, AdaptersMayBeToldAsPeftsOwnConfigurationHasThem) {
  const ImportedRun run =
      of("torchrun --nproc_per_node 2 supervised_finetuning.py --use_peft True --bf16 "
         "--model_name_or_path Qwen/Qwen2.5-0.5B --train_file_dir ./data --template_name qwen "
         "--per_device_train_batch_size 4 --model_max_length 1024 --target_modules q_proj,v_proj "
         "--lora_rank 4",
         "run.sh");
  EXPECT_TRUE(run.unread.empty()) << run.unread.front();
  EXPECT_EQ(member(run.training, "adapters"), R"({"rank":4,"targets":["query","value"]})");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
