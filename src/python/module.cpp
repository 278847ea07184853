// The Python module `titer`. What it offers is declared, with types, in titer.pyi.

#include <pybind11/pybind11.h>

#include "answers.hpp"
#include "arguments.hpp"
#include "files.hpp"
#include "sweep_stream.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/question.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/ask/whatif.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

/// What asks it; some answers say more.
template <class Request>
Asking asking(const Request& request) {
  return [&request] {
    const Answer& given = ask(request);
    return given;
  };
}

py::object run(py::handle scenario, py::handle set, py::handle fidelity) {
  const auto request =
      request_of(run_options(), {{"scenario", scenario}, {"set", set}, {"fidelity", fidelity}});
  return answered(asking(request), request.scenario);
}

py::list check(py::handle scenario, py::handle set) {
  const auto request = request_of(check_options(), {{"scenario", scenario}, {"set", set}});
  std::vector<std::string> lines;
  {
    const py::gil_scoped_release others_may_run;
    try {
      const Answer answer = answer_to(asking(request), request.scenario);
      if (!answer.good) {
        lines.push_back(answer.view.as_json().find("memory")->text);
      }
    } catch (const InputError& error) {
      lines = error.lines;
    }
  }
  py::list list;
  for (const std::string& line : lines) {
    list.append(line);
  }
  return list;
}

py::object explain(py::handle scenario, py::handle set, py::handle fidelity) {
  const auto request =
      request_of(explain_options(), {{"scenario", scenario}, {"set", set}, {"fidelity", fidelity}});
  return answered(asking(request), request.scenario);
}

py::object diff(py::handle a, py::handle b, py::handle set, py::handle fidelity) {
  const auto request =
      request_of(diff_options(), {{"a", a}, {"b", b}, {"set", set}, {"fidelity", fidelity}});
  return answered(asking(request), request.b);
}

py::object sensitivity(
    py::handle scenario, py::handle set, py::handle of, py::handle reach, py::handle fidelity) {
  const auto request = request_of(
      sensitivity_options(),
      {{"scenario", scenario}, {"set", set}, {"of", of}, {"reach", reach}, {"fidelity", fidelity}});
  return answered(asking(request), request.scenario);
}

py::object tune(py::handle scenario, py::handle set, py::handle measured) {
  const auto request =
      request_of(tune_options(), {{"scenario", scenario}, {"set", set}, {"measured", measured}});
  return answered(asking(request), request.scenario);
}

/// Answers a request whose work an interrupt ends.
template <class R>
py::object answered_by(R request, const Asked& asked, py::handle jobs, py::handle progress) {
  Beside beside;
  request.threads = threads_in(jobs);
  request.progress = [&](std::size_t done, std::size_t of) { beside.count(done, of); };
  if constexpr (requires { request.stop; }) {
    request.stop = &beside.stop;
  }
  return answered_beside(asking(request), asked, beside, progress);
}

py::object search(
    py::handle what, py::handle set, py::handle refine, py::handle jobs, py::handle progress) {
  const auto request =
      request_of(search_options(), {{"search", what}, {"set", set}, {"refine", refine}});
  return answered_by(request, request.search, jobs, progress);
}

py::object capacity(
    py::handle question, py::handle set, py::handle search, py::handle jobs, py::handle progress) {
  const auto request = request_of(
      capacity_options(), {{"capacity", question, "question"}, {"set", set}, {"search", search}});
  return answered_by(request, request.question, jobs, progress);
}

py::object compare(py::handle table,  // NOLINT(*-function-size): an argument each of the call
                   py::handle set,
                   py::handle search,
                   py::handle best_of,
                   py::handle jobs,
                   py::handle progress) {
  const auto request =
      request_of(compare_options(),
                 {{"run", table, "table"}, {"set", set}, {"search", search}, {"best_of", best_of}});
  return answered_by(request, request.table, jobs, progress);
}

py::object course(py::handle what, py::handle set, py::handle fidelity) {
  const auto request =
      request_of(course_options(), {{"course", what}, {"set", set}, {"fidelity", fidelity}});
  return answered(asking(request), request.course);
}

