#pragma once
// A step's samples, as they are read.

#include "titer/simulate/samples.hpp"
#include "titer/view/text_view.hpp"

namespace titer {

[[nodiscard]] Figures sample_figures(const SampleStatistics& samples);
/// The same by the names of columns beside others: "samples", "samples_mean_s".
[[nodiscard]] Figures sample_columns(Figures figures);
[[nodiscard]] TextView sample_text(const SampleStatistics& samples);

}  // namespace titer
