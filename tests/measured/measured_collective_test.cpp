#include "titer/measured/collective/measured_collective.hpp"
#include "paths.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const std::string kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    " "
    " algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " "
    "(GB/s)  (GB/s)\n";
const std::string kRow =
    "  1048576  262144  float  sum  -1  50.0  20.97  36.70  0  49.5  21.18  37.07  0\n";

MeasuredCollective parse(const std::string& text) { return parse_nccl_tests(text, "out.txt"); }

std::vector<std::string> complaints(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(NcclTests, ReadsARow) {
  const MeasuredCollective measured = parse("# all_reduce_perf\n" + kHeader + kRow);
  ASSERT_EQ(measured.sizes.size(), 1U);
  const MeasuredSize& size = measured.sizes.front();
  EXPECT_EQ(size.size, 1_MiB);
  EXPECT_EQ(size.out_of_place, 50_us);
  EXPECT_EQ(size.in_place, 49.5_us);
  EXPECT_EQ(size.time(), 50_us);
  EXPECT_EQ(size.type, "float");
  EXPECT_EQ(size.reduce, "sum");
  EXPECT_EQ(size.line, 4);
  EXPECT_EQ(measured.collective, Collective::all_reduce);
  EXPECT_EQ(measured.ranks, 8);  // 36.70 / 20.97 = 1.75 = 2 x 7/8
  EXPECT_FALSE(measured.nodes.has_value());
}

TEST(NcclTests, WhateverStandsBeforeALineIsPassedOver) {
  for (const std::string before : {"0: ",
                                   "[1,0]<stdout>:",
                                   "   [1,0]<stdout>: ",
                                   "worker-3: ",
                                   "2026-01-05 10:00:00.123 ",
                                   "[2026-01-05T10:00:00] node1: "}) {
    std::string text;
    const std::string whole =
        "# Collective test starting: all_gather_perf\n" + kHeader +
        "  1048576  262144  float  none  -1  50.0  20.00  15.00  0  49.5  20.20  "
        "15.15  0\n";
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = whole.find('\n', at);
      text += before + whole.substr(at, end - at) + "\n";
      at = end + 1;
    }
    const MeasuredCollective measured = parse(text);
    ASSERT_EQ(measured.sizes.size(), 1U) << before;
    EXPECT_EQ(measured.sizes.front().time(), 50_us) << before;
    EXPECT_EQ(measured.collective, Collective::all_gather) << before;
    EXPECT_EQ(measured.ranks, 4) << before;  // 3/4
  }
}

TEST(NcclTests, RanksThatAreNotAllListedFollowFromTheFigures) {
  const std::string one = "#  Rank  7 Group  0 Pid 12 on node1 device  7 [0x01] NVIDIA H100\n";
  const MeasuredCollective measured = parse("# all_reduce_perf_mpi\n" + one + kHeader + kRow);
  EXPECT_EQ(measured.operation, "all-reduce");
  EXPECT_EQ(measured.ranks, 8);
  EXPECT_FALSE(measured.nodes.has_value());
  // Of one that does not tell them the last that is listed is taken.
  const MeasuredCollective unsure = parse("# all_reduce_perf\n" + one + kHeader +
                                          "8 2 float sum -1 5.0 0.00 0.00 0 5.0 0.00 0.00 0\n");
  EXPECT_EQ(unsure.ranks, 8);
}

TEST(NcclTests, KnowsAllReduceByItsBusFactor) {
  EXPECT_EQ(parse(kHeader + kRow).operation, "all-reduce");
  EXPECT_EQ(parse(kHeader + "8 2 float sum -1 5.0 20.0 20.0 0 5.0 20.0 20.0 0\n").operation, "");
}

TEST(NcclTests, TellsNoRanksThatTheDigitsDoNotTell) {
  // 2 x 1535/1536 of 62.4 GB/s is 124.7 or so for every large number of ranks.
  const auto measured = parse(kHeader + "8 2 float sum -1 5.0 62.40 124.72 0 5.0 62.40 124.72 0\n");
  EXPECT_EQ(measured.operation, "all-reduce");
  EXPECT_FALSE(measured.ranks.has_value());
}

TEST(NcclTests, ReadsTheLayoutWithoutRoots) {
  const auto measured = parse(
      "# reduce_scatter_perf\n"
      "#   size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
      "1024  64  half  sum  7.0  0.15  0.13  N/A  6.5  0.16  0.14  N/A\n");
  ASSERT_EQ(measured.sizes.size(), 1U);
  EXPECT_EQ(measured.collective, Collective::reduce_scatter);
  EXPECT_EQ(measured.sizes.front().out_of_place, 7_us);
  EXPECT_EQ(measured.sizes.front().in_place, 6.5_us);
}

