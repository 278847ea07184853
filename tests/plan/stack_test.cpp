#include "titer/plan/stack.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/shipped.hpp"

namespace titer {
namespace {

Stack read_text(const std::string& text) {
  return shipped::read_all(parse_json(text, "stack.json"), read_stack);
}

std::vector<std::string> complaints(const std::string& text) {
  try {
    (void)read_text(text);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(ReadStack, TakesEveryMember) {
  const Stack stack = read_text(R"({
    "name": "mine", "sources": {"measured": "a stopwatch"},
    "dispatch": {"value": "4 us", "source": "measured"}, "tensor_overlap": "none",
    "pipeline_scatter_gather": true, "gradient_precision": {"bf16": "bf16"},
    "runtime_memory": "2 GiB"})");
  EXPECT_EQ(stack.title, "mine") << "its name where it has no title";
  EXPECT_EQ(stack.dispatch, 4_us);
  EXPECT_EQ(stack.tensor_overlap, TensorOverlap::none);
  EXPECT_TRUE(stack.pipeline_scatter_gather);
  EXPECT_EQ(stack.gradient_type(DataType::bf16), DataType::bf16);
  EXPECT_EQ(stack.gradient_type(DataType::fp16), DataType::fp32) << "unless said otherwise";
  EXPECT_EQ(stack.runtime_memory, 2_GiB);
  EXPECT_EQ(stack.evidence.source("dispatch"), "a stopwatch");
  EXPECT_EQ(stack.evidence.source("runtime_memory"), "given by the user");
}

TEST(ReadStack, ReportsWhatIsMissing) {
  const auto lines = complaints("{}");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "stack.json:1:1: name: missing; expected a text in quotes");
  EXPECT_EQ(lines[1],
            "stack.json:1:1: dispatch: missing; expected " + std::string(example<Seconds>()));
  EXPECT_EQ(lines[2], "stack.json:1:1: tensor_overlap: missing; expected one of: none, backward");
  EXPECT_EQ(lines[3], "stack.json:1:1: gradient_precision: missing; expected an object");
  EXPECT_EQ(lines[4],
            "stack.json:1:1: runtime_memory: missing; expected " + std::string(example<Bytes>()));
}

TEST(ShippedStacks, AreAllRead) {
  const auto names = shipped_names(kStackData);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Stack stack = shipped::stack(name);
    EXPECT_EQ(stack.name, name);
    EXPECT_GT(stack.runtime_memory, 0_B);
    EXPECT_NE(stack.evidence.find("dispatch"), nullptr);
  }
}

TEST(MegatronStack, KeepsFp32GradientsOfBf16AndFp16OnesOfFp16) {
  const Stack stack = shipped::stack("megatron-lm");
  EXPECT_EQ(stack.gradient_type(DataType::bf16), DataType::fp32);
  EXPECT_EQ(stack.gradient_type(DataType::fp16), DataType::fp16);
  EXPECT_EQ(stack.gradient_type(DataType::fp32), DataType::fp32);
}

TEST(TensorOverlapName, IsTheOneOfItsChoice) {
  for (const Choice<TensorOverlap>& choice : kTensorOverlaps) {
    EXPECT_EQ(name(choice.value), choice.name);
  }
}

}  // namespace
}  // namespace titer
