// The Python module `titer`. What it offers is declared, with types, in titer.pyi.

#include <pybind11/pybind11.h>

#include "sweep_stream.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/input/defect.hpp"
#include "titer/input/read_document.hpp"
#include "titer/report/step_report.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/simulate/events_beside.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

/// The signal that interrupts is looked for this often.
constexpr std::chrono::milliseconds kPatience{50};
constexpr int kMostJobs = 4096;

/// What Python calls shipped data, and where it is.
constexpr std::array<Choice<const DataKind*>, 14> kKinds = {{{"models", &kModelData},
                                                             {"chips", &kChipData},
                                                             {"clusters", &kClusterData},
                                                             {"networks", &kNetworkData},
                                                             {"stacks", &kStackData},
                                                             {"topologies", &kTopologyData},
                                                             {"runs", &kRunData},
                                                             {"sweeps", &kSweepData},
                                                             {"searches", &kSearchData},
                                                             {"courses", &kCourseData},
                                                             {"capacities", &kCapacityData},
                                                             {"prices", &kPriceData},
                                                             {"grids", &kGridData},
                                                             {"reliabilities", &kReliabilityData}}};

/// What `read` makes of one argument, which it reads by its name.
template <class Read>
auto argument(const char* name, py::handle value, const Read& read) {
  Document document = document_of(value, name);
  Value root = Value::make_object();
  root.add(name, std::move(document.root));
  return read_document({.root = std::move(root), .sources = {}},
                       [&](Reader& in) { return read(in); });
}

/// The one asked for; otherwise as `titer run` chooses.
std::optional<Fidelity> fidelity_in(py::handle value) {
  return argument("fidelity", value, [](Reader& in) {
    return in.maybe_choice<Fidelity>("fidelity", kFidelities);
  });
}

/// A scenario as it was given, taken over from Python, and read without it.
class Asked {
 public:
  Asked(py::handle scenario, py::handle changes) : name_(name_in(scenario)) {
    if (name_.empty()) {
      document_ = document_of(scenario, "scenario");
    }
    if (changes.is_none()) {
      return;
    }
    Document set = document_of(changes, "set");
    if (set.root.kind != Value::Kind::object) {
      throw InputError("set: expected a dict of paths and values, such as {\"plan.tensor\": 8}");
    }
    for (auto& [path, value] : set.root.members) {
      changes_.push_back({.path = path, .value = std::move(value), .source = "set"});
    }
  }

  [[nodiscard]] ScenarioSource source() const {
    ScenarioSource loaded = name_.empty() ? ScenarioSource(document_) : ScenarioSource::load(name_);
    for (const Assignment& change : changes_) {
      loaded.assign(change);
    }
    return loaded;
  }
  [[nodiscard]] Scenario read() const { return source().read(); }

  /// A defect that `work` meets says of what, too.
  template <class Work>
  void answer(const Work& work) const {
    if (const auto defect = defect_met(work)) {
      throw std::runtime_error("a defect of the program, please report it: " + *defect + "; with " +
                               (name_.empty() ? to_json(document_.root, 0) : name_) +
                               set_options(changes_));
    }
  }

 private:
  std::string name_;
  Document document_;
  std::vector<Assignment> changes_;
};

StepResult evaluated(const Scenario& scenario, Fidelity fidelity) {
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result);
  return result;
}

py::object run(py::handle scenario, py::handle set, py::handle fidelity) {
  const Asked asked(scenario, set);
  const std::optional<Fidelity> wanted = fidelity_in(fidelity);
  Value answer;
  {
    const py::gil_scoped_release others_may_run;
    asked.answer([&] {
      const ScenarioSource source = asked.source();
      const Scenario read = source.read();
      const Fidelity taken = wanted.value_or(usual_fidelity(read));
      StepResult result = evaluated(read, taken);
      if (taken == Fidelity::closed) {
        result.events = events_beside(read, result);
      }
      answer =
          json_of(step_figures(read, result, fit_advice(read, result), answer_notes(source, read)));
    });
  }
  return python_of(answer);
}

py::list check(py::handle scenario, py::handle set) {
  const Asked asked(scenario, set);
  std::vector<std::string> lines;
  {
    const py::gil_scoped_release others_may_run;
    try {
      asked.answer([&] {
        const Scenario read = asked.read();
        const StepResult result = evaluated(read, usual_fidelity(read));
        if (!result.fits()) {
          lines.push_back(memory_sentence(result));
        }
      });
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

Sweep sweep_in(py::handle sweep) {
  const std::string name = name_in(sweep);
  const Document document = name.empty() ? document_of(sweep, "sweep") : Document();
  const py::gil_scoped_release others_may_run;
  return name.empty() ? read_sweep(document) : load_sweep(name);
}

unsigned threads_in(py::handle jobs) {
  const std::int64_t threads =
      argument("jobs", jobs, [](Reader& in) { return in.integer("jobs", 0, kMostJobs); });
  return threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
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
  const auto* const data =
      argument("kind", kind, [](Reader& in) { return in.choice<const DataKind*>("kind", kKinds); });
  py::list list;
  for (const std::string& name : shipped_names(*data)) {
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
  module.attr("__version__") = TITER_VERSION;
  add_input_error(module);
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
  module.def("names",
             names,
             py::arg("kind"),
             "names(kind)\n--\n\n"
             "What is shipped of a kind: models, chips, clusters, networks, stacks, topologies, "
             "runs,\nsweeps or courses.");
}

}  // namespace titer::python
