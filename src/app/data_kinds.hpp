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

/// Questions, answered together by `titer report`.
inline constexpr DataKind kReportData = {
    "report", "configs/reports", {"title", "answers", "answers"}};

inline constexpr std::array<DataKind, 15> kDataKinds = {kRunData,
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
                                                        kReportData,
                                                        kPriceData,
                                                        kGridData,
                                                        kReliabilityData};

}  // namespace titer
