#pragma once
// Text in the formats of other programs as documents, so that every value keeps its place: YAML,
// TOML, and the arguments of a command line or shell script.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

inline constexpr int kMostForeignValues = 100'000;  // of a document

/// The first document of a YAML text. Plain words are typed as YAML 1.1 usually is (true, 12, 1e-5,
/// null); aliases are written out. Throws InputError with the place of a syntax error, a key given
/// twice, a number that is not finite, nesting deeper than kDeepest, or more than
/// kMostForeignValues.
[[nodiscard]] Document parse_yaml(std::string_view text, std::string source_name);

/// A TOML text; dates are texts. Throws InputError like parse_yaml.
[[nodiscard]] Document parse_toml(std::string_view text, std::string source_name);

/// What a shell script sets, and the flags that it gives to programs.
struct ArgumentText {
  Document flags;  // an object: "--num-layers" with its text, true, or several texts as an array
  std::map<std::string, std::string, std::less<>> variables;  // NAME=value, not expanded
  std::vector<std::string> scripts;                           // of Python that it names
};
/// The flags of a command line, also of one in a script: over continued lines, in arrays
/// (ARGS=( … ), also in quoted elements) and in quoted variables (ARGS=" … "). Of a flag given
/// several times the last one counts; what echo and printf print is no flag. Nothing is run. Throws
/// InputError for a quote or parenthesis that is not closed.
[[nodiscard]] ArgumentText parse_arguments(std::string_view text, const std::string& source_name);

/// All of a file of at most 1 MiB; a larger one, a folder, or one that cannot be read is an
/// InputError.
[[nodiscard]] std::string read_small_text(const std::filesystem::path& path);

}  // namespace titer
