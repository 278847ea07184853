#pragma once
// The kinds of data that have names of their own.

#include <array>

#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/scenario/source.hpp"
#include "titer/search/search.hpp"

namespace titer {

inline constexpr std::array<DataKind, 14> kDataKinds = {kRunData,
                                                        kModelData,
                                                        kClusterData,
                                                        kChipData,
                                                        kNetworkData,
                                                        kStackData,
                                                        kTopologyData,
                                                        kSweepData,
                                                        kSearchData,
                                                        kCapacityData,
                                                        kCourseData,
                                                        kPriceData,
                                                        kGridData,
                                                        kReliabilityData};

}  // namespace titer
