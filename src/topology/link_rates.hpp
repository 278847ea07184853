#pragma once
// What one direction of a link carries, by what an XML of NCCL or RCCL says of it.

#include <optional>
#include <string_view>

#include "titer/units/quantity.hpp"

namespace titer {

/// An NVLink by the compute capability of its GPU (70 is V100).
[[nodiscard]] std::optional<BytesPerSecond> nvlink_bandwidth(int sm);

/// An xGMI link by the architecture of its GPU: "gfx942", "942", or "910" for MI200 as RCCL once
/// called it.
[[nodiscard]] std::optional<BytesPerSecond> xgmi_bandwidth(std::string_view gcn);

/// A PCIe link: the rate of a lane in GT/s, less its line code, by the lanes.
[[nodiscard]] BytesPerSecond pcie_bandwidth(double transfers, int lanes);

}  // namespace titer
