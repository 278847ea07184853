// Measured traces of every format, and what their steps are made of.

#include <gtest/gtest.h>
#include <zlib.h>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/op_profile.hpp"
#include "titer/trace/trace_breakdown.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string data(const std::string& file) { return (root() / "tests/data/traces" / file).string(); }

std::string gzip(std::string_view text) {
  std::string packed(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(text);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

double us(Seconds time) { return 1e6 * time.si(); }

void expect_time(const StepBreakdown& step,
                 TraceCategory category,
                 double communication_first,
                 double compute_first,
                 double busy) {
  EXPECT_NEAR(us(step[category].communication_first), communication_first, 1e-9) << name(category);
  EXPECT_NEAR(us(step[category].compute_first), compute_first, 1e-9) << name(category);
  EXPECT_NEAR(us(step[category].busy), busy, 1e-9) << name(category);
}

/// The words of a rule.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '|') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

void expect_whole(const StepBreakdown& step) {
  Seconds first = step.idle;
  Seconds second = step.idle;
  for (const CategoryTime& time : step.categories) {
    first += time.communication_first;
    second += time.compute_first;
  }
  EXPECT_NEAR(first / step.time, 1, 1e-12);
  EXPECT_NEAR(second / step.time, 1, 1e-12);
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Both steps: a product 10 to 40, an all-reduce 30 to 60, GELU 50 to 70, a copy 65 to 80; in the
// second also attention from 90 on, which lasts 2 us longer than the step.
TEST(Trace, OverlapsOfAPyTorchTraceCountByBothConventions) {
  ASSERT_EQ(trace_format(data("kineto.json")), TraceFormat::trace_events);
  const Trace trace = load_trace_events(data("kineto.json"));
  EXPECT_EQ(trace.format, "PyTorch profiler");
  EXPECT_EQ(trace.chip, "Test Accelerator");
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].streams.size(), 3U);
  EXPECT_EQ(trace.devices[0].streams[0].name, "7");
  EXPECT_EQ(trace.devices[0].streams[0].spans, 5);
  EXPECT_NEAR(us(trace.devices[0].streams[0].busy), 30 + 20 + 30 + 20 + 12, 1e-9);

  const StepBreakdown step = break_down(trace);
  EXPECT_EQ(step.steps, 2);
  EXPECT_NEAR(us(step.time), (100 + 99.5) / 2, 1e-9);  // a step lasts until the next one begins
  EXPECT_NEAR(us(step.median.value()), (100 + 99.5) / 2, 1e-9);
  expect_time(step, TraceCategory::all_reduce, 30, 50 - 40, 30);
  expect_time(step, TraceCategory::matrix, 30 - 10, 30, 30);
  expect_time(step, TraceCategory::elementwise, 70 - 60, 20, 20);
  expect_time(step, TraceCategory::host_to_device, 80 - 70, 80 - 70, 15);
  expect_time(step, TraceCategory::attention, 9.5 / 2, 9.5 / 2, 9.5 / 2);
  EXPECT_NEAR(us(step.idle), (30 + 20) / 2.0, 1e-9);
  expect_whole(step);
  EXPECT_EQ(step[TraceCategory::attention].calls, 0.5);
  ASSERT_EQ(step.remarks.size(), 2U);
  EXPECT_EQ(step.remarks[0],
            "events of devices without a time, or with an impossible one: 1 are left out");
  EXPECT_EQ(step.remarks[1], "device 0: 2.5 us of work after the last step is left out");

  ASSERT_EQ(step.collectives.size(), 1U);
  EXPECT_EQ(step.collectives[0].kind.ranks, 8);
  EXPECT_EQ(step.collectives[0].kind.bytes, Bytes::from_si(2 * 1e6));  // of BFloat16
  EXPECT_EQ(step.collectives[0].calls, 1);
  EXPECT_NEAR(us(step.collectives[0].time), 30, 1e-9);
  ASSERT_EQ(step.kinds.size(), 5U);
  EXPECT_EQ(step.kinds[0].kind.name, "ampere_bf16_s16816gemm_bf16_128x128_tn");
  EXPECT_EQ(step.kinds[4].kind.name, "flash_fwd_kernel");
  EXPECT_NEAR(us(step.kinds[4].time), 12 / 2.0, 1e-9);  // it began in a step
}

TEST(Trace, CompressedAndPlainTracesAreTheSame) {
  const TemporaryFolder folder;
  const std::string text = file_text(data("kineto.json"));
  const std::string packed = gzip(text);
  const std::string path = folder.file("trace.json.gz", packed);
  EXPECT_EQ(trace_format(path), TraceFormat::trace_events);
  const StepBreakdown plain = break_down(load_trace_events(data("kineto.json")));
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_EQ(step.time, plain.time);
  EXPECT_EQ(step.idle, plain.idle);
  const std::string cut = folder.file("cut.json.gz", packed.substr(0, packed.size() / 2));
  EXPECT_NE(refusal([&] {
              (void)load_trace_events(cut);
            }).find("cut.json.gz: the compressed data ends too early, after "),
            std::string::npos);
  std::string wrong = packed;
  wrong[wrong.size() / 2] = static_cast<char>(~wrong[wrong.size() / 2]);
  wrong[wrong.size() / 2 + 1] = static_cast<char>(~wrong[wrong.size() / 2 + 1]);
  EXPECT_NE(refusal([&] {
              (void)load_trace_events(folder.file("broken.json.gz", wrong));
            }).find("broken.json.gz"),
            std::string::npos);
}

TEST(Trace, StepsOfAHostThatRunsAheadShareTheTimeOfTheDevice) {
  const TemporaryFolder folder;
  // The host is done with two steps of 10 us when the device begins; it needs 100 us.
  const std::string path = folder.file("ahead.json", R"([
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":10},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":10,"dur":10},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":40},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":70,"dur":50}])");
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_EQ(step.steps, 2);
  EXPECT_NEAR(us(step.time), 120 / 2.0, 1e-9);
  EXPECT_NEAR(us(step[TraceCategory::matrix].busy), (40 + 50) / 2.0, 1e-9);
  EXPECT_EQ(step[TraceCategory::matrix].calls, 1);
  EXPECT_FALSE(step.median);
  EXPECT_EQ(step.remarks.at(0),
            "device 0: 100 % of its work came after the host's last step: its time from the first "
            "step to its last operation was shared out over 2 steps");
}

