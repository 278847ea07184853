#pragma once
// Files of a run, told apart by what is in them.

#include <filesystem>
#include <string>
#include <vector>

#include "titer/measured/collective/measured_collective.hpp"
#include "titer/report/study/doctor_report.hpp"
#include "titer/trace/trace_breakdown.hpp"
#include "titer/trace/training_log.hpp"

namespace titer {

struct DoctorFiles {
  std::vector<DoctorFile> rows;  // as they were given
  std::vector<StepBreakdown> traces;
  std::vector<TrainingLog> logs;
  std::vector<MeasuredCollective> collectives;  // source: the path
  std::vector<std::filesystem::path> topologies;
  std::vector<std::filesystem::path> imports;  // of other programs, which describe what ran
  std::string run;                             // of this program; "" for none
};

/// Throws InputError for a file that cannot be read, for a second run or log, and for one that is
/// broken.
[[nodiscard]] DoctorFiles read_doctor_files(const std::vector<std::string>& files);

}  // namespace titer
