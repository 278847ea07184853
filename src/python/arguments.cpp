#include "arguments.hpp"

#include <fmt/format.h>
#include <pybind11/pytypes.h>

#include <thread>

#include "titer/ask/shipped.hpp"
#include "titer/input/read_document.hpp"
#include "titer/simulate/evaluate.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

constexpr int kMostJobs = 4096;

/// What `read` makes of one argument, which it reads by its name.
template <class Read>
auto argument(const char* name, py::handle value, const Read& read) {
  Document document = document_of(value, name);
  Value root = Value::make_object();
  root.add(name, std::move(document.root));
  return read_document({.root = std::move(root), .sources = {}},
                       [&](Reader& in) { return read(in); });
}

}  // namespace

Fidelity fidelity_of(py::handle value) {
  return argument(
      "fidelity", value, [](Reader& in) { return in.choice<Fidelity>("fidelity", kFidelities); });
}

std::optional<Fidelity> fidelity_in(py::handle value) {
  return value.is_none() ? std::nullopt : std::optional(fidelity_of(value));
}

unsigned threads_in(py::handle jobs) {
  const std::int64_t threads =
      argument("jobs", jobs, [](Reader& in) { return in.integer("jobs", 0, kMostJobs); });
  return threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
}

Asked asked_in(py::handle what, py::handle changes, const char* whose) {
  Asked asked;
  if (const std::string name = name_in(what); !name.empty()) {
    asked.what = name;
  } else {
    asked.what = document_of(what, whose);
  }
  if (changes.is_none()) {
    return asked;
  }
  Document set = document_of(changes, "set");
  if (set.root.kind != Value::Kind::object) {
    throw InputError("set: expected a dict of paths and values, such as {\"plan.tensor\": 8}");
  }
  for (auto& [path, value] : set.root.members) {
    const std::string written = value.kind == Value::Kind::text ? value.text : to_json(value, 0);
    asked.changes.push_back({.path = path,
                             .value = std::move(value),
                             .source = fmt::format("set {}={}", path, written)});
  }
  return asked;
}

std::string_view kind_in(py::handle kind) {
  std::vector<Choice<std::string_view>> kinds;
  for (const std::string_view known : shipped_kinds()) {
    kinds.push_back({known, known});
  }
  return argument(
      "kind", kind, [&](Reader& in) { return in.choice<std::string_view>("kind", kinds); });
}

}  // namespace titer::python
