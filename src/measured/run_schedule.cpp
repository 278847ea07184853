// The pipeline schedule of a measured run.

#include <algorithm>
#include <array>
#include <regex>

#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// As RunRow::plain() has them, but for what stands in brackets.
struct ScheduleWord {
  std::string_view text;
  std::string_view name;
  bool interleaves = false;  // ranks have several chunks
};
constexpr std::array<ScheduleWord, 48> kScheduleWords = {{{"", "1f1b"},
                                                          {"1f1b", "1f1b"},
                                                          {"nopipeline", "1f1b"},
                                                          {"pipedreamflush", "1f1b"},
                                                          {"oneforwardonebackward", "1f1b"},
                                                          {"dapple", "1f1b"},
                                                          {"interleaved", "1f1b", true},
                                                          {"interleaved1f1b", "1f1b", true},
                                                          {"1f1binterleaved", "1f1b", true},
                                                          {"1f1b+interleaving", "1f1b", true},
                                                          {"1f1binterleaving", "1f1b", true},
                                                          {"interleave", "1f1b", true},
                                                          {"interleaving", "1f1b", true},
                                                          {"1f1bvpp", "1f1b", true},
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

/// Without what makes no other schedule of it: "synchronous 1F1B schedule", "1F1B, no
/// interleaving", "non-interleaved".
std::string without_asides(const std::string& text) {
  static const std::regex asides(
      R"(schedule|pipeline|standard|plain|default|sync(?:hronous)?|flush|^pp|\+|with(?!out)|,?(?:non?|without)interleav(?:ed|ing))");
  return std::regex_replace(text, asides, "");
}

/// As the row calls it. Throws InputError where that is not known.
ScheduleWord word_of(const RunRow& row) {
  std::string text = row.plain("sched");
  const std::size_t bracket =
      std::min(text.find('('), text.size());  // whose it is, how many chunks
  const bool says_chunks = text.find("interleav", bracket) != std::string::npos;
  text.resize(bracket);
  const ScheduleWord* known = std::ranges::find(kScheduleWords, text, &ScheduleWord::text);
  if (known == kScheduleWords.end()) {
    known = std::ranges::find(kScheduleWords, without_asides(text), &ScheduleWord::text);
  }
  if (known == kScheduleWords.end()) {
    throw InputError("schedule \"" + row.text("sched") + "\" is not modelled");
  }
  ScheduleWord word = *known;
  word.interleaves = word.interleaves || says_chunks;
  return word;
}

/// Layers of a rank, the ends perhaps one less each; 0 where ranks have not as many.
std::int64_t layers_of_rank(const RunRow& row, std::int64_t ranks) {
  const std::int64_t layers = row.whole("layers", 0);
  for (const std::int64_t all : {layers, layers + 2}) {
    if (all % ranks == 0) {
      return all / ranks;
    }
  }
  return 0;
}

}  // namespace

std::vector<std::int64_t> open_chunks(const RunRow& row) {
  const std::int64_t ranks = row.whole("p", 1);
  if (ranks <= 1 || row.has("vpp") || !word_of(row).interleaves) {
    return {};
  }
  const std::int64_t most = layers_of_rank(row, ranks);
  std::int64_t fewest = 2;
  while (fewest < most && most % fewest != 0) {
    ++fewest;
  }
  if (most < fewest) {
    throw InputError("vpp not stated");
  }
  return {fewest, most};
}

void read_schedule(const RunRow& row, std::int64_t chunks, Plan& plan) {
  if (plan.pipeline == 1) {
    return;
  }
  const ScheduleWord word = word_of(row);
  if (word.interleaves && !row.has("vpp") && chunks == 0) {
    throw InputError("vpp not stated");
  }
  plan.schedule = named_schedule(word.name);
  // What is no interleaving of its own counts as one, and two copies of the model as one or two.
  const std::int64_t stated = row.whole("vpp", chunks);
  const bool is_usual = stated <= 1 || placement(plan.schedule) == Placement::two_ways;
  plan.virtual_stages = is_usual ? usual_chunks(plan.schedule) : stated;
}

}  // namespace titer
