#pragma once
// A question that users ask, as one command.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "titer/input/read_document.hpp"

namespace titer::testing {

/// The answer as JSON. `code`: 1 where it is no.
inline Document answer(std::vector<std::string> arguments, int code = 0) {
  arguments.emplace_back("--format=json");
  const Outcome outcome = titer(arguments);
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
