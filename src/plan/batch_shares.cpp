#include "titer/plan/batch_shares.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace titer {
namespace {

constexpr std::int64_t kMostWeight = 1'000'000;

bool is_weight(const Value& value) {
  return value.is_integer && value.integer >= 1 && value.integer <= kMostWeight;
}

}  // namespace

bool BatchShares::even() const {
  return std::ranges::adjacent_find(weights, std::not_equal_to<>()) == weights.end();
}

std::vector<std::int64_t> BatchShares::by_rank(std::int64_t mean, std::int64_t ranks) const {
  if (weights.empty()) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), mean);
  }
  const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const std::int64_t all = mean * ranks;
  const std::int64_t common = std::gcd(all, sum);
  std::vector<std::int64_t> own = weights;
  for (std::int64_t& size : own) {
    size = size / (sum / common) * (all / common);
  }
  return own;
}

std::vector<std::int64_t> BatchShares::sizes(std::int64_t mean) const {
  const std::int64_t ranks = std::max<std::int64_t>(1, std::ssize(weights));
  std::vector<std::int64_t> sizes = by_rank(mean, ranks);
  std::ranges::sort(sizes, std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::optional<std::string> BatchShares::refusal(std::int64_t mean, std::int64_t ranks) const {
  if (weights.empty()) {
    return std::nullopt;
  }
  if (std::ssize(weights) != ranks) {
    return fmt::format(
        "expected a weight for each of the {} data-parallel ranks, got {}", ranks, weights.size());
  }
  const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const std::int64_t part = sum / std::gcd(mean * ranks, sum);
  const bool whole =
      std::ranges::all_of(weights, [&](std::int64_t weight) { return weight % part == 0; });
  return whole ? std::nullopt
               : std::optional(fmt::format("expected micro-batches of whole sequences: micro_batch "
                                           "x data = {} x {} cannot be shared out by these of {}",
                                           mean,
                                           ranks,
                                           sum));
}

std::string BatchShares::text() const { return fmt::format("[{}]", fmt::join(weights, ", ")); }

BatchShares read_batch_shares(Reader& in) {
  const Value* value = in.raw("batch_shares");
  if (value == nullptr || value->kind == Value::Kind::null) {
    return {};
  }
  const bool list = value->kind == Value::Kind::array && !value->items.empty() &&
                    std::ranges::all_of(value->items, is_weight);
  if (!list) {
    in.fail("batch_shares",
            fmt::format("expected an array of whole numbers from 1 to {}, one for each "
                        "data-parallel rank",
                        kMostWeight));
    return {};
  }
  BatchShares shares;
  for (const Value& item : value->items) {
    shares.weights.push_back(item.integer);
  }
  return shares;
}

}  // namespace titer
