// Reading a course's file.

#include <array>

#include "course_document.hpp"
#include "titer/campaign/file_schemas.hpp"

namespace titer {
namespace {

using R = FederatedRounds;
constexpr std::array kClientLinkFields = {
    fields::quantity<&R::download_bandwidth>("bandwidth", "of a client").needed(),
    fields::quantity<&R::upload_bandwidth>("upload_bandwidth", "likewise")
        .read_by([](const Field<R>& own, Reader& in, R& rounds) {
          rounds.upload_bandwidth =
              in.maybe_quantity<BytesPerSecond>(own.key).value_or(rounds.download_bandwidth);
        })
        .or_else("as downwards"),
    fields::quantity<&R::latency>("latency", "one way")};

constexpr std::array kRoundFields = {
    fields::integer<&R::rounds>("rounds", kAmount, "how many").needed(),
    fields::integer<&R::clients>("clients", kAmount, "in each").needed(),
    fields::integer<&R::local_steps>("local_steps", kAmount, "of a client in a round").needed(),
    fields::special<R>("link",
                       {[](const Field<R>& own, Reader& in, R& rounds) {
                          Reader link = in.object(own.key);
                          read_fields<R>(kClientLinkFields, link, rounds);
                        },
                        [](const Field<R>& /*own*/) { return schema_of<R>(kClientLinkFields); },
                        nullptr},
                       "of clients")
        .needed(),
    fields::quantity<&R::server_bandwidth>("server_bandwidth", "of the server").needed(),
    fields::quantity<&R::averaging_bandwidth>("averaging_bandwidth",
                                              "at which the server reads and adds up weights")
        .or_else("takes no time"),
    fields::special<R>("stragglers",
                       {[](const Field<R>& own, Reader& in, R& rounds) {
                          if (auto spread = in.maybe_object(own.key)) {
                            rounds.link_spread = read_jitter(std::move(*spread));
                          }
                        },
                        [](const Field<R>& /*own*/) { return schema_of(jitter_fields()); },
                        nullptr},
                       "spread of the clients' links")};

struct WrittenRounds : WrittenPart {
  FederatedRounds rounds{};
};
constexpr std::array kRoundsFields = {
    scenario_field<WrittenRounds>("of a client").needed(),
    fields::special<WrittenRounds>(
        "rounds",
        {[](const Field<WrittenRounds>& own, Reader& in, WrittenRounds& course) {
           Reader rounds = in.object(own.key);
           read_fields<R>(kRoundFields, rounds, course.rounds);
         },
         [](const Field<WrittenRounds>& /*own*/) { return schema_of<R>(kRoundFields); },
         nullptr},
        "of clients that train, and a server that averages")
        .needed()};

FederatedCourse read_rounds(Reader& in,
                            const CourseDocument& file,
                            Problems& problems,
                            ScenarioNotes& notes) {
  WrittenRounds written;
  read_fields<WrittenRounds>(kRoundsFields, in, written);
  problems.raise();
  const ScenarioSource source = file.source(*written.scenario);
  FederatedCourse course;
  course.rounds = written.rounds;
  course.client = source.read();
  notes.add("client", answer_notes(source, course.client));
  return course;
}

constexpr std::array kIntervalFields = {
    fields::text<&QueryInterval::name>("name", "of the interval").or_else("`interval N`"),
    fields::number<&QueryInterval::queries>("queries", {0, 1e9}, "at a time").needed(),
    fields::quantity<&QueryInterval::time>("time", "how long it lasts")
        .needed()
        .read_by([](const Field<QueryInterval>& /*own*/, Reader& in, QueryInterval& interval) {
          interval.time = read_duration(in);
        })};

void read_intervals(const Field<QueryLoad>& own, Reader& in, QueryLoad& load) {
  load.intervals =
      read_parts<QueryInterval, kIntervalFields>(in, own.key, {.name = "interval", .time = {}});
  if (load.intervals.empty()) {
    in.fail(own.key, "expected an interval or more");
  }
}

constexpr std::array kQueriesFields = {
    fields::special<QueryLoad>("queries",
                               {read_intervals,
                                [](const Field<QueryLoad>& /*own*/) {
                                  return schema::list_of(schema_of<QueryInterval>(kIntervalFields));
                                },
                                nullptr},
                               "intervals in order")
        .needed(),
    fields::number<&QueryLoad::devices_per_query>(
        "devices_per_query", {1e-6, 1e6}, "less than one: a device serves several")};

QueryLoad read_queries(Reader& in,
                       const CourseDocument& file,
                       Problems& problems,
                       ScenarioNotes& /*no scenarios*/) {
  QueryLoad load;
  read_fields<QueryLoad>(kQueriesFields, in, load);
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
  Value (*schema)();
};
template <auto Read>
CourseKind read_as(Reader& in,
                   const CourseDocument& file,
                   Problems& problems,
                   ScenarioNotes& notes) {
  return Read(in, file, problems, notes);
}
constexpr std::array<KindOfCourse, 4> kKindsOfCourses = {
    {{"phases", read_as<read_phases>, phases_schema},
     {"jobs", read_as<read_jobs>, jobs_schema},
     {"rounds", read_as<read_rounds>, [] { return schema_of<WrittenRounds>(kRoundsFields); }},
     {"queries", read_as<read_queries>, [] { return schema_of<QueryLoad>(kQueriesFields); }}}};

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

Value course_schema() {
  std::vector<Value> kinds;
  for (const KindOfCourse& kind : kKindsOfCourses) {
    Value& schema = kinds.emplace_back(kind.schema());
    for (const std::string_view key : {"name", "title"}) {
      schema::add_key(schema, {.key = key, .about = "of the course", .written = schema::text()});
    }
  }
  return schema::either(std::move(kinds));
}

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
