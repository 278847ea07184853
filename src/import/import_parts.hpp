#pragma once
// What the importers share. Each takes the settings of one file and adds what it understands.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/import/settings.hpp"
#include "titer/model/limits.hpp"
#include "titer/model/transformer/layer_runs.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {

inline constexpr std::int64_t kMostDegree = 10'000'000;  // that is believed

/// What the forks of Megatron-LM take where a file does not tell.
struct MegatronDefaults {
  std::int64_t experts_per_token = 2;
  std::int64_t least_experts = 1;    // fewer stand for a model without
  std::int64_t expert_interval = 1;  // every so manieth layer has experts
  std::optional<double> capacity_factor{};
  bool is_deepspeed = false;    // whose configuration tells how states are split
  bool is_local = false;        // attention is not fused unless the file asks for it
  bool gathers_tokens = false;  // experts' ranks, unless the file asks for an all-to-all
};

/// What other files of the same run tell.
struct FileSet {
  bool has_trainer = false;  // that says what DeepSpeed's "auto" stands for
  bool has_model = false;
  bool has_launcher = false;  // accelerate's
};

struct ImportTask {
  Settings& in;
  const ImportOptions& options;
  ImportedRun& into;
  const ArgumentText& arguments;  // of a shell script
  const std::string& file;
  const FileSet& others;
  MegatronDefaults defaults{};
};

/// Adds what became of each of the settings.
void add_outcome(const Settings& in, ImportedRun& into);
/// Adds a located remark of what was taken instead of being told.
void assume(const ImportTask& task, std::string_view key, std::string_view what);
/// A degree of the plan, or kLeftOpen for one that the file gives but leaves open.
void put_degree(const ImportTask& task,
                std::string_view name,
                std::string_view key,
                std::optional<std::int64_t> degree);

struct KnownTokenizer {
  std::string part;  // of its name, in lower case
  std::int64_t rows;
  std::string others{};  // of whom other numbers are known
};
/// The first that one of the names has in it, in lower case.
[[nodiscard]] std::optional<KnownTokenizer> known_tokenizer(std::string_view names);

/// Rows of the token table: `key`, the option, those of a tokenizer of a known name, or a usual
/// number, which is said.
[[nodiscard]] std::int64_t read_vocabulary(const ImportTask& task,
                                           std::string_view key,
                                           std::string_view tokenizer);

/// Which layers a list such as "([0]*3+[1]*58)" names, or every n-th from the first; one per layer.
/// Empty, and reported, if it is neither.
[[nodiscard]] std::vector<bool> read_layer_choice(const ImportTask& task,
                                                  std::string_view key,
                                                  std::int64_t layers);

/// The model in Megatron's names for its settings, with dashes as underscores.
[[nodiscard]] Transformer megatron_model(const ImportTask& task);
/// Whether it is an encoder that learns from masked words; the tokenizer that its program takes,
/// and what makes it one, after all else.
[[nodiscard]] bool learns_masked_words(const ImportTask& task);
void suppose_word_pieces(const ImportTask& task);
void read_masked_words(const ImportTask& task, Transformer& model);
/// Whether images stand in front of its text; if so, the length of both together, before all else,
/// and the tower that makes tokens of them, after it.
[[nodiscard]] bool sees_images(const ImportTask& task);
void put_image_tokens(const ImportTask& task);
void read_images(const ImportTask& task, Transformer& model);
/// Its experts, after its widths.
void read_megatron_experts(const ImportTask& task, Transformer& model);
/// Which layers have experts, and which see a window only: all those but every n-th.
void read_megatron_layers(const ImportTask& task, Transformer& model);
/// How many layers a pattern of hybrids has, such as "M-M*-"; 0: there is no pattern.
[[nodiscard]] std::int64_t hybrid_layers(const Settings& in);
/// The layers of the pattern, and their mixer, after widths and experts.
void read_hybrid(const ImportTask& task, Transformer& model);
/// Its plan and training likewise.
void megatron_plan(const ImportTask& task);
/// Says which of its settings are taken in another way than they ask for.
void remark_on_megatron(const ImportTask& task);
/// The settings of releases 1.x, whose batch is one of a data-parallel rank.
void name_as_later_releases(Settings& in);
/// Whether they have one of a list of Megatron's file in configs/settings.
[[nodiscard]] bool has_one_of(const Settings& in, std::string_view list);
/// Whether they are of a release that fused attention only where it was asked for.
[[nodiscard]] bool is_before_fused_attention(const Settings& in);
/// How many batches releases 1.x add up before a step, where DeepSpeed's examples tell it.
void put_accumulation(const ImportTask& task);
/// Refuses what Megatron and NeMo call by settings of a plain model and a Transformer is not.
void refuse_unmodelled(const ImportTask& task);

