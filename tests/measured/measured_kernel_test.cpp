#include "titer/measured/measured_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/input/read_document.hpp"
#include "titer/measured/kernel_comparison.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

KernelTable load_text(const std::string& name, const std::string& text) {
  const testing::TemporaryFolder folder;
  return load_kernel_table(folder.file(name, text));
}

TEST(KernelTable, KnowsItsChipByItsName) {
  EXPECT_EQ(chip_of_table("x/a100_sxm_gemm.csv"), "a100-sxm4-80gb");
  EXPECT_EQ(chip_of_table("gb200_moe.csv"), "gb200-nvl72");
  EXPECT_EQ(chip_of_table("gb300_gemm.csv"), "gb300-nvl72");
  EXPECT_EQ(chip_of_table("b300_sxm_mla.csv"), "b300-sxm");
  EXPECT_EQ(chip_of_table("mi300x_gemm.csv"), "mi300x");
  EXPECT_EQ(chip_of_table("h100-pcie-80gb.csv"), "h100-pcie-80gb");
  EXPECT_EQ(chip_of_table("mi300x2_gemm.csv"), std::nullopt);
  EXPECT_EQ(chip_of_table("gemm.csv"), std::nullopt);
}

TEST(KernelTable, KnowsItsKindByItsColumns) {
  EXPECT_EQ(load_text("mine.csv", "dtype,m,n,k,time_us\nbf16,512,1024,2048,20.5\n").kind,
            KernelTableKind::gemm);
  EXPECT_THROW(static_cast<void>(load_text("gemm.csv", "dtype,rows,time_us\nbf16,512,20.5\n")),
               InputError);
}

TEST(KernelTable, MakesAProductOfARow) {
  const KernelTable table = load_text("h100_sxm_gemm.csv",
                                      "dtype,m,n,k,time_us,kernel,software\n"
                                      "bf16,512,1024,2048,20.5,k,s\n");
  ASSERT_EQ(table.rows.size(), 1U);
  const MeasuredKernel& row = table.rows[0];
  EXPECT_EQ(row.line, 2);
  EXPECT_DOUBLE_EQ(row.time.si(), 20.5e-6);
  EXPECT_FALSE(row.starts_graph);
  ASSERT_EQ(row.kernels.size(), 1U);
  EXPECT_EQ(row.kernels[0].flops.si(), 2.0 * 512 * 1024 * 2048);
  EXPECT_EQ(row.kernels[0].bytes.si(), 2.0 * (512 * 2048 + 2048 * 1024 + 512 * 1024));
  EXPECT_EQ(row.kernels[0].shape.rows, 512);
  EXPECT_EQ(row.kernels[0].shape.columns, 1024);
  EXPECT_EQ(row.kernels[0].shape.inner, 2048);
}

TEST(KernelTable, ConvertsTheLeftOperandOfANarrowProductFirst) {
  const KernelTable table = load_text("b200_sxm_gemm.csv",
                                      "dtype,m,n,k,time_us,kernel,software\n"
                                      "fp8_block,128,256,512,20,k,s\n");
  ASSERT_EQ(table.rows[0].kernels.size(), 2U);
  EXPECT_EQ(table.rows[0].product, DataType::fp8);
  // Read at 2 bytes, written at 1, and a scale of 4 bytes for 128 elements.
  EXPECT_EQ(table.rows[0].kernels[0].bytes.si(), 128.0 * 512 * (2 + 1 + 4.0 / 128));
  EXPECT_TRUE(table.rows[0].kernels[1].narrow);
  EXPECT_EQ(table.rows[0].kernels[1].bytes.si(), 1.0 * (128 * 512 + 512 * 256) + 2.0 * 128 * 256);
}

TEST(KernelTable, CountsThePairsOfMasksAndWindows) {
  const KernelTable table =
      load_text("h100_sxm_attention.csv",
                "dtype,batch,seq,heads,kv_heads,head_dim,causal,window,time_us,kernel,software\n"
                "bf16,2,1000,8,4,128,0,0,50,k,s\n"
                "bf16,2,1000,8,4,128,1,0,50,k,s\n"
                "bf16,2,1000,8,4,128,1,100,50,k,s\n"
                "fp8,2,1000,8,4,128,1,0,50,k,s\n");
  ASSERT_EQ(table.rows.size(), 3U);
  const double pair = 4.0 * 2 * 8 * 128;
  EXPECT_DOUBLE_EQ(table.rows[0].kernels.back().flops.si(), pair * 1000 * 1000);
  EXPECT_DOUBLE_EQ(table.rows[1].kernels.back().flops.si(), pair * 1000 * 1001 / 2);
  // The first 100 tokens see 1 to 100, the others 100 each.
  EXPECT_DOUBLE_EQ(table.rows[2].kernels.back().flops.si(), pair * (5050 + 900 * 100));
  EXPECT_EQ(table.rows[2].kernels.back().shape.edges, 2);
  EXPECT_EQ(table.rows[1].kernels.back().shape.group, 2);
  ASSERT_EQ(table.skipped.size(), 1U);
  EXPECT_EQ(table.skipped[0].line, 5);
  EXPECT_EQ(table.skipped[0].reason, "fused attention in fp8 is not modelled");
}

