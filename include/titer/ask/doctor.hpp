#pragma once
// What a run's own files say of how far off its prediction is, and why.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

/// A launch script or other configuration, a training log, traces of ranks, output of nccl-tests,
/// topologies, a run of this program: each is known by what is in it.
struct DoctorRequest {
  std::vector<std::string> files;
  std::string run = {};                         // a run file or the name of a shipped one
  std::vector<Assignment> changes = {};         // of the run
  std::string cluster = {};                     // that an imported run is on
  std::optional<std::int64_t> devices = {};     // of an imported run
  std::optional<std::int64_t> vocabulary = {};  // likewise
  std::map<std::string, std::string, std::less<>> defines =
      {};                   // what ${NAME} stands for in scripts
  bool for_report = false;  // with what reports alone show, terms and inputs
};
[[nodiscard]] std::span<const Option<DoctorRequest>> doctor_options();
/// Imports, predicts, calibrates the links, compares and tunes. What cannot be done is said in the
/// answer. Throws InputError where a file cannot be read or is none of these.
[[nodiscard]] Answer ask(const DoctorRequest& request);

}  // namespace titer
