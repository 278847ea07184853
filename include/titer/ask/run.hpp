#pragma once
// One iteration of a scenario: what it takes, whether it fits, and why.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

struct StepTimeline;

/// How long an iteration takes, where the time goes, and what is in memory.
struct RunRequest {
  Asked scenario;
  /// Otherwise the closed form; events where devices differ, and where it takes them.
  std::optional<Fidelity> fidelity = {};
  bool every_rank = false;                   // simulate each device by itself
  std::optional<std::int64_t> samples = {};  // steps with the noise of the conditions
  std::optional<std::int64_t> seed = {};     // of it, in place of conditions.seed
  std::vector<std::string> measured = {};    // tables of runs to learn figures from
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t of)> progress = {};  // samples
  /// Takes what each rank does and when, and what to call it.
  std::function<void(const StepTimeline&, const std::string& title)> record = {};
  bool for_report = false;  // with what reports alone show, pictures, terms and inputs
};
[[nodiscard]] std::span<const Option<RunRequest>> run_options();
/// Good: it fits in memory. Throws InputError.
[[nodiscard]] Answer ask(const RunRequest& request);

/// Whether a scenario is sound and fits in memory.
struct CheckRequest {
  Asked scenario;
  bool for_report = false;  // with what reports alone show, pictures, terms and inputs
};
[[nodiscard]] std::span<const Option<CheckRequest>> check_options();
/// Good: it fits. Throws InputError with all that is not sound.
[[nodiscard]] Answer ask(const CheckRequest& request);

/// Every term of the closed form: formula, numbers, value and source; on the links of the network
/// also the algorithms that are chosen there.
struct ExplainRequest {
  Asked scenario;
  std::vector<std::string> measured = {};  // tables of runs or products to learn figures from
  Fidelity fidelity = Fidelity::closed;    // or network
  bool for_report = false;                 // with what reports alone show, inputs
};
[[nodiscard]] std::span<const Option<ExplainRequest>> explain_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const ExplainRequest& request);

}  // namespace titer
