// Chakra execution traces: a row of messages, each after its length, or JSON. They are read by the
// wire format of protobuf itself, message by message, so that nothing is needed but the numbers of
// the fields that count.

#include <algorithm>
#include <filesystem>
#include <map>

#include "titer/input/json_stream.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/trace/trace.hpp"
#include "trace_file.hpp"
#include "trace_kinds.hpp"
#include "wire_format.hpp"

namespace titer {
namespace {

constexpr std::uint64_t kLargestMessage = std::uint64_t{64} << 20U;
constexpr std::uint64_t kLongestMicroseconds = TraceSpan::longest / 1000;

struct ChakraNode {
  std::string name;
  std::uint64_t type = 0;
  std::uint64_t start = 0;     // microseconds
  std::uint64_t duration = 0;  // microseconds
  bool of_host = false;
  std::optional<std::uint64_t> collective;
  std::optional<std::uint64_t> size;
  std::uint64_t stream = 0;
};

/// What both forms of a trace call by the same names.
void set_attribute(std::string_view name, std::uint64_t value, ChakraNode& node) {
  if (name == "comm_type") {
    node.collective = value;
  } else if (name == "comm_size") {
    node.size = value;
  } else if (name == "stream" || name == "tid") {
    node.stream = value;
  }
}

bool read_attribute(std::string_view message, ChakraNode& node) {
  WireFields fields(message);
  std::string_view name;
  std::uint64_t value = 0;
  while (fields.next()) {
    if (fields.number() == 1) {
      name = fields.bytes();
    } else if (fields.bytes().empty()) {
      value = fields.value();  // whatever its width
    }
  }
  if (name == "is_cpu_op") {
    node.of_host = value != 0;
  } else {
    set_attribute(name, value, node);
  }
  return !fields.broken();
}

bool read_node(std::string_view message, ChakraNode& node) {
  WireFields fields(message);
  bool good = true;
  while (good && fields.next()) {
    switch (fields.number()) {
      case 2:
        node.name = fields.bytes();
        break;
      case 3:
        node.type = fields.value();
        break;
      case 6:
        node.start = fields.value();
        break;
      case 7:
        node.duration = fields.value();
        break;
      case 10:
        good = read_attribute(fields.bytes(), node);
        break;
      default:
        break;
    }
  }
  return good && !fields.broken();
}

/// The words that the classification knows.
std::string_view collective_of(const ChakraNode& node) {
  if (node.type == kSend || node.type == kReceive) {
    return "send";
  }
  if (node.type != kCollective) {
    return {};
  }
  if (!node.collective) {
    return {};  // its name may tell
  }
  return *node.collective < kChakraCollectives.size() ? kChakraCollectives[*node.collective]
                                                      : std::string_view("barrier");
}

/// A number of the JSON form, whose key is in small letters.
void set_number(std::string_view key, std::uint64_t value, ChakraNode& node) {
  if (key == "nodetype" || key == "type") {
    node.type = value;
  } else if (key == "runtime" || key == "duration" || key == "duration_micros") {
    node.duration = value;
  } else if (key == "start_time_micros") {
    node.start = value;
  } else {
    set_attribute(key, value, node);
  }
}

/// Reads the value of a key of a node of the JSON form, whose words are written in several ways:
/// "Id", "NodeType", "runtime".
void read_member(JsonStream& json, ChakraNode& node) {
  const std::string key = lower(json.text());
  const JsonToken token = json.next();
  if (token == JsonToken::begin_array || token == JsonToken::begin_object) {
    json.leave();
  } else if (token == JsonToken::boolean && key == "is_cpu_op") {
    node.of_host = json.boolean();
  } else if (token == JsonToken::text && key == "name") {
    node.name = json.text();
  } else if (token == JsonToken::number && json.number() >= 0) {
    set_number(key, static_cast<std::uint64_t>(std::min(json.number(), 1e18)), node);
  }
}

class ChakraReader {
 public:
  explicit ChakraReader(const std::filesystem::path& path) : file_(path), name_(path.string()) {}

