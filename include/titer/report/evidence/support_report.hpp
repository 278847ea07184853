#pragma once
// What was measured of which combination, as it is read.

#include <optional>
#include <span>

#include "titer/measured/support.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each combination. With `asked` first what is known of it: by its own runs, else by
/// those of its software on its chip, of its software, and of its chip.
[[nodiscard]] View support_view(std::span<const SupportCell> cells,
                                const std::optional<Combination>& asked);

/// Puts below an answer, and into it as "measured_runs", what is known of runs like the one that is
/// asked: the likest there are, how many, and how far off predictions of them were.
void add_support(std::span<const SupportCell> cells, const Combination& asked, View& view);

}  // namespace titer
