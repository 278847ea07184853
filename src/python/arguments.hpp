#pragma once
// What arguments of Python's functions mean. Throws InputError, which names the argument.

#include <initializer_list>
#include <string_view>

#include "titer/ask/option.hpp"

namespace pybind11 {
class handle;
}

namespace titer::python {

/// An argument: the option that it is of its question, and how mistakes in it call it where Python
/// has another name for it.
struct Argument {
  const char* key;
  const pybind11::handle& value;
  const char* name = key;
};

/// What was given, as a file would ask it; what is None is left out.
[[nodiscard]] Document document_of(std::initializer_list<Argument> arguments);

/// The request that a question's options make of it.
template <class R>
[[nodiscard]] R request_of(std::span<const Option<R>> table,
                           std::initializer_list<Argument> arguments) {
  return read_request(table, document_of(arguments));
}

/// How many threads; of 0 one for each core.
[[nodiscard]] unsigned threads_in(pybind11::handle jobs);

/// Of what is shipped: "models".
[[nodiscard]] std::string_view kind_in(pybind11::handle kind);

}  // namespace titer::python
