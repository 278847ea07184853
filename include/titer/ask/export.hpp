#pragma once
// A scenario for other programs: as settings of a launcher, or its step as a graph per rank.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

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
