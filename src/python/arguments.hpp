#pragma once
// What arguments of Python's functions mean. Throws InputError, which names the argument.

#include <optional>
#include <string_view>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace pybind11 {
class handle;
}

namespace titer::python {

[[nodiscard]] Fidelity fidelity_of(pybind11::handle value);
/// The one asked for; none of None.
[[nodiscard]] std::optional<Fidelity> fidelity_in(pybind11::handle value);

/// How many threads; of 0 one for each core.
[[nodiscard]] unsigned threads_in(pybind11::handle jobs);

/// What is asked about, taken over from Python; `whose` names it in messages.
[[nodiscard]] Asked asked_in(pybind11::handle what, pybind11::handle changes, const char* whose);

/// Of what is shipped: "models".
[[nodiscard]] std::string_view kind_in(pybind11::handle kind);

}  // namespace titer::python
