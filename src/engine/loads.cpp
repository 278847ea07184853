#include "titer/engine/loads.hpp"

#include <algorithm>
#include <cmath>

#include "titer/units/ensure.hpp"

namespace titer {

LoadId Loads::add(std::span<const LoadShare> shares) {
  constexpr double slack = 1e-9;  // of shares that were divided out
  ensure(size() < kNoLoad, "a list of loads holds at most 2^32 - 1 of them");
  for (auto share = shares.begin(); share != shares.end(); ++share) {
    ensure(share->resource < resource_count_, "a load takes shares of resources that were added");
    ensure(share->share >= 0.0 && share->share <= 1.0 + slack, "a share lies between 0 and 1");
    ensure(std::none_of(shares.begin(),
                        share,
                        [&](const LoadShare& other) { return other.resource == share->resource; }),
           "a load takes one share of a resource");
  }
  for (const LoadShare& share : shares) {
    const auto units =
        static_cast<Units>(std::llround(std::min(share.share, 1.0) * static_cast<double>(unit)));
    if (units > 0) {
      parts_.push_back({.resource = share.resource, .units = units});
    }
  }
  begin_.push_back(static_cast<std::uint32_t>(parts_.size()));
  return static_cast<LoadId>(size() - 1);
}

}  // namespace titer
