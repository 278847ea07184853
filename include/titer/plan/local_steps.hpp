#pragma once
// Data-parallel ranks in islands that train by themselves for many steps and then meet.
// [Douillard et al. 2023, DiLoCo; local SGD, Stich 2018]

#include <cstdint>
#include <optional>
#include <span>

#include "titer/hardware/data_type.hpp"
#include "titer/plan/memory/offload.hpp"

namespace titer {

/// After so many steps the islands average how far each has come, and an outer optimizer (momentum,
/// Nesterov's) goes on from where they began. A step is the mean of as many, one of them with that.
struct LocalSteps {
  std::int64_t islands = 2;
  std::int64_t steps = 1;
  DataType messages = DataType::fp32;  // in which they tell how far they have come
  // Of each island to the others, one direction, shared by its devices; otherwise the cluster's
  // network.
  std::optional<BytesPerSecond> bandwidth{};
  Seconds latency{};                 // of a message between them, where they have such links
  std::optional<HostPlace> state{};  // where weights as they were and momentum are; else devices

  friend bool operator==(const LocalSteps&, const LocalSteps&) = default;
};
[[nodiscard]] std::span<const Field<LocalSteps>> local_steps_fields();

/// Of a parameter between meetings: its value at the last one, and its momentum, in fp32.
inline constexpr Bytes kOuterState = Bytes::from_si(8);
/// What the outer step reads and writes of a parameter: three numbers for how far it has come, six
/// for what follows from the mean of that, in fp32.
inline constexpr Bytes kOuterTraffic = Bytes::from_si(9 * 4);

}  // namespace titer
