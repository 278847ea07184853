// The files of a workload, told apart by what is in them and put in the order of their ranks.

#include <algorithm>

#include "chakra_records.hpp"
#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/workload.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

/// The last number in a name before its ending: 12 of "step.12.et".
std::optional<int> rank_in_name(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t last = stem.find_last_of("0123456789");
  if (last == stem.npos) {
    return std::nullopt;
  }
  const std::size_t before = stem.find_last_not_of("0123456789", last);
  const std::size_t first = before == stem.npos ? 0 : before + 1;
  return number_of_text<int>(std::string_view(stem).substr(first, last + 1 - first));
}

std::vector<std::filesystem::path> by_rank(std::span<const std::filesystem::path> traces) {
  std::vector<std::filesystem::path> sorted(traces.begin(), traces.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return rank_in_name(a).value_or(-1) < rank_in_name(b).value_or(-1);
  });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() > 1 && rank_in_name(sorted[i]) != static_cast<int>(i)) {
      throw InputError(sorted[i].string() + ": expected the trace of rank " + std::to_string(i) +
                       ", the number at the end of its name, as step." + std::to_string(i) + ".et");
    }
  }
  return sorted;
}

bool is_trace(const std::filesystem::path& file) {
  return file.extension() == ".et" || (file.extension() == ".json" && is_chakra_json(file));
}

bool is_object(std::string_view text) { return trimmed(text).starts_with('{'); }

}  // namespace

Workload load_workload(std::span<const std::filesystem::path> files) {
  std::vector<std::filesystem::path> traces;
  std::optional<std::filesystem::path> groups;
  for (const std::filesystem::path& file : files) {
    const std::string text = is_trace(file) ? "" : read_text(file);
    if (is_goal(text)) {
      if (files.size() > 1) {
        throw InputError(file.string() + ": a GOAL schedule holds all ranks; expected it alone");
      }
      return parse_goal(text, file.string());
    }
    if (is_object(text)) {
      groups = file;
    } else {
      traces.push_back(file);
    }
  }
  if (traces.empty()) {
    throw InputError((files.empty() ? std::string() : files.front().string() + ": ") +
                     "expected a GOAL schedule (num_ranks …), or the Chakra traces of all ranks "
                     "(step.0.et, step.1.et, … or .json with \"workload_graph\"), perhaps with "
                     "comm_group.json");
  }
  return load_chakra_workload(by_rank(traces), groups);
}

}  // namespace titer
