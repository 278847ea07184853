#pragma once
// The key "collectives" of nodes, networks and stacks: {"all_to_all": "rail-direct", …}.

#include <string_view>

#include "titer/collectives/named.hpp"
#include "titer/input/reader.hpp"

namespace titer {

/// The algorithms that the object under `key` names, one of the collective's each; none without it.
[[nodiscard]] AlgorithmNumbers read_algorithms(Reader& in, std::string_view key);

}  // namespace titer
