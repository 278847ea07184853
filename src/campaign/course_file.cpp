// Reading a course's file.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "course_document.hpp"
#include "titer/campaign/course.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

constexpr double kMostSamples = 1e15;
constexpr auto kMostWhole = static_cast<std::int64_t>(kMostSamples);

PhaseLength read_length(Reader& in) {
  constexpr std::array<std::string_view, 3> keys = {"iterations", "samples", "time"};
  const auto given =
      std::count_if(keys.begin(), keys.end(), [&](std::string_view key) { return in.has(key); });
  if (given != 1) {
    static_cast<void>(in.raw("iterations"));
    static_cast<void>(in.raw("samples"));
    static_cast<void>(in.raw("time"));
    in.fail("", "expected one of iterations, samples and time");
    return Iterations{};
  }
  if (in.has("iterations")) {
    return Iterations{in.integer("iterations", 1, kMostWhole)};
  }
  if (in.has("samples")) {
    return Sequences{in.number("samples", 1, kMostSamples)};
  }
  return read_duration(in);
}

std::optional<LayoutChange> read_change(Reader& in) {
  auto written = in.maybe_object("change");
  if (!written) {
    return std::nullopt;
  }
  LayoutChange change;
  change.move = written->maybe_choice<StateMove>("move", kStateMoves).value_or(change.move);
  if (change.move == StateMove::storage) {
    change.storage_bandwidth = written->quantity<BytesPerSecond>("storage_bandwidth");
  }
  change.restart = written->maybe_quantity<Seconds>("restart").value_or(Seconds{});
  written->finish();
  return change;
}

/// A phase as it is written.
struct WrittenPhase {
  CoursePhase phase;
  std::vector<Assignment> changes;
};

std::vector<WrittenPhase> read_written_phases(Reader& in, const Document& document) {
  std::vector<WrittenPhase> written;
  for (Reader& phase : in.objects("phases")) {
    WrittenPhase one;
    one.phase.name = read_name(phase, "phase", written.size());
    one.changes = read_set(phase, document);
    one.phase.length = read_length(phase);
    phase.finish();
    written.push_back(std::move(one));
  }
  if (written.empty()) {
    in.fail("phases", "expected a phase or more");
  }
  return written;
}

/// Whether states have to move between the two.
bool differ(const Document& a, const Document& b) {
  constexpr std::array<std::string_view, 3> parts = {"plan", "cluster", "model"};
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return to_json(*a.at(part), 0) != to_json(*b.at(part), 0);
  });
}

/// A torus has no network interfaces.
void check_networks(const TrainingPhases& course) {
  if (!course.change || course.change->move != StateMove::network) {
    return;
  }
  for (const CoursePhase& phase : course.phases) {
    if (phase.scenario.cluster.nics == 0) {
      throw InputError(
          fmt::format("change.move: network: expected clusters with network interfaces, which that "
                      "of {} has not",
                      phase.name));
    }
  }
}

TrainingPhases read_phases(Reader& in,
                           const CourseDocument& file,
                           Problems& problems,
                           ScenarioNotes& notes) {
  const Value* scenario = scenario_value(in);
  TrainingPhases course;
  course.change = read_change(in);
  std::vector<WrittenPhase> written = read_written_phases(in, file.document);
  in.finish();
  problems.raise();
  const ScenarioSource base = file.source(*scenario);
  std::optional<ScenarioSource> before;
  for (WrittenPhase& one : written) {
    ScenarioSource source = base;
    one.phase.scenario = changed(source, one.changes, one.phase.name);
    notes.add(one.phase.name, answer_notes(source, one.phase.scenario));
    one.phase.moves = before && differ(before->document(), source.document());
    course.phases.push_back(std::move(one.phase));
    before = std::move(source);
  }
  check_networks(course);
  return course;
}

/// A job as it is written.
struct WrittenJob {
  SharedJob job;
  const Value* scenario = nullptr;
  std::vector<Assignment> changes;
};

std::vector<WrittenJob> read_written_jobs(Reader& in, const Document& document) {
  const Value* common = in.has("scenario") ? scenario_value(in) : nullptr;
  std::vector<WrittenJob> written;
  for (Reader& job : in.objects("jobs")) {
    WrittenJob one;
    one.job.name = read_name(job, "job", written.size());
    const bool has_own = common == nullptr || job.has("scenario");
    one.scenario = has_own ? scenario_value(job) : common;
    one.changes = read_set(job, document);
    one.job.load = job.maybe_number("load", 1e-9, 1);
    job.finish();
    written.push_back(std::move(one));
  }
  if (written.size() < 2) {
    in.fail("jobs", "expected two jobs or more");
  }
  return written;
}

std::string devices_text(const Scenario& scenario) {
  return fmt::format(
      "{} x {} ({})", scenario.plan.devices(), scenario.cluster.chip.name, scenario.cluster.name);
}

/// Jobs that take turns are on the same devices.
void check_devices(const SharedJobs& course, const Document& document) {
  const std::string first = devices_text(course.jobs.front().scenario);
  Problems problems;
  for (std::size_t i = 1; i < course.jobs.size(); ++i) {
    const std::string own = devices_text(course.jobs[i].scenario);
    if (own != first) {
      const std::string path = fmt::format("jobs.{}", i);
      problems.add(fmt::format("{}: {}: {}: expected the devices of the first job, {}",
                               document.where(document.at(path)->origin),
                               path,
                               own,
                               first));
    }
  }
  problems.raise();
}

