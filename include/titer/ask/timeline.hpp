#pragma once
// What every rank does when: in an iteration of a scenario, or by pipeline schedules alone.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/network.hpp"

namespace titer {

struct StepTimeline;

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

}  // namespace titer
