#include "answers.hpp"

#include <pybind11/eval.h>
#include <pybind11/pybind11.h>

#include <future>

#include "titer/ask/version.hpp"
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
        "a defect of the program, please report it: " + *defect + "; with " +
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

py::object answered_beside(const Asking& ask, const Asked& asked, std::atomic<bool>& stop) {
  std::future<Answered> answer =
      std::async(std::launch::async, [&] { return answered_here(ask, asked); });
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