/// A question as a file has it.
struct DocumentRequest {
  Document question;
  AnswerLimits limits;
};
Answer ask(const DocumentRequest& request) { return titer::ask(request.question, request.limits); }

py::object ask_question(py::handle question, py::handle jobs, py::handle progress) {
  Beside beside;
  const DocumentRequest request{
      .question = document_of(question, "question"),
      .limits = {.threads = threads_in(jobs),
                 .stop = &beside.stop,
                 .progress = [&](std::size_t done, std::size_t of) { beside.count(done, of); }}};
  return answered_beside(asking(request), {.what = request.question}, beside, progress);
}

py::list sweep(py::handle what, py::handle jobs, py::handle fidelity, py::handle told) {
  Progress progress(told);
  const auto request = request_of(sweep_options(), {{"sweep", what}, {"fidelity", fidelity}});
  const SweepOptions options{.threads = threads_in(jobs), .fidelity = request.fidelity};
  std::vector<std::string> notes;
  const Sweep read = [&] {
    const py::gil_scoped_release others_may_run;
    return asked_sweep(request, kUsualMostPoints, notes);
  }();
  const py::object parse = py::module_::import("json").attr("loads");
  py::list rows;
  SweepStream stream(read, options);
  while (true) {
    std::optional<std::string> some;
    {
      const py::gil_scoped_release others_may_run;
      some = stream.next(kPatience);
    }
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    if (!some) {
      progress.finish();
      return rows;
    }
    rows += parse(*some);
    progress.tell(rows.size(), read.points());
  }
}

py::list names(py::handle kind) {
  const std::string_view wanted = kind_in(kind);
  py::list list;
  for (const std::string& name : shipped(wanted)) {
    list.append(name);
  }
  return list;
}

void add_input_error(py::module_& module) {
  module.attr("InputError") = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "titer.InputError",
      "What was asked cannot be answered. `lines` has every mistake with its place, one each.",
      PyExc_ValueError,
      nullptr));
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const InputError& error) {
      const py::object type = py::module_::import("titer").attr("InputError");
      py::list lines;
      for (const std::string& line : error.lines) {
        lines.append(line);
      }
      const py::object made = type(error.what());
      made.attr("lines") = lines;
      PyErr_SetObject(type.ptr(), made.ptr());
    }
  });
}

}  // namespace

