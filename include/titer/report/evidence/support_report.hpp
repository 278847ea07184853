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

}  // namespace titer
