// Commands of the diffusers library's examples (examples/dreambooth, flux-control …): a model that
// denoises, named as on the Hub, with all of its weights or adapters trained.

#include <algorithm>
#include <array>
#include <string>

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr std::string_view kModel = "pretrained_model_name_or_path";
constexpr std::string_view kResolution = "resolution";

/// Whether the program's name has this part.
bool is_called(const ImportTask& task, std::string_view part) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  return std::ranges::any_of(
      scripts, [&](const std::string& script) { return script.find(part) != std::string::npos; });
}

/// Tokens of a text, and of an image: one for each 16 pixels a side.
void put_diffusers_tokens(const ImportTask& task) {
  constexpr std::int64_t pixels = 16;
  constexpr std::int64_t most_pixels = 65'536;
  Settings& in = task.in;
  const std::int64_t text = in.integer("max_sequence_length", 1, kMostTokens).value_or(512);
  const auto square = in.integer(kResolution, pixels, most_pixels);
  const auto height = in.integer("height", pixels, most_pixels);
  const auto width = in.integer("width", pixels, most_pixels);
  if (!square && !height && !in.has(kResolution)) {
    assume(task, kResolution, "taken as 512, its default");
  }
  const std::int64_t high = height.value_or(square.value_or(512));
  const std::int64_t wide = width.value_or(square.value_or(512));
  task.into.training.add("sequence", Value(text + (high / pixels) * (wide / pixels)));
}

void put_diffusers_training(const ImportTask& task, bool adapts) {
  Settings& in = task.in;
  const std::string told = in.word("mixed_precision").value_or("no");
  const bool is_wide = told == "no" && !in.is_on("bf16");
  task.into.training.add("precision", Value(is_wide ? "fp32" : (told == "fp16" ? "fp16" : "bf16")));
  const std::string optimizer = in.word("optimizer").value_or("adamw");
  const bool is_prodigy = optimizer == "prodigy";
  if (is_prodigy && adapts) {
    assume(task, "optimizer", "taken as adam, whose states adapters have few of, too");
  } else if (is_prodigy) {
    in.fail("optimizer", "expected AdamW: the states of prodigy are not modelled");
  }
  const bool is_narrow = in.is_on("use_8bit_adam") && !is_prodigy;
  task.into.training.add("optimizer", Value(is_narrow ? "adam-8bit" : "adam"));
  if (in.is_on("train_text_encoder")) {
    in.leave_out("train_text_encoder", "of the text's encoder nothing is modelled");
  }
}

void put_diffusers_batches(const ImportTask& task, std::optional<std::int64_t> data) {
  constexpr std::string_view key = "train_batch_size";
  constexpr std::int64_t usual = 4;
  Settings& in = task.in;
  auto micro = count_or_default(task, key, usual);
  if (in.is_on("with_prior_preservation") && micro) {
    micro = 2 * *micro;
    assume(task, "with_prior_preservation", "with each image there is one of its class");
  }
  put_rank_batches(task,
                   key,
                   {.micro = micro,
                    .accumulation = in.integer(kAccumulation, 1).value_or(1),
                    .global = std::nullopt},
                   data);
}

/// FLUX.1 dev, or schnell, which is told no strength of its guidance.  [transformer/config.json of
/// black-forest-labs/FLUX.1-schnell]
void put_flux(const ImportTask& task, const std::string& named) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> widths = {
      {{"attention_head_dim", 128},
       {"in_channels", 64},
       {"joint_attention_dim", 4096},
       {"num_attention_heads", 24},
       {"num_layers", 19},
       {"num_single_layers", 38},
       {"pooled_projection_dim", 768}}};
  if (task.options.base) {
    return;
  }
  if (named.find("schnell") == std::string::npos) {
    task.into.shipped = "flux.1-dev";
    return;
  }
  Value config = Value::make_object();
  config.add("_class_name", Value("FluxTransformer2DModel"));
  config.add("guidance_embeds", Value(false));
  for (const auto& width : widths) {
    config.add(std::string(width.first), Value(width.second));
  }
  put_model_of_config(task, config);
  task.into.model->name = "flux.1-schnell";
  task.into.model->title = "FLUX.1 schnell";
}

}  // namespace

void import_diffusers(const ImportTask& task) {
  Settings& in = task.in;
  const std::string model = lower(in.text(kModel).value_or(""));
  if (in.has(kModel) && !task.options.base && model.find("flux.1") == std::string::npos &&
      model.find("flux1") == std::string::npos) {
    in.fail(
        kModel,
        "expected FLUX.1, or --model with the name of another that denoises by transformers: "
        "convolutions of Stable Diffusion's kind, and what is in no file here, are not modelled");
    return;
  }
  put_flux(task, model);
  const ToldByLauncher launch = put_launch_file(task);
  const auto data = launch.devices ? launch.devices : launched_devices(task);
  const bool is_deepspeed = launch.stack == "deepspeed";
  task.into.stack = is_deepspeed ? "deepspeed" : "fsdp";
  put(task.into.plan, "data", data);
  task.into.plan.add("recompute", Value(in.is_on("gradient_checkpointing") ? "full" : "none"));
  put_diffusers_batches(task, data);
  put_diffusers_tokens(task);
  const bool adapts = is_called(task, "lora");
  put_diffusers_training(task, adapts);
  if (adapts) {
    put_adapters(task,
                 {.rank = "rank",
                  .targets = "lora_layers",
                  .usual_rank = 4,
                  .usual_targets = "query key value output"},
                 {});
  }
  assume(task, kModel, "the encoders of images and texts beside the transformer are not counted");
  read_gaudi(task);
  in.skip_known("diffusers");
  in.skip_known("hf-trainer");
}

}  // namespace titer
