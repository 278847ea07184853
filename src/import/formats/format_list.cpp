// Every format, the more particular before what it could be taken for: configs/formats.json. Keys
// are those of each program's own documents and examples.

#include <array>

#include "formats.hpp"
#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/input/shipped_data.hpp"

namespace titer {
namespace {

using ImportFormat = void (*)(const ImportTask& task);
constexpr auto kReaders = std::to_array<Choice<ImportFormat>>({
    {"adapter", import_adapter},
    {"axolotl", import_axolotl},
    {"llama_factory", import_llama_factory},
    {"diffusers", import_diffusers},
    {"fsdp_example", import_fsdp_example},
    {"verl_sft", import_verl_sft},
    {"openrlhf", import_openrlhf},
    {"paddlenlp", import_paddlenlp},
    {"llama_cookbook", import_llama_cookbook},
    {"alpaca_lora", import_alpaca_lora},
    {"swift", import_swift},
    {"hf_trainer", import_hf_trainer},
    {"accelerate", import_accelerate},
    {"deepspeed", import_deepspeed},
    {"mindspeed", import_mindspeed},
    {"megatron_deepspeed", import_megatron_deepspeed},
    {"megatron_llm", import_megatron_llm},
    {"megatron", import_megatron},
    {"swift_megatron", import_swift_megatron},
    {"olmo_core", import_olmo_core},
    {"olmo_experiment", import_olmo_experiment},
    {"primus", import_primus},
    {"nanogpt", import_nanogpt},
    {"torchtitan", import_torchtitan},
    {"bridge_recipe", import_bridge_recipe},
    {"torchtune", import_torchtune},
    {"picotron", import_picotron},
    {"nanotron", import_nanotron},
    {"llm_foundry", import_llm_foundry},
    {"olmo", import_olmo},
    {"maxtext", import_maxtext},
    {"levanter", import_levanter},
    {"neuron", import_neuron},
    {"litgpt", import_litgpt},
    {"easylm", import_easylm},
    {"nemo", import_nemo},
    {"bridge", import_bridge},
    {"neox", import_neox},
});

ForeignFormat read_format(Reader& in) {
  const auto words = [&](std::string_view key) { return in.maybe_text(key).value_or(""); };
  ForeignFormat format{
      .name = in.text("name"),
      .syntaxes = words("syntaxes"),
      .all = words("all"),
      .any = words("any"),
      .import = in.maybe_choice<ImportFormat>("import", kReaders).value_or(nullptr),
      .is_model = in.flag("is_model", false),
      .program = words("program"),
      .instead = words("instead"),
      .is_trainer = in.flag("is_trainer", false),
      .comes_in_parts = in.flag("comes_in_parts", false)};
  in.finish();
  return format;
}

}  // namespace

std::vector<ForeignFormat> foreign_formats() {
  return read_document(load_json(data_root() / "configs/formats.json"), [](Reader& in) {
    std::vector<ForeignFormat> formats;
    for (Reader& row : in.objects("formats")) {
      formats.push_back(read_format(row));
    }
    return formats;
  });
}

}  // namespace titer
