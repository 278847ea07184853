#pragma once
// A question that users ask, as one command: its answer comes soon enough to go on asking.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "app/program.hpp"
#include "titer/input/read_document.hpp"

namespace titer::testing {

/// Of all programs that were started and have ended: what others take of this machine is not in it.
inline double seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Runs the command; an optimised program answers within ten seconds of two cores.
inline Outcome asked(const std::vector<std::string>& arguments) {
  const double before = seconds_of_children();
  Outcome outcome = titer(arguments);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds_of_children() - before, 2 * 10.0);
#else
  static_cast<void>(before);
#endif
  return outcome;
}

/// The answer as JSON. `code`: 1 where it is no.
inline Document answer(std::vector<std::string> arguments, int code = 0) {
  arguments.emplace_back("--format=json");
  const Outcome outcome = asked(arguments);
  EXPECT_EQ(outcome.code, code) << outcome.err;
  return parse_json(outcome.out, "answer");
}

inline double number(const Document& document, std::string_view path) {
  const Value* value = document.at(path);
  EXPECT_NE(value, nullptr) << path;
  return value == nullptr ? 0 : value->number;
}

inline std::string text(const Document& document, std::string_view path) {
  const Value* value = document.at(path);
  EXPECT_NE(value, nullptr) << path;
  return value == nullptr ? "" : value->text;
}

}  // namespace titer::testing
