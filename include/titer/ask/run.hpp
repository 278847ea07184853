#pragma once
// One iteration of a scenario: what it takes, whether it fits, why, what every rank does when; and
// for other programs, as settings of a launcher or as a graph per rank.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// The timeline of a scenario's iteration, or that of schedules by themselves: stages alike,
/// sending free, durations relative. Several schedules stand below one another, on one axis.
struct TimelineRequest {
  Asked scenario = {};
  bool every_rank = false;             // of a scenario: each device, not one for those alike
  std::vector<std::string> schedules;  // in its place: names, or files of listed actions
  int pipeline = 0;                    // ranks
  int micro_batches = 0;
  std::optional<int> virtual_stages = {};
  std::optional<int> micro_batch_group = {};
  double forward = 1;
  double input_gradient = 1;
  double weight_gradient = 1;
  std::optional<double> pair = {};
  bool memory = false;            // with what each rank holds over time
  std::optional<int> width = {};  // columns of the picture in text, beside its names
  std::size_t columns = 0;        // without a width: that its lines should stay within; 0: any
  std::string drawn_as = {};      // svg, pdf or tikz: a picture alone; actions: their lists alone
  std::string palette = "usual";  // of a picture: usual, safe or grey
  /// Takes the timeline and what to call it, in place of an answer.
  std::function<void(const StepTimeline&, const std::string& title)> record = {};
};
[[nodiscard]] std::span<const Option<TimelineRequest>> timeline_options();
/// Throws InputError.
[[nodiscard]] PictureOutcome ask(const TimelineRequest& request);

/// What a program takes.
struct ExportRequest {
  Asked scenario;
  std::string format;            // "megatron" and other launchers, "goal", "chakra"
  bool accept_loss = false;      // leave out what the launcher cannot be told
  std::string detail = "layer";  // a node for each pass, layer or operation
  std::string ranks = {};        // of Chakra traces, "0,8-15"; all where it is empty
  std::function<void(std::size_t done, std::size_t of)> progress = {};  // ranks
  /// Takes each file, piece by piece, where it should not be held in memory as a part of the
  /// answer; what is a single file has no name.
  std::function<void(const std::string& file, std::string_view piece)> write = {};
};
struct ExportOutcome : Answer {
  std::vector<std::string> notes = {};  // which stand in no file
};
[[nodiscard]] std::span<const Option<ExportRequest>> export_options();
/// Throws InputError.
[[nodiscard]] ExportOutcome ask(const ExportRequest& request);

}  // namespace titer
