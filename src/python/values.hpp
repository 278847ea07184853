#pragma once
// Python's objects as JSON values, and back.

#include <string>

#include "titer/input/document.hpp"

namespace pybind11 {
class handle;
class object;
}  // namespace pybind11

namespace titer::python {

/// dict, list, tuple, str, int, float, bool and None as they are; whatever else is a mapping, a
/// sequence, a path or a number (NumPy's among them) as the nearest of these. Problems name the
/// source, such as "scenario". Throws InputError for anything else: it names the path in the
/// object.
[[nodiscard]] Document document_of(pybind11::handle object, const std::string& source);
/// The same as part of a document, whose other parts have other sources.
[[nodiscard]] Value value_of(pybind11::handle object, const std::string& source, Origin origin);

[[nodiscard]] pybind11::object python_of(const Value& value);

}  // namespace titer::python
