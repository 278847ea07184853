#pragma once
// A global batch that is not shared out evenly among data-parallel ranks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {

/// A whole weight w_i for each data-parallel rank; none: evenly. A rank's micro-batches are of
/// b d w_i / (w_1 + ... + w_d) sequences, and there are as many of them as without weights.
struct BatchShares {
  std::vector<std::int64_t> weights{};

  [[nodiscard]] bool even() const;
  /// Sequences in a micro-batch of each rank, `mean` of them on average.
  /// REQUIRES shares that are not refused.
  [[nodiscard]] std::vector<std::int64_t> by_rank(std::int64_t mean, std::int64_t ranks) const;
  /// The different ones there are, the largest first.
  [[nodiscard]] std::vector<std::int64_t> sizes(std::int64_t mean) const;
  /// Why a batch cannot be shared out so; nothing where it can.
  [[nodiscard]] std::optional<std::string> refusal(std::int64_t mean, std::int64_t ranks) const;
  [[nodiscard]] std::string text() const;  // "[1, 2]"
  friend bool operator==(const BatchShares&, const BatchShares&) = default;
};

/// The key "batch_shares": a list of whole numbers from 1.
[[nodiscard]] BatchShares read_batch_shares(Reader& in);

}  // namespace titer
