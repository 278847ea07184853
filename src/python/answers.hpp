#pragma once
// Answers as Python has them: the class titer.Answer.

#include <atomic>
#include <chrono>
#include <functional>

#include "titer/ask/asked.hpp"

namespace pybind11 {
class module_;
class object;
}  // namespace pybind11

namespace titer::python {

using Asking = std::function<Answer()>;

/// The signal that interrupts is looked for this often.
inline constexpr std::chrono::milliseconds kPatience{50};

/// What is asked; a defect of the program says of what, too.
[[nodiscard]] Answer answer_to(const Asking& ask, const Asked& asked);
/// A titer.Answer: the figures, and the view that its methods write. Other threads of Python run
/// meanwhile.
[[nodiscard]] pybind11::object answered(const Asking& ask, const Asked& asked);
/// The same beside this thread, which looks for signals: an interrupt sets `stop`, and is raised
/// once the work has come to its end.
[[nodiscard]] pybind11::object answered_beside(const Asking& ask,
                                               const Asked& asked,
                                               std::atomic<bool>& stop);

/// Puts the class into the module.
void add_answer(pybind11::module_& module);

}  // namespace titer::python
