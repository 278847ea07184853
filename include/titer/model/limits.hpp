#pragma once
// The largest figures that a file may say of a model.

#include <cstdint>

namespace titer {

// With these the parameters of any model stay within 64 bits.
inline constexpr std::int64_t kMostLayers = 100'000;
inline constexpr std::int64_t kMostWidth = 1'000'000;
inline constexpr std::int64_t kMostTokens = 1'000'000'000;    // of a vocabulary or a sequence
inline constexpr std::int64_t kMostExpertWidth = 20'000'000;  // of a layer's experts together
inline constexpr std::int64_t kMostPredictedTokens = 16;
inline constexpr std::int64_t kMostRows = 1'000'000'000'000;  // of a table of embeddings

}  // namespace titer
