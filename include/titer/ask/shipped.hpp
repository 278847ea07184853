#pragma once
// Which program answers, and what comes with it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// "0.1.0+1a2b3c4": the version and, where it was built in a repository, the commit, with
/// ".changed" behind it where files differed from it.
[[nodiscard]] std::string_view version();

struct DataKind;
template <class E>
struct Choice;

/// The kinds of data that have names of their own, by the names of many: "models", "chips", …
[[nodiscard]] std::span<const Choice<const DataKind*>> data_kinds();

/// The names of what is shipped of a kind, sorted. Throws InputError where there is no such kind.
[[nodiscard]] std::vector<std::string> shipped(std::string_view kind);

}  // namespace titer
