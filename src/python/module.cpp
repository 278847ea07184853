// The Python module `titer`. What it offers is declared, with types, in titer.pyi.

#include <fmt/format.h>
#include <pybind11/eval.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <future>

#include "sweep_stream.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/explain.hpp"
#include "titer/ask/question.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/ask/version.hpp"
#include "titer/ask/whatif.hpp"
#include "titer/input/defect.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/view/html.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

/// The signal that interrupts is looked for this often.
constexpr std::chrono::milliseconds kPatience{50};
constexpr int kMostJobs = 4096;
/// What a question is answered with. In a notebook a page has a frame of its own, so that its style
/// is not the notebook's.
constexpr const char* kAnswerClass = R"py(
class Answer(dict):
    """What `--format json` prints, as a dict; and the same as text, CSV, a page of HTML or a pandas
    DataFrame. Notebooks show the page."""

    __slots__ = ("_view",)

    def text(self):
        """What the program prints."""
        return self._view.text()

    def csv(self):
        """What `--format csv` prints."""
        return self._view.csv()

    def html(self):
        """What `--report` writes, without inputs and terms."""
        return self._view.html()

    def frame(self):
        """The rows of csv() as a pandas DataFrame."""
        import io
        import pandas
        return pandas.read_csv(io.StringIO(self.csv()))

    def _repr_html_(self):
        import html
        return ('<iframe srcdoc="%s" style="width:100%%;height:40rem;border:0"></iframe>'
                % html.escape(self.html()))

    def __reduce__(self):
        return dict, (dict(self),)
)py";

/// What `read` makes of one argument, which it reads by its name.
template <class Read>
auto argument(const char* name, py::handle value, const Read& read) {
  Document document = document_of(value, name);
  Value root = Value::make_object();
  root.add(name, std::move(document.root));
  return read_document({.root = std::move(root), .sources = {}},
                       [&](Reader& in) { return read(in); });
}

Fidelity fidelity_of(py::handle value) {
  return argument(
      "fidelity", value, [](Reader& in) { return in.choice<Fidelity>("fidelity", kFidelities); });
}

/// The one asked for; otherwise as `titer run` chooses.
std::optional<Fidelity> fidelity_in(py::handle value) {
  return value.is_none() ? std::nullopt : std::optional(fidelity_of(value));
}

unsigned threads_in(py::handle jobs) {
  const std::int64_t threads =
      argument("jobs", jobs, [](Reader& in) { return in.integer("jobs", 0, kMostJobs); });
  return threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
}

/// What is asked about, taken over from Python; `whose` names it in messages.
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

/// The answer to a request; a defect of the program says of what, too.
template <class Request>
Answer answer_to(const Request& request, const Asked& asked) {
  Answer answer;
  const auto work = [&] {
    const Answer& given = ask(request);  // some say more
    answer = given;
  };
  if (const auto defect = defect_met(work)) {
    const auto* const name = std::get_if<std::string>(&asked.what);
    throw std::runtime_error(
        "a defect of the program, please report it: " + *defect + "; with " +
        (name != nullptr ? *name : to_json(std::get<Document>(asked.what).root, 0)) +
        set_options(asked.changes));
  }
  return answer;
}

/// An answer, and its figures as `--format json` prints them.
struct Answered {
  View view;
  Value figures;
};

template <class Request>
Answered answered_here(const Request& request, const Asked& asked) {
  Answered answer{.view = answer_to(request, asked).view, .figures = {}};
  answer.figures = answer.view.as_json();
  return answer;
}

/// A titer.Answer: the figures, and the view that its methods write.
py::object python_answer(Answered answer) {
  py::object made = py::module_::import("titer").attr("Answer")(python_of(answer.figures));
  made.attr("_view") = std::make_shared<View>(std::move(answer.view));
  return made;
}

/// Other threads of Python run meanwhile.
template <class Request>
py::object answered(const Request& request, const Asked& asked) {
  Answered answer;
  {
    const py::gil_scoped_release others_may_run;
    answer = answered_here(request, asked);
  }
  return python_answer(std::move(answer));
}

/// The same beside this thread, which looks for signals: an interrupt sets `stop`, and is raised
/// once the work has come to its end.
template <class Request>
py::object answered_beside(const Request& request, const Asked& asked, std::atomic<bool>& stop) {
  std::future<Answered> answer =
      std::async(std::launch::async, [&] { return answered_here(request, asked); });
  const auto is_done = [&] {
    const py::gil_scoped_release others_may_run;
    return answer.wait_for(kPatience) == std::future_status::ready;
  };
  while (!is_done()) {
    if (!stop && PyErr_CheckSignals() != 0) {
      stop = true;
      while (!is_done()) {
      }
      throw py::error_already_set();
    }
  }
  return python_answer(answer.get());
}

py::object run(py::handle scenario, py::handle set, py::handle fidelity) {
  const RunRequest request{.scenario = asked_in(scenario, set, "scenario"),
                           .fidelity = fidelity_in(fidelity)};
  return answered(request, request.scenario);
}

