// Reading a course of jobs that share devices.

#include <fmt/format.h>

#include "course_document.hpp"

namespace titer {
namespace {

struct WrittenJob : WrittenPart {
  const Value* common = nullptr;  // of all jobs
  std::optional<double> load{};
};
constexpr std::array kJobFields = {
    fields::text<&WrittenJob::name, WrittenJob>("name", "of the job").or_else("`job N`"),
    scenario_field<WrittenJob>("of this job")
        .read_by([](const Field<WrittenJob>& own, Reader& in, WrittenJob& job) {
          const bool has_own = job.common == nullptr || in.has(own.key);
          job.scenario = has_own ? scenario_value(in) : job.common;
        })
        .or_else("that of all jobs"),
    changes_field<WrittenJob>(),
    fields::number<&WrittenJob::load>("load", {1e-9, 1}, "share of the time that the job computes")
        .or_else("what the prediction says")};

struct WrittenJobs : WrittenPart {
  std::vector<WrittenJob> jobs{};
};

void read_job_list(const Field<WrittenJobs>& own, Reader& in, WrittenJobs& course) {
  WrittenJob empty;
  empty.document = course.document;
  empty.name = "job";
  empty.common = course.scenario;
  course.jobs = read_parts<WrittenJob, kJobFields>(in, own.key, empty);
  if (course.jobs.size() < 2) {
    in.fail(own.key, "expected two jobs or more");
  }
}

constexpr std::array kJobsFields = {
    scenario_field<WrittenJobs>("of all jobs that have none of their own")
        .read_by([](const Field<WrittenJobs>& own, Reader& in, WrittenJobs& course) {
          course.scenario = in.has(own.key) ? scenario_value(in) : nullptr;
        })
        .or_else("each has one"),
    fields::special<WrittenJobs>("jobs",
                                 {read_job_list,
                                  [](const Field<WrittenJobs>& /*own*/) {
                                    return schema::list_of(schema_of<WrittenJob>(kJobFields));
                                  },
                                  nullptr},
                                 "two or more that take turns on the same devices")
        .needed()};

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

}  // namespace

Value jobs_schema() { return schema_of<WrittenJobs>(kJobsFields); }

SharedJobs read_jobs(Reader& in,
                     const CourseDocument& file,
                     Problems& problems,
                     ScenarioNotes& notes) {
  WrittenJobs written;
  written.document = &file.document;
  read_fields<WrittenJobs>(kJobsFields, in, written);
  problems.raise();
  SharedJobs course;
  for (const WrittenJob& one : written.jobs) {
    ScenarioSource source = file.source(*one.scenario);
    SharedJob job{
        .name = one.name, .scenario = changed(source, one.changes, one.name), .load = one.load};
    notes.add(job.name, answer_notes(source, job.scenario));
    course.jobs.push_back(std::move(job));
  }
  check_devices(course, file.document);
  return course;
}

}  // namespace titer
