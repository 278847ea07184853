// What a file of measured times is, by what is in it.

#include <algorithm>
#include <array>
#include <filesystem>

#include "titer/input/json_stream.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/op_profile.hpp"
#include "trace_file.hpp"

namespace titer {
namespace {

constexpr std::string_view kExpected =
    "expected a trace of PyTorch's profiler or XLA's trace viewer (an object with \"traceEvents\", "
    "or an array of events), an op_profile (\"byCategory\" or \"byProgram\"), a Chakra trace "
    "(.et), "
    "Nsight Systems' SQLite, or the log of a training run";

/// Of what stands beside a trace's events, that this program predicted them. REQUIRES that next()
/// would begin the value.
bool is_predicted(JsonStream& json) {
  if (const JsonToken first = json.next(); first != JsonToken::begin_object) {
    if (first == JsonToken::begin_array) {
      json.leave();
    }
    return false;
  }
  bool found = false;
  while (json.next() == JsonToken::key) {
    const bool is_program = json.text() == "program";
    const JsonToken value = json.next();
    if (value == JsonToken::begin_object || value == JsonToken::begin_array) {
      json.leave();
    }
    found = found || (is_program && value == JsonToken::text && json.text().starts_with("titer "));
  }
  return found;
}

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
    if (key == "log_history") {
      return TraceFormat::training_log;
    }
    if (key == "nodes") {
      throw InputError(
          path.string() +
          ": an execution trace of PyTorch tells what was called, not when devices did "
          "it: expected the profiler's trace of the same steps");
    }
    if (key == "workload_graph") {
      return TraceFormat::chakra;
    }
    if (key != "otherData") {
      json.skip();
    } else if (is_predicted(json)) {
      throw InputError(
          path.string() +
          ": a step that was predicted by this program, not what devices did; expected "
          "a profiler's trace");
    }
  }
  throw InputError(path.string() + ": " + std::string(kExpected));
}

/// HuggingFace's Trainer prints dictionaries as Python writes them: {'loss': 2.1, …}.
bool is_python(std::string_view text) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  return next != text.npos && text[next] == '\'';
}

}  // namespace

TraceFormat trace_format(const std::filesystem::path& path) {
  PieceFile file(path);
  std::array<char, 4096> piece{};
  const std::string_view head(piece.data(), file.read(piece));
  if (head.empty()) {
    throw InputError(path.string() + ": is empty: " + std::string(kExpected));
  }
  if (head.starts_with("SQLite format 3")) {
    return TraceFormat::nsight;
  }
  if (path.extension() == ".nsys-rep") {
    throw InputError(path.string() +
                     ": a report of Nsight Systems, whose format is its own; expected what `nsys "
                     "export --type sqlite` writes of it");
  }
  const auto is_control = [](char c) { return c >= 0 && c < 9; };
  if (std::ranges::any_of(head, is_control)) {
    return TraceFormat::chakra;
  }
  constexpr std::string_view blanks = "\xEF\xBB\xBF \t\r\n";
  const std::size_t first = head.find_first_not_of(blanks);
  if (first != head.npos && head[first] == '{' && !is_python(head.substr(first))) {
    return format_of_object(path);
  }
  const std::size_t second =
      first == head.npos ? head.npos : head.find_first_not_of(blanks, first + 1);
  if (second != head.npos && head[first] == '[' && (head[second] == '{' || head[second] == ']')) {
    return TraceFormat::trace_events;
  }
  return TraceFormat::training_log;
}

StepBreakdown load_step(const std::filesystem::path& path) {
  switch (trace_format(path)) {
    case TraceFormat::op_profile:
      return load_op_profile(path);
    case TraceFormat::chakra:
      return break_down(load_chakra_trace(path));
    case TraceFormat::nsight:
      return break_down(load_nsight_trace(path));
    case TraceFormat::trace_events:
    case TraceFormat::training_log:
      break;
  }
  return break_down(load_trace_events(path));
}

}  // namespace titer