/// What the parts of a plan have to agree on, as far as they are known.
struct Degrees {
  std::optional<std::int64_t> tensor;
  std::optional<std::int64_t> pipeline;
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> expert;
  std::optional<std::int64_t> expert_tensor;
  std::optional<std::int64_t> devices;
  std::optional<std::int64_t> data;
};
/// What FSDP's CPU offload keeps on the host, of a plan's "offload".
[[nodiscard]] Value state_on_host();
/// The words of a list, or of a text with commas or blanks.
[[nodiscard]] std::vector<std::string> listed_words(const ImportTask& task, std::string_view key);
/// What is computed again and what is kept on the host, in Megatron's names.
void put_megatron_recompute(const ImportTask& task, const Degrees& degrees);
/// Settings of Megatron-LM that count only beside something that the run has not.
void skip_without_object(const ImportTask& task, const Degrees& degrees);
/// What is captured in graphs, in Megatron's names.
void put_megatron_graph(const ImportTask& task);
/// Layers of the stages, virtual stages and schedule in Megatron's names.
void put_megatron_stages(const ImportTask& task, const Degrees& degrees);

/// Of which settings the degrees come, for messages.
struct DegreeKeys {
  std::string_view tensor;
  std::string_view pipeline;
  std::string_view context;
  std::string_view expert;
  std::string_view devices;
  std::string_view micro_batch;
  std::string_view global_batch;
};
/// Batches, precisions and optimizer in Megatron's names.
void put_megatron_training(const ImportTask& task, const Degrees& degrees, const DegreeKeys& keys);
/// A setting of which only these values are what is modelled; another is taken as the first.
void take_only(const ImportTask& task,
               std::string_view key,
               std::initializer_list<std::string_view> values);

/// The data-parallel degree that the devices leave; reports degrees that do not divide them, nor
/// what of the model they split.
void check_degrees(const ImportTask& task, Degrees& degrees, const DegreeKeys& keys);
/// Of a file that tells each by a number or leaves it at 1: tensor, pipeline, context and, where it
/// has a key, expert degree; and all devices. Puts what of it is known.
[[nodiscard]] Degrees read_degrees(const ImportTask& task, const DegreeKeys& keys);
void put_degrees(Value& plan, const Degrees& degrees);
/// The data-parallel ranks of devices that `others` of each use together; reports others that do
/// not divide them, which `key` tells.
[[nodiscard]] std::optional<std::int64_t> ranks_beside(const ImportTask& task,
                                                       std::string_view key,
                                                       std::optional<std::int64_t> devices,
                                                       std::int64_t others);
/// What each data-parallel rank has of a batch of all, as far as both are known; reports one that
/// they do not share out, which `key` tells.
[[nodiscard]] std::optional<std::int64_t> share_of_batch(const ImportTask& task,
                                                         std::string_view key,
                                                         std::optional<std::int64_t> all,
                                                         std::optional<std::int64_t> data);
/// "bf16" of "bfloat16" and "amp_bf16"; "fp32" of what says nothing narrower.
[[nodiscard]] std::string_view precision_of(std::string_view told);

/// Batches per rank and of all; reports those that do not divide.
void put_batches(const ImportTask& task, const Degrees& degrees, const DegreeKeys& keys);

/// Adds a member to a plan or training if the value is known.
template <class T>
void put(Value& object, std::string_view key, const std::optional<T>& value) {
  if (value) {
    object.add(std::string(key), Value(*value));
  }
}

/// The model that HuggingFace's keys tell of, of a file that has them among others; returns those
/// that its class does not read.
std::vector<std::string> put_model_of_config(const ImportTask& task, const Value& config);
/// A stack that stands for software that has none of its own here, which is said.
void stand_in(const ImportTask& task, std::string_view stack, std::string_view software);

/// An optimizer's name as this program calls it; reports one that it has not.
void put_optimizer(const ImportTask& task, std::string_view key);
/// The settings of DeepSpeed, also inside those of others.
void deepspeed_settings(const ImportTask& task);
/// What DeepSpeed has of the optimizer on the host is updated there, by its CPU-Adam; gradients
/// that are split go there as they are made. REQUIRES the plan's sharding.
void put_host_work(const ImportTask& task, Value& offload);

void import_megatron(const ImportTask& task);
void import_megatron_deepspeed(const ImportTask& task);
void import_megatron_llm(const ImportTask& task);
void import_mindspeed(const ImportTask& task);
void import_swift_megatron(const ImportTask& task);
void import_nemo(const ImportTask& task);
void import_neuron(const ImportTask& task);
void import_bridge(const ImportTask& task);
void import_bridge_recipe(const ImportTask& task);
void import_neox(const ImportTask& task);
void import_deepspeed(const ImportTask& task);
void import_torchtitan(const ImportTask& task);
/// Its FLUX, which denoises: the model, and tokens of texts and images.
void read_torchtitan_flux(const ImportTask& task, const std::string& flavor);
/// Its plan and training, of a model that is known.
void torchtitan_plan(const ImportTask& task);
void import_primus(const ImportTask& task);

}  // namespace titer
