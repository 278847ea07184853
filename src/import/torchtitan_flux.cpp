// FLUX.1 as torchtitan trains it.  [torchtitan/models/flux]

#include <memory>

#include "import_parts.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace {

/// Both sizes that are published are told no strength of their guidance there.
void read_flux_model(const ImportTask& task, const std::string& flavor) {
  const bool is_small = flavor == "flux-debug";
  if (!is_small && flavor != "flux-dev" && flavor != "flux-schnell") {
    task.in.fail("model.flavor", "expected flux-dev, flux-schnell or flux-debug");
    return;
  }
  Value config = Value::make_object();
  config.add("_class_name", Value("FluxTransformer2DModel"));
  config.add("guidance_embeds", Value(false));
  config.add("attention_head_dim", Value(std::int64_t{128}));
  config.add("in_channels", Value(std::int64_t{64}));
  config.add("joint_attention_dim", Value(std::int64_t{4096}));
  config.add("num_attention_heads", Value(std::int64_t{is_small ? 12 : 24}));
  config.add("num_layers", Value(std::int64_t{is_small ? 2 : 19}));
  config.add("num_single_layers", Value(std::int64_t{is_small ? 2 : 38}));
  config.add("pooled_projection_dim", Value(std::int64_t{768}));
  put_model_of_config(task, config);
  task.into.model->name = flavor;
  task.into.model->title = flavor;
}

}  // namespace

void read_torchtitan_flux(const ImportTask& task, const std::string& flavor) {
  Settings& in = task.in;
  if (!task.options.base) {
    read_flux_model(task, flavor);
  }
  assume(task,
         "model.name",
         "the encoders of images and texts beside the transformer are not counted");
  // A token for each 16 pixels a side, behind those of the text.
  constexpr std::int64_t side = 16;
  constexpr std::int64_t most = 65'536;
  const std::int64_t pixels = in.integer("training.img_size", side, most).value_or(256);
  const std::int64_t text = in.integer("encoder.max_t5_encoding_len", 1, kMostTokens).value_or(512);
  if (task.into.model && task.into.model->denoiser && task.into.model->denoiser->text) {
    Denoiser denoiser = *task.into.model->denoiser;
    denoiser.text->tokens = text;
    task.into.model->denoiser = std::make_shared<const Denoiser>(std::move(denoiser));
  }
  in.replace("training.seq_len", Value((pixels / side) * (pixels / side) + text));
  // Whatever its mode, each block is computed again.
  const std::string_view mode = "activation_checkpoint.mode";
  if (in.word(mode).value_or("selective") == "selective") {
    in.replace(mode, Value("full"));
  }
  in.skip("data, and encoders that are frozen",
          "training.classifier_free_guidance_prob training.data.* encoder.* "
          "validation.* inference.* eval.*");
}

}  // namespace titer
