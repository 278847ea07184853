#pragma once
// Training over time: what one scenario, or several, come to when phases follow one another, jobs
// share devices, clients train in rounds, or a fleet follows its queries.

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "titer/campaign/federated.hpp"
#include "titer/campaign/phases.hpp"
#include "titer/campaign/query_load.hpp"
#include "titer/campaign/shared_jobs.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

using CourseKind = std::variant<TrainingPhases, SharedJobs, FederatedCourse, QueryLoad>;
using CourseResult = std::variant<PhasesResult, SharingResult, FederatedResult, QueryFleetResult>;

struct Course {
  std::string title;
  CourseKind kind;
  std::vector<std::string> notes{};  // answer_notes() of its scenarios
};

/// One of
///   {"scenario": NAME|FILE|{…}, "phases": [{"name", "set": {PATH: VALUE}, "iterations" | "samples"
///     | "time"}], "change": {"move": "storage" | "network", "storage_bandwidth", "restart"}}
///   {"scenario", "jobs": [{"name", "scenario", "set", "load"}]}
///   {"scenario", "rounds": {"rounds", "clients", "local_steps", "link": {"bandwidth",
///     "upload_bandwidth", "latency"}, "server_bandwidth", "averaging_bandwidth", "stragglers":
///     {"distribution", "deviation"}}}
///   {"queries": [{"name", "queries", "time"}], "devices_per_query"}
/// Changes whose path leads into a part of a scenario ("plan.tensor") are made to every scenario of
/// the course, before its own; all others to the course ("rounds.clients", "phases.0.time").
/// Throws InputError.
[[nodiscard]] Course load_course(std::string_view name_or_file,
                                 std::span<const Assignment> changes = {});
/// Of a document; the name is what it is called where it has no title.
[[nodiscard]] Course read_course(Document document,
                                 std::string_view name,
                                 std::span<const Assignment> changes = {});

/// Throws InputError where the fidelity does not go with a scenario.
[[nodiscard]] CourseResult follow(const Course& course, Fidelity fidelity);

/// What of it does not fit in memory, a line each.
[[nodiscard]] std::vector<std::string> too_large(const CourseResult& result);

}  // namespace titer
