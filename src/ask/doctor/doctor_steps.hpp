#pragma once
// What a log and traces say of a step, beside what was predicted of it.

#include <string>

#include "doctor_files.hpp"
#include "titer/report/study/doctor_report.hpp"
#include "titer/whatif/scenario_probe.hpp"

namespace titer {

void add_cause(DoctorReport& report, std::string name, Seconds time, std::string evidence);

/// What was measured, figure by figure, and the causes of the difference, the largest first; none
/// where nothing tells how long a step took.
void compare_steps(const DoctorFiles& files, const ScenarioProbe& probe, DoctorReport& report);
/// Without a run there is still a time.
void measure_alone(const DoctorFiles& files, DoctorReport& report);

}  // namespace titer
