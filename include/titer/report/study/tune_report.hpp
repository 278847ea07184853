#pragma once
// Which knobs of a run to turn, as it is read.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "titer/view/view.hpp"
#include "titer/whatif/tune.hpp"

namespace titer {

struct TuneReport {
  const ScenarioProbe* probe = nullptr;
  TuneAnswer answer;
  std::optional<Seconds> measured{};  // of the run as it is
  std::size_t top = 10;               // changes that the text shows
  std::string software{};             // whose settings `flags` says; "" where that is not known
  // What a change sets in the run's software.
  std::function<std::vector<std::string>(const Tuning&)> flags{};
};

/// "tensor 8 -> 4, data 2 -> 4"
[[nodiscard]] std::string change_words(const Tuning& tuning);
/// "likely (73 %)": how sure a gain is.
[[nodiscard]] std::string odds_text(double odds);

/// A row for each change, singles before pairs. `notes`: of the run.
[[nodiscard]] View tune_view(const TuneReport& report, const std::vector<std::string>& notes = {});

}  // namespace titer
