#pragma once
// Charts of collectives and of what traffic puts on links.

#include <vector>

#include "titer/report/network/collective_report.hpp"
#include "titer/report/network/library_report.hpp"
#include "titer/view/view.hpp"
#include "titer/whatif/network_comparison.hpp"

namespace titer {

/// Bus bandwidth over sizes, predicted and measured; of one size what each algorithm takes.
[[nodiscard]] std::vector<Plot> collective_plots(const CollectiveDesk& desk,
                                                 const std::vector<CollectiveResult>& results);
[[nodiscard]] Figures collective_headline(const CollectiveDesk& desk,
                                          const std::vector<CollectiveResult>& results);

/// Time over sizes, predicted and measured.
[[nodiscard]] std::vector<Plot> library_plots(const std::vector<LibraryResult>& results);
[[nodiscard]] Figures library_headline(const std::vector<LibraryResult>& results);

/// The step on each network by its parts.
[[nodiscard]] std::vector<Plot> network_comparison_plots(const std::vector<NetworkStep>& steps);
[[nodiscard]] Figures network_comparison_headline(const std::vector<NetworkStep>& steps);

/// How long links are busy, those between the same kinds of ends together.
struct LinkTime {
  std::string tier;  // "leaf to spine"
  Seconds time;
};
[[nodiscard]] Plot link_plot(const std::vector<LinkTime>& links);
/// "leaf 3", "spine 0": "leaf to spine".
[[nodiscard]] std::string tier_name(std::string_view from, std::string_view to);

}  // namespace titer