  /// {"workload_graph": [{"Id": 1, …}, …]}
  Trace read_json() {
    JsonStream json(file_.source(), name_);
    if (json.next() != JsonToken::begin_object) {
      json.fail("expected an object with \"workload_graph\"");
    }
    while (json.next() == JsonToken::key) {
      if (json.text() != "workload_graph") {
        json.skip();
        continue;
      }
      if (json.next() != JsonToken::begin_array) {
        json.fail("workload_graph: expected an array of nodes");
      }
      for (JsonToken token = json.next(); token != JsonToken::end_array; token = json.next()) {
        if (token != JsonToken::begin_object) {
          json.fail("expected a node, an object");
        }
        ChakraNode node;
        while (json.next() == JsonToken::key) {
          read_member(json, node);
        }
        put(node);
      }
    }
    return finish();
  }

  Trace read() {
    std::string message;
    while (read_message(message)) {
      ChakraNode node;
      if (!read_node(message, node)) {
        fail("a message is broken");
      }
      if (node.type != 0 || messages_ > 0) {  // the first may be about the whole trace
        put(node);
      }
      ++messages_;
    }
    return finish();
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(name_ + ": byte " + std::to_string(offset_) + ": " + std::string(what) +
                     ": expected a Chakra trace, messages after their lengths");
  }

  bool read_byte(unsigned char& byte) {
    if (next_ == filled_) {
      filled_ = file_.read(piece_);
      next_ = 0;
      if (filled_ == 0) {
        return false;
      }
    }
    byte = static_cast<unsigned char>(piece_[next_++]);
    return true;
  }

  bool read_message(std::string& message) {
    offset_ += message_bytes_;
    message_bytes_ = 0;
    std::uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      unsigned char byte = 0;
      if (!read_byte(byte)) {
        if (shift > 0) {
          fail("the file ends in a length");
        }
        return false;
      }
      ++message_bytes_;
      size |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        break;
      }
      if (shift > 28) {
        fail("a length is too long");
      }
    }
    if (size > kLargestMessage) {
      fail("a message is larger than 64 MiB");
    }
    fill(message, size);
    return true;
  }

  void fill(std::string& message, std::uint64_t size) {
    message.clear();
    while (message.size() < size) {
      if (next_ == filled_) {
        filled_ = file_.read(piece_);
        next_ = 0;
        if (filled_ == 0) {
          fail("the file ends in a message");
        }
      }
      const std::size_t part = std::min<std::size_t>(size - message.size(), filled_ - next_);
      message.append(piece_.data() + next_, part);
      next_ += part;
    }
    message_bytes_ += size;
  }

  void put(const ChakraNode& node) {
    if (node.of_host || node.type < kMemoryLoad || node.type > kCollective || node.duration == 0) {
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
    if (node.size) {
      facts_.sent = static_cast<double>(*node.size);
      facts_.data_type = "Byte";
    }
    timed_ = timed_ || node.start > 0;
    const auto duration = static_cast<TraceTime>(1000 * node.duration);
    spans_.emplace_back(static_cast<TraceTime>(1000 * node.start), duration, kinds_.of(facts_));
    TraceStream& stream = streams_[node.stream];
    stream.busy += Seconds::from_si(1e-6 * static_cast<double>(node.duration));
    ++stream.spans;
  }

  Trace finish() {
    if (spans_.empty()) {
      throw InputError(name_ +
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
    trace.source = name_;
    trace.format = "Chakra";
    trace.kinds = kinds_.take();
    trace.devices.push_back(std::move(device));
    trace.in_a_row = !timed_;
    trace.skipped = skipped_;
    return trace;
  }

  PieceFile file_;
  std::string name_;
  std::array<char, 1U << 16U> piece_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t message_bytes_ = 0;
  std::int64_t messages_ = 0;
  std::int64_t skipped_ = 0;
  bool timed_ = false;
  SpanFacts facts_;
  TraceKinds kinds_;
  std::deque<TraceSpan> spans_;
  std::map<std::uint64_t, TraceStream> streams_;
};

}  // namespace

Trace load_chakra_trace(const std::filesystem::path& path) {
  PieceFile file(path);
  std::array<char, 64> piece{};
  const std::string_view head(piece.data(), file.read(piece));
  constexpr std::string_view blanks = "\xEF\xBB\xBF \t\r\n";
  const std::size_t first = head.find_first_not_of(blanks);
  const std::size_t second = first == head.npos ? first : head.find_first_not_of(blanks, first + 1);
  const bool is_json = second != head.npos && head[first] == '{' && head[second] == '"';
  return is_json ? ChakraReader(path).read_json() : ChakraReader(path).read();
}

}  // namespace titer