TEST(NcclTests, ReadsATableThatLostItsHeader) {
  EXPECT_EQ(parse(kRow).sizes.front().in_place, 49.5_us);
  EXPECT_EQ(parse("1024 64 half sum 7.0 0.15 0.13 0 6.5 0.16 0.14 0\n").sizes.front().in_place,
            6.5_us);
}

TEST(NcclTests, PassesOverNoise) {
  const auto measured = parse(
      "node1:4242:4242 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
      "NCCL version 2.26.6+cuda12.8\n" +
      kHeader + "...\n" +
      "node1:4242:4250 [0] NCCL INFO comm 0x55 rank 0 nranks 16 - Init COMPLETE\n\n" + kRow +
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 14.9966\n");
  EXPECT_EQ(measured.sizes.size(), 1U);
  EXPECT_EQ(measured.library_version, "2.26.6");
}

TEST(NcclTests, PassesOverTheRankOfALauncher) {
  for (const std::string prefix : {"0: ", " 12: ", "[1,0]<stdout>:", "[1,0]<stdout>: "}) {
    std::string text;
    for (const std::string& line : {kHeader.substr(0, kHeader.find('\n') + 1), kRow}) {
      text += prefix + line;
    }
    EXPECT_EQ(parse(text).sizes.size(), 1U) << prefix;
  }
}

TEST(NcclTests, CountsRanksAndHosts) {
  const auto measured = parse(
      "# nccl-tests version 2.18.2 nccl-headers=23007 nccl-library=23007\n"
      "# Collective test starting: all_gather_perf\n"
      "#  Rank  0 Group  0 Pid  1 on  nodeA device  0 [0009:01:00] NVIDIA GH200 120GB\n"
      "#  Rank  1 Group  0 Pid  2 on  nodeA device  1 [000a:01:00] NVIDIA GH200 120GB\n"
      "#  Rank  2 Group  0 Pid  3 on  nodeB device  0 [0009:01:00] NVIDIA GH200 120GB\n" +
      kHeader + kRow);
  EXPECT_EQ(measured.ranks, 3);
  EXPECT_EQ(measured.nodes, 2);
  EXPECT_EQ(measured.hardware, "NVIDIA GH200 120GB");
  EXPECT_EQ(measured.library_version, "2.30.7");
  EXPECT_EQ(measured.collective, Collective::all_gather);
}

TEST(NcclTests, AWayThatWasNotMeasuredIsAbsent) {
  const auto measured = parse(kHeader + "8 2 float none -1 9.0 0.1 0.1 0 N/A N/A N/A N/A\n" +
                              "16 2 float none -1 N/A N/A N/A N/A 9.0 0.1 0.1 0\n" +
                              "32 2 float none -1 N/A N/A N/A N/A N/A N/A N/A N/A\n" +
                              "0 0 float none -1 9.0 0.1 0.1 0 9.0 0.1 0.1 0\n");
  ASSERT_EQ(measured.sizes.size(), 2U);
  EXPECT_FALSE(measured.sizes[0].in_place.has_value());
  EXPECT_EQ(measured.sizes[1].time(), 9_us);
  EXPECT_EQ(measured.skipped, 2);
}

TEST(NcclTests, NamesTheLineThatItCannotRead) {
  EXPECT_EQ(complaints(kHeader + kRow + "8 2 float sum -1 fast 0.1 0.1 0 9.0 0.1 0.1 0\n" +
                       "8 2 float sum -1 9.0 0.1\n"),
            (std::vector<std::string>{"out.txt:4: fast: expected a time in microseconds",
                                      "out.txt:5: 7 columns, but expected 13"}));
  EXPECT_EQ(complaints("nothing here\n"),
            std::vector<std::string>{
                "out.txt: expected the output of nccl-tests, found no row of measurements"});
  EXPECT_EQ(complaints(kHeader + "8 2 float sum -1 -3 0.1 0.1 0 9.0 0.1 0.1 0\n").size(), 1U);
  EXPECT_THROW((void)load_nccl_tests("/no/such/file"), InputError);
}

TEST(OperationName, ForgivesSpelling) {
  EXPECT_EQ(operation_name("all_reduce_perf"), "all-reduce");
  EXPECT_EQ(operation_name("AllGather"), "all-gather");
  EXPECT_EQ(operation_name("alltoall"), "all-to-all");
  EXPECT_EQ(operation_name("sendrecv"), "send-recv");
  EXPECT_EQ(operation_name("hypercube"), "");
  EXPECT_EQ(operation_name(""), "");
  EXPECT_EQ(collective_named("send-recv"), Collective::send_recv);
  EXPECT_FALSE(collective_named("scatter").has_value());
}

/// The file, or a skipped test.
fs::path shared(const std::string& path) { return testing::root() / "../shared" / path; }
#define SKIP_WITHOUT(path)                              \
  if (!fs::exists(path)) {                              \
    GTEST_SKIP() << (path).string() << " is not there"; \
  }

struct Sample {
  std::string file;
  std::size_t rows;
  std::string operation;
  std::optional<int> ranks;
  std::optional<int> nodes;
};

TEST(NcclTests, ReadsEverySampleOutput) {
  const fs::path folder = shared("samples/nccl_tests");
  SKIP_WITHOUT(folder)
  for (const Sample& sample :
       {Sample{"aws_allreduce_2xp4de_rankprefix.txt", 29, "all-reduce", 16, std::nullopt},
        Sample{"aws_allreduce_2xp5_rankprefix.txt", 32, "all-reduce", 16, std::nullopt},
        Sample{"cscs_allreduce_2xGH200_v2.18.2.txt", 8, "all-reduce", 2, 2},
        Sample{"dranet_allgather_2xB200_truncated.txt", 8, "all-gather", 2, 1}}) {
    const MeasuredCollective measured = load_nccl_tests(folder / sample.file);
    EXPECT_EQ(measured.sizes.size(), sample.rows) << sample.file;
    EXPECT_EQ(measured.operation, sample.operation) << sample.file;
    EXPECT_EQ(measured.ranks, sample.ranks) << sample.file;
    EXPECT_EQ(measured.nodes, sample.nodes) << sample.file;
    for (const MeasuredSize& size : measured.sizes) {
      EXPECT_TRUE(size.out_of_place && size.in_place) << sample.file << ":" << size.line;
    }
  }
}

TEST(NcclTests, TheSamplesAreTheCorpusTables) {
  const fs::path text = shared("samples/nccl_tests/aws_allreduce_2xp4de_rankprefix.txt");
  const fs::path csv = shared("measured/collectives/allreduce_2n_p4de_a100_efa.csv");
  SKIP_WITHOUT(text)
  SKIP_WITHOUT(csv)
  const MeasuredCollective one = load_nccl_tests(text);
  const MeasuredCollective other = load_collective_table(csv);
  ASSERT_EQ(one.sizes.size(), other.sizes.size());
  for (std::size_t i = 0; i < one.sizes.size(); ++i) {
    EXPECT_EQ(one.sizes[i].size, other.sizes[i].size);
    EXPECT_NEAR(*one.sizes[i].out_of_place / *other.sizes[i].out_of_place, 1.0, 1e-12);
  }
  EXPECT_EQ(one.ranks, other.ranks);
}

TEST(CollectiveTable, ReadsEveryTableOfTheCorpus) {
  const fs::path folder = shared("measured/collectives");
  SKIP_WITHOUT(folder)
  int tables = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "INDEX.csv" || name.starts_with("bandwidth_points")) {
      continue;
    }
    const MeasuredCollective measured = load_collective_table(entry.path());
    EXPECT_GE(measured.sizes.size(), 2U) << name;
    EXPECT_TRUE(measured.ranks.has_value()) << name;
    EXPECT_FALSE(measured.operation.empty()) << name;
    ++tables;
  }
  EXPECT_GE(tables, 120);
}

