#include "titer/ask/campaign.hpp"

#include "titer/ask/asked_source.hpp"
#include "titer/report/study/capacity_report.hpp"
#include "titer/report/study/course_report.hpp"

namespace titer {

Answer ask(const CapacityRequest& request) {
  const Asked& asked = request.question;
  const CapacityQuestion question = resolved(
      asked,
      [&](const std::string& name) { return load_capacity(name, asked.changes); },
      [&](const Document& document) { return read_capacity(document, asked.changes); });
  const PlanFinder searched = [&](const CapacityQuestion& what, std::int64_t devices) {
    return searched_plan(what, devices, request.threads);
  };
  const CapacityResult result =
      find_capacity(question, request.search ? searched : PlanFinder(scaled_plan));
  View view = capacity_view(question, result);
  add_notes(capacity_notes(question, result), view);
  return {.view = std::move(view), .good = result.possible()};
}

Answer ask(const CourseRequest& request) {
  const Asked& asked = request.course;
  const Course course = resolved(
      asked,
      [&](const std::string& name) { return load_course(name, asked.changes); },
      [&](const Document& document) { return read_course(document, "course", asked.changes); });
  const CourseResult result = follow(course, request.fidelity);
  View view = course_view(course, result);
  add_notes(course.notes, view);
  return {.view = std::move(view), .good = too_large(result).empty()};
}

}  // namespace titer
