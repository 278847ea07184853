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

/// Whose work the step of an optimizer is whose state is on the host.
enum class UpdatePlace : std::uint8_t { device, host };
inline constexpr std::array<Choice<UpdatePlace>, 2> kUpdatePlaces = {
    {{"device", UpdatePlace::device}, {"host", UpdatePlace::host}}};

struct Offload {
  std::optional<HostPlace> weights{};    // fetched by every pass, block by block
  std::optional<HostPlace> optimizer{};  // read and written by the optimizer step
  // Out behind the backward pass that makes and adds them up, to what is there of them. [Ren et al.
  // 2021, ZeRO-Offload]
  std::optional<HostPlace> gradients{};
  UpdatePlace update = UpdatePlace::device;
  std::optional<HostPlace> activations{};  // of layers: out behind the forward, in before the
                                           // backward pass
  // Of a rank's layers so many have their activations copied; otherwise all.  [Megatron-Core,
  // cpu_offloading_num_layers]
  std::optional<std::int64_t> layers{};
  bool prefetch = true;  // copies run beside the neighbouring block; both ways at the same time

  [[nodiscard]] bool any() const { return weights || optimizer || gradients || activations; }
  [[nodiscard]] bool updates_on_host() const { return update == UpdatePlace::host; }
  /// Of the activations of so many layers of a rank.
  [[nodiscard]] double share_of(double rank_layers) const {
    return layers && rank_layers > 0 ? std::min(1.0, static_cast<double>(*layers) / rank_layers)
                                     : 1.0;
  }
  friend bool operator==(const Offload&, const Offload&) = default;
};
[[nodiscard]] std::span<const Field<Offload>> offload_fields();

/// What an optimizer's step by processors gets of the bandwidth of their memory: 10 billion
/// parameters of 28 bytes in 2.57 s on two of 128 GB/s. [Ren et al. 2021, table 4: CPU-Adam]
inline constexpr double kUpdateShare = 0.43;

/// Memory of a node outside its devices. A device gets no more than its own link, and its share of
/// the node's bandwidth.
struct HostTier {
  Bytes capacity;
  BytesPerSecond bandwidth;                    // of the node, one direction
  BytesPerSecond per_device;                   // of one device's link
  std::optional<BytesPerSecond> processors{};  // of the node's, what they read and write in all

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
