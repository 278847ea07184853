#pragma once
// What a script would run, gone through without running anything: assignments, conditions, loops
// and functions are followed, commands are noted with their words.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "shell_batch.hpp"
#include "shell_values.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer::shell {

/// What tells how many devices a program sees that starts its own processes.
inline constexpr std::array<std::string_view, 4> kOfDevices = {
    "NPROC_PER_NODE", "NNODES", "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"};

struct PlayedCommand {
  std::vector<Text> words;          // as it gets them, after those of what launches it
  std::optional<Question> if_only;  // the innermost open question under which it runs
  std::optional<Origin> passes;     // where "$@" is, the script's arguments
  Variables environment;            // as far as it tells of devices
};

/// A loop of which nothing tells how often it is gone through.
struct PassedOver {
  Origin at{};
  std::string loop;                    // as written
  std::vector<std::string> variables;  // that it would set, and that stay as they are
};

struct Play {
  std::vector<PlayedCommand> commands;  // in the order in which they would run
  Variables variables;
  std::vector<std::string> order;        // of variables, as they were first set
  std::vector<Question> taken_as_false;  // what nobody can tell, with flags depending on it
  std::vector<PassedOver> passed_over;
  std::vector<Text> started;              // files that commands without flags name
  std::vector<Text> sourced;              // files that are not at hand, whose commands would be run
  std::vector<std::string> sources;       // the script itself and the files that it sources
  std::vector<Origin> sourced_at;         // where each of these but the first is
  BatchOptions batch;                     // of scripts that it gives to sbatch
  std::map<std::string, Text> documents;  // what it writes to files, by their names
  std::map<std::string, Text> replaced;   // by sed, in templates: names of capital letters
};

/// `initial`: variables that are set before it begins; `defines`: what nothing in it changes.
/// Places in sourced files are those of their number in `sources`.
/// Throws InputError like parse_script, and for a script whose variables or commands grow without
/// measure.
[[nodiscard]] Play play_script(const Text& script,
                               const std::string& source,
                               const std::map<std::string, std::string, std::less<>>& initial,
                               const std::map<std::string, std::string, std::less<>>& defines,
                               const FindSourced& find_sourced);

}  // namespace titer::shell
