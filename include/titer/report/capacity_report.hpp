#pragma once
// Views of a capacity plan: text for people, a CSV row for every number of devices, JSON.

#include <string>

#include "titer/campaign/capacity.hpp"
#include "titer/input/document.hpp"

namespace titer {

[[nodiscard]] std::string capacity_text(const CapacityQuestion& question,
                                        const CapacityResult& result);
[[nodiscard]] std::string capacity_csv(const CapacityQuestion& question,
                                       const CapacityResult& result);
[[nodiscard]] Value capacity_json(const CapacityQuestion& question, const CapacityResult& result);

}  // namespace titer
