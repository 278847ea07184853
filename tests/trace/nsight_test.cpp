// What Nsight Systems exports, and steps of several ranks.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/trace_ranks.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A new database of these statements; its path.
std::string database(const TemporaryFolder& folder, const std::string& statements) {
  const std::string path = (folder.path() / "report.sqlite").string();
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(handle);
  return path;
}

constexpr const char* kReport =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),"
    " (2, 'sm90_xmma_gemm_bf16'), (3, 'step 1'), (4, 'forward');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,"
    " streamId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000, 5000, 0, 7, 1, 2, 2),"
    " (4000, 6000, 0, 13, 1, 1, 1), (11000, 15000, 0, 7, 1, 2, 2), (14000, 16000, 0, 13, 1, 1, 1),"
    " (3000, NULL, 0, 7, 1, 2, 2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,"
    " streamId INTEGER, globalPid INTEGER, copyKind INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(7000, 8000, 0, 7, 1, 1);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, text TEXT,"
    " textId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES(0, 9000, 5, NULL, 3), (10000, 20000, 5, 'step 2', NULL),"
    " (500, 4000, 5, NULL, 4), (0, 9000, 6, NULL, 3);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);"
    "INSERT INTO TARGET_INFO_GPU VALUES(0, 'Test Accelerator');";

double ns(Seconds time) { return 1e9 * time.si(); }

TEST(NsightSystems, KernelsAndCopiesCountInTheStepsOfNvtx) {
  const TemporaryFolder folder;
  const std::string path = database(folder, kReport);
  EXPECT_EQ(trace_format(path), TraceFormat::nsight);
  const StepBreakdown step = load_step(path);
  EXPECT_EQ(step.format, "Nsight Systems");
  EXPECT_EQ(step.chip, "Test Accelerator");
  EXPECT_EQ(step.steps, 2);
  EXPECT_EQ(step.streams, 2);
  EXPECT_NEAR(ns(step.time), (10000 + 10000) / 2.0, 1e-6);  // from 0 to 10000, and to 20000
  EXPECT_NEAR(ns(step[TraceCategory::all_reduce].busy), 2000, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::matrix].busy), 4000, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::matrix].communication_first), 3000, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::host_to_device].busy), 1000 / 2.0, 1e-6);
  ASSERT_FALSE(step.remarks.empty());
  EXPECT_NE(step.remarks[0].find("1 are left out"), std::string::npos);
}

TEST(NsightSystems, ProcessesHaveDevicesOfTheirOwn) {
  const TemporaryFolder folder;
  const std::string path = database(
      folder,
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,"
      " streamId INTEGER, globalPid INTEGER, shortName INTEGER);"
      "CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO StringIds VALUES(1, 'gemm');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(0, 1000, 0, 7, 1, 1), (0, 3000, 0, 7, 2, 1);");
  const StepBreakdown step = load_step(path);
  EXPECT_EQ(step.devices, 2);
  EXPECT_NEAR(ns(step.time), (1000 + 3000) / 2.0, 1e-6);
}

// Until the middle of 2021: names of devices in another table, no processes, ranges named in place.
// Ends of ranges that were never closed are -1 or missing.
TEST(NsightSystems, OlderExportsHaveOtherTables) {
  const TemporaryFolder folder;
  const std::string path =
      database(folder,
               "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
               "INSERT INTO StringIds VALUES(1, 'void gemm<float>'), (2, 'gemm');"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT NOT NULL, end INT NOT NULL,"
               " deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,"
               " demangledName INT NOT NULL, shortName INT NOT NULL);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(100, 400, 0, 1, 7, 1, 2),"
               " (1100, 1400, 0, 1, 7, 1, 2);"
               "CREATE TABLE NVTX_EVENTS(start INT NOT NULL, end INT, text TEXT);"
               "INSERT INTO NVTX_EVENTS VALUES(0, 1000, 'iteration 1'), (10, 900, 'step 1'),"
               " (1000, 2000, 'iteration 2'), (1010, 1900, 'step 2'), (1500, -1, 'iteration 3');"
               "CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId INTEGER, name TEXT);"
               "INSERT INTO TARGET_INFO_CUDA_GPU VALUES(0, 'Old Accelerator');");
  const StepBreakdown step = load_step(path);
  EXPECT_EQ(step.chip, "Old Accelerator");
  EXPECT_EQ(step.steps, 2) << "of iterations, none of the steps inside them";
  EXPECT_NEAR(ns(step.time), 1000, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::matrix].busy), 300, 1e-6);
}

