#pragma once
// Reads Chakra traces from the wire format itself, by the field numbers of the published schema.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace titer::chakra_traces {

/// Field number and value of each field of a protobuf message: a number, or bytes.
using Field = std::pair<int, std::variant<std::uint64_t, std::string_view>>;

class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    throw std::runtime_error("a number of more than ten bytes");
  }
  std::string_view delimited() { return take(number()); }
  std::vector<Field> fields() {
    std::vector<Field> fields;
    while (!empty()) {
      const std::uint64_t key = number();
      const int field = static_cast<int>(key / 8);
      if (key % 8 == 0) {
        fields.emplace_back(field, number());
      } else if (key % 8 == 2) {
        fields.emplace_back(field, delimited());
      } else {
        throw std::runtime_error("a wire type that these traces do not have");
      }
    }
    return fields;
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) {
      throw std::runtime_error("the trace ends too early");
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

/// A value and the number of the field that it was in, which says its type.
struct Attribute {
  int field = 0;
  std::uint64_t number = 0;
  std::string text;
};

struct Node {
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> data_deps;
  std::uint64_t duration_micros = 0;
  std::map<std::string, Attribute> attributes;
};

struct Trace {
  std::string version;  // empty where there is no metadata
  std::vector<Node> nodes;
};

inline void read_attribute(std::string_view bytes, Node& node) {
  std::string name;
  Attribute attribute;
  for (const auto& [field, value] : Wire(bytes).fields()) {
    if (field == 1) {
      name = std::get<std::string_view>(value);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      attribute = {field, 0, std::string(*text)};
    } else {
      attribute = {field, std::get<std::uint64_t>(value), ""};
    }
  }
  node.attributes[name] = attribute;
}

inline Node node_of(std::string_view bytes) {
  Node node;
  for (const auto& [field, value] : Wire(bytes).fields()) {
    if (field == 1) {
      node.id = std::get<std::uint64_t>(value);
    } else if (field == 2) {
      node.name = std::get<std::string_view>(value);
    } else if (field == 3) {
      node.type = std::get<std::uint64_t>(value);
    } else if (field == 5) {
      for (Wire packed(std::get<std::string_view>(value)); !packed.empty();) {
        node.data_deps.push_back(packed.number());
      }
    } else if (field == 7) {
      node.duration_micros = std::get<std::uint64_t>(value);
    } else if (field == 10) {
      read_attribute(std::get<std::string_view>(value), node);
    }
  }
  return node;
}

inline Trace read(std::string_view text) {
  Trace trace;
  Wire messages(text);
  const auto metadata = Wire(messages.delimited()).fields();
  if (!metadata.empty() && metadata.front().first == 1) {
    trace.version = std::get<std::string_view>(metadata.front().second);
  }
  while (!messages.empty()) {
    trace.nodes.push_back(node_of(messages.delimited()));
  }
  return trace;
}

}  // namespace titer::chakra_traces
