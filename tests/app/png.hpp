#pragma once
// A PNG taken apart: what a viewer would show of it.

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titer::testing {

/// Of eight bits for each of red, green and blue, as cairo writes it. [ISO 15948]
class Png {
 public:
  explicit Png(std::string_view file) {
    EXPECT_TRUE(file.starts_with("\x89PNG\r\n\x1A\n"));
    std::string packed;
    bool ended = false;
    for (std::size_t at = 8; at + 12 <= file.size() && !ended;) {
      const std::size_t length = number(file, at);
      const std::string_view kind = file.substr(at + 4, 4);
      const std::string_view data = file.substr(at + 8, length);
      EXPECT_EQ(crc32(0, bytes(kind), static_cast<uInt>(length + 4)),
                number(file, at + 8 + length));
      if (kind == "IHDR") {
        wide_ = number(data, 0);
        high_ = number(data, 4);
        EXPECT_EQ(data.substr(8), std::string_view("\x08\x02\x00\x00\x00", 5));
      }
      packed += kind == "IDAT" ? data : "";
      ended = kind == "IEND";
      at += length + 12;
    }
    EXPECT_TRUE(ended);
    unpack(packed);
  }

  [[nodiscard]] std::size_t wide() const { return wide_; }
  [[nodiscard]] std::size_t high() const { return high_; }
  /// "#0072b2"
  [[nodiscard]] std::string at(std::size_t x, std::size_t y) const {
    return colour_name(&pixels_[3 * (y * wide_ + x)]);
  }
  /// The share of the pixels that has each colour.
  [[nodiscard]] std::map<std::string, double> colours() const {
    std::map<std::string, double> shares;
    for (std::size_t i = 0, end = 0; i < pixels_.size(); i = end) {
      while (end < pixels_.size() && std::memcmp(&pixels_[i], &pixels_[end], 3) == 0) {
        end += 3;
      }
      shares[colour_name(&pixels_[i])] +=
          static_cast<double>(end - i) / static_cast<double>(pixels_.size());
    }
    return shares;
  }

 private:
  static const Bytef* bytes(std::string_view text) {
    return reinterpret_cast<const Bytef*>(text.data());
  }
  static std::uint32_t number(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4 && i < text.size(); ++i) {
      value = value << 8U | static_cast<unsigned char>(text[i]);
    }
    return value;
  }
  static std::string colour_name(const unsigned char* pixel) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = "#";
    for (int i = 0; i < 3; ++i) {
      name += digits[pixel[i] / 16U];
      name += digits[pixel[i] % 16U];
    }
    return name;
  }
  /// What a filter takes for the byte: of the left, above, and left of that.
  static int expected(int filter, int left, int up, int corner) {
    const int sum = left + up - corner;
    const std::array<int, 3> off = {
        std::abs(sum - left), std::abs(sum - up), std::abs(sum - corner)};
    switch (filter) {
      case 0:
        return 0;
      case 1:
        return left;
      case 2:
        return up;
      case 3:
        return (left + up) / 2;
      default:
        return off[0] <= off[1] && off[0] <= off[2] ? left : off[1] <= off[2] ? up : corner;
    }
  }
  void unpack(std::string_view packed) {
    const std::size_t row = 3 * wide_;
    std::vector<unsigned char> rows(high_ * (row + 1));
    uLongf length = rows.size();
    ASSERT_EQ(uncompress(rows.data(), &length, bytes(packed), static_cast<uLong>(packed.size())),
              Z_OK);
    ASSERT_EQ(length, rows.size());
    pixels_.resize(high_ * row);
    for (std::size_t y = 0; y < high_; ++y) {
      const unsigned char* const from = &rows[y * (row + 1)];
      for (std::size_t x = 0; x < row; ++x) {
        const std::size_t to = y * row + x;
        const int left = x < 3 ? 0 : pixels_[to - 3];
        const int up = y == 0 ? 0 : pixels_[to - row];
        const int corner = x < 3 || y == 0 ? 0 : pixels_[to - row - 3];
        pixels_[to] = static_cast<unsigned char>(from[x + 1] + expected(from[0], left, up, corner));
      }
    }
  }

  std::size_t wide_ = 0;
  std::size_t high_ = 0;
  std::vector<unsigned char> pixels_;
};

}  // namespace titer::testing