// Newer ones leave cells empty: a kernel's name is the first that it has.
TEST(NsightSystems, NewerExportsLeaveNamesOut) {
  const TemporaryFolder folder;
  const std::string path = database(
      folder,
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
      "INSERT INTO StringIds VALUES(1, 'ncclDevKernel_AllGather_RING_LL'), (2, 'sm90_gemm'),"
      " (3, 'batch 4');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL,"
      " deviceId INTEGER NOT NULL, contextId INTEGER, greenContextId INTEGER, streamId INTEGER,"
      " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,"
      " mangledName INTEGER, graphNodeId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
      " (0, 500, 0, 1, NULL, 7, 1, 9, NULL, NULL, 1, NULL),"
      " (500, 800, 0, 1, NULL, 7, 2, 9, 77, 2, NULL, NULL),"
      " (800, 900, 0, 1, NULL, 7, 3, 9, NULL, NULL, NULL, NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,"
      " streamId INTEGER, globalPid INTEGER, copyKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(900, 930, 0, 7, 9, 11),"
      " (930, 950, 0, 7, 9, 12), (950, 1000, 0, 7, 9, 9);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER,"
      " text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES(0, 2000, 59, NULL, NULL, 5, 3, 0);");
  const StepBreakdown step = load_step(path);
  EXPECT_EQ(step.steps, 1);
  EXPECT_NEAR(ns(step[TraceCategory::all_gather].busy), 500, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::matrix].busy), 300, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::host_to_device].busy), 30, 1e-6);
  EXPECT_NEAR(ns(step[TraceCategory::device_to_host].busy), 20, 1e-6);
  EXPECT_NEAR(ns(step.time - step.idle), 950, 1e-6) << "copies on the host are none of a device";
}

TEST(NsightSystems, NvprofsDatabasesAreReadToo) {
  const TemporaryFolder folder;
  const std::string path = database(
      folder,
      "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringTable VALUES(1, 'volta_sgemm_128x64_nn');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT,"
      " end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, name INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(1, 0, 700, 0, 1, 7, 1, 1);");
  const StepBreakdown step = load_step(path);
  EXPECT_EQ(step.format, "nvprof");
  EXPECT_NEAR(ns(step[TraceCategory::matrix].busy), 700, 1e-6);
}

TEST(NsightSystems, OtherDatabasesAndReportsAreRefused) {
  const TemporaryFolder folder;
  const std::string path = database(folder, "CREATE TABLE t(a INTEGER);");
  EXPECT_THROW((void)load_step(path), InputError);
  const std::string report = folder.file("run.nsys-rep", "anything");
  try {
    (void)trace_format(report);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("nsys export --type sqlite"), std::string::npos);
  }
}

/// A rank's step with so many milliseconds of each.
StepBreakdown rank_step(int rank, double compute, double communication, double idle) {
  StepBreakdown step{.source = "rank" + std::to_string(rank) + ".json",
                     .format = "PyTorch profiler",
                     .chip = "",
                     .rank = rank,
                     .time = Seconds::from_si(1e-3 * (compute + communication + idle)),
                     .idle = Seconds::from_si(1e-3 * idle),
                     .kinds = {},
                     .collectives = {},
                     .remarks = {"steps are marked"}};
  const auto set = [&](TraceCategory category, double milliseconds) {
    const Seconds time = Seconds::from_si(1e-3 * milliseconds);
    step.categories[static_cast<std::size_t>(category)] = {
        .communication_first = time, .compute_first = time, .busy = time, .calls = 2};
  };
  set(TraceCategory::matrix, compute);
  set(TraceCategory::all_reduce, communication);
  step.collectives.push_back({.kind = {.name = "all-reduce", .category = TraceCategory::all_reduce},
                              .calls = 2,
                              .time = Seconds::from_si(1e-3 * communication),
                              .fastest = Seconds::from_si(1e-3 * rank)});
  return step;
}

TEST(TraceRanks, AreTheirMeanAndWaitForTheLast) {
  const TraceRanks ranks =
      join_ranks({rank_step(1, 70, 30, 0), rank_step(2, 90, 10, 0), rank_step(3, 60, 35, 5)});
  EXPECT_NEAR(1e3 * ranks.mean.time.si(), 100, 1e-9);
  EXPECT_NEAR(1e3 * ranks.mean[TraceCategory::matrix].busy.si(), (70 + 90 + 60) / 3.0, 1e-9);
  EXPECT_EQ(ranks.mean.devices, 3);
  EXPECT_EQ(ranks.mean.remarks.size(), 1U);
  ASSERT_EQ(ranks.mean.collectives.size(), 1U);
  EXPECT_NEAR(ranks.mean.collectives[0].calls, 2, 1e-12);
  EXPECT_NEAR(1e3 * ranks.mean.collectives[0].fastest.si(), 1, 1e-12);
  EXPECT_EQ(ranks.late, 1U);
  EXPECT_NEAR(1e3 * ranks.waiting.si(), (20 + 0 + 25) / 3.0, 1e-9);
  EXPECT_EQ(straggler_sentence(ranks),
            "rank 2 (rank2.json) comes last to collectives: it computes for 90 ms where the middle "
            "rank takes 70 ms; the ranks wait 15 ms a step on average, 15 % of it");
}

TEST(TraceRanks, OneRankAndEqualOnesWaitForNobody) {
  const StepBreakdown one = rank_step(1, 70, 30, 0);
  EXPECT_EQ(straggler_sentence(join_ranks({one})), "");
  EXPECT_EQ(join_ranks({one}).mean.source, "rank1.json");
  EXPECT_EQ(straggler_sentence(join_ranks({one, one})), "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
