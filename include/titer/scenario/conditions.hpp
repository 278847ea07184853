#pragma once
// How devices and links differ from what their data say: slower ones, other chips, noise.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "titer/hardware/chip.hpp"
#include "titer/scenario/jitter.hpp"

namespace titer {

/// Devices that are not as the others, numbered node by node; the factors are of time, 2: half as
/// fast.
struct DeviceCondition {
  std::int64_t first = 0;
  std::int64_t last = 0;  // included
  double compute = 1;
  double node = 1;                       // what goes over the links inside its node
  double network = 1;                    // what goes through its network interface
  std::optional<std::size_t> chip = {};  // of Conditions::chips; otherwise the cluster's
  std::size_t entry = 0;                 // of the list as written; the first, where several meet
};

/// Now and then a device takes several times as long.
struct Stragglers {
  /// For how long a straggler stays one: in all samples, in a step, in a pass.
  enum class Per { device, step, pass };
  double probability = 0;
  double slowdown = 1;  // of compute
  Per per = Per::step;
  friend bool operator==(const Stragglers&, const Stragglers&) = default;
};
inline constexpr std::array<Choice<Stragglers::Per>, 3> kStragglerPers = {
    {{"device", Stragglers::Per::device},
     {"step", Stragglers::Per::step},
     {"pass", Stragglers::Per::pass}}};

struct Conditions {
  /// REQUIRES ranges in order that do not overlap (`disjoint` makes them so).
  std::vector<DeviceCondition> devices = {};
  std::vector<Chip> chips = {};  // other than the cluster's
  std::optional<Jitter> compute_jitter = {};
  std::optional<Jitter> transfer_jitter = {};
  std::optional<Stragglers> stragglers = {};
  std::uint64_t seed = 1;

  /// Whether the samples of a step differ.
  [[nodiscard]] bool noisy() const { return compute_jitter || transfer_jitter || stragglers; }
  /// Whether all devices are alike.
  [[nodiscard]] bool uniform() const { return devices.empty() && !noisy(); }
  /// The same without noise.
  [[nodiscard]] Conditions quiet() const;

  /// What a pass on a device takes, over what the costs say. `draw` numbers the passes of a device;
  /// the same device, draw and sample get the same factor.
  [[nodiscard]] double compute_factor(std::int64_t device,
                                      std::uint64_t draw,
                                      std::uint32_t sample) const;
  /// The same for a transfer that the device takes part in, without noise.
  [[nodiscard]] double transfer_factor(std::int64_t device, bool network) const;
  /// The noise of a whole transfer, named by its first device; `draw` numbers the transfers of that
  /// device.
  [[nodiscard]] double transfer_noise(std::int64_t device,
                                      std::uint64_t draw,
                                      std::uint32_t sample) const;
  /// The class of a device's chip: 0 the cluster's, i + 1: chips[i].
  [[nodiscard]] std::size_t chip_class(std::int64_t device) const;

 private:
  /// What holds for a device; nullptr where nothing special does.
  [[nodiscard]] const DeviceCondition* of(std::int64_t device) const;
};

/// The same conditions as ranges in order: where some meet, their factors multiply and the last
/// chip holds. Ranges that change nothing are left out.
[[nodiscard]] std::vector<DeviceCondition> disjoint(const std::vector<DeviceCondition>& conditions);

/// "3", "8-15" or "0-3,8" as ranges, both ends included; empty if it is none of these.
struct DeviceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
[[nodiscard]] std::vector<DeviceRange> parse_ranges(std::string_view text);

/// What a scenario's "conditions" may be.
[[nodiscard]] Value conditions_schema();
[[nodiscard]] Conditions read_conditions(Reader& in, std::int64_t devices_per_node);

}  // namespace titer
