#include "titer/measured/dataset.hpp"

#include <gtest/gtest.h>

#include <set>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/scenario/source.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const fs::path kMeasured = root() / "tests/data/measured";

CsvTable with_columns(const std::string& header) { return CsvTable::parse(header + "\n", "t.csv"); }

std::vector<std::string> refusals_of(const fs::path& path) {
  try {
    static_cast<void>(compare_dataset(path));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(DatasetKind, IsToldByTheColumns) {
  const std::vector<std::pair<std::string, DatasetKind>> tables = {
      {"case_id,family,iter_time_s", DatasetKind::runs},
      {"run,iter_time_s,family", DatasetKind::named_runs},
      {"size_bytes,time_us,algbw_GBps,busbw_GBps,op", DatasetKind::collective},
      {"pattern,ngpus_in_group,busbw_GBps", DatasetKind::bandwidths},
      {"file,op,ngpus,max_busbw_GBps", DatasetKind::index},
      {"dtype,m,n,k,time_us", DatasetKind::gemm},
      {"dtype,batch,seq,heads,kv_heads,head_dim", DatasetKind::attention},
      {"dtype,batch,seq,heads,qk_head_dim,v_head_dim", DatasetKind::mla},
      {"dtype,tokens,hidden,inter,topk,experts", DatasetKind::expert_layer}};
  for (const auto& [header, kind] : tables) {
    EXPECT_EQ(dataset_kind(with_columns(header), "t.csv"), kind) << header;
  }
}

TEST(DatasetKind, OfOtherColumnsSaysWhatWasExpected) {
  const TemporaryFolder folder;
  const std::string path = folder.file("chips.csv", "chip,vendor\nA100,NVIDIA\n");
  const auto lines = refusals_of(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with(path + ":1: chip, vendor: expected the columns of "))
      << lines[0];
  for (const std::string columns : {"case_id, iter_time_s", "size_bytes, op", "m, n, k"}) {
    EXPECT_NE(lines[0].find(columns), std::string::npos) << columns;
  }
}

TEST(CompareDataset, ReadsATableOfRunsByTheirFiles) {
  // The table that `calibrate stack` takes.
  const TemporaryFolder folder;
  const fs::path path = folder.file("runs.csv",
                                    "run,iter_time_s,family\n"
                                    "gpt3-175b-64xa100,40,one\n"
                                    "llama3-70b-64xh100,20,two\n");
  const std::vector<Comparison> rows = compare_dataset(path);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].case_id, "llama3-70b-64xh100");
  EXPECT_EQ(rows[1].family, "two");
  EXPECT_EQ(rows[1].chip, "h100-sxm5-80gb");
  EXPECT_EQ(rows[1].measured, 20.0);
  const StepResult run = estimate(ScenarioSource::load("llama3-70b-64xh100").read());
  EXPECT_EQ(rows[1].predicted, run.iteration_time.si());
  ASSERT_TRUE(rows[1].interval.has_value());
  EXPECT_EQ(rows[1].interval->low, run.error_bar->low.si());
  const fs::path wrong = folder.file("wrong.csv", "run,iter_time_s\nnone-such,1\nx,y\n");
  const auto lines = refusals_of(wrong);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with(wrong.string() + ":2: run: none-such: no shipped run"))
      << lines[0];
}

TEST(CompareDataset, RefusesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "none.csv";
  const auto lines = refusals_of(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with(path.string() + ": ")) << lines[0];
}

TEST(CompareDataset, RefusesCellsThatAreNoNumbers) {
  const TemporaryFolder folder;
  const std::string products = folder.file("h100_sxm_gemm.csv",
                                           "dtype,m,n,k,time_us,software\n"
                                           "bf16,128,128,128,5,x\n"
                                           "bf16,128,128,128,five,x\n");
  EXPECT_EQ(refusals_of(products),
            std::vector<std::string>{products + ":3: time_us: five: expected a number"});
  const std::string sizes = folder.file("sizes.csv",
                                        "size_bytes,time_us,algbw_GBps,busbw_GBps,op,ngpus,nnodes,"
                                        "dtype,hardware,interconnect,source\n"
                                        "big,5,,,all_reduce,8,1,fp32,H100-SXM5-80GB,NVLink,s\n");
  EXPECT_EQ(refusals_of(sizes),
            std::vector<std::string>{sizes + ":2: size_bytes: big: expected a number"});
}

TEST(CompareDataset, RefusesATimeOfZero) {
  const TemporaryFolder folder;
  const std::string path =
      folder.file("h100_sxm_gemm.csv", "dtype,m,n,k,time_us,software\nbf16,1,1,1,0,x\n");
  const auto lines = refusals_of(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with(path + ":")) << lines[0];
}

// Every table that is carried along is read, with a time, a memory or the reason why there is none.
TEST(CompareDataset, ReadsAllOfTheMeasuredResults) {
  std::size_t rows = 0;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(kMeasured)) {
    const fs::path& path = file.path();
    if (path.extension() != ".csv" || path.filename() == "hardware.csv" ||
        path.parent_path().filename() == "kernels" ||       // those are read below
        path.parent_path().filename() == "h100_pytorch") {  // no predictions of their own
      continue;
    }
    for (const Comparison& row : compare_dataset(path)) {
      EXPECT_FALSE(row.case_id.empty()) << path;
      EXPECT_FALSE(row.family.empty()) << path;
      EXPECT_NE(row.predicted || row.memory_predicted, !row.skip_reason.empty())
          << path << " " << row.case_id;
      ++rows;
    }
  }
  EXPECT_GE(rows, 771u + 504u + 2000u);
  for (const std::string kind : {"gemm", "attention", "mla", "moe"}) {
    const auto timed = compare_dataset(kMeasured / "kernels" / ("a100_sxm_" + kind + ".csv"));
    EXPECT_GE(timed.size(), 446u) << kind;
    EXPECT_EQ(timed.front().family.empty(), false) << kind;
  }
}

TEST(CompareDataset, GivesEveryRowANameOfItsOwn) {
  std::set<std::string> names;
  for (const Comparison& row : compare_dataset(kMeasured / "training.csv")) {
    EXPECT_TRUE(names.insert(row.case_id).second) << row.case_id;
  }
  EXPECT_EQ(names.size(), 771u);
}

TEST(CompareDataset, HasNoRowsOfAnIndex) {
  EXPECT_TRUE(compare_dataset(kMeasured / "collectives/INDEX.csv").empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
