#pragma once
// What a plan keeps outside the devices, and the way there.  [Rajbhandari et al. 2021,
// ZeRO-Infinity]

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/input/fields.hpp"

namespace titer {

enum class HostPlace { host, nvme };
inline constexpr std::array<Choice<HostPlace>, 2> kHostPlaces = {
    {{"host", HostPlace::host}, {"nvme", HostPlace::nvme}}};
[[nodiscard]] constexpr std::string_view name(HostPlace where) {
  return kHostPlaces[static_cast<std::size_t>(where)].name;
}

struct Offload {
  std::optional<HostPlace> weights{};      // fetched by every pass, block by block
  std::optional<HostPlace> optimizer{};    // read and written by the optimizer step, on the device
  std::optional<HostPlace> activations{};  // of layers: out behind the forward, in before the
                                           // backward pass
  // Of a rank's layers so many have their activations copied; otherwise all.  [Megatron-Core,
  // cpu_offloading_num_layers]
  std::optional<std::int64_t> layers{};
  bool prefetch = true;  // copies run beside the neighbouring block; both ways at the same time

  [[nodiscard]] bool any() const { return weights || optimizer || activations; }
  /// Of the activations of so many layers of a rank.
  [[nodiscard]] double share_of(double rank_layers) const {
    return layers && rank_layers > 0 ? std::min(1.0, static_cast<double>(*layers) / rank_layers)
                                     : 1.0;
  }
  friend bool operator==(const Offload&, const Offload&) = default;
};
[[nodiscard]] std::span<const Field<Offload>> offload_fields();

/// Memory of a node outside its devices. A device gets no more than its own link, and its share of
/// the node's bandwidth.
struct HostTier {
  Bytes capacity;
  BytesPerSecond bandwidth;   // of the node, one direction
  BytesPerSecond per_device;  // of one device's link

  [[nodiscard]] constexpr BytesPerSecond share(int devices) const {
    const BytesPerSecond part = bandwidth / static_cast<double>(devices);
    return part < per_device ? part : per_device;
  }
};

/// From or to NVMe all goes through the host: t = t(NVMe, CPU) + t(CPU, GPU), or the slower of both
/// where chunks follow one another.  [seeds 000:L163]
struct HostPath {
  BytesPerSecond host;
  std::optional<BytesPerSecond> nvme{};
  bool pipelined = true;

  [[nodiscard]] constexpr Seconds time(Bytes size) const {
    const Seconds link = size / host;
    if (!nvme) {
      return link;
    }
    const Seconds drive = size / *nvme;
    return pipelined ? (drive < link ? link : drive) : link + drive;
  }
};

}  // namespace titer
