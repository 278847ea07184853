// Chakra execution traces that were measured.

#include <filesystem>
#include <map>

#include "titer/input/input_error.hpp"
#include "titer/trace/trace.hpp"
#include "trace/workload/chakra_records.hpp"
#include "trace_kinds.hpp"
#include "wire_format.hpp"

namespace titer {
namespace {

constexpr std::uint64_t kLongestMicroseconds = TraceSpan::longest / 1000;

/// The words that the classification knows.
std::string_view collective_of(const ChakraRecord& node) {
  if (node.type == kSend || node.type == kReceive) {
    return "send";
  }
  if (node.type != kCollective) {
    return {};
  }
  const auto collective = node.number("comm_type");
  if (!collective) {
    return {};  // its name may tell
  }
  return *collective < kChakraCollectives.size() ? kChakraCollectives[*collective]
                                                 : std::string_view("barrier");
}

/// The spans of a device's nodes that took time.
class ChakraSpans {
 public:
  void put(const ChakraRecord& node) {
    const bool of_host = node.number("is_cpu_op").value_or(0) != 0;
    if (of_host || node.type < kMemoryLoad || node.type > kCollective || node.duration == 0) {
      return;
    }
    if (node.start > 9'000'000'000'000'000U || node.duration >= kLongestMicroseconds) {
      ++skipped_;
      return;
    }
    facts_.clear();
    facts_.name = node.type == kMemoryLoad    ? "memcpy htod " + node.name
                  : node.type == kMemoryStore ? "memcpy dtoh " + node.name
                                              : node.name;
    facts_.collective = collective_of(node);
    if (const auto size = node.number("comm_size")) {
      facts_.sent = static_cast<double>(*size);
      facts_.data_type = "Byte";
    }
    timed_ = timed_ || node.start > 0;
    const auto duration = static_cast<TraceTime>(1000 * node.duration);
    spans_.emplace_back(static_cast<TraceTime>(1000 * node.start), duration, kinds_.of(facts_));
    const auto thread = node.number("tid").value_or(0);
    TraceStream& stream = streams_[node.number("stream").value_or(thread)];
    stream.busy += Seconds::from_si(1e-6 * static_cast<double>(node.duration));
    ++stream.spans;
  }

  Trace finish(const std::string& file) {
    if (spans_.empty()) {
      throw InputError(file +
                       ": no node of a device has a duration: expected a measured trace, not a "
                       "workload to be simulated");
    }
    if (!timed_) {
      TraceTime end = 0;
      for (TraceSpan& span : spans_) {
        span = TraceSpan(end, span.duration(), span.kind());
        end = span.end();
      }
    }
    TraceDevice device{.name = "0", .streams = {}, .spans = std::move(spans_), .steps = {}};
    for (auto& [number, stream] : streams_) {
      stream.name = std::to_string(number);
      device.streams.push_back(std::move(stream));
    }
    Trace trace;
    trace.source = file;
    trace.format = "Chakra";
    trace.kinds = kinds_.take();
    trace.devices.push_back(std::move(device));
    trace.in_a_row = !timed_;
    trace.skipped = skipped_;
    return trace;
  }

 private:
  std::int64_t skipped_ = 0;
  bool timed_ = false;
  SpanFacts facts_;
  TraceKinds kinds_;
  std::deque<TraceSpan> spans_;
  std::map<std::uint64_t, TraceStream> streams_;
};

}  // namespace

Trace load_chakra_trace(const std::filesystem::path& path) {
  ChakraSpans spans;
  read_chakra_records(path, [&](const ChakraRecord& node) { spans.put(node); });
  return spans.finish(path.string());
}

}  // namespace titer
