#pragma once
// A measured trace: what the devices of a run did, when. Read from the files of profilers, piece by
// piece, so that they may be much larger than the memory.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "titer/trace/trace_category.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// Nanoseconds since whatever the profiler counts from.
using TraceTime = std::int64_t;

/// Something that a device did, in 16 bytes: there may be a hundred million.
class TraceSpan {
 public:
  TraceSpan() = default;
  /// REQUIRES 0 <= duration < longest.
  TraceSpan(TraceTime start, TraceTime duration, std::uint32_t kind)
      : start_(start), packed_((static_cast<std::uint64_t>(duration) << 24U) | kind) {}
  static constexpr TraceTime longest = TraceTime{1} << 40U;  // 18 minutes

  [[nodiscard]] TraceTime start() const { return start_; }
  [[nodiscard]] TraceTime duration() const { return static_cast<TraceTime>(packed_ >> 24U); }
  [[nodiscard]] TraceTime end() const { return start_ + duration(); }
  /// Index in Trace::kinds.
  [[nodiscard]] std::uint32_t kind() const {
    return static_cast<std::uint32_t>(packed_ & 0xFFFFFFU);
  }

 private:
  TraceTime start_ = 0;
  std::uint64_t packed_ = 0;
};

/// Spans that have the same name and, of a collective, the same size.
struct TraceKind {
  std::string name;
  TraceCategory category = TraceCategory::other_compute;
  std::optional<int> ranks{};    // of a collective's group
  std::optional<Bytes> bytes{};  // its full result, as in room collectives; of a message
};

struct TraceStep {
  std::string name;
  TraceTime start = 0;
  TraceTime end = 0;
};

/// Spans of a device that were on one stream, as the profiler calls it.
struct TraceStream {
  std::string name;
  Seconds busy{};  // the sum of its spans
  std::int64_t spans = 0;
};

struct TraceDevice {
  std::string name;
  std::vector<TraceStream> streams;
  std::deque<TraceSpan> spans;   // in no particular order
  std::vector<TraceStep> steps;  // by start; none where the trace tells none
  bool steps_of_host = false;    // when the host began them
};

struct Trace {
  std::string source;  // the file
  std::string format;  // "PyTorch profiler"
  std::string chip;    // as the profiler has it; "" when it does not tell
  std::optional<int> rank{};
  std::optional<int> world_size{};
  std::vector<TraceKind> kinds;
  std::vector<TraceDevice> devices;  // those that did something
  std::int64_t skipped = 0;          // events of devices without a time, or with an impossible one
  // Spans have no times of their own: they are one after the other in the order of the file.
  bool in_a_row = false;
};

/// As many kinds are told apart; further ones are one of each category.
inline constexpr std::size_t kMostTraceKinds = std::size_t{1} << 16U;

/// What a file of measured times is.
enum class TraceFormat : std::uint8_t { trace_events, op_profile, chakra, nsight, training_log };
/// By what is in it, be it compressed with gzip or not. Throws InputError for a file that cannot be
/// read, and for one that is none of them, with what was expected.
[[nodiscard]] TraceFormat trace_format(const std::filesystem::path& path);

/// The trace events of PyTorch's profiler (Kineto) and of XLA's trace viewer, JSON or JSON.gz. Of
/// Kineto's, kernels and copies count; of XLA's, what is on a device's lines of operations or
/// streams. Throws InputError with the place of what cannot be read, and when no device did
/// anything.
[[nodiscard]] Trace load_trace_events(const std::filesystem::path& path);

/// A Chakra execution trace of one rank, or its JSON form. Throws InputError likewise; also where
/// no node has a duration, since that is a workload and no measurement.
[[nodiscard]] Trace load_chakra_trace(const std::filesystem::path& path);

/// What `nsys export --type sqlite` writes of a report of Nsight Systems: kernels, copies, fills
/// and graphs by process and device; steps are ranges of NVTX that are called so ("step 7",
/// "iteration 3"). Throws InputError likewise.
[[nodiscard]] Trace load_nsight_trace(const std::filesystem::path& path);

}  // namespace titer
