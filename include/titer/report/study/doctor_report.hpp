#pragma once
// What a run's own files say of its prediction, as it is read: one page.

#include <optional>
#include <string>
#include <vector>

#include "titer/scenario/scenario.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A file that was given.
struct DoctorFile {
  std::string name;
  std::string kind;  // "training log"
  std::string says;  // "Megatron-LM, 98 lines, median 2.01 s"
};

/// A figure that was predicted and measured.
struct DoctorFigure {
  std::string key;    // "iteration_time_s"
  std::string label;  // for people
  double predicted = 0;
  double measured = 0;
  NumberStyle style = {};
};

/// Part of what the iteration takes beyond the prediction.
struct DoctorCause {
  std::string name;
  Seconds time;  // below zero where it takes less
  std::string evidence;
  bool is_told = false;  // however small it is
};

/// A change of the run that is worth a trial.
struct DoctorTrial {
  std::string change;   // "recompute selective -> none"
  Seconds time;         // what is to be expected of the measured run
  double gain = 0;      // of its time
  std::string sure;     // "likely (73 %)"
  std::string setting;  // in the words of the run's software; "" where these are not known
};

struct DoctorReport {
  std::vector<DoctorFile> files;
  std::optional<Scenario> scenario{};  // none: nothing tells what ran
  std::optional<Seconds> predicted{};
  std::optional<ErrorBar> bar{};
  std::optional<Seconds> measured{};
  std::string measured_by{};
  std::vector<DoctorFigure> figures{};
  std::vector<DoctorCause> causes{};  // they add up to measured less predicted
  std::vector<DoctorTrial> trials{};
  std::vector<std::string> findings{};  // what the files say besides
  std::vector<std::string> missing{};   // what would tell more
};

/// A row for each cause.
[[nodiscard]] View doctor_view(const DoctorReport& report, const std::vector<std::string>& notes);

}  // namespace titer
