#include "titer/plan/stack.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

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
  for (const DataType of_products : {DataType::fp8, DataType::fp4, DataType::int8}) {
    EXPECT_EQ(stack.gradient_type(of_products), DataType::bf16) << "as in bf16";
  }
  EXPECT_EQ(stack.runtime_memory, 2_GiB);
  EXPECT_EQ(stack.evidence.source("dispatch"), "a stopwatch");
  EXPECT_EQ(stack.evidence.source("runtime_memory"), "given by the user");
}

TEST(ReadStack, OverlapsNothingUnlessItSaysSo) {
  const std::string rest = R"("name": "mine", "dispatch": "4 us", "tensor_overlap": "none",
    "gradient_precision": {}, "runtime_memory": "2 GiB")";
  const Stack plain = read_text("{" + rest + "}");
  EXPECT_EQ(plain.pipeline_send, PipelineSend::blocking);
  EXPECT_EQ(plain.interleaved_send, std::nullopt);
  EXPECT_FALSE(plain.overlap_grad_reduce);
  EXPECT_FALSE(plain.overlap_param_gather);
  EXPECT_EQ(plain.overlap_slowdown, 1.0);
  EXPECT_EQ(plain.bucket(8), 0.0);
  const Stack stack = read_text("{" + rest + R"(, "sources": {"measured": "a stopwatch"},
    "pipeline_send": "batched", "interleaved_send": "overlapped", "overlap_grad_reduce": true,
    "overlap_param_gather": true, "bucket_parameters": 4e7, "bucket_parameters_per_rank": 1e6,
    "overlap_slowdown": {"value": 1.25, "source": "measured"}})");
  EXPECT_EQ(stack.pipeline_send, PipelineSend::batched);
  EXPECT_EQ(stack.interleaved_send, PipelineSend::overlapped);
  EXPECT_TRUE(stack.overlap_grad_reduce);
  EXPECT_TRUE(stack.overlap_param_gather);
  EXPECT_EQ(stack.bucket(8), 4e7);
  EXPECT_EQ(stack.bucket(64), 64 * 1e6);
  EXPECT_EQ(stack.overlap_slowdown, 1.25);
  EXPECT_EQ(stack.evidence.source("overlap_slowdown"), "a stopwatch");
  EXPECT_EQ(complaints("{" + rest + R"(, "overlap_slowdown": 0.5})").size(), 1U)
      << "nothing is faster beside something else";
}

TEST(ReadStack, ReportsWhatIsMissing) {
  const auto lines = complaints("{}");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "stack.json:1:1: name: missing; expected a text in quotes");
  EXPECT_EQ(lines[1],
            "stack.json:1:1: dispatch: missing; expected " + std::string(example<Seconds>()));
  EXPECT_EQ(lines[2], "stack.json:1:1: tensor_overlap: missing; expected one of: none, bulk, ring");
  EXPECT_EQ(lines[3], "stack.json:1:1: gradient_precision: missing; expected an object");
}

TEST(ShippedStacks, AreAllRead) {
  const auto names = shipped_names(kStackData);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Stack stack = shipped::stack(name);
    EXPECT_EQ(stack.name, name);
    EXPECT_GT(stack.runtime_memory + stack.memory.context, 0_B);
    EXPECT_NE(stack.evidence.find("dispatch"), nullptr);
  }
}

TEST(MegatronStack, KeepsFp32GradientsOfBf16AndFp16OnesOfFp16) {
  const Stack stack = shipped::stack("megatron-lm");
  EXPECT_EQ(stack.gradient_type(DataType::bf16), DataType::fp32);
  EXPECT_EQ(stack.gradient_type(DataType::fp16), DataType::fp16);
  EXPECT_EQ(stack.gradient_type(DataType::fp32), DataType::fp32);
}

TEST(MegatronStack, OverlapsWhatTheLaterOneDoes) {
  const Stack before = shipped::stack("megatron-lm");
  EXPECT_FALSE(before.overlap_grad_reduce);
  EXPECT_EQ(before.overlap_slowdown, 1.0) << "its runs were fitted without";
  const Stack later = shipped::stack("megatron-core");
  EXPECT_TRUE(later.overlap_grad_reduce);
  EXPECT_TRUE(later.overlap_param_gather);
  EXPECT_EQ(later.pipeline_send, PipelineSend::blocking);
  EXPECT_EQ(later.interleaved_send, PipelineSend::overlapped);
  EXPECT_EQ(later.bucket(100), 100e6);
  EXPECT_NE(later.evidence.find("overlap_slowdown"), nullptr);
}

TEST(TensorOverlapName, IsTheOneOfItsChoice) {
  for (const Choice<TensorOverlap>& choice : kTensorOverlaps) {
    EXPECT_EQ(name(choice.value), choice.name);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
