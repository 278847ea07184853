// Figures of our own files fitted to tables that were made from known ones.
#include "titer/calibrate/calibration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "temporary_folder.hpp"
#include "titer/calibrate/calibration_data.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/reader.hpp"
#include "titer/measured/measured_kernel.hpp"
#include "titer/scenario/source.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Chip chip_of(const Document& document) {
  Problems problems;
  Reader in(document, problems);
  Chip chip = read_chip(in);
  problems.raise();
  return chip;
}

Document shipped_chip() { return load_data(kChipData, "h100-sxm5-80gb"); }

/// A table of bf16 products that take what the chip says, every twelfth three times as long.
std::filesystem::path product_table(const TemporaryFolder& folder, const Chip& chip) {
  const std::string head = "dtype,m,n,k,time_us,kernel,software\n";
  std::vector<std::string> products;
  std::string draft = head;
  for (const int m : {1, 64, 512, 4096}) {
    for (const int n : {256, 2048, 8192}) {
      for (const int k : {128, 1024, 4096, 16384}) {
        products.push_back(fmt::format("bf16,{},{},{}", m, n, k));
        draft += products.back() + ",1,x,y\n";
      }
    }
  }
  const KernelTable table = load_kernel_table(folder.file("draft_gemm.csv", draft));
  std::string csv = head;
  for (std::size_t row = 0; row < products.size(); ++row) {
    const double stall = row % 12 == 11 ? 3.0 : 1.0;
    csv += fmt::format(
        "{},{},x,y\n", products[row], 1e6 * stall * predicted(chip, table.rows[row]).si());
  }
  return folder.file("mine_gemm.csv", csv + "fp8,64,64,64,1,x,y\n");  // of a type nobody fits
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

struct ChipFit {
  Document base = shipped_chip();
  std::vector<FittedFigure> figures;
  CalibrationData data;
  Calibration calibration;
};

/// The shipped chip fitted to a table of one with other figures.
ChipFit fitted_chip(const TemporaryFolder& folder) {
  Chip truth = chip_of(shipped_chip());
  truth.matrix[static_cast<std::size_t>(DataType::bf16)]->plateau = 0.62;
  truth.launch_floor = 4.2_us;
  truth.memory.efficiency = 0.8;
  const std::vector<std::filesystem::path> files = {product_table(folder, truth)};
  ChipFit result;
  for (const std::string text :
       {"launch_floor", "matrix.bf16.plateau,matrix.fp16.plateau", "memory.efficiency"}) {
    result.figures.push_back(fitted_figure(result.base, text));
  }
  result.data = kernel_data(files, result.figures);
  result.calibration = calibrate(result.base, result.figures, result.data);
  return result;
}

TEST(Calibration, FitsOfAChipWhatItsTablesTime) {
  const TemporaryFolder folder;
  const Document chip = shipped_chip();
  const std::vector<std::filesystem::path> products = {product_table(folder, chip_of(chip))};
  const std::vector<std::string> of_products = {"launch_floor",
                                                "matrix.bf16.plateau,matrix.fp16.plateau",
                                                "memory.efficiency",
                                                "tiling.feed",
                                                "tiling.store",
                                                "tiling.partial_wave",
                                                "tiling.split",
                                                "sustained.onset"};
  EXPECT_EQ(usual_chip_figures(chip, products), of_products);
  const Document without_tiles = load_data(kChipData, "rtx-4090");
  const std::vector<std::string> least = {"launch_floor",
                                          "matrix.bf16.plateau,matrix.fp16.plateau",
                                          "matrix.bf16.saturation,matrix.fp16.saturation",
                                          "memory.efficiency"};
  EXPECT_EQ(usual_chip_figures(without_tiles, products), least);
  // What small kernels tell, and what replaying a graph takes, is left to tables of serving.
  const std::vector<std::filesystem::path> training = {
      folder.file("gb200_attention_train.csv",
                  "dtype,batch,seq,heads,kv_heads,qk_head_dim,v_head_dim,causal,pass,time_us\n")};
  const std::vector<std::string> of_training = {
      "launch_floor", "attention.tiling.softmax", "attention.tiling.backward"};
  EXPECT_EQ(usual_chip_figures(chip, training), of_training);
}

TEST(Calibration, FindsTheChipThatATableWasMadeFrom) {
  const TemporaryFolder folder;
  const ChipFit fit = fitted_chip(folder);
  EXPECT_TRUE(fit.calibration.fit.converged);
  EXPECT_EQ(fit.data.measured.size(), 4u * 3u * 4u);
  EXPECT_EQ(fit.data.skipped, 1u);
  const Document made =
      calibrated_document(fit.base,
                          fit.calibration,
                          fit.data,
                          {.name = "mine", .source = "somebody", .date = "2026-11-21"});
  const Chip chip = chip_of(made);  // the evidence is no unknown key
  EXPECT_EQ(chip.name, "mine");
  EXPECT_NEAR(chip.rate(DataType::bf16)->plateau, 0.62, 0.001);
  EXPECT_NEAR(chip.launch_floor / 4.2_us, 1.0, 0.005);
  EXPECT_NEAR(chip.memory.efficiency, 0.8, 0.002);
  EXPECT_EQ(chip.rate(DataType::fp16)->plateau, chip.rate(DataType::bf16)->plateau);
  EXPECT_EQ(chip.evidence.grade("launch_floor"), Grade::fitted);
  EXPECT_EQ(
      chip.evidence.source("memory.efficiency").find("somebody; kernels of mine_gemm.csv: 48 rows"),
      0u);
  // Of what was not fitted the evidence is the base's, an earlier fit's text included.
  for (const std::string key : {"matrix.bf16.peak", "tiling.feed"}) {
    EXPECT_EQ(chip.evidence.source(key), chip_of(fit.base).evidence.source(key)) << key;
  }
}

TEST(Calibration, KeepsItsEvidence) {
  const TemporaryFolder folder;
  const ChipFit fit = fitted_chip(folder);
  const Document made = calibrated_document(
      fit.base, fit.calibration, fit.data, {.name = {}, .source = {}, .date = "2026-11-21"});
  EXPECT_EQ(made.at("name")->text, "h100-sxm5-80gb");
  EXPECT_EQ(made.at("calibration.date")->text, "2026-11-21");
  EXPECT_EQ(made.at("calibration.data.0")->text, "mine_gemm.csv");
  EXPECT_EQ(made.at("calibration.n")->integer, 48);
  EXPECT_EQ(made.at("calibration.range")->text, "65.54 kFLOP to 1.1 TFLOP");
  // Four of 48 rows are three times too long: 4/48 x 2/3 of error, and nothing else.
  EXPECT_NEAR(made.at("calibration.residuals.mean")->number, 4.0 / 48 * 2 / 3, 0.002);
  EXPECT_NEAR(made.at("calibration.residuals.bias")->number, -4.0 / 48 * 2 / 3, 0.002);
  EXPECT_EQ(made.at("calibration.parameters.0.path")->text, "launch_floor");
  EXPECT_FALSE(made.at("calibration.parameters.0.at_bound")->boolean);
  EXPECT_NE(made.at("calibration.parameters.0.standard_error"), nullptr);
  EXPECT_EQ(made.at("calibration.correlation.1.1")->number, 1.0);
  EXPECT_EQ(made.at("calibration.correlation.1.2")->number,
            made.at("calibration.correlation.2.1")->number);
  EXPECT_NE(made.at("calibration.accuracy.extrapolated.q10"), nullptr);
  // A data sheet knows of no loss: it is too fast.
  EXPECT_LT(fit.calibration.datasheet.value().bias, -0.3);
  EXPECT_LT(fit.calibration.fitted.mean, fit.calibration.datasheet->mean);
}

TEST(Calibration, AgainChangesNothing) {
  const TemporaryFolder folder;
  const ChipFit first = fitted_chip(folder);
  const Document once = calibrated_document(
      first.base, first.calibration, first.data, {.name = {}, .source = {}, .date = {}});
  std::vector<FittedFigure> figures;
  for (const FittedFigure& figure : first.figures) {
    std::string text = figure.path;
    for (const std::string& path : figure.same) {
      text += "," + path;
    }
    figures.push_back(fitted_figure(once, text));
  }
  const Document twice = calibrated_document(once,
                                             calibrate(once, figures, first.data),
                                             first.data,
                                             {.name = {}, .source = {}, .date = {}});
  EXPECT_EQ(to_json(once.root), to_json(twice.root));
}

TEST(Calibration, SaysWhatIsWrongWithAFigure) {
  const Document chip = shipped_chip();
  const auto of = [&](std::string_view text) {
    return refusal([&] { (void)fitted_figure(chip, text); });
  };
  EXPECT_NE(of("matrix.bf61.plateau").find("did you mean \"matrix.bf16.plateau\"?"),
            std::string::npos);
  EXPECT_NE(of("title").find("not a figure of"), std::string::npos);
  EXPECT_EQ(of("launch_floor=5us:9us"),
            "--fit launch_floor=5us:9us: the base says " + chip.at("launch_floor.value")->text +
                ", outside the bounds 5 us and 9 us");
  EXPECT_NE(of("launch_floor=1:2").find("expected path=least:most, such as launch_floor="),
            std::string::npos);
  EXPECT_NE(of("launch_floor,memory.bandwidth").find("not of one dimension"), std::string::npos);
  const FittedFigure peak = fitted_figure(chip, "matrix.bf16.peak=500 TFLOP/s:1 PFLOP/s");
  EXPECT_EQ(peak.unit, "FLOP/s");
  EXPECT_DOUBLE_EQ(peak.start, 989e12);
  EXPECT_DOUBLE_EQ(peak.most, 1e15);
  EXPECT_FALSE(peak.neutral.has_value());
}

TEST(Calibration, RefusesDataThatDoNotTell) {
  const Document chip = shipped_chip();
  const TemporaryFolder folder;
  const std::string head = "dtype,m,n,k,time_us\n";
  const auto of = [&](const std::string& rows, const std::vector<std::string>& texts) {
    return refusal([&] {
      std::vector<FittedFigure> figures;
      for (const std::string& text : texts) {
        figures.push_back(fitted_figure(chip, text));
      }
      const std::vector<std::filesystem::path> files = {folder.file("t_gemm.csv", rows)};
      (void)calibrate(chip, figures, kernel_data(files, figures));
    });
  };
  EXPECT_EQ(of(head + "bf16,64,64,64,3\n", {"launch_floor", "memory.efficiency"}),
            "to fit 2 parameters, expected more measurements than that, found 1");
  std::string large = head;
  for (int i = 1; i < 9; ++i) {
    large += "bf16,8192,8192," + std::to_string(1024 * i) + "," + std::to_string(200 * i) + "\n";
  }
  EXPECT_EQ(of(large, {"attention.plateau"}),  // and no attention timed
            "the data do not determine attention.plateau: expected measurements that change with "
            "one of them");
  EXPECT_EQ(of(large, {"matrix.bf16.plateau", "attention.plateau"}), "");
  EXPECT_NE(of(head + "fp8,64,64,64,3\n", {"launch_floor"})
                .find("no row of that size or more of the data types"),
            std::string::npos);
}

TEST(Calibration, FindsTheDispatchOfAStackFromRuns) {
  const Document stack = load_data(kStackData, "megatron-lm");
  std::vector<MeasuredRun> runs;
  for (const int micro_batch : {1, 2, 4}) {
    ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
    source.assign({"plan.micro_batch", Value(micro_batch), "test"});
    source.assign({"stack.dispatch", Value("2 ms"), "test"});
    MeasuredRun run{.scenario = source.read(), .iteration_time = {}, .group = ""};
    run.iteration_time = estimate(run.scenario).iteration_time;
    run.group = micro_batch == 1 ? "small" : "large";
    runs.push_back(std::move(run));
  }
  FittedFigure dispatch = fitted_figure(stack, "dispatch=10us:10ms");
  dispatch.start = 1e-3;  // below, the passes of all these runs are longer than their launches
  const Calibration fit = calibrate(stack, {dispatch}, run_data(std::move(runs)));
  EXPECT_NEAR(fit.fit.values[0] / 2e-3, 1.0, 1e-3);
  EXPECT_LT(fit.fitted.most, 1e-3);
  ASSERT_EQ(fit.groups.size(), 2u);
}

TEST(Calibration, FindsTheProtocolsOfANetwork) {
  const TemporaryFolder folder;
  const Document base = load_data(kNetworkData, "infiniband-hdr-8x200g");
  // What two other figures make, size by size.
  const std::vector<FittedFigure> figures = {fitted_figure(base, "protocols.1.latency"),
                                             fitted_figure(base, "protocols.1.efficiency")};
  std::string csv =
      "size_bytes,time_us,algbw_GBps,op,ngpus,nnodes,dtype,hardware,interconnect,source\n";
  for (int power = 23; power <= 33; ++power) {
    csv += std::to_string(std::int64_t{1} << power) + ",1,,all_reduce,16,2,float,A100,IB,test\n";
  }
  const std::vector<std::filesystem::path> files = {folder.file("table.csv", csv)};
  EXPECT_TRUE(crosses_nodes(files));
  CalibrationData data = collective_data(files, base, "dgx-a100-80gb", 16_MiB);
  ASSERT_EQ(data.measured.size(), 10u);
  EXPECT_EQ(data.skipped, 1u);
  Document truth = base;
  put_figure(truth, figures[0], 40e-6);
  put_figure(truth, figures[1], 0.7);
  const std::vector<std::size_t> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  data.predict(truth, rows, data.measured);
  const Calibration fit = calibrate(base, figures, data);
  EXPECT_NEAR(fit.fit.values[0] / 40e-6, 1.0, 0.01);
  EXPECT_NEAR(fit.fit.values[1], 0.7, 0.001);
  EXPECT_FALSE(fit.left_out.has_value());  // of one table
}

TEST(Accuracy, IsOfPredictedOverMeasured) {
  const std::vector<double> measured = {1, 1, 1, 1, 1};
  const std::vector<double> predicted = {0.8, 0.9, 1.0, 1.1, 1.25};
  const Accuracy accuracy = accuracy_of(measured, predicted);
  EXPECT_NEAR(accuracy.bias, (-0.2 - 0.1 + 0.1 + 0.25) / 5, 1e-12);
  EXPECT_NEAR(accuracy.mean, (0.2 + 0.1 + 0.1 + 0.25) / 5, 1e-12);
  EXPECT_NEAR(accuracy.median, 0.1, 1e-12);
  EXPECT_NEAR(accuracy.most, 0.25, 1e-12);
  EXPECT_NEAR(accuracy.q10, 0.8 + 0.4 * (1 / 1.1 - 0.8), 1e-12);  // at 0.4 between two of five
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
