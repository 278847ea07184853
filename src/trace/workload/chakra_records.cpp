#include "chakra_records.hpp"

#include <algorithm>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "trace/trace_file.hpp"
#include "trace/wire_format.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestTrace = std::size_t{1} << 30U;

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

void add_attribute(std::string_view message, ChakraRecord& record) {
  WireFields fields(message);
  std::string name;
  while (fields.next()) {
    if (fields.number() == 1) {
      name = fields.bytes();
    } else if (!fields.bytes().empty()) {
      record.group = name == "pg_name" ? std::string(fields.bytes()) : record.group;
    } else {
      record.numbers[name] = fields.value();
    }
  }
}

/// Of one message; false: it is broken.
bool read_record(std::string_view message, ChakraRecord& record) {
  WireFields fields(message);
  while (fields.next()) {
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
      case 7:
        record.duration = fields.value();
        break;
      case 10:
        add_attribute(fields.bytes(), record);
        break;
      default:
        break;
    }
  }
  return !fields.broken();
}

/// Messages after their lengths.
class Messages {
 public:
  Messages(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  void read(const std::function<void(ChakraRecord)>& take) {
    for (bool first = true; !rest_.empty(); first = false) {
      const std::string_view message = next();
      if (first && !is_node(message)) {
        continue;  // of the whole trace: a version and attributes
      }
      ChakraRecord record;
      if (!read_record(message, record)) {
        fail("a message is broken");
      }
      take(std::move(record));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ": " + what +
                     ": expected a Chakra trace, messages after their lengths");
  }

  std::string_view next() {
    std::uint64_t size = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (rest_.empty()) {
        fail("the file ends in a length");
      }
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      size |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        if (size > rest_.size()) {
          fail("the file ends in a message");
        }
        const std::string_view message = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return message;
      }
    }
    fail("a length is too long");
  }

  static bool is_node(std::string_view message) {
    WireFields fields(message);
    while (fields.next()) {
      if (fields.number() == 3) {
        return true;
      }
    }
    return false;
  }

  std::string_view rest_;
  std::string name_;
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

void set_number(const std::string& key, std::uint64_t value, ChakraRecord& record) {
  if (key == "id") {
    record.id = value;
  } else if (key == "nodetype" || key == "type") {
    record.type = value;
  } else if (key == "runtime" || key == "duration" || key == "duration_micros") {
    record.duration = value;
  } else {
    record.numbers[key] = value;
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
      record.numbers[key] = json.boolean() ? 1 : 0;
      break;
    case JsonToken::number:
      set_number(key, whole(json.number()), record);
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

}  // namespace

bool is_chakra_json(const std::filesystem::path& path) {
  PieceFile file(path);
  JsonStream json(file.source(), path.string());
  return find_nodes(json);
}

void read_chakra_records(const std::filesystem::path& path,
                         const std::function<void(ChakraRecord)>& take) {
  if (path.extension() == ".json") {
    read_json(path, take);
  } else {
    const std::string text = read_pieces(path, kLargestTrace);
    Messages(text, path.string()).read(take);
  }
}

}  // namespace titer
