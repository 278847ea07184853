#pragma once
// What joins the nodes of measured runs, as people write it.

#include <cstdint>
#include <optional>
#include <string>

namespace titer {

/// NICs of a node and the rate of one.
struct Nics {
  std::int64_t count = 0;
  std::int64_t gbps = 0;
};

/// Of a node of so many devices: "8x NDR400 IB per node", "HDR200 x4", "3.2 Tbps InfiniBand",
/// "400 Gb/s per GPU"; nothing where the text does not tell both.
[[nodiscard]] std::optional<Nics> cell_nics(const std::string& text, std::int64_t devices);

}  // namespace titer
