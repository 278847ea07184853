#include "trace_file.hpp"

#include "titer/ask/version.hpp"
#include "titer/report/file/trace_report.hpp"

namespace titer {

void write_trace(OutputFile& file, const StepTimeline& timeline, const std::string& title) {
  write_trace(timeline,
              {.program = "titer " + std::string(version()), .title = title},
              [&](std::string_view piece) { file.write(piece); });
}

}  // namespace titer