TEST(Trace, StepsOfTheDeviceComeBeforeThoseOfTheHost) {
  const TemporaryFolder folder;
  const std::string path = folder.file("device.json", R"({"traceEvents":[
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":10},
    {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":20,"dur":40},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":30}]})");
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_NEAR(us(step.time), 40, 1e-9);
  EXPECT_NEAR(us(step.idle), 40 - 30, 1e-9);
}

TEST(Trace, SeveralDevicesAndStreamsAreMeans) {
  const TemporaryFolder folder;
  // Device 0: 0 to 60 in three spans, two of them at once and one within another. Device 1: 30 us.
  const std::string path = folder.file("two.json", R"({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":0,"dur":40},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":8,"ts":20,"dur":40},
    {"ph":"X","cat":"kernel","name":"ncclKernel_AllGather_RING_LL","pid":0,"tid":9,"ts":10,"dur":5},
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":1,"tid":9,"ts":1e2,"dur":3e1}]})");
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_EQ(step.devices, 2);
  EXPECT_EQ(step.streams, 4);
  EXPECT_EQ(step.steps, 1);
  EXPECT_NEAR(us(step.time), (60 + 30) / 2.0, 1e-9);
  expect_time(step, TraceCategory::matrix, (60 - 5) / 2.0, 60 / 2.0, 60 / 2.0);
  expect_time(step, TraceCategory::all_gather, 5 / 2.0, 0, 5 / 2.0);
  expect_time(step, TraceCategory::send_recv, 30 / 2.0, 30 / 2.0, 30 / 2.0);
  expect_whole(step);
}

// Steps 0 to 60 and 60 to 110 (names of lines come last): a product of 20 and an all-to-all of 20
// in a loop that counts by itself as nothing; then a product of 20 and a change of layout of 5.
TEST(Trace, XlaOperationsCountOnTheLinesOfDevices) {
  const StepBreakdown step = break_down(load_trace_events(data("xla.json")));
  EXPECT_EQ(step.format, "XLA trace viewer");
  EXPECT_EQ(step.steps, 2);
  EXPECT_NEAR(us(step.time), (60 + 50) / 2.0, 1e-9);
  expect_time(step, TraceCategory::matrix, 20, 20, 20);
  expect_time(step, TraceCategory::all_to_all, 20 / 2.0, 20 / 2.0, 20 / 2.0);
  expect_time(step, TraceCategory::elementwise, 5 / 2.0, 5 / 2.0, 5 / 2.0);
  EXPECT_NEAR(us(step.idle), (20 + 25) / 2.0, 1e-9);
  expect_whole(step);
}

