#pragma once
// Whose file it is that is imported: every format that is known, in one list.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {

struct ImportTask;
struct Foreign;

inline constexpr std::string_view kAccelerate = "an accelerate configuration";

/// Of text, as far as it is parsed in one way.
enum class Syntax { json, yaml, toml, arguments, python };

/// A format is known by keys, which are written as Settings calls them; paths with dots, divided by
/// blanks. The first of the list that a file fits is its own.
struct ForeignFormat {
  std::string name;      // with its article
  std::string syntaxes;  // "json yaml"
  std::string all;       // keys that all have to be there
  std::string any;       // of which one has to be there; "" for none
  /// Reads the settings of a run. Null: a format that is told from others, and not read …
  void (*import)(const ImportTask& task) = nullptr;
  /// … unless a document as a whole says what a model is.
  bool is_model = false;
  std::string program{};  // or what starts it: how such a command begins
  std::string instead{};  // of one that is not read: what could be
  /// It names batches, precision and model for DeepSpeed's "auto".
  bool is_trainer = false;
  /// A run has several files of it, each with some of the keys.
  bool comes_in_parts = false;
};

/// A file's text as a document, with what it is.
struct Foreign {
  Document document;
  ArgumentText arguments;                 // of a shell script, less its flags
  std::optional<ForeignFormat> format{};  // none: a command that only changes another file
  Syntax syntax = Syntax::json;
};

/// By the file's extension and what is in it. Throws InputError for a text of none of these
/// formats, and for one of a format that is known and not read.
[[nodiscard]] Foreign parse_foreign(std::string_view text,
                                    const std::string& file,
                                    const ImportOptions& options,
                                    const FindSourced& find_sourced = {});

/// Puts another file's keys beside those of a format that comes in parts.
void add_part(Foreign& whole, std::string_view text, const std::string& file);
/// Puts a configuration's keys beside the flags of a command that is started with it and changes
/// it.
void add_settings(Foreign& command, std::string_view text, const std::string& file);
/// The YAML that such a command of HuggingFace's trainer names (--config, or a word of its own); ""
/// for none.
[[nodiscard]] std::string changed_configuration(const Foreign& script);
/// Files that a command without settings of its own starts its program with.
[[nodiscard]] std::vector<std::string> configurations_of(const Foreign& script);

/// How a program's files are told apart, in the order in which they are tried.
[[nodiscard]] std::vector<ForeignFormat> foreign_formats();

/// The format of a document; none that is known.
[[nodiscard]] std::optional<ForeignFormat> format_of(const Value& root, Syntax syntax);

}  // namespace titer
