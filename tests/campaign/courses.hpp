#pragma once
// Courses for tests, from JSON texts.

#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"
#include "titer/campaign/course.hpp"

namespace titer::testing {

/// A small model on two of eight devices, with the rest of the course.
inline std::string course_json_of(std::string_view rest) {
  return R"({"scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
 "plan": {"data": 2}, "training": {"global_batch": 48}},
)" + std::string(rest) +
         "}";
}

inline Course course_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  const TemporaryFolder folder;
  std::vector<Assignment> changes;
  for (const std::string& set : sets) {
    changes.push_back(parse_assignment(set));
  }
  return load_course(folder.file("course.json", text), changes);
}

/// The result of a course of one kind.
template <class Result>
Result followed(const Course& course, Fidelity fidelity = Fidelity::closed) {
  return std::get<Result>(follow(course, fidelity));
}

}  // namespace titer::testing