TEST(Trace, TimesAreRoundedToNanoseconds) {
  const TemporaryFolder folder;
  const std::string path = folder.file("fine.json", R"({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10.0004,"dur":0.9996},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":10.9995,"dur":2.00049}]})");
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_NEAR(us(step.time), 1 + 2, 1e-9);
  EXPECT_EQ(step.idle, Seconds{});
}

TEST(Trace, TimesOfEpochsKeepTheirNanoseconds) {
  const TemporaryFolder folder;
  const std::string path = folder.file("epoch.json", R"({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1695835573023613.001,"dur":0.250},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":1695835573023613.2514,"dur":0.25}]})");
  const StepBreakdown step = break_down(load_trace_events(path));
  EXPECT_NEAR(us(step.time), 0.5, 1e-9);
  EXPECT_EQ(step.idle, Seconds{});
}

TEST(Trace, KernelsAreClassifiedByOrderedRules) {
  using enum TraceCategory;
  const std::vector<std::tuple<TraceLabel, TraceCategory>> cases = {
      {{.name = "ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)"}, all_reduce},
      {{.name = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}, all_gather},
      {{.name = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"}, reduce_scatter},
      {{.name = "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_Sum_f32"}, all_reduce},
      {{.name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}, send_recv},
      {{.name = "ncclDevKernel_SendRecv", .collective = "all_to_allv"}, all_to_all},
      {{.name = "ncclKernel_Broadcast_RING_LL_Sum_int8_t"}, broadcast},
      {{.name = "ncclDevKernel_Generic_1", .collective = "_reduce_scatter_base"}, reduce_scatter},
      {{.name = "ncclDevKernel_Generic_4"}, other_comm},
      {{.name = "void deep_ep::internode::dispatch<false, 4>"}, all_to_all},
      {{.name = "all-reduce-scatter.4"}, reduce_scatter},
      {{.name = "all-reduce-start.1"}, all_reduce},
      {{.name = "all-gather.12"}, all_gather},
      {{.name = "collective-permute-done.3"}, send_recv},
      {{.name = "recv-done.52"}, send_recv},
      {{.name = "broadcast.7"}, elementwise},
      {{.name = "reduce.7"}, elementwise},
      {{.name = "fusion.9", .hlo_category = "convolution fusion"}, matrix},
      {{.name = "fusion.9", .hlo_category = "loop fusion"}, elementwise},
      {{.name = "fusion.9"}, other_compute},
      {{.name = "convolution.3"}, matrix},
      {{.name = "copy-start.2"}, on_device},
      {{.name = "dot.3"}, matrix},
      {{.name = "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"}, attention},
      {{.name = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"}, attention},
      {{.name = "nvjet_tst_128x256_64x4_2x1_v_bz_TNT"}, matrix},
      {{.name = "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32"}, matrix},
      {{.name = "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32"}, matrix},
      {{.name = "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>"},
       optimizer},
      {{.name = "void cudnn::ops::nchwToNhwcKernel<float>"}, elementwise},
      {{.name = "triton_poi_fused_add_cos_sin_0"}, elementwise},
      {{.name = "void at::native::(anonymous namespace)::softmax_warp_forward"}, elementwise},
      {{.name = "my_kernel"}, other_compute},
      // The library has the word of products in its name, and products too.
      {{.name = "fbgemm_gpu::permute_2D_data_kernel"}, elementwise},
      {{.name = "split_embedding_codegen_forward_fbgemm_gpu"}, elementwise},
      {{.name = "fbgemm_gpu::f8f8bf16_rowwise_gemm"}, matrix},
      {{.name = "Memcpy DtoH (Device -> Pinned)"}, device_to_host},
      {{.name = "Memcpy PtoP (Device -> Device)"}, send_recv},
      {{.name = "Memset (Device)"}, on_device},
      {{.name = "CopyHostToDevice"}, host_to_device},
      {{.name = "infeed.1"}, host_to_device},
  };
  for (const auto& [label, category] : cases) {
    EXPECT_EQ(name(category_of(label)), name(category)) << label.name;
  }
  for (const KernelRule& rule : kernel_rules()) {
    for (const std::string& word : words_of(rule.words)) {
      for (const std::string& also : words_of(rule.also)) {
        const std::string own = word + " " + also;
        EXPECT_EQ(class_of(category_of({.name = own})), class_of(rule.category)) << own;
      }
    }
  }
}

// Shares of seed 000's Table 3 at 128 cores, in the shape of its Figure 13.
TEST(OpProfile, CategoriesAndOperationsOfOthersCount) {
  ASSERT_EQ(trace_format(data("op_profile_2022.json")), TraceFormat::op_profile);
  const StepBreakdown step = load_op_profile(data("op_profile_2022.json"));
  EXPECT_TRUE(step.only_shares);
  EXPECT_EQ(step.time, 1_s);  // 10^12 ps
  expect_time(step, TraceCategory::all_to_all, 230e3, 230e3, 230e3);
  expect_time(step, TraceCategory::all_gather, 120e3, 120e3, 120e3);
  expect_time(step, TraceCategory::all_reduce, 40e3, 40e3, 40e3);
  expect_time(step, TraceCategory::matrix, 370e3, 370e3, 370e3);
  expect_time(step, TraceCategory::on_device, 100e3, 100e3, 100e3);
  expect_time(step, TraceCategory::elementwise, 90e3, 90e3, 90e3);
  const double rest = 240e3 - 100e3 - 90e3;
  expect_time(step, TraceCategory::other_compute, rest, rest, rest);
  expect_whole(step);
}

TEST(OpProfile, NewerOnesHaveTextsForIntegersAndIdleTime) {
  const StepBreakdown step = load_op_profile(data("op_profile_2026.json"));
  EXPECT_NEAR(us(step.time), 2000, 1e-9);
  EXPECT_NEAR(us(step.idle), 500, 1e-9);
  expect_time(step, TraceCategory::send_recv, 300, 300, 300);
  expect_time(step, TraceCategory::elementwise, 1100, 1100, 1100);
  EXPECT_EQ(step[TraceCategory::elementwise].calls, 8);
  expect_whole(step);
}

// The wire format of protobuf.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) {
    bytes.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
  }
  return bytes + static_cast<char>(value);
}
std::string number_field(std::uint64_t field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string text_field(std::uint64_t field, const std::string& text) {
  return varint((field << 3U) | 2U) + varint(text.size()) + text;
}
std::string delimited(const std::string& message) { return varint(message.size()) + message; }

struct ChakraFacts {
  std::string name;
  std::uint64_t type = 4;
  std::uint64_t start = 0;
  std::uint64_t duration = 0;
  std::uint64_t comm_type = 0;
};
std::string chakra_node(const ChakraFacts& facts) {
  std::string message = number_field(1, 5) + text_field(2, facts.name) +
                        number_field(3, facts.type) + number_field(6, facts.start) +
                        number_field(7, facts.duration) +
                        text_field(10, text_field(1, "is_cpu_op") + number_field(27, 0));
  if (facts.type == 7) {
    message += text_field(10, text_field(1, "comm_type") + number_field(9, facts.comm_type)) +
               text_field(10, text_field(1, "comm_size") + number_field(13, 4096));
  }
  return delimited(message);
}

TEST(ChakraTraceRead, NodesCountAtTheirTimes) {
  const TemporaryFolder folder;
  const std::string metadata = delimited(text_field(1, "0.0.4"));
  const std::string text =
      metadata + chakra_node({"gemm", 4, 100, 40, 0}) + chakra_node({"exchange", 7, 120, 40, 6}) +
      chakra_node({"to the next", 5, 170, 10, 0}) + chakra_node({"states", 2, 180, 20, 0});
  const std::string path = folder.file("rank.0.et", text);
  ASSERT_EQ(trace_format(path), TraceFormat::chakra);
  const StepBreakdown step = break_down(load_chakra_trace(path));
  EXPECT_NEAR(us(step.time), 200 - 100, 1e-9);
  expect_time(step, TraceCategory::matrix, 20, 40, 40);
  expect_time(step, TraceCategory::all_to_all, 40, 20, 40);
  expect_time(step, TraceCategory::send_recv, 10, 10, 10);
  expect_time(step, TraceCategory::host_to_device, 20, 20, 20);
  EXPECT_NEAR(us(step.idle), 10, 1e-9);
  EXPECT_EQ(step.collectives.at(0).kind.bytes, Bytes::from_si(4096));
  for (const std::size_t left : {std::size_t{1}, metadata.size() + 1, text.size() - 3}) {
    const std::string cut = folder.file("cut.et", text.substr(0, left));
    EXPECT_NE(refusal([&] { (void)load_chakra_trace(cut); }).find("cut.et: byte "),
              std::string::npos)
        << left;
  }
}

TEST(ChakraTraceRead, WithoutTimesNodesFollowOneAnother) {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "rank.0.et", chakra_node({"gemm", 4, 0, 40, 0}) + chakra_node({"sum", 7, 0, 30, 0}));
  const StepBreakdown step = break_down(load_chakra_trace(path));
  EXPECT_NEAR(us(step.time), 40 + 30, 1e-9);
  expect_time(step, TraceCategory::all_reduce, 30, 30, 30);
  EXPECT_EQ(step.remarks.at(0),
            "the trace has durations but no times: nothing counts as overlapped");
  const std::string workload = folder.file("load.et", chakra_node({"sum", 7, 0, 0, 0}));
  EXPECT_NE(refusal([&] { (void)load_chakra_trace(workload); }).find("no node of a device has"),
            std::string::npos);
}

TEST(ChakraTraceRead, TheJsonFormIsReadInTheOrderOfItsNodes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("chakra.0.json",
                                       R"({"workload_graph": [
          {"Id": 1, "Name": "aten::mm", "NodeType": 4, "data_deps": [], "runtime": 300, "is_cpu_op": true},
          {"Id": 2, "Name": "ampere_sgemm_32x32_tn", "NodeType": 4, "data_deps": [1], "runtime": 40, "is_cpu_op": false},
          {"Id": 3, "Name": "ncclKernel_AllReduce_RING_LL_Sum_float", "NodeType": 7, "runtime": 10, "is_cpu_op": false},
          {"Id": 4, "Name": "waits", "NodeType": 4, "ctrlDeps": [3], "is_cpu_op": false}]})");
  EXPECT_EQ(trace_format(path), TraceFormat::chakra);
  const StepBreakdown step = load_step(path);
  EXPECT_NEAR(us(step.time), 40 + 10, 1e-9);
  expect_time(step, TraceCategory::matrix, 40, 40, 40);
  expect_time(step, TraceCategory::all_reduce, 10, 10, 10);
}

