#pragma once
// A trace as a file: Chrome's JSON with the version of this program in it.

#include <string>

#include "output_file.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// Writes the trace to an open file, which is yet to be finished.
void write_trace(OutputFile& file, const StepTimeline& timeline, const std::string& title);

}  // namespace titer
