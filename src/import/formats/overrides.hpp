#pragma once
// Changes of a configuration that are told beside it: key.of=value, as programs that read Hydra's,
// MaxText's or torchtitan's files take them on their command lines.

#include <string>
#include <vector>

#include "formats.hpp"
#include "titer/script/put_at.hpp"

namespace titer {

/// What "--module NAME --config NAME" calls, as torchtitan.train takes them; nullptr where a
/// command has not both.
[[nodiscard]] const Value* named_configuration(const Foreign& script);

/// Whether a command says no more than what it changes of a file.
[[nodiscard]] bool only_changes(const Foreign& script);
/// A command that only changes a configuration, as one by itself where its keys tell whose they
/// are; throws InputError that says what it changes.
[[nodiscard]] Foreign alone(const Foreign& script, const std::string& file);
/// Puts the changes of such commands, and those of the option, over the first of the files that is
/// a configuration, and leaves the commands out. Throws InputError where there is none.
void apply_changes(std::vector<Foreign>& files,
                   std::vector<std::string>& names,
                   const ImportOptions& options);

}  // namespace titer
