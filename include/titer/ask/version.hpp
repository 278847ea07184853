#pragma once
// Which program answers.

#include <string_view>

namespace titer {

/// "0.1.0+1a2b3c4": the version and, where it was built in a repository, the commit, with
/// ".changed" behind it where files differed from it.
[[nodiscard]] std::string_view version();

}  // namespace titer
