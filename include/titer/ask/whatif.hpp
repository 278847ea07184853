#pragma once
// What would be otherwise.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

/// Term by term, why one scenario is faster than another, and by which inputs.
struct DiffRequest {
  Asked a;
  Asked b;
  Fidelity fidelity = Fidelity::closed;
  bool for_report = false;  // with what reports alone show, inputs
};
[[nodiscard]] std::span<const Option<DiffRequest>> diff_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const DiffRequest& request);

/// What a scenario depends on, how much, and where that changes.
struct SensitivityRequest {
  Asked scenario;
  Fidelity fidelity = Fidelity::closed;
  std::string of = "iteration_time_s";  // a figure of the result
  std::string by = "1%";                // the largest step of a figure
  std::string reach = {};               // "12s" of the iteration time, or "mfu=0.5"
  std::vector<std::string> costs = {};  // "PATH=DOLLARS" of a tenth more of a figure
  bool for_report = false;              // with what reports alone show, terms and inputs
};
[[nodiscard]] std::span<const Option<SensitivityRequest>> sensitivity_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const SensitivityRequest& request);

/// Which knobs to turn on the same devices with the same batch.
struct TuneRequest {
  Asked scenario;
  std::optional<Fidelity> fidelity = {};  // otherwise as `titer run` chooses
  std::string measured = {};              // "16.5s": an iteration of the run as it is
  std::size_t top = 10;                   // changes that the text shows
};
[[nodiscard]] std::span<const Option<TuneRequest>> tune_options();
/// Throws InputError. Good where the run fits, or something makes it fit.
[[nodiscard]] Answer ask(const TuneRequest& request);

}  // namespace titer