TEST(KernelTable, TellsThePassesOfTrainingApart) {
  const KernelTable table = load_text(
      "gb200_attention_train.csv",
      "dtype,batch,seq,heads,kv_heads,qk_head_dim,v_head_dim,causal,window,pass,deterministic,"
      "time_us\n"
      "bf16,2,1000,8,4,192,128,1,0,forward,0,50\n"
      "bf16,2,1000,8,4,192,128,1,0,backward,0,150\n"
      "bf16,2,1000,8,4,192,128,1,0,backward,1,150\n"
      "bf16,2,1000,8,4,192,128,1,0,both,0,200\n");
  EXPECT_EQ(table.kind, KernelTableKind::attention);
  ASSERT_EQ(table.rows.size(), 2U);
  const double pairs = 2.0 * 8 * 1000 * 1001 / 2;
  // One kernel each: nothing is cached, and no graph replayed.
  for (const MeasuredKernel& row : table.rows) {
    EXPECT_EQ(row.kernels.size(), 1U);
    EXPECT_FALSE(row.starts_graph);
  }
  const Kernel& forward = table.rows[0].kernels[0];
  const Kernel& backward = table.rows[1].kernels[0];
  EXPECT_DOUBLE_EQ(forward.flops.si(), 2 * pairs * (192 + 128));
  EXPECT_FALSE(forward.shape.backward);
  // Scores again, and gradients of queries and keys; of probabilities and values.
  EXPECT_DOUBLE_EQ(backward.flops.si(), 2 * pairs * (3 * 192 + 2 * 128));
  EXPECT_TRUE(backward.shape.backward);
  EXPECT_EQ(backward.bytes, 2.0 * forward.bytes);
  ASSERT_EQ(table.skipped.size(), 2U);
  EXPECT_EQ(table.skipped[0].reason, "attention that is added up in a fixed order is not modelled");
  EXPECT_EQ(table.skipped[1].reason, "pass \"both\" is neither forward nor backward");
}

TEST(KernelTable, NamesTheColumnThatItLacks) {
  try {
    static_cast<void>(load_text("gb200_attention_train.csv",
                                "dtype,batch,seq,heads,kv_heads,qk_head_dim,causal,time_us\n"
                                "bf16,2,1000,8,4,192,1,50\n"));
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    EXPECT_NE(error.lines[0].find("gb200_attention_train.csv:1: expected a column \"v_head_dim\""),
              std::string::npos);
  }
}

TEST(KernelComparison, HasARowForEachLineInTheTablesOrder) {
  const CsvTable csv = CsvTable::parse(
      "dtype,batch,seq,heads,kv_heads,head_dim,causal,window,time_us,kernel,software\n"
      "bf16,2,1000,8,4,128,0,0,50,k,s\n"
      "fp8,2,1000,8,4,128,1,0,40,k,s\n"
      "bf16,2,1000,8,4,128,1,0,30,k,s\n",
      "h100_sxm_attention.csv");
  const std::vector<Comparison> rows = compare_kernels(csv, "h100_sxm_attention.csv");
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].case_id, "h100_sxm_attention:" + std::to_string(i + 2));
    EXPECT_EQ(rows[i].predicted.has_value(), rows[i].skip_reason.empty());
  }
  EXPECT_DOUBLE_EQ(rows[0].measured.value(), 50e-6);
  EXPECT_EQ(rows[1].skip_reason, "fused attention in fp8 is not modelled");
  EXPECT_DOUBLE_EQ(rows[2].measured.value(), 30e-6);
}

TEST(KernelTable, SharesCopiesOutAmongBusyExperts) {
  const KernelTable table = load_text(
      "h100_sxm_moe.csv",
      "dtype,tokens,hidden,inter,topk,experts,tp,ep,mats,distribution,time_us,kernel,software\n"
      "bf16,4096,1024,2048,8,64,2,4,3,balanced,50,k,s\n"
      "bf16,4096,1024,2048,8,64,2,4,3,power_law_1.2,50,k,s\n");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.skipped.size(), 1U);
  double flops = 0;
  for (const Kernel& kernel : table.rows[0].kernels) {
    flops += kernel.flops.si();
  }
  EXPECT_DOUBLE_EQ(flops, 2.0 * 3 * 4096 * 8 / 4 * 1024 * 2048 / 2);
  // 16 experts here, with 8192 copies.
  EXPECT_EQ(table.rows[0].kernels[2].shape.count, 16);
  EXPECT_EQ(table.rows[0].kernels[2].shape.rows, 512);
}

