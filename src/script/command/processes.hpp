#pragma once
// How many processes mpirun, horovodrun or srun starts a program in.

#include <optional>
#include <vector>

#include "script/shell/shell_batch.hpp"
#include "script/shell/shell_text.hpp"
#include "script/shell/shell_values.hpp"

namespace titer {

/// Whether the word is a program that starts another one, or a shell.
[[nodiscard]] bool is_launcher(const shell::Text& word);

/// A process for each device, where the last of the words that launch the program is told so, or
/// Slurm's options tell srun: none where torchrun or its like starts the processes of a node, or
/// one process has all devices of a node. A number that the script does not tell stays as it is
/// written.
[[nodiscard]] std::optional<shell::Text> launched_processes(
    const std::vector<shell::Text>& before_program, const shell::BatchOptions& batch);

/// How many there are by NPROC_PER_NODE and NNODES, or by the devices that are visible.
[[nodiscard]] std::optional<shell::Text> processes_of_environment(
    const shell::Variables& variables);

}  // namespace titer
