#include "answers.hpp"

#include <pybind11/eval.h>
#include <pybind11/pybind11.h>

#include <future>

#include "titer/ask/shipped.hpp"
#include "titer/input/defect.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/view/html.hpp"
#include "values.hpp"

namespace titer::python {
namespace {

namespace py = pybind11;

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


def _show_progress(done, of):
    import sys
    sys.stderr.write("\r%d of %d" % (done, of) if of else "\n")
    sys.stderr.flush()
)py";

/// An answer, and its figures as `--format json` prints them.
struct Answered {
  View view;
  Value figures;
};

Answered answered_here(const Asking& ask, const Asked& asked) {
  Answered answer{.view = answer_to(ask, asked).view, .figures = {}};
  answer.figures = answer.view.as_json();
  return answer;
}

/// A titer.Answer: the figures, and the view that its methods write.
py::object python_answer(Answered answer) {
  py::object made = py::module_::import("titer").attr("Answer")(python_of(answer.figures));
  made.attr("_view") = std::make_shared<View>(std::move(answer.view));
  return made;
}

}  // namespace

Answer answer_to(const Asking& ask, const Asked& asked) {
  Answer answer;
  const auto work = [&] { answer = ask(); };
  if (const auto defect = defect_met(work)) {
    const auto* const name = std::get_if<std::string>(&asked.what);
    throw std::runtime_error(
        defect_words(*defect) + "; with " +
        (name != nullptr ? *name : to_json(std::get<Document>(asked.what).root, 0)) +
        set_options(asked.changes));
  }
  return answer;
}

py::object answered(const Asking& ask, const Asked& asked) {
  Answered answer;
  {
    const py::gil_scoped_release others_may_run;
    answer = answered_here(ask, asked);
  }
  return python_answer(std::move(answer));
}

struct Progress::Callee {
  py::object function;
  bool is_line = false;  // on standard error
};

Progress::Progress(py::handle progress) {
  if (progress.is_none() || progress.is(py::bool_(false))) {
    return;
  }
  const bool is_line = progress.is(py::bool_(true));
  if (!is_line && PyCallable_Check(progress.ptr()) == 0) {
    throw InputError("progress: expected None, True or a function of how much of how much is done");
  }
  callee_ = std::make_unique<Callee>();
  callee_->is_line = is_line;
  callee_->function = is_line ? py::object(py::module_::import("titer").attr("_show_progress"))
                              : py::reinterpret_borrow<py::object>(progress);
}

Progress::~Progress() = default;

void Progress::tell(std::size_t done, std::size_t of) {
  if (callee_ && of > 0 && done != told_) {
    told_ = done;
    callee_->function(done, of);
  }
}

void Progress::finish() {
  if (callee_ && callee_->is_line && told_ > 0) {
    callee_->function(0, 0);
  }
}

py::object answered_beside(const Asking& ask, const Asked& asked, Beside& beside, py::handle told) {
  Progress progress(told);
  std::future<Answered> answer =
      std::async(std::launch::async, [&] { return answered_here(ask, asked); });
  const auto is_done = [&] {
    const py::gil_scoped_release others_may_run;
    return answer.wait_for(kPatience) == std::future_status::ready;
  };
  const auto stopped = [&] {
    beside.stop = true;
    while (!is_done()) {
    }
  };
  while (!is_done()) {
    if (PyErr_CheckSignals() != 0) {
      stopped();
      throw py::error_already_set();
    }
    try {
      progress.tell(beside);
    } catch (const py::error_already_set&) {
      stopped();
      throw;
    }
  }
  Answered found = answer.get();
  progress.tell(beside);
  progress.finish();
  return python_answer(std::move(found));
}

void add_answer(py::module_& module) {
  py::class_<View, std::shared_ptr<View>>(module, "_View")
      .def("text", [](const View& view) { return view.as_text(); })
      .def("csv", [](const View& view) { return view.as_csv(); })
      .def("html", [](const View& view) {
        return html_of(view,
                       {.command = "a question from Python", .version = std::string(version())});
      });
  py::exec(kAnswerClass, module.attr("__dict__"));
}

}  // namespace titer::python
