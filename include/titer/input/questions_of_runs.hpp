#pragma once
// Files that ask something of a run, for who gives the run itself in their place.

#include <optional>
#include <string>
#include <string_view>

#include "titer/input/shipped_data.hpp"

namespace titer {

/// A file of this kind about a run (written out in it where it has no name), as small as it can be:
/// {"scenario": "my-run.json", "axes": …};
/// nothing of kinds that ask nothing of runs, or take a run as they are.
[[nodiscard]] std::optional<std::string> smallest_question(const DataKind& kind,
                                                           std::string_view run);
/// "expected what asks of it, such as {…}, as `titer schema sweep` says".
[[nodiscard]] std::string expected_of_run(const DataKind& kind, std::string_view run);

}  // namespace titer
