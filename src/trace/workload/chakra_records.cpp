#include "chakra_records.hpp"

#include <algorithm>
#include <array>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "trace/trace_file.hpp"
#include "trace/wire_format.hpp"

namespace titer {
namespace {

constexpr std::uint64_t kLargestMessage = std::uint64_t{64} << 20U;

/// One number, or several packed into bytes.
void add_waits(const WireFields& fields, std::vector<std::uint64_t>& waits) {
  if (fields.bytes().empty()) {
    waits.push_back(fields.value());
    return;
  }
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : fields.bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    shift += 7;
    if (byte < 0x80) {
      waits.push_back(value);
      value = 0;
      shift = 0;
    }
  }
}

bool add_attribute(std::string_view message, ChakraRecord& record) {
  WireFields fields(message);
  std::string name;
  while (fields.next()) {
    if (fields.number() == 1) {
      name = fields.bytes();
    } else if (!fields.bytes().empty()) {
      record.group = name == "pg_name" ? std::string(fields.bytes()) : record.group;
    } else {
      record.numbers.emplace_back(name, fields.value());
    }
  }
  return !fields.broken();
}

/// Of one message; false: it is broken.
bool read_record(std::string_view message, ChakraRecord& record) {
  WireFields fields(message);
  bool good = true;
  while (good && fields.next()) {
    switch (fields.number()) {
      case 1:
        record.id = fields.value();
        break;
      case 2:
        record.name = fields.bytes();
        break;
      case 3:
        record.type = fields.value();
        break;
      case 4:
        add_waits(fields, record.control);
        break;
      case 5:
        add_waits(fields, record.data);
        break;
      case 6:
        record.start = fields.value();
        break;
      case 7:
        record.duration = fields.value();
        break;
      case 10:
        good = add_attribute(fields.bytes(), record);
        break;
      default:
        break;
    }
  }
  return good && !fields.broken();
}

/// Messages after their lengths, of a file of any size.
class Messages {
 public:
  explicit Messages(const std::filesystem::path& path) : file_(path), name_(path.string()) {}

  void read(const std::function<void(ChakraRecord)>& take) {
    std::string message;
    for (bool first = true; next(message); first = false) {
      ChakraRecord record;
      if (!read_record(message, record)) {
        fail("a message is broken");
      }
      // The first may be of the whole trace: a version and attributes.
      if (!first || record.type != 0) {
        take(std::move(record));
      }
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(name_ + ": byte " + std::to_string(offset_) + ": " + std::string(what) +
                     ": expected a Chakra trace, messages after their lengths");
  }

  /// Whether there is a further byte.
  bool more() {
    if (next_ == filled_) {
      filled_ = file_.read(piece_);
      next_ = 0;
    }
    return next_ < filled_;
  }

  bool next(std::string& message) {
    offset_ += message_bytes_;
    message_bytes_ = 0;
    std::uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (!more()) {
        if (shift > 0) {
          fail("the file ends in a length");
        }
        return false;
      }
      if (shift > 28) {
        fail("a length is too long");
      }
      const auto byte = static_cast<unsigned char>(piece_[next_++]);
      ++message_bytes_;
      size |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        break;
      }
    }
    fill(message, size);
    return true;
  }

  void fill(std::string& message, std::uint64_t size) {
    if (size > kLargestMessage) {
      fail("a message is larger than 64 MiB");
    }
    message.clear();
    while (message.size() < size) {
      if (!more()) {
        fail("the file ends in a message");
      }
      const std::size_t part = std::min<std::size_t>(size - message.size(), filled_ - next_);
      message.append(piece_.data() + next_, part);
      next_ += part;
    }
    message_bytes_ += size;
  }

  PieceFile file_;
  std::string name_;
  std::array<char, 1U << 16U> piece_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;  // of the message
  std::uint64_t message_bytes_ = 0;
};

/// To the key whose value the nodes are; false: there is none.
bool find_nodes(JsonStream& json) {
  if (json.next() != JsonToken::begin_object) {
    return false;
  }
  while (json.next() == JsonToken::key) {
    if (json.text() == "workload_graph") {
      return true;
    }
    json.skip();
  }
  return false;
}

