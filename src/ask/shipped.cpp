#include "titer/ask/shipped.hpp"

#include <array>

#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<const DataKind*>, 15> kKinds = {{{"models", &kModelData},
                                                             {"chips", &kChipData},
                                                             {"clusters", &kClusterData},
                                                             {"networks", &kNetworkData},
                                                             {"stacks", &kStackData},
                                                             {"topologies", &kTopologyData},
                                                             {"runs", &kRunData},
                                                             {"sweeps", &kSweepData},
                                                             {"searches", &kSearchData},
                                                             {"courses", &kCourseData},
                                                             {"capacities", &kCapacityData},
                                                             {"reports", &kReportData},
                                                             {"prices", &kPriceData},
                                                             {"grids", &kGridData},
                                                             {"reliabilities", &kReliabilityData}}};

}  // namespace

std::span<const Choice<const DataKind*>> data_kinds() { return kKinds; }

std::vector<std::string> shipped(std::string_view kind) {
  return shipped_names(*chosen("kind", kind, kKinds));
}

}  // namespace titer
