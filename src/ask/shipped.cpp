#include "titer/ask/shipped.hpp"

#include <array>

#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<const DataKind*>, 14> kKinds = {{{"models", &kModelData},
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
                                                             {"prices", &kPriceData},
                                                             {"grids", &kGridData},
                                                             {"reliabilities", &kReliabilityData}}};

}  // namespace

std::vector<std::string_view> shipped_kinds() {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size());
  for (const Choice<const DataKind*>& kind : kKinds) {
    names.push_back(kind.name);
  }
  return names;
}

std::vector<std::string> shipped(std::string_view kind) {
  return shipped_names(*chosen("kind", kind, kKinds));
}

}  // namespace titer
