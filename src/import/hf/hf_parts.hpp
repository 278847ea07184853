#pragma once
// What trains with HuggingFace's libraries: models by their names on the Hub, the trainer and those
// that are built on it, FSDP and DeepSpeed as accelerate calls them, adapters.

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "import/import_parts.hpp"
#include "titer/model/hub/hub_models.hpp"

namespace titer {

struct Foreign;

/// Takes the model that a setting names: of the Hub, or a folder beside the file with a
/// config.json. Reports one that is not known, unless another file or an option tells the model.
void put_named_model(const ImportTask& task, std::string_view key);
/// Takes the model of a name, which the setting is about.
void put_hub_model(const ImportTask& task, std::string_view key, const std::string& name);

/// A file that a setting names, by its path as it is, beside the file or in a folder around it;
/// empty if it is not there.
[[nodiscard]] std::string file_beside(const ImportTask& task, const std::string& named);

/// What sharding has to do with: ranks, and micro-batches of a step.
struct TrainerPlan {
  std::optional<std::int64_t> devices;
  std::optional<std::int64_t> data;
  std::int64_t accumulation = 1;
};
/// All devices, by whoever tells: the option, torchrun, deepspeed or accelerate.
[[nodiscard]] std::optional<std::int64_t> launched_devices(const ImportTask& task);
/// What accelerate's file tells that a launcher is given (--config_file).
struct ToldByLauncher {
  std::optional<std::int64_t> devices;
  std::string stack;  // "" without one
};
/// Reads it, or what its name says where it is not at hand, and puts what nothing has told before.
[[nodiscard]] ToldByLauncher put_launch_file(const ImportTask& task);
/// Whether optimum-habana's launcher starts the program, or Gaudi is asked for.
[[nodiscard]] bool is_on_gaudi(const ImportTask& task);
/// Passes over what its launcher and graphs are told. What Habana's configurations on the Hub
/// switch on is in none of the files, which is said.
void read_gaudi(const ImportTask& task);
/// As which weights are loaded: "bf16", "fp16", or "" for what is not told or wide.
[[nodiscard]] std::string_view loaded_type(const ImportTask& task);
/// Of a model that is trained whole on every rank as it was loaded, in 16 bits: its states are so.
void keep_loaded_type(const ImportTask& task);
/// Gradients, moments and the weights that are updated are of 16 bits, as the weights.
void put_all_bf16(const ImportTask& task);
/// Reads FSDP's section; false where it is not asked for.
[[nodiscard]] bool put_fsdp(const ImportTask& task, const TrainerPlan& plan);
/// Of DeepSpeed-Chat's first step, which is told a stage of ZeRO and no file.
/// [training/step1_supervised_finetuning/main.py of DeepSpeedExamples]
[[nodiscard]] bool is_deepspeed_chat(const Settings& in);
/// Reads the DeepSpeed configuration that a setting names or holds; false where there is none.
[[nodiscard]] bool put_deepspeed(const ImportTask& task, std::string_view key);

/// Of all of these programs: micro-batches of a step.
inline constexpr std::string_view kAccumulation = "gradient_accumulation_steps";
/// Puts a stage of ZeRO, and what is offloaded, as a file that is not at hand has it in its name;
/// false where the name tells none.
[[nodiscard]] bool put_named_stage(const ImportTask& task,
                                   std::string_view key,
                                   std::string_view path);
/// In which settings one of these programs tells the same.
struct TrainerKeys {
  std::string_view model;
  std::string_view micro_batch;
  std::int64_t usual_micro_batch;
  std::string_view sequence;  // the first of these that is given
  std::optional<std::int64_t> usual_sequence;
  std::string_view packing;
  bool recomputes;  // unless it is told otherwise
};
/// Model, plan and training of one of these programs.
void put_trainer(const ImportTask& task, const TrainerKeys& keys);
/// Why such trainings are refused.
inline constexpr std::string_view kMorePasses =
    "is of training by preferences or rewards, whose steps have more passes, which are not "
    "modelled";
/// Whether a class of TRL's trains by preferences or rewards: DPOConfig, GRPOTrainer …
[[nodiscard]] bool is_class_of_preferences(std::string_view name);
/// Reports a training in which other passes are made than one forward and one backward.
void take_stages(const ImportTask& task,
                 std::string_view key,
                 std::initializer_list<std::string_view> plain);

/// In which settings adapters are told.
struct AdapterKeys {
  std::string_view rank;
  std::string_view targets;
  std::int64_t usual_rank;
  std::string_view usual_targets;
  bool tells_targets = false;  // by another setting
  bool is_fused = false;       // one beside matrices that are one
};
/// As PEFT's own examples call and take them.  [peft/tuners/lora/config.py: r = 8, and for Llama
/// q_proj and v_proj of peft/utils/constants.py]
constexpr AdapterKeys kPeftKeys = {.rank = "lora_r",
                                   .targets = "lora_target_modules",
                                   .usual_rank = 8,
                                   .usual_targets = "query value"};
/// Of the weights that are not trained.
struct BaseBits {
  std::int64_t bits = 0;  // 4 or 8; 0 for those of 16
  std::string_view key;   // the setting that says so
};
/// Where several are asked for, that of the fewest bits.
[[nodiscard]] BaseBits bits_of(const ImportTask& task);
void put_adapters(const ImportTask& task, const AdapterKeys& keys, const BaseBits& base);

/// Of quantised weights of one file that another one shares out or fetches: says that they are not
/// modelled, and takes them as of 16 bits.
void drop_shared_base(ImportedRun& whole, const std::string& file);
/// Of several files: a trainer's own 16 bits go before accelerate's, and these before none.
void settle_precision(std::vector<ImportedRun>& parts);

void import_huggingface(const Foreign& foreign, const std::string& file, ImportedRun& into);
/// Says what the index of the weights in a folder of the Hub's layout comes to beside the model.
void compare_with_index(const std::filesystem::path& folder, ImportedRun& run);
/// The transformers' run_clm.py takes 1024 tokens, or what a shorter model can read.
/// [examples/pytorch/language-modeling/run_clm.py, block_size]
void suppose_block(const ImportTask& task);
/// A configuration that the command is started with, and that is not at hand.
void miss_configuration(const ImportTask& task);
void import_adapter(const ImportTask& task);
void import_hf_trainer(const ImportTask& task);
void import_llama_factory(const ImportTask& task);
void import_axolotl(const ImportTask& task);
void import_swift(const ImportTask& task);
void import_alpaca_lora(const ImportTask& task);
void import_llama_cookbook(const ImportTask& task);
void import_accelerate(const ImportTask& task);
void import_fsdp_example(const ImportTask& task);
void import_verl_sft(const ImportTask& task);
void import_openrlhf(const ImportTask& task);
void import_diffusers(const ImportTask& task);
void import_paddlenlp(const ImportTask& task);

/// Says that what is compiled is not taken as such, by the first of the keys that asks for it.
void remark_on_compiling(const ImportTask& task, std::initializer_list<std::string_view> keys);
/// What trains on processors is not read.
void refuse_host(const ImportTask& task);

}  // namespace titer