SharedJobs read_jobs(Reader& in,
                     const CourseDocument& file,
                     Problems& problems,
                     ScenarioNotes& notes) {
  std::vector<WrittenJob> written = read_written_jobs(in, file.document);
  in.finish();
  problems.raise();
  SharedJobs course;
  for (WrittenJob& one : written) {
    ScenarioSource source = file.source(*one.scenario);
    one.job.scenario = changed(source, one.changes, one.job.name);
    notes.add(one.job.name, answer_notes(source, one.job.scenario));
    course.jobs.push_back(std::move(one.job));
  }
  check_devices(course, file.document);
  return course;
}

FederatedCourse read_rounds(Reader& in,
                            const CourseDocument& file,
                            Problems& problems,
                            ScenarioNotes& notes) {
  const Value* scenario = scenario_value(in);
  FederatedCourse course;
  FederatedRounds& rounds = course.rounds;
  Reader written = in.object("rounds");
  rounds.rounds = written.integer("rounds", 1, kMostWhole);
  rounds.clients = written.integer("clients", 1, kMostWhole);
  rounds.local_steps = written.integer("local_steps", 1, kMostWhole);
  Reader link = written.object("link");
  rounds.download_bandwidth = link.quantity<BytesPerSecond>("bandwidth");
  rounds.upload_bandwidth =
      link.maybe_quantity<BytesPerSecond>("upload_bandwidth").value_or(rounds.download_bandwidth);
  rounds.latency = link.maybe_quantity<Seconds>("latency").value_or(Seconds{});
  link.finish();
  rounds.server_bandwidth = written.quantity<BytesPerSecond>("server_bandwidth");
  rounds.averaging_bandwidth = written.maybe_quantity<BytesPerSecond>("averaging_bandwidth");
  if (auto spread = written.maybe_object("stragglers")) {
    rounds.link_spread = read_jitter(std::move(*spread));
  }
  written.finish();
  in.finish();
  problems.raise();
  const ScenarioSource source = file.source(*scenario);
  course.client = source.read();
  notes.add("client", answer_notes(source, course.client));
  return course;
}

QueryLoad read_queries(Reader& in,
                       const CourseDocument& file,
                       Problems& problems,
                       ScenarioNotes& /*no scenarios*/) {
  QueryLoad load;
  for (Reader& written : in.objects("queries")) {
    QueryInterval interval;
    interval.name = read_name(written, "interval", load.intervals.size());
    interval.queries = written.number("queries", 0, 1e9);
    interval.time = read_duration(written);
    written.finish();
    load.intervals.push_back(std::move(interval));
  }
  if (load.intervals.empty()) {
    in.fail("queries", "expected an interval or more");
  }
  load.devices_per_query = in.maybe_number("devices_per_query", 1e-6, 1e6).value_or(1);
  in.finish();
  problems.raise();
  if (!file.for_scenarios.empty()) {
    throw InputError(file.for_scenarios.front().source +
                     ": expected a path of the course: queries have no scenario");
  }
  return load;
}

using ReadKind = CourseKind (*)(Reader&, const CourseDocument&, Problems&, ScenarioNotes&);
struct KindOfCourse {
  std::string_view key;
  ReadKind read;
};
template <auto Read>
CourseKind read_as(Reader& in,
                   const CourseDocument& file,
                   Problems& problems,
                   ScenarioNotes& notes) {
  return Read(in, file, problems, notes);
}
constexpr std::array<KindOfCourse, 4> kKindsOfCourses = {{{"phases", read_as<read_phases>},
                                                          {"jobs", read_as<read_jobs>},
                                                          {"rounds", read_as<read_rounds>},
                                                          {"queries", read_as<read_queries>}}};

/// The file's own title is of the course as it is written.
std::string title_of(Reader& in, std::string_view name, std::span<const Assignment> changes) {
  std::string title = in.maybe_text("title").value_or(std::string(name));
  if (changes.empty()) {
    return title;
  }
  title = std::string(name) + " with";
  for (const Assignment& change : changes) {
    title += (title.ends_with("with") ? " " : ", ") + change.source;
  }
  return title;
}

}  // namespace

Course read_course(Document document, std::string_view name, std::span<const Assignment> changes) {
  const CourseDocument file(std::move(document), changes);
  Problems problems;
  Reader in(file.document, problems);
  problems.raise();
  static_cast<void>(in.maybe_text("name"));
  const std::string title = title_of(in, name, changes);
  const KindOfCourse* found = nullptr;
  int kinds = 0;
  for (const KindOfCourse& kind : kKindsOfCourses) {
    if (in.has(kind.key)) {
      found = &kind;
      ++kinds;
    }
  }
  if (kinds != 1) {
    in.fail("", "expected one of phases, jobs, rounds and queries");
    problems.raise();
  }
  ScenarioNotes notes;
  CourseKind kind = found->read(in, file, problems, notes);
  return {.title = title, .kind = std::move(kind), .notes = notes.lines()};
}

Course load_course(std::string_view name_or_file, std::span<const Assignment> changes) {
  return read_course(load_data(kCourseData, name_or_file), name_or_file, changes);
}

}  // namespace titer
