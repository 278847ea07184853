#pragma once
// The traffic matrix of an iteration as text, CSV, JSON and a heat map; how the matrix of experts
// changes from one iteration to the next.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/export/traffic_matrix.hpp"
#include "titer/view/view.hpp"

namespace titer {

struct TrafficMatrixView {
  std::string title;
  std::string note;  // degrees and rank order, how collectives are spread
  int devices_per_node = 1;
  std::vector<int> nodes;     // of each rank
  std::vector<int> stages;    // rank of the pipeline of each device
  std::int64_t possible = 0;  // pairs that could communicate
  TrafficMatrix matrix;
};

/// "ring spread, rank order …": what the matrix is of.
[[nodiscard]] TrafficMatrixView traffic_matrix_view(const ExportedStep& step,
                                                    const TrafficOptions& options,
                                                    TrafficMatrix matrix);

/// Volumes by kind, statistics, and who talks to whom for few devices; from, to, kind, bytes: a row
/// for each pair and kind, which `titer topology --traffic` reads.
[[nodiscard]] View traffic_view(TrafficMatrixView matrix,
                                const std::vector<std::string>& notes = {});
/// Senders downwards, receivers to the right, colours by the logarithm of the bytes; devices side
/// by side are one cell where there are more than 512.
[[nodiscard]] std::string traffic_matrix_svg(const TrafficMatrixView& view);

/// The all-to-all of experts in one iteration.
struct ExpertIteration {
  std::uint32_t iteration = 0;
  std::optional<double> exponent{};  // of zipf routing
  TrafficStatistics statistics;
};
[[nodiscard]] View expert_iterations_view(const std::string& title,
                                          const std::vector<ExpertIteration>& iterations);

}  // namespace titer
