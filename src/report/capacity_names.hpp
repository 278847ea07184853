#pragma once
// Names that all views of a capacity plan use.

#include <string>

#include "titer/campaign/capacity.hpp"

namespace titer {

/// "none", "selective", "mlp" where that is the only module, otherwise "modules"; "full".
[[nodiscard]] std::string recompute_name(const Plan& plan);

/// "devices for Llama 3 70B on NVIDIA H100 SXM5 80 GB (dgx-h100)": of what is computed, whatever
/// the question's file calls it.
[[nodiscard]] std::string capacity_title(const CapacityQuestion& question);

/// What the plans had to leave free, all alike.
[[nodiscard]] double memory_margin(const CapacityResult& result);

/// What bills of the question's chip lack; empty where nobody asks for them.
[[nodiscard]] std::vector<BillGap> question_gaps(const CapacityQuestion& question);
/// "dollars: p: no price of …; --dollars-per-hour X …": what is not said, why, and what says it.
[[nodiscard]] std::string gap_words(const CapacityQuestion& question, const BillGap& gap);

}  // namespace titer
