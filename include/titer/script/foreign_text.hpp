#pragma once
// Text in the formats of other programs as documents, so that every value keeps its place: YAML,
// TOML, and the arguments of a command line or shell script.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/yaml.hpp"

namespace titer {

/// A TOML text; dates are texts. Throws InputError like parse_yaml, and for a key given twice.
[[nodiscard]] Document parse_toml(std::string_view text, std::string source_name);

/// What names stand for that nothing in a text tells.
using Defines = std::map<std::string, std::string, std::less<>>;

/// What a script's flags depend on and nothing in it tells.
struct ArgumentChoice {
  std::string line;                // located
  std::vector<std::string> flags;  // that one of the answers brings
};
/// key.of=value behind a program: what it is to change of its configuration.
struct ArgumentOverride {
  std::string path;
  std::string value;
  Origin at{};
};
/// The command that a shell script is there to run.
struct ArgumentText {
  Document flags;  // an object: "--num-layers" with its text, true, or several texts as an array
  std::string program;                   // and what it is to do: "swift sft"; "" for a launcher
  std::string tool;                      // the program, if it evaluates, converts …; else ""
  std::string subject;                   // what such a program is given first; "" for a flag
  std::vector<std::string> scripts;      // of Python that it names
  std::vector<std::string> started;      // files that its commands name
  std::vector<std::string> sourced;      // files that it sources and that are not at hand
  std::vector<std::string> of_launcher;  // flags before the script: of srun, torchrun …
  std::vector<ArgumentOverride> overrides;
  std::vector<ArgumentChoice> choices;
  std::vector<std::string> assumed;              // located: conditions that were decided by guess
  std::map<std::string, std::string> documents;  // files that the script writes by cat <<END
  std::map<std::string, std::string> replaced;   // what sed puts in the place of NAMES
};
/// A file that a script sources.
struct SourcedFile {
  std::string name;
  std::string text;
};
/// Finds it by how the script calls it; none where it is not at hand.
using FindSourced = std::function<std::optional<SourcedFile>(std::string_view called)>;
/// The flags of a command line, or of the command of a script that has the most: through variables,
/// arrays, conditions, functions, eval and bash -c; of a script that runs none all that its
/// variables hold. Of a flag given several times the last one counts; one with an equals sign has
/// one value. Nothing is run or read from the environment: what only these would tell stays as
/// ${NAME} or $(command), and `defines` may tell it; a loop of which nothing tells how often it is
/// gone through sets nothing, which `assumed` says. Files that it sources are gone through where
/// `find_sourced` finds them. #SBATCH lines count as flags, and for what Slurm tells a job of them.
/// Throws InputError for a quote, bracket, parenthesis or here-document that is not closed, for
/// variables that grow beyond 1 MiB, and after 100,000 steps.
[[nodiscard]] ArgumentText parse_arguments(std::string_view text,
                                           const std::string& source_name,
                                           const Defines& defines = {},
                                           const FindSourced& find_sourced = {});

/// All of a file of at most 16 MiB; a larger one, a folder, one with a NUL byte, or one that cannot
/// be read is an InputError.
[[nodiscard]] std::string read_small_text(const std::filesystem::path& path);

}  // namespace titer
