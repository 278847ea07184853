#pragma once
// Two results that must be equal to the last bit.

#include <gtest/gtest.h>

#include <string>

#include "titer/estimate/result.hpp"

namespace titer {

inline void expect_same(const StepResult& a, const StepResult& b, const std::string& text) {
  EXPECT_EQ(a.iteration_time, b.iteration_time) << text;
  for (const BreakdownPart& part : kBreakdownParts) {
    EXPECT_EQ(a.breakdown.*part.value, b.breakdown.*part.value) << text << ": " << part.name;
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    EXPECT_EQ(a.comm_total.*part.value, b.comm_total.*part.value) << text << ": " << part.name;
  }
  EXPECT_EQ(a.reference_stage, b.reference_stage) << text;
  EXPECT_EQ(a.mfu, b.mfu) << text;
  EXPECT_EQ(a.hfu, b.hfu) << text;
  EXPECT_EQ(a.tokens_per_s, b.tokens_per_s) << text;
  EXPECT_EQ(a.memory_peak, b.memory_peak) << text;
  ASSERT_EQ(a.memory.size(), b.memory.size()) << text;
  for (std::size_t s = 0; s < a.memory.size(); ++s) {
    EXPECT_EQ(a.memory[s].total(), b.memory[s].total()) << text;
  }
  EXPECT_EQ(a.grade, b.grade) << text;
}

}  // namespace titer