// The first line of each text is the signature that inspect reads; titer.pyi has the types.
PYBIND11_MODULE(titer, module) {
  py::options options;
  options.disable_function_signatures();
  module.doc() = "Predicts the time and memory of one training iteration on a cluster";
  module.attr("__version__") = std::string(version());
  add_input_error(module);
  add_answer(module);
  add_files(module);
  module.def("run",
             run,
             py::arg("scenario"),
             py::arg("set") = py::none(),
             py::arg("fidelity") = py::none(),
             "run(scenario, set=None, fidelity=None)\n--\n\n"
             "One iteration of a scenario: a dict, a run file or the name of a shipped run.\n\n"
             "`set` puts values at paths, as {\"plan.tensor\": 8}. The answer is what\n"
             "`titer run --format json` prints, and so is the fidelity if none is named.");
  module.def("check",
             check,
             py::arg("scenario"),
             py::arg("set") = py::none(),
             "check(scenario, set=None)\n--\n\n"
             "What is wrong with a scenario, a line each: every mistake, or how much memory it "
             "lacks.\n\nEmpty: it is sound and fits.");
  module.def("sweep",
             sweep,
             py::arg("sweep"),
             py::arg("jobs") = 0,
             py::arg("fidelity") = py::none(),
             py::arg("progress") = py::none(),
             "sweep(sweep, jobs=0, fidelity=None, progress=None)\n--\n\n"
             "The rows of a sweep: a dict, a sweep file or the name of a shipped sweep.\n\n"
             "A dict per row, by the columns of `titer sweep`; None where a point has no result:\n"
             "its `status` is \"invalid\", or \"defect\" where the program met one of its own.\n"
             "`jobs` is how many threads compute, 0 all cores; `progress` is told how many of how\n"
             "many rows are there: a function of both, or True for a line on standard error.");
  const py::arg_v no_progress = py::arg("progress") = py::none();
  const py::arg_v no_changes = py::arg("set") = py::none();
  const py::arg_v closed = py::arg("fidelity") = "closed";
  module.def("explain",
             explain,
             py::arg("scenario"),
             no_changes,
             closed,
             "explain(scenario, set=None, fidelity='closed')\n--\n\n"
             "Every term of a prediction, as `titer explain --format json` prints it.");
  module.def("diff",
             diff,
             py::arg("a"),
             py::arg("b"),
             no_changes,
             closed,
             "diff(a, b, set=None, fidelity='closed')\n--\n\n"
             "Why one scenario is faster than another, as `titer diff --format json` prints it.\n\n"
             "`set` is put into both.");
  module.def("sensitivity",
             sensitivity,
             py::arg("scenario"),
             no_changes,
             py::arg("of") = "iteration_time_s",
             py::arg("reach") = "",
             closed,
             "sensitivity(scenario, set=None, of='iteration_time_s', reach='', fidelity='closed')\n"
             "--\n\n"
             "What a figure of the result depends on, as `titer sensitivity --format json` prints "
             "it.");
  module.def("tune",
             tune,
             py::arg("scenario"),
             no_changes,
             py::arg("measured") = "",
             "tune(scenario, set=None, measured='')\n"
             "--\n\n"
             "Which knobs of a run to turn, as `titer tune --format json` prints it.");
  module.def(
      "search",
      search,
      py::arg("search"),
      no_changes,
      py::arg("refine") = py::none(),
      py::arg("jobs") = 0,
      no_progress,
      "search(search, set=None, refine=None, jobs=0, progress=None)\n--\n\n"
      "The best plans: of a dict, a search file, a shipped search or the name of a run.\n\n"
      "The answer is what `titer search --format json` prints; `refine` is a fidelity, `jobs`\n"
      "how many threads compute, 0 all cores.");
  module.def(
      "capacity",
      capacity,
      py::arg("question"),
      no_changes,
      py::arg("search") = false,
      py::arg("jobs") = 0,
      no_progress,
      "capacity(question, set=None, search=False, jobs=0, progress=None)\n--\n\n"
      "How many devices a training run needs: of a dict, a capacity or run file or a shipped\n"
      "name. The answer is what `titer capacity --format json` prints.");
  module.def(
      "compare",
      compare,
      py::arg("table"),
      no_changes,
      py::arg("search") = false,
      py::arg("best_of") = "all",
      py::arg("jobs") = 0,
      no_progress,
      "compare(table, set=None, search=False, best_of='all', jobs=0, progress=None)\n--\n\n"
      "Models on clusters by deadlines: of a dict with models, clusters, tokens and deadlines, a\n"
      "file or the name of a run. The answer is what `titer compare --format json` prints.");
  module.def("course",
             course,
             py::arg("course"),
             no_changes,
             closed,
             "course(course, set=None, fidelity='closed')\n--\n\n"
             "Training over time: of a dict, a course file or a shipped name. The answer is what\n"
             "`titer course --format json` prints.");
  module.def("ask",
             ask_question,
             py::arg("question"),
             py::arg("jobs") = 0,
             no_progress,
             "ask(question, jobs=0, progress=None)\n--\n\n"
             "A question as `titer ask` takes it: a dict with its name as \"question\" and its\n"
             "options: calibrate, capacity, check, collective, compare, course, diff, doctor,\n"
             "explain, export, new, replay, run, search, sensitivity, support, sweep, timeline,\n"
             "topology, trace, traffic, tune or validate.");
  module.def("names",
             names,
             py::arg("kind"),
             "names(kind)\n--\n\n"
             "What is shipped of a kind: models, chips, clusters, networks, stacks, topologies, "
             "runs,\nsweeps or courses.");
}

}  // namespace titer::python
