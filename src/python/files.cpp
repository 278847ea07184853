// Functions about files: what was measured, and what other programs trained.

#include "files.hpp"

#include <pybind11/pybind11.h>

#include <filesystem>
#include <string>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/report/evidence/import_report.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

/// One file, or several in their order.
py::list list_of(const py::handle& files) {
  const py::object fspath = py::module_::import("os").attr("fspath");
  py::list list;
  if (py::isinstance<py::str>(files) || py::hasattr(files, "__fspath__")) {
    list.append(fspath(files));
  } else {
    for (const py::handle file : files) {
      list.append(fspath(file));
    }
  }
  return list;
}

/// By titer.ask, with the options as they are named there.
py::object asked(const char* question, const py::dict& own, const py::kwargs& options) {
  py::dict all;
  all["question"] = question;
  all.attr("update")(own);
  all.attr("update")(options);
  return py::module_::import("titer").attr("ask")(all);
}

py::object validate(const py::handle& datasets, const py::kwargs& options) {
  py::dict own;
  own["datasets"] = list_of(datasets);
  return asked("validate", own, options);
}

py::object trace(const py::handle& files, const py::kwargs& options) {
  py::dict own;
  own["files"] = list_of(files);
  return asked("trace", own, options);
}

py::object calibrate(const py::handle& kind, const py::handle& data, const py::kwargs& options) {
  py::dict own;
  own["kind"] = kind;
  own["data"] = list_of(data);
  return asked("calibrate", own, options);
}

py::object import_run(const py::handle& files,
                      const std::string& cluster,
                      const py::object& define,
                      bool accept_unknown) {
  ImportOptions options;
  options.accept_unknown = accept_unknown;
  if (!define.is_none()) {
    for (const auto& [name, value] : py::dict(define)) {
      options.defines[py::str(name)] = py::str(value);
    }
  }
  std::vector<std::filesystem::path> paths;
  for (const py::handle file : list_of(files)) {
    paths.emplace_back(std::string(py::str(file)));
  }
  const ImportedRun imported = import_files(paths, options);
  if (const std::string remarks = import_remarks(imported); !remarks.empty()) {
    py::module_::import("warnings").attr("warn")(remarks);
  }
  return py::module_::import("json").attr("loads")(to_json(run_document(imported, cluster)));
}

}  // namespace

void add_files(py::module_& module) {
  module.def("validate",
             validate,
             py::arg("datasets"),
             "validate(datasets, **options)\n--\n\n"
             "Measured runs, collectives or kernels beside what is predicted: of one table or "
             "several.\n\n"
             "The options are those of `titer ask`'s validate, such as by=\"family\".");
  module.def("trace",
             trace,
             py::arg("files"),
             "trace(files, **options)\n--\n\n"
             "Where a measured step went: of a trace, or those of several ranks.\n\n"
             "The options are those of `titer ask`'s trace, such as scenario=\"run.json\".");
  module.def("calibrate",
             calibrate,
             py::arg("kind"),
             py::arg("data"),
             "calibrate(kind, data, **options)\n--\n\n"
             "The figures of a \"chip\", \"network\" or \"stack\" fitted to measurements.\n\n"
             "The options are those of `titer ask`'s calibrate, such as base=\"dgx-h100\".");
  module.def("import_run",
             import_run,
             py::arg("files"),
             py::arg("cluster") = "",
             py::arg("define") = py::none(),
             py::arg("accept_unknown") = false,
             "import_run(files, cluster='', define=None, accept_unknown=False)\n--\n\n"
             "The run that files of other programs describe, as a dict that `run` takes.\n\n"
             "`define` says what ${NAME} stands for in them. What became of their settings is a "
             "warning.");
}

}  // namespace titer::python
