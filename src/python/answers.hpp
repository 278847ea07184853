#pragma once
// Answers as Python has them: the class titer.Answer.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "titer/ask/asked.hpp"

namespace pybind11 {
class handle;
class module_;
class object;
}  // namespace pybind11

namespace titer::python {

using Asking = std::function<Answer()>;

/// The signal that interrupts is looked for this often.
inline constexpr std::chrono::milliseconds kPatience{50};

/// How far work beside this thread is, and whether it is to stop.
struct Beside {
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> of = 0;

  void count(std::size_t now, std::size_t all) {
    of = all;
    done = now;
  }
};

/// Tells Python's `progress`, a function of how much of how much is done, or True for a line on
/// standard error; of None nobody. Only where something is new.
class Progress {
 public:
  explicit Progress(pybind11::handle progress);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void tell(std::size_t done, std::size_t of);
  void tell(const Beside& beside) { tell(beside.done, beside.of); }
  /// The last line ends, where there were lines.
  void finish();

 private:
  struct Callee;
  std::unique_ptr<Callee> callee_;
  std::size_t told_ = 0;
};

/// What is asked; a defect of the program says of what, too.
[[nodiscard]] Answer answer_to(const Asking& ask, const Asked& asked);
/// A titer.Answer: the figures, and the view that its methods write. Other threads of Python run
/// meanwhile.
[[nodiscard]] pybind11::object answered(const Asking& ask, const Asked& asked);
/// The same beside this thread, which looks for signals and tells `progress`: an interrupt, or what
/// `progress` raises, sets `stop`, and is raised once the work has come to its end.
[[nodiscard]] pybind11::object answered_beside(const Asking& ask,
                                               const Asked& asked,
                                               Beside& beside,
                                               pybind11::handle progress);

/// Puts the class into the module.
void add_answer(pybind11::module_& module);

}  // namespace titer::python
