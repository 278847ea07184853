#pragma once
// What was measured, beside what is predicted, and figures fitted to it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

/// Where the time of a measured step went, beside the prediction where a scenario is named.
struct TraceRequest {
  std::vector<std::string> files;            // traces of ranks of one run, or one log
  Asked scenario = {};                       // of no name: none
  std::optional<std::int64_t> warm_up = {};  // lines of a log to leave out
};
[[nodiscard]] std::span<const Option<TraceRequest>> trace_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const TraceRequest& request);

/// Measured training runs, collectives and kernels beside what is predicted.
struct ValidateRequest {
  std::vector<std::string> datasets;       // tables
  std::string by = {};                     // also statistics by family, chip or stack
  std::vector<std::string> families = {};  // only rows of these
  std::int64_t worst = 10;                 // rows to list that are farthest off
  bool rows = false;                       // list every row in text
  std::optional<double> fail_above = {};   // percent of mean error
  std::vector<std::string> measured;       // of tables of kernels: tables of products
  std::int64_t given = 0;                  // how far off the others are if so many are known
  std::string explain = {};                // a row of which every term is asked for
  std::vector<std::string> trace = {};     // a measured step instead of tables, as a TraceRequest
  Asked scenario = {};                     // of it
  bool for_report = false;                 // with what reports alone show, pictures
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};
struct ValidateOutcome : Answer {
  // Pictures, as SVG; null where there are none.
  std::function<std::string()> plot = {};
  std::function<std::string()> residuals = {};
  std::function<std::string()> histogram = {};
};
[[nodiscard]] std::span<const Option<ValidateRequest>> validate_options();
/// Good: the mean error is not above what was asked. Throws InputError.
[[nodiscard]] ValidateOutcome ask(const ValidateRequest& request);

/// What was measured of which model, chip, software and precision, and how far off it is.
struct SupportRequest {
  std::vector<std::string> datasets = {};  // tables; none: the public runs
  Asked scenario = {};                     // first what is known of runs like it; of no name: none
};
[[nodiscard]] std::span<const Option<SupportRequest>> support_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const SupportRequest& request);

/// The figures of a chip, network or software stack, fitted to measurements.
struct CalibrateRequest {
  std::string kind;                   // chip, network or stack
  std::vector<std::string> data;      // files
  std::string base;                   // what to start from
  std::vector<std::string> fit = {};  // "PATH[,PATH…][=LEAST:MOST]"; otherwise the usual ones
  std::string cluster = {};           // that a network is measured in
  std::string from = {};              // the least size
  std::string date = {};
  std::string source = {};
  std::string name = {};
  bool every_stack = false;
  bool accept = false;  // a fit that is rejected
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};
struct CalibrateOutcome : Answer {
  std::string profile;         // the new data, as a file
  std::string rejection = {};  // why the fit is no evidence, and what becomes of it
};
[[nodiscard]] std::span<const Option<CalibrateRequest>> calibrate_options();
/// Good: the fit is sound, or accepted. Throws InputError.
[[nodiscard]] CalibrateOutcome ask(const CalibrateRequest& request);

/// What a run's own files say of how far off its prediction is, and why: a launch script or other
/// configuration, a training log, traces of ranks, output of nccl-tests, topologies, a run of this
/// program. Each is known by what is in it.
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
