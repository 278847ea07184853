// The pipeline schedule of a measured run.

#include <algorithm>
#include <array>

#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// As RunRow::plain() has them, but for what stands in brackets.
struct ScheduleWord {
  std::string_view text;
  std::string_view name;
  bool interleaves = false;  // ranks have several chunks
};
constexpr std::array<ScheduleWord, 43> kScheduleWords = {{{"", "1f1b"},
                                                          {"1f1b", "1f1b"},
                                                          {"nopipeline", "1f1b"},
                                                          {"pipedreamflush", "1f1b"},
                                                          {"dapple", "1f1b"},
                                                          {"interleaved", "1f1b", true},
                                                          {"interleaved1f1b", "1f1b", true},
                                                          {"1f1binterleaved", "1f1b", true},
                                                          {"1f1b+interleaving", "1f1b", true},
                                                          {"1f1bi", "1f1b", true},
                                                          {"vpp", "1f1b", true},
                                                          {"virtualpipeline", "1f1b", true},
                                                          {"depthfirst", "1f1b", true},
                                                          {"loopeddfs", "1f1b", true},
                                                          {"gpipe", "gpipe"},
                                                          {"afab", "gpipe"},
                                                          {"allforwardallbackward", "gpipe"},
                                                          {"fthenb", "gpipe"},
                                                          {"filldrain", "gpipe"},
                                                          {"breadthfirst", "breadth-first", true},
                                                          {"bfs", "breadth-first", true},
                                                          {"loopedbfs", "breadth-first", true},
                                                          {"zerobubble1p", "zb-h1"},
                                                          {"zbh1", "zb-h1"},
                                                          {"zb1p", "zb-h1"},
                                                          {"zerobubble2p", "zb-h2"},
                                                          {"zbh2", "zb-h2"},
                                                          {"zb2p", "zb-h2"},
                                                          {"zbv", "zb-v"},
                                                          {"zerobubblev", "zb-v"},
                                                          {"zbvzerobubble", "zb-v"},
                                                          {"vzb", "zb-v"},
                                                          {"vschedule", "zb-v"},
                                                          {"vhalf", "v-half"},
                                                          {"vmin", "v-min"},
                                                          {"dualpipe", "dualpipe"},
                                                          {"dualpipev", "dualpipev"},
                                                          {"chimera", "chimera"},
                                                          {"hanayo", "hanayo"},
                                                          {"schedule1f1b", "1f1b"},
                                                          {"schedulegpipe", "gpipe"},
                                                          {"scheduleinterleaved1f1b", "1f1b", true},
                                                          {"schedulezbvzerobubble", "zb-v"}}};

}  // namespace

void read_schedule(const RunRow& row, Plan& plan) {
  if (plan.pipeline == 1) {
    return;
  }
  std::string text = row.plain("sched");
  const std::size_t bracket =
      std::min(text.find('('), text.size());  // whose it is, how many chunks
  const bool says_chunks = text.find("interleav", bracket) != std::string::npos;
  text.resize(bracket);
  const auto known = std::ranges::find(kScheduleWords, text, &ScheduleWord::text);
  if (known == kScheduleWords.end()) {
    throw InputError("schedule \"" + row.text("sched") + "\" is not modelled");
  }
  if ((known->interleaves || says_chunks) && !row.has("vpp")) {
    throw InputError("vpp not stated");
  }
  plan.schedule = named_schedule(known->name);
  plan.virtual_stages = row.whole("vpp", usual_chunks(plan.schedule));
}

}  // namespace titer
