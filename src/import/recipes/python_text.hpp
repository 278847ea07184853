#pragma once
// Assignments of a Python file as a document; nothing is executed.

#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/input/document.hpp"

namespace titer {

/// What one function of a recipe's file, or the file itself, assigns to paths: "cfg.train.steps =
/// 5" is {"train": {"steps": 5}}. Names of constants are replaced by their values, calls with named
/// arguments are objects of these, and what else stands there is "$(…)", which is left open where
/// it is asked for. "model.hf_model" is the name in from_hf_pretrained("…") or of a model's class,
/// "recipe" the function that is called for what is then changed. Of several functions the option
/// `recipe` tells which; throws InputError with their names where it does not, and with the place
/// of a bracket or a quote that is not closed. Conditions on constants, and functions of the file
/// that are given the configuration, are followed; of what is not, `assumed` has a located line.
[[nodiscard]] Document parse_recipe(std::string_view text,
                                    const std::string& file,
                                    const ImportOptions& options,
                                    std::vector<std::string>& assumed);

/// Whether the text is a program of OLMo-core.
[[nodiscard]] bool is_olmo_core(std::string_view text);
/// The configurations that it makes, by the names that its trainer saves them under: "model",
/// "data_loader", "train_module" … What it makes only under a condition is left out, but for one on
/// the number of devices.
[[nodiscard]] Document parse_olmo_core(std::string_view text,
                                       const std::string& file,
                                       const ImportOptions& options,
                                       std::vector<std::string>& assumed);

/// Whether the text is one of torchtitan's files of configurations.
[[nodiscard]] bool is_torchtitan(std::string_view text);
/// The configuration that one of its functions returns, with the sections that it has in TOML.
[[nodiscard]] Document parse_torchtitan(std::string_view text,
                                        const std::string& file,
                                        const ImportOptions& options,
                                        std::vector<std::string>& assumed);

/// Of several recipes of a file the one that the option `recipe` tells. Throws InputError with
/// their names where it does not, or where there is none.
[[nodiscard]] const std::string& chosen_recipe(const std::vector<std::string>& names,
                                               const std::string& file,
                                               const ImportOptions& options);

}  // namespace titer