TEST(Trace, AnExecutionTraceOfPyTorchTellsNoTimes) {
  const TemporaryFolder folder;
  const std::string path =
      folder.file("et.json", R"({"schema": "1.0.1", "nodes": [{"name": "aten::mm", "id": 2}]})");
  EXPECT_NE(
      refusal([&] { (void)trace_format(path); }).find("the profiler's trace of the same steps"),
      std::string::npos);
}

TEST(Trace, WhatIsNoTraceIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  const auto events = [&](std::string_view text) {
    const std::string path = folder.file("t.json", text);
    return refusal([&] { (void)load_trace_events(path); }).substr(folder.path().string().size());
  };
  EXPECT_EQ(events("{\"traceEvents\": [\n  {\"ph\": \"X\"} {}]}"),
            "/t.json:2:15: expected \",\" or \"]\", found \"{\" (byte 32)");
  EXPECT_EQ(events("{\"traceEvents\": [\n  {\"ph\": \"X\", \"dur\""),
            "/t.json:2:20: expected \":\" after a key, found the end of the text (byte 37)");
  EXPECT_EQ(events("{\"traceEvents\": {}}"),
            "/t.json:1:17: traceEvents: expected an array of events (byte 16)");
  EXPECT_EQ(events("[3]"), "/t.json:1:2: expected an event, an object (byte 1)");
  EXPECT_EQ(events("{\"traceEvents\": []}").substr(0, 35), "/t.json: no device did anything: ex");
  const auto format = [&](std::string_view text) {
    const std::string path = folder.file("t.json", text);
    return refusal([&] { (void)trace_format(path); }).substr(folder.path().string().size());
  };
  EXPECT_EQ(format("").substr(0, 26), "/t.json: is empty: expecte");
  EXPECT_EQ(format("{\"a\": [1, {}]}").substr(0, 26), "/t.json: expected a trace ");
  EXPECT_NE(refusal([&] { (void)trace_format(folder.path()); }).find("is a folder"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)trace_format(folder.path() / "none"); }).find("cannot be read"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)load_op_profile(folder.file("o.json", "{\"byCategory\": {\"name\": 1}}"));
            }).find("o.json:1:16: expected metrics with a time"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