TEST(KernelTable, RefusesWhatIsNoNumberWithItsPlace) {
  try {
    static_cast<void>(load_text("h100_sxm_gemm.csv",
                                "dtype,m,n,k,time_us,kernel,software\n"
                                "bf16,512,many,2048,20.5,k,s\n"
                                "bf16,512,64,,20.5,k,s\n"));
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 2U);
    EXPECT_NE(error.lines[0].find("h100_sxm_gemm.csv:2: n: many: expected a number"),
              std::string::npos);
    EXPECT_NE(error.lines[1].find("h100_sxm_gemm.csv:3: k: expected a number"), std::string::npos);
  }
}

Chip shipped_chip(const std::string& name) {
  return read_document(load_data(kChipData, name), read_chip);
}

/// A shape of training: a product of at least 512 each way, attention of 0.1 TFLOP over sequences
/// of 1024 tokens and more.
bool is_large(const MeasuredKernel& row) {
  const Kernel& kernel = row.kernels.back();
  const KernelShape& shape = kernel.shape;
  return kernel.kind == KernelKind::attention
             ? shape.rows >= 1024 && kernel.flops >= 0.1 * 1_TFLOP
             : shape.rows >= 512 && shape.columns >= 512 && shape.inner >= 512;
}

struct Errors {
  double all = 0;
  std::optional<double> large{};  // where any row is
};

/// Mean absolute relative errors, in percent, of the rows in bf16.
Errors errors_of(const Chip& chip, const KernelTable& table) {
  double sum[2] = {};
  double count[2] = {};
  for (const MeasuredKernel& row : table.rows) {
    if (row.product == DataType::bf16) {
      const double error = 100 * std::abs(predicted(chip, row) / row.time - 1.0);
      const bool large = is_large(row);
      sum[0] += error;
      count[0] += 1;
      sum[1] += large ? error : 0.0;
      count[1] += large ? 1 : 0;
    }
  }
  const std::optional<double> large =
      count[1] > 0 ? std::optional(sum[1] / count[1]) : std::nullopt;
  return {.all = sum[0] / count[0], .large = large};
}

TEST(KernelTables, AreMetByTheShippedChips) {
  const fs::path folder = testing::root() / "tests/data/measured/kernels";
  struct Case {
    const char* table;
    double all;
    std::optional<double> large;
  };
  // In percent, a little above what is reached. Attention of GB200, GB300 and B300 is as their
  // training kernels run it (attention_train), which are up to a third faster than those that
  // serve (attention, mla).
  const Case cases[] = {
      {"a100_sxm_gemm", 8.3, 5.8},
      {"a100_sxm_attention", 6.3, 2.4},
      {"a100_sxm_mla", 15.6, 21.6},
      {"a100_sxm_moe", 28.2, std::nullopt},
      {"h100_sxm_gemm", 6.9, 6.0},
      {"h100_sxm_attention", 11.2, 5.8},
      {"h100_sxm_attention_cudnn_train", 7.4, 7.4},
      {"h100_sxm_attention_flash_2_train", 9.0, 9.0},
      {"h100_sxm_mla", 15.8, 8.0},
      {"h100_sxm_moe", 19.2, std::nullopt},
      {"h200_sxm_gemm", 7.8, 7.1},
      {"h200_sxm_attention", 11.8, 7.0},
      {"h200_sxm_mla", 15.6, 6.0},
      {"h200_sxm_moe", 21.5, std::nullopt},
      {"b200_sxm_gemm", 9.0, 6.3},
      {"b200_sxm_attention", 11.0, 8.4},
      {"b200_sxm_mla", 18.0, 4.8},
      {"b200_sxm_moe", 24.6, std::nullopt},
      {"gb200_gemm", 8.7, 6.3},
      {"gb200_attention", 16.8, 23.5},
      {"gb200_mla", 26.9, 22.4},
      {"gb200_moe", 23.5, std::nullopt},
      {"gb300_gemm", 7.6, 5.3},
      {"gb300_attention", 12.4, 13.4},
      {"gb300_mla", 23.7, 18.8},
      {"gb300_moe", 22.3, std::nullopt},
      {"b300_sxm_mla", 20.3, 17.2},
      {"b300_sxm_moe", 22.6, std::nullopt},
      {"l40s_gemm", 17.0, 8.1},
      {"l40s_attention", 48.2, 21.5},
      {"l40s_mla", 32.4, 18.2},
      {"l40s_moe", 24.3, std::nullopt},
      {"gb200_attention_train", 9.2, 9.1},
      {"gb300_attention_train", 8.0, 7.4},
      {"h200_sxm_attention_train", 6.4, 6.4},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.table);
    const fs::path path = folder / (std::string(one.table) + ".csv");
    const KernelTable table = load_kernel_table(path);
    const Errors errors = errors_of(shipped_chip(table.chip.value()), table);
    EXPECT_LT(errors.all, one.all);
    ASSERT_EQ(errors.large.has_value(), one.large.has_value());
    EXPECT_LE(errors.large, one.large);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
