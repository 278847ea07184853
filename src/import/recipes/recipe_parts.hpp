#pragma once
// Configurations of programs that train one family of models each by its own recipes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/import_parts.hpp"

namespace titer {

/// Micro-batch, its accumulation and the batch of all ranks; each as far as it is told.
struct RankBatches {
  std::optional<std::int64_t> micro;
  std::optional<std::int64_t> accumulation;
  std::optional<std::int64_t> global;
};
/// Puts them; a batch of all ranks that is not told follows from the data-parallel ranks, and is
/// left open where these are. `key` is what messages are about.
void put_rank_batches(const ImportTask& task,
                      std::string_view key,
                      const RankBatches& batches,
                      std::optional<std::int64_t> data);

/// As it is told; where it is left out what is usual, which is said.
[[nodiscard]] std::optional<std::int64_t> count_or_default(const ImportTask& task,
                                                           std::string_view key,
                                                           std::int64_t usual);

/// "llama3_8b" of "llm.llama3_8b_64k.pretrain_recipe" and of "llama3_8b_pretrain_config": the
/// model, without the length of its sequences.
[[nodiscard]] std::string model_of_recipe(std::string_view called);
/// Data and degrees of NeMo's recipes that are known.
void suppose_recipe(const ImportTask& task, std::string_view called);
/// What a program leaves to a recipe, and nothing here tells.
void leave_to_recipe(const ImportTask& task);

void import_torchtune(const ImportTask& task);
void import_nanotron(const ImportTask& task);
void import_picotron(const ImportTask& task);
void import_llm_foundry(const ImportTask& task);
void import_olmo(const ImportTask& task);
void import_olmo_core(const ImportTask& task);
/// The short YAML of an experiment, which names a model of OLMo-core.
void import_olmo_experiment(const ImportTask& task);
void import_maxtext(const ImportTask& task);
void import_litgpt(const ImportTask& task);
/// Whether a Python file does nothing but assign settings of nanoGPT.
[[nodiscard]] bool is_nanogpt(std::string_view text);
[[nodiscard]] Document parse_nanogpt(std::string_view text,
                                     const std::string& file,
                                     const ImportOptions& options,
                                     std::vector<std::string>& assumed);
void import_nanogpt(const ImportTask& task);
void import_levanter(const ImportTask& task);
void import_easylm(const ImportTask& task);

}  // namespace titer
