#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "titer/plan/place/collective_query.hpp"

namespace titer {

/// Times of collectives and messages, each asked once.
class CommunicationClock {
 public:
  explicit CommunicationClock(const Cluster& cluster) : cluster_(&cluster) {}

  Seconds time(const std::vector<int>& devices, Collective collective, Bytes size) {
    if (devices.size() < 2 || !(size > Bytes{})) {
      return {};
    }
    auto& known = times_[{devices, collective, size.si()}];
    if (!known) {
      auto& desk = desks_[devices];
      if (desk == nullptr) {
        desk = std::make_unique<CollectiveDesk>(*cluster_, std::vector<std::vector<int>>{devices});
      }
      known = desk->answer({.collective = collective, .size = size, .algorithm = {}}).time;
    }
    return *known;
  }

 private:
  const Cluster* cluster_;
  std::map<std::vector<int>, std::unique_ptr<CollectiveDesk>> desks_;
  std::map<std::tuple<std::vector<int>, Collective, double>, std::optional<Seconds>> times_;
};

}  // namespace titer