py::list check(py::handle scenario, py::handle set) {
  const CheckRequest request{.scenario = asked_in(scenario, set, "scenario")};
  std::vector<std::string> lines;
  {
    const py::gil_scoped_release others_may_run;
    try {
      const Answer answer = answer_to(request, request.scenario);
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
  const ExplainRequest request{.scenario = asked_in(scenario, set, "scenario"),
                               .fidelity = fidelity_of(fidelity)};
  return answered(request, request.scenario);
}

py::object diff(py::handle a, py::handle b, py::handle set, py::handle fidelity) {
  const DiffRequest request{
      .a = asked_in(a, set, "a"), .b = asked_in(b, set, "b"), .fidelity = fidelity_of(fidelity)};
  return answered(request, request.b);
}

py::object sensitivity(py::handle scenario,
                       py::handle set,
                       const std::string& of,
                       const std::string& reach,
                       py::handle fidelity) {
  const SensitivityRequest request{.scenario = asked_in(scenario, set, "scenario"),
                                   .fidelity = fidelity_of(fidelity),
                                   .of = of,
                                   .reach = reach};
  return answered(request, request.scenario);
}

py::object tune(py::handle scenario, py::handle set, const std::string& measured) {
  const TuneRequest request{.scenario = asked_in(scenario, set, "scenario"), .measured = measured};
  return answered(request, request.scenario);
}

py::object search(py::handle what, py::handle set, py::handle refine, py::handle jobs) {
  std::atomic<bool> stop = false;
  const SearchRequest request{.search = asked_in(what, set, "search"),
                              .refine = fidelity_in(refine),
                              .threads = threads_in(jobs),
                              .stop = &stop};
  return answered_beside(request, request.search, stop);
}

py::object capacity(py::handle question, py::handle set, bool search, py::handle jobs) {
  std::atomic<bool> stop = false;
  const CapacityRequest request{.question = asked_in(question, set, "question"),
                                .search = search,
                                .threads = threads_in(jobs)};
  return answered_beside(request, request.question, stop);
}

py::object compare(
    py::handle table, py::handle set, bool search, const std::string& best_of, py::handle jobs) {
  std::atomic<bool> stop = false;
  const CompareRequest request{.table = asked_in(table, set, "table"),
                               .search = search,
                               .best_of = best_of,
                               .threads = threads_in(jobs)};
  return answered_beside(request, request.table, stop);
}

py::object course(py::handle what, py::handle set, py::handle fidelity) {
  const CourseRequest request{.course = asked_in(what, set, "course"),
                              .fidelity = fidelity_of(fidelity)};
  return answered(request, request.course);
}

/// A question as a file has it.
struct DocumentRequest {
  Document question;
  AnswerLimits limits;
};
Answer ask(const DocumentRequest& request) { return titer::ask(request.question, request.limits); }

py::object ask_question(py::handle question, py::handle jobs) {
  std::atomic<bool> stop = false;
  const DocumentRequest request{.question = document_of(question, "question"),
                                .limits = {.threads = threads_in(jobs), .stop = &stop}};
  return answered_beside(request, {.what = request.question}, stop);
}

Sweep sweep_in(py::handle sweep) {
  const std::string name = name_in(sweep);
  const Document document = name.empty() ? document_of(sweep, "sweep") : Document();
  const py::gil_scoped_release others_may_run;
  return name.empty() ? read_sweep(document) : load_sweep(name);
}

py::list sweep(py::handle what, py::handle jobs, py::handle fidelity) {
  const SweepOptions options{.threads = threads_in(jobs), .fidelity = fidelity_in(fidelity)};
  const Sweep read = sweep_in(what);
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
      return rows;
    }
    rows += parse(*some);
  }
}

py::list names(py::handle kind) {
  std::vector<Choice<std::string_view>> kinds;
  for (const std::string_view known : shipped_kinds()) {
    kinds.push_back({known, known});
  }
  const auto wanted = argument(
      "kind", kind, [&](Reader& in) { return in.choice<std::string_view>("kind", kinds); });
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
  py::class_<View, std::shared_ptr<View>>(module, "_View")
      .def("text", [](const View& view) { return view.as_text(); })
      .def("csv", [](const View& view) { return view.as_csv(); })
      .def("html", [](const View& view) {
        return html_of(view,
                       {.command = "a question from Python", .version = std::string(version())});
      });
  py::exec(kAnswerClass, module.attr("__dict__"));
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
             "sweep(sweep, jobs=0, fidelity=None)\n--\n\n"
             "The rows of a sweep: a dict, a sweep file or the name of a shipped sweep.\n\n"
             "A dict per row, by the columns of `titer sweep`; None where a point has no result:\n"
             "its `status` is \"invalid\", or \"defect\" where the program met one of its own.\n"
             "`jobs` is how many threads compute, 0 all cores.");
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
      "search(search, set=None, refine=None, jobs=0)\n--\n\n"
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
      "capacity(question, set=None, search=False, jobs=0)\n--\n\n"
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
      "compare(table, set=None, search=False, best_of='all', jobs=0)\n--\n\n"
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
             "ask(question, jobs=0)\n--\n\n"
             "A question as `titer ask` takes it: a dict with its name as \"question\" and its\n"
             "options: calibrate, capacity, check, collective, compare, course, diff, doctor,\n"
             "explain, new, run, search, sensitivity, sweep, topology, trace, traffic, tune or\n"
             "validate.");
  module.def("names",
             names,
             py::arg("kind"),
             "names(kind)\n--\n\n"
             "What is shipped of a kind: models, chips, clusters, networks, stacks, topologies, "
             "runs,\nsweeps or courses.");
}

}  // namespace titer::python
