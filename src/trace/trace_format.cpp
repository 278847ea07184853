// What a file of measured times is, by what is in it.

#include <algorithm>
#include <array>
#include <filesystem>

#include "titer/input/json_stream.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/trace.hpp"
#include "trace_file.hpp"

namespace titer {
namespace {

constexpr std::string_view kExpected =
    "expected a trace of PyTorch's profiler or XLA's trace viewer (an object with \"traceEvents\", "
    "or an array of events), an op_profile (\"byCategory\" or \"byProgram\"), a Chakra trace "
    "(.et), "
    "or the log of a training run";

/// By the first key that tells; those before it are skipped.
TraceFormat format_of_object(const std::filesystem::path& path) {
  PieceFile file(path);
  JsonStream json(file.source(), path.string());
  static_cast<void>(json.next());
  while (json.next() == JsonToken::key) {
    const std::string_view key = json.text();
    if (key == "traceEvents") {
      return TraceFormat::trace_events;
    }
    if (key.starts_with("byCategory") || key.starts_with("byProgram")) {
      return TraceFormat::op_profile;
    }
    if (key == "workload_graph") {
      throw InputError(path.string() +
                       ": the JSON form of a Chakra trace is not read: expected its .et file");
    }
    json.skip();
  }
  throw InputError(path.string() + ": " + std::string(kExpected));
}

}  // namespace

TraceFormat trace_format(const std::filesystem::path& path) {
  PieceFile file(path);
  std::array<char, 4096> piece{};
  const std::string_view head(piece.data(), file.read(piece));
  if (head.empty()) {
    throw InputError(path.string() + ": is empty: " + std::string(kExpected));
  }
  const auto is_control = [](char c) { return c >= 0 && c < 9; };
  if (std::any_of(head.begin(), head.end(), is_control)) {
    return TraceFormat::chakra;
  }
  constexpr std::string_view blanks = "\xEF\xBB\xBF \t\r\n";
  const std::size_t first = head.find_first_not_of(blanks);
  if (first != head.npos && head[first] == '{') {
    return format_of_object(path);
  }
  const std::size_t second =
      first == head.npos ? head.npos : head.find_first_not_of(blanks, first + 1);
  if (second != head.npos && head[first] == '[' && (head[second] == '{' || head[second] == ']')) {
    return TraceFormat::trace_events;
  }
  return TraceFormat::training_log;
}

}  // namespace titer
