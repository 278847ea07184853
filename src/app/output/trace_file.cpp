#include "trace_file.hpp"

#include "titer/ask/shipped.hpp"
#include "titer/report/file/trace_report.hpp"

namespace titer {

void write_trace(OutputFile& file, const StepTimeline& timeline, const std::string& title) {
  constexpr double of_span = 230;  // bytes, with its share of what counters tell
  constexpr double of_flow = 190;  // both ends
  file.announce(of_span * static_cast<double>(timeline.spans.size()) +
                of_flow * static_cast<double>(timeline.flows.size()));
  write_trace(timeline,
              {.program = "titer " + std::string(version()), .title = title},
              [&](std::string_view piece) { file.write(piece); });
}

}  // namespace titer
