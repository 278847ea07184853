#pragma once
// The key "collectives" of nodes, networks and stacks: {"all_to_all": "rail-direct", …}.

#include <string_view>

#include "titer/collectives/named.hpp"
#include "titer/input/fields.hpp"

namespace titer {

/// The algorithms that the object under `key` names, one of the collective's each; none without it.
[[nodiscard]] AlgorithmNumbers read_algorithms(Reader& in, std::string_view key);
[[nodiscard]] Value algorithms_schema();

namespace fields {

/// Read into a member of a member of …
template <class T, auto... Members>
[[nodiscard]] constexpr Field<T> algorithms() {
  return of_schema<T, algorithms_schema>(
             "collectives",
             [](const Field<T>& own, Reader& in, T& object) {
               (object.*....*Members) = read_algorithms(in, own.key);
             },
             "names of algorithms by collective, such as `{\"all_to_all\": "
             "\"rail-direct\"}`")
      .or_else("the fastest");
}

}  // namespace fields

}  // namespace titer
