#pragma once
// The wire format of protobuf, as far as Chakra traces need it, and the numbers of their schema.

#include <array>
#include <cstdint>
#include <string_view>

namespace titer {

// Types of nodes in the published schema, from loads of memory to collectives.
inline constexpr std::uint64_t kMemoryLoad = 2;
inline constexpr std::uint64_t kMemoryStore = 3;
inline constexpr std::uint64_t kSend = 5;
inline constexpr std::uint64_t kReceive = 6;
inline constexpr std::uint64_t kCollective = 7;
/// By the number in the attribute "comm_type".
inline constexpr std::array<std::string_view, 10> kChakraCollectives = {"all_reduce",
                                                                        "reduce",
                                                                        "all_gather",
                                                                        "gather",
                                                                        "scatter",
                                                                        "broadcast",
                                                                        "all_to_all",
                                                                        "reduce_scatter",
                                                                        "reduce_scatter",
                                                                        "barrier"};

/// Goes over the fields of one message.
class WireFields {
 public:
  explicit WireFields(std::string_view message) : rest_(message) {}

  /// Whether there is a further field; broken() tells why there is none.
  bool next() {
    std::uint64_t key = 0;
    if (rest_.empty() || !read(key)) {
      return false;
    }
    number_ = key >> 3U;
    bytes_ = {};
    value_ = 0;
    switch (key & 7U) {
      case 0:
        return read(value_);
      case 1:
        return take(8);
      case 2:
        return read(value_) && take(value_);
      case 5:
        return take(4);
      default:
        broken_ = true;
        return false;
    }
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool read(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    broken_ = true;
    return false;
  }
  bool take(std::uint64_t size) {
    broken_ = size > rest_.size();
    if (!broken_) {
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    return !broken_;
  }

  std::string_view rest_;
  std::uint64_t number_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  bool broken_ = false;
};

}  // namespace titer