/// Writes a table, to a folder of its own since tests run side by side, and reads it.
MeasuredCollective read_table(const std::string& rows) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "table.csv";
  std::ofstream(path) << "size_bytes,time_us,algbw_GBps,busbw_GBps,op,ngpus,nnodes,dtype,hardware,"
                         "interconnect,source,notes\n"
                      << rows;
  return load_collective_table(path);
}

TEST(CollectiveTable, ARowWithoutATimeGetsItFromItsBandwidth) {
  const MeasuredCollective measured = read_table(
      "1000000,,20,35,all_reduce,8,1,,box,wire,\"a, b\",x\n"
      "2000000,70,,,all_reduce,8,1,fp16,box,wire,s,x\n"
      "4000000,,,,all_reduce,8,1,fp16,box,wire,s,x\n");
  ASSERT_EQ(measured.sizes.size(), 2U);
  EXPECT_NEAR(measured.sizes[0].time()->si(), 1e6 / 20e9, 1e-15);
  EXPECT_EQ(measured.sizes[1].time(), 70_us);
  EXPECT_EQ(measured.skipped, 1);
  EXPECT_EQ(measured.source, "a, b");
  EXPECT_EQ(measured.hardware, "box");
  EXPECT_EQ(measured.nodes, 1);
}

TEST(CollectiveTable, RefusesTwoGroupsInOneTable) {
  EXPECT_THROW((void)read_table("8,7,,,all_reduce,8,1,,b,w,s,\n8,7,,,all_reduce,4,1,,b,w,s,\n"),
               InputError);
  EXPECT_THROW((void)read_table("8,7,,,juggle,8,1,,b,w,s,\n"), InputError);
  EXPECT_THROW((void)read_table("8,soon,,,all_reduce,8,1,,b,w,s,\n"), InputError);
  EXPECT_THROW((void)read_table(""), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
