#include "link_rates.hpp"

#include <algorithm>
#include <array>

namespace titer {
namespace {

struct XgmiGeneration {
  std::string_view gcn;
  BytesPerSecond bandwidth;
};
/// Sixteen lanes of 23 GT/s on MI50 to MI100 [ROCm documentation, gpu_arch/mi100]; of the others
/// what configs/chips/mi250x, mi300x and mi355x say of a pair.
constexpr std::array<XgmiGeneration, 8> kXgmi = {{{"906", 46_GBps},
                                                  {"908", 46_GBps},
                                                  {"910", 50_GBps},
                                                  {"90a", 50_GBps},
                                                  {"940", 64_GBps},
                                                  {"941", 64_GBps},
                                                  {"942", 64_GBps},
                                                  {"950", 76.5_GBps}}};

}  // namespace

/// [../shared/measured/hardware.csv]
std::optional<BytesPerSecond> nvlink_bandwidth(int sm) {
  if (sm == 60) {
    return 20_GBps;
  }
  if (sm == 70 || sm == 80 || sm == 90) {
    return 25_GBps;
  }
  return sm >= 100 && sm < 110 ? std::optional(50_GBps) : std::nullopt;
}

std::optional<BytesPerSecond> xgmi_bandwidth(std::string_view gcn) {
  const std::string_view number = gcn.substr(gcn.starts_with("gfx") ? 3 : 0);
  const auto* known = std::ranges::find_if(kXgmi, [&](const XgmiGeneration& other) {
    return other.gcn == number.substr(0, number.find(':'));  // "gfx90a:sramecc+:xnack-"
  });
  return known == kXgmi.end() ? std::nullopt : std::optional(known->bandwidth);
}

BytesPerSecond pcie_bandwidth(double transfers, int lanes) {
  const double code = transfers < 8.0 ? 8.0 / 10.0 : 128.0 / 130.0;
  return transfers * code * lanes * 1_Gbps;
}

}  // namespace titer
