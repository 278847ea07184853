// Every format, the more particular before what it could be taken for: configs/formats.json. Keys
// are those of each program's own documents and examples.

#include <array>

#include "formats.hpp"
#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/input/file.hpp"
#include "titer/input/shipped_data.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

struct FormatReader {
  std::string_view name;
  void (*import)(const ImportTask& task);
};
constexpr auto kReaders = std::to_array<FormatReader>({
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

ForeignFormat read_format(const Value& row) {
  const auto text = [&](std::string_view key) {
    const Value* const value = row.find(key);
    return value == nullptr ? std::string() : value->text;
  };
  const FormatReader* const reader = first_with(kReaders, text("import"), &FormatReader::name);
  ensure(reader != nullptr || text("import").empty(), "a format's reader is in the list");
  return {.name = text("name"),
          .syntaxes = text("syntaxes"),
          .all = text("all"),
          .any = text("any"),
          .import = reader == nullptr ? nullptr : reader->import,
          .is_model = row.find("is_model") != nullptr,
          .program = text("program"),
          .instead = text("instead"),
          .is_trainer = row.find("is_trainer") != nullptr,
          .comes_in_parts = row.find("comes_in_parts") != nullptr};
}

}  // namespace

std::vector<ForeignFormat> foreign_formats() {
  return each_of(load_json(data_root() / "configs/formats.json").root.items, read_format);
}

}  // namespace titer
