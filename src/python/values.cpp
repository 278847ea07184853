#include "values.hpp"

#include <pybind11/pytypes.h>

#include <cmath>

#include "titer/input/reader.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

constexpr int kDeepest = 200;  // as of JSON text: no file is, a list in itself would be

/// A new reference as an object; throws the Python error that came instead.
py::object taken(PyObject* made) {
  if (made == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(made);
}

bool has(py::handle object, const char* attribute) {
  return PyObject_HasAttrString(object.ptr(), attribute) != 0;
}

std::string utf8(py::handle text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    throw py::error_already_set();
  }
  return {bytes, static_cast<std::size_t>(size)};
}

/// Walks over an object; knows where it is, for messages.
class Reading {
 public:
  Reading(const std::string& source, Origin origin) : source_(&source), origin_(origin) {}

  [[nodiscard]] Value read(py::handle object) {
    if (++depth_ > kDeepest) {
      fail("expected at most 200 values inside one another");
    }
    Value value = read_by_kind(object);
    value.origin = origin_;
    --depth_;
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(*source_ + ": " + (path_.empty() ? "" : path_ + ": ") + problem);
  }

  Value read_by_kind(py::handle object) {
    PyObject* const it = object.ptr();
    if (it == Py_None) {
      return {};
    }
    if (PyBool_Check(it)) {
      return Value(it == Py_True);
    }
    if (PyLong_Check(it)) {
      return integer(object);
    }
    if (PyFloat_Check(it)) {
      return number(PyFloat_AS_DOUBLE(it));
    }
    if (PyUnicode_Check(it)) {
      return Value(utf8(object));
    }
    if (PyDict_Check(it)) {
      return members(taken(PyDict_Copy(it)));
    }
    if (PyList_Check(it) || PyTuple_Check(it)) {
      return elements(taken(PySequence_Tuple(it)));
    }
    return read_by_what_it_can(object);
  }

  Value read_by_what_it_can(py::handle object) {
    PyObject* const it = object.ptr();
    if (has(object, "tolist")) {  // NumPy's arrays and numbers, and what takes after them
      return read(taken(PyObject_CallMethod(it, "tolist", nullptr)));
    }
    if (has(object, "__fspath__")) {
      return read(taken(PyOS_FSPath(it)));
    }
    if (has(object, "keys") && PyMapping_Check(it)) {
      const py::object copy = taken(PyDict_New());
      if (PyDict_Update(copy.ptr(), it) != 0) {
        throw py::error_already_set();
      }
      return members(copy);
    }
    if (PyIndex_Check(it)) {
      return integer(taken(PyNumber_Index(it)));
    }
    if (PySequence_Check(it) && !PyBytes_Check(it) && !PyByteArray_Check(it)) {
      return elements(taken(PySequence_Tuple(it)));
    }
    if (has(object, "__float__")) {
      return number(PyFloat_AS_DOUBLE(taken(PyNumber_Float(it)).ptr()));
    }
    fail(std::string("expected what JSON can hold (dict, list, str, int, float, bool or None), ") +
         "not " + Py_TYPE(it)->tp_name);
  }

  Value integer(py::handle object) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) {
      return Value(static_cast<std::int64_t>(whole));
    }
    const double near = PyLong_AsDouble(object.ptr());  // as JSON's text is read
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      fail("this number is too large");
    }
    return Value(near);
  }

  Value number(double value) {
    if (!std::isfinite(value)) {
      fail("expected a finite number, not " + std::string(std::isnan(value) ? "nan" : "inf"));
    }
    return Value(value);
  }

  /// A member's or element's value, with its place known while it is read.
  Value inside(const std::string& key, py::handle object) {
    const std::string outer = path_;
    path_ = join_path(outer, key);
    Value value = read(object);
    path_ = outer;
    return value;
  }

  /// Of a copy: what the members do to be read may change the original.
  Value members(py::handle dict) {
    Value object = Value::make_object();
    PyObject* key = nullptr;
    PyObject* member = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict.ptr(), &position, &key, &member) != 0) {
      if (!PyUnicode_Check(key)) {
        fail(std::string("expected keys that are text, not ") + Py_TYPE(key)->tp_name);
      }
      const std::string name = utf8(key);
      object.add(name, inside(name, member));
      object.key_origins.back() = origin_;
    }
    return object;
  }

  Value elements(py::handle tuple) {
    Value array = Value::make_array();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i) {
      array.push(inside(std::to_string(i), PyTuple_GET_ITEM(tuple.ptr(), i)));
    }
    return array;
  }

  const std::string* source_;
  Origin origin_;
  std::string path_;
  int depth_ = 0;
};

}  // namespace

Value value_of(py::handle object, const std::string& source, Origin origin) {
  return Reading(source, origin).read(object);
}

Document document_of(py::handle object, const std::string& source) {
  return {.root = value_of(object, source, {.source = 0}), .sources = {source}};
}

py::object python_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return py::none();
    case Value::Kind::boolean:
      return py::bool_(value.boolean);
    case Value::Kind::number:
      return value.is_integer ? py::object(py::int_(value.integer))
                              : py::object(py::float_(value.number));
    case Value::Kind::text:
      return py::str(value.text);
    case Value::Kind::array: {
      py::list list;
      for (const Value& item : value.items) {
        list.append(python_of(item));
      }
      return list;
    }
    case Value::Kind::object: {
      py::dict dict;
      for (const auto& [key, member] : value.members) {
        dict[py::str(key)] = python_of(member);
      }
      return dict;
    }
  }
  return py::none();
}

}  // namespace titer::python
