#include "arguments.hpp"

#include <pybind11/pytypes.h>

#include <thread>

#include "titer/ask/shipped.hpp"
#include "titer/input/read_document.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

constexpr int kMostJobs = 4096;

/// What `read` makes of one argument, which it reads by its name.
template <class Read>
auto argument(const char* name, py::handle value, const Read& read) {
  return read_document(document_of({{name, value}}), [&](Reader& in) { return read(in); });
}

}  // namespace

Document document_of(std::initializer_list<Argument> arguments) {
  Document document{.root = Value::make_object(), .sources = {}};
  for (const Argument& argument : arguments) {
    const Origin origin = {.source = static_cast<int>(document.sources.size())};
    document.root.add(argument.key, value_of(argument.value, argument.name, origin));
    // Mistakes in what is no object have no other place than its key.
    const bool has_places = document.root.members.back().second.kind == Value::Kind::object;
    document.sources.emplace_back(has_places ? argument.name : "");
  }
  return document;
}

unsigned threads_in(py::handle jobs) {
  const std::int64_t threads =
      argument("jobs", jobs, [](Reader& in) { return in.integer("jobs", 0, kMostJobs); });
  return threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
}

std::string_view kind_in(py::handle kind) {
  std::vector<Choice<std::string_view>> kinds;
  for (const Choice<const DataKind*>& known : data_kinds()) {
    kinds.push_back({known.name, known.name});
  }
  return argument(
      "kind", kind, [&](Reader& in) { return in.choice<std::string_view>("kind", kinds); });
}

}  // namespace titer::python
