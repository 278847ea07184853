#pragma once
// What a device does at an instant of a measured trace, told from the name of its kernel or
// operation and from what the profiler wrote beside it.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace titer {

/// In the order in which they count where several run at once: communication, compute, copies.
enum class TraceCategory : std::uint8_t {
  all_to_all,
  all_gather,
  all_reduce,
  reduce_scatter,
  send_recv,
  broadcast,
  other_comm,  // of a communication library that does not tell which
  matrix,      // products and convolutions
  attention,
  optimizer,
  elementwise,  // also norms, reductions, changes of layout: memory-bound
  other_compute,
  host_to_device,
  device_to_host,
  on_device,  // copies and fills
};
inline constexpr std::array<std::string_view, 15> kTraceCategoryNames = {"all-to-all",
                                                                         "all-gather",
                                                                         "all-reduce",
                                                                         "reduce-scatter",
                                                                         "send-recv",
                                                                         "broadcast",
                                                                         "other communication",
                                                                         "matrix",
                                                                         "attention",
                                                                         "optimizer",
                                                                         "elementwise",
                                                                         "other compute",
                                                                         "copy to device",
                                                                         "copy to host",
                                                                         "copy on device"};
inline constexpr std::size_t kTraceCategories = kTraceCategoryNames.size();
[[nodiscard]] constexpr std::string_view name(TraceCategory category) {
  return kTraceCategoryNames[static_cast<std::size_t>(category)];
}

enum class TraceClass : std::uint8_t { communication, compute, copy };
[[nodiscard]] constexpr TraceClass class_of(TraceCategory category) {
  if (category < TraceCategory::matrix) {
    return TraceClass::communication;
  }
  return category < TraceCategory::host_to_device ? TraceClass::compute : TraceClass::copy;
}

/// A kernel counts as the first rule of whose words its name has one, whatever their case.
struct KernelRule {
  std::string_view words;  // with bars between them
  std::string_view also;   // of which it has one beside it
  TraceCategory category = TraceCategory::other_compute;
};
[[nodiscard]] std::span<const KernelRule> kernel_rules();

/// What is known of something that a device did; empty where nothing is.
struct TraceLabel {
  std::string_view name;
  std::string_view collective = {};    // PyTorch's "Collective name": "_allgather_base"
  std::string_view hlo_category = {};  // XLA's: "convolution fusion"
};

/// By the collective where one is named, else the category of XLA's where that says enough, else
/// the name. Of what no rule knows: other compute.
[[nodiscard]] TraceCategory category_of(const TraceLabel& label);
/// Of a collective by any program's name for it: "allreduce", "all_to_allv", "send".
[[nodiscard]] std::optional<TraceCategory> collective_category(std::string_view name);
/// Whether an operation of XLA only holds others, which are in the trace themselves.
[[nodiscard]] bool holds_others(std::string_view operation);
/// Whether XLA says so of time in which nothing runs.
[[nodiscard]] bool is_idle(std::string_view operation);

}  // namespace titer