std::uint64_t whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::min(value, 1e18)) : 0;
}

/// One below 0 says that there is none.
void set_number(const std::string& key, double number, ChakraRecord& record) {
  const std::uint64_t value = whole(number);
  if (number < 0) {
    return;
  }
  if (key == "id") {
    record.id = value;
  } else if (key == "nodetype" || key == "type") {
    record.type = value;
  } else if (key == "runtime" || key == "duration" || key == "duration_micros") {
    record.duration = value;
  } else if (key == "start_time_micros") {
    record.start = value;
  } else {
    record.numbers.emplace_back(key, value);
  }
}

void read_list(const std::string& key, JsonStream& json, ChakraRecord& record) {
  std::vector<std::uint64_t>* const waits = key.starts_with("ctrl")   ? &record.control
                                            : key.starts_with("data") ? &record.data
                                                                      : nullptr;
  if (waits == nullptr) {
    json.leave();
    return;
  }
  for (JsonToken token = json.next(); token != JsonToken::end_array; token = json.next()) {
    if (token != JsonToken::number) {
      json.fail(key + ": expected numbers of nodes");
    }
    waits->push_back(whole(json.number()));
  }
}

/// Keys are written in several ways: "Id", "NodeType", "ctrlDeps", "ctrl_deps".
void read_member(JsonStream& json, ChakraRecord& record) {
  const std::string key = lower(json.text());
  switch (json.next()) {
    case JsonToken::begin_array:
      read_list(key, json, record);
      break;
    case JsonToken::begin_object:
      json.leave();
      break;
    case JsonToken::boolean:
      record.numbers.emplace_back(key, json.boolean() ? 1 : 0);
      break;
    case JsonToken::number:
      set_number(key, json.number(), record);
      break;
    case JsonToken::text:
      if (key == "name" || key == "pg_name") {
        (key == "name" ? record.name : record.group) = json.text();
      }
      break;
    default:
      break;
  }
}

void read_json(const std::filesystem::path& path, const std::function<void(ChakraRecord)>& take) {
  PieceFile file(path);
  JsonStream json(file.source(), path.string());
  if (!find_nodes(json) || json.next() != JsonToken::begin_array) {
    json.fail("expected an object with a list \"workload_graph\"");
  }
  for (JsonToken token = json.next(); token != JsonToken::end_array; token = json.next()) {
    if (token != JsonToken::begin_object) {
      json.fail("expected a node, an object");
    }
    ChakraRecord record;
    while (json.next() == JsonToken::key) {
      read_member(json, record);
    }
    take(std::move(record));
  }
}

/// Whether it begins as an object of JSON does: a length that is a brace is followed by other
/// bytes.
bool begins_as_json(const std::filesystem::path& path) {
  PieceFile file(path);
  std::array<char, 64> piece{};
  const std::string_view head(piece.data(), file.read(piece));
  constexpr std::string_view blanks = "\xEF\xBB\xBF \t\r\n";
  const std::size_t first = head.find_first_not_of(blanks);
  const std::size_t second = first == head.npos ? first : head.find_first_not_of(blanks, first + 1);
  return second != head.npos && head[first] == '{' && head[second] == '"';
}

}  // namespace

std::optional<std::uint64_t> ChakraRecord::number(std::string_view attribute) const {
  const auto known =
      std::ranges::find(numbers, attribute, &std::pair<std::string, std::uint64_t>::first);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

bool is_chakra_json(const std::filesystem::path& path) {
  PieceFile file(path);
  JsonStream json(file.source(), path.string());
  return find_nodes(json);
}

void read_chakra_records(const std::filesystem::path& path,
                         const std::function<void(ChakraRecord)>& take) {
  if (path.extension() == ".json" || begins_as_json(path)) {
    read_json(path, take);
  } else {
    Messages(path).read(take);
  }
}

}  // namespace titer
