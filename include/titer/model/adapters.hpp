#pragma once
// Low-rank adapters: small products beside those with weights, which stay as they are. [Hu 2021]

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "titer/input/fields.hpp"
#include "titer/model/layer.hpp"

namespace titer {

/// What a matrix of weights does in a layer, as adapters name it.
enum class WeightRole : std::uint8_t { other, query, key, value, output, up, gate, down };
inline constexpr std::size_t kWeightRoles = 8;
using WeightRoles = std::uint8_t;
[[nodiscard]] constexpr WeightRoles role_bit(WeightRole role) {
  return static_cast<WeightRoles>(1U << static_cast<unsigned>(role));
}
inline constexpr WeightRoles kAllLinear = 0xFF;
inline constexpr std::array<Choice<WeightRole>, kWeightRoles - 1> kAdapterTargets = {
    {{"query", WeightRole::query},
     {"key", WeightRole::key},
     {"value", WeightRole::value},
     {"output", WeightRole::output},
     {"up", WeightRole::up},
     {"gate", WeightRole::gate},
     {"down", WeightRole::down}}};

/// How weights are kept that are not trained.
enum class BaseFormat : std::uint8_t {
  bf16,
  fp16,
  // 4 bits, an 8-bit scale for every 64, an fp32 one for every 256 of these. [Dettmers 2023]
  nf4,
  int8,  // a byte, an fp32 scale for every column
};
inline constexpr std::array<Choice<BaseFormat>, 4> kBaseFormats = {{{"bf16", BaseFormat::bf16},
                                                                    {"fp16", BaseFormat::fp16},
                                                                    {"nf4", BaseFormat::nf4},
                                                                    {"int8", BaseFormat::int8}}};
[[nodiscard]] constexpr std::string_view name(BaseFormat format) {
  return kBaseFormats[static_cast<std::size_t>(format)].name;
}
/// Of matrices of hidden layers, which are made 16-bit numbers again for every product.
[[nodiscard]] constexpr bool is_quantised(BaseFormat format) {
  return format == BaseFormat::nf4 || format == BaseFormat::int8;
}
/// REQUIRES a quantised format.
[[nodiscard]] Bytes quantised_bytes(BaseFormat format, const WeightMatrix& matrix);

struct Adapters {
  std::int64_t rank = 0;
  WeightRoles targets = kAllLinear;
  // Beside matrices that are one, of queries, keys and values or of gates and ups, one adapter for
  // all of them. [Megatron-Bridge, NeMo: linear_qkv, linear_fc1]
  bool fused = false;
  std::optional<BaseFormat> base{};  // otherwise as other weights are

  [[nodiscard]] bool is_target(WeightRole role) const { return (targets & role_bit(role)) != 0; }
  [[nodiscard]] bool quantises() const { return base && is_quantised(*base); }
  friend bool operator==(const Adapters&, const Adapters&) = default;
};
[[nodiscard]] std::span<const Field<Adapters>> adapter_fields();

}  // namespace titer
