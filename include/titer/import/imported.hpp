#pragma once
// Models and plans from the files of other programs: what of them is understood, in this program's
// own keys, and what is not.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/model/transformer/transformer.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {

/// What a file leaves to its surroundings.
struct ImportOptions {
  Defines defines;                            // what ${NAME} stands for
  std::optional<std::int64_t> devices;        // all together, to tell the data-parallel degree
  std::optional<std::int64_t> vocabulary;     // rows, where a tokenizer is named that is not known
  std::optional<Transformer> base;            // a model that the files change, or do not describe
  std::vector<ArgumentOverride> overrides{};  // keys of the first configuration, with other values
  bool accept_unknown = false;  // leave out what is not read and may change the result
};

/// Both sides of "TP=8". Throws InputError that says of the option what `form` it has.
[[nodiscard]] std::pair<std::string, std::string> named_value(std::string_view option,
                                                              const std::string& text,
                                                              std::string_view form);
/// The same of an option --define.
void add_define(const std::string& text, Defines& defines);

/// In the place of a number that neither the files nor the options tell: no run takes it.
inline constexpr std::string_view kLeftOpen = "left open by the import";

struct ImportedRun {
  std::string format;  // "Megatron-LM arguments"; of several files joined by " and "
  std::optional<Transformer> model;
  std::string shipped;  // instead: the name of a shipped model
  std::string stack;    // the shipped stack that the format implies; "" for none
  Value plan = Value::make_object();
  Value training = Value::make_object();
  // What became of every setting: names of those that are used; those known to be harmless, a line
  // for each kind; and as located lines those that may change the result and nothing here stands
  // for, and those that the file leaves open.
  std::vector<std::string> used;
  std::vector<std::string> harmless;
  std::vector<std::string> unread;
  std::vector<std::string> open;
  std::vector<std::string> assumed;  // taken from a table or a default instead of the file
};

/// Reads files that describe one training run together: a HuggingFace config.json, DeepSpeed's
/// JSON, arguments of Megatron-LM (a command line, a script, or YAML with MODEL_ARGS), YAML of
/// NeMo, Megatron-Bridge or GPT-NeoX, and TOML of torchtitan. Throws InputError with every
/// contradiction and its place; for a file that is none of these; for files that both tell
/// the same thing; and, unless the options accept it, for settings that may change the result and
/// are not read. What a plan needs and nothing tells is kLeftOpen.
[[nodiscard]] ImportedRun import_files(std::span<const std::filesystem::path> files,
                                       const ImportOptions& options = {});

/// What a text tells that was read from a file of this name (which tells the format), with all that
/// is not read or left open.
[[nodiscard]] ImportedRun import_text(std::string_view text,
                                      const std::string& file,
                                      const ImportOptions& options = {});

/// Throws InputError for adapters that no run of this model can have: beside its experts. Of what
/// names no shipped model import_files() asks by itself.
void check_adapters(const ImportedRun& imported, const Transformer& model);

/// As a run: "model", "cluster" where one is named, "stack", "plan" and "training".
[[nodiscard]] Value run_document(const ImportedRun& imported, const std::string& cluster = {});

}  // namespace titer
