// What a calibration makes of data that tell little or nothing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "paths.hpp"
#include "repetitions.hpp"
#include "temporary_folder.hpp"
#include "titer/calibrate/calibration.hpp"
#include "titer/calibrate/calibration_data.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/read_document.hpp"
#include "titer/measured/collective/measured_collective.hpp"
#include "titer/plan/stack.hpp"
#include "titer/scenario/source.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const fs::path kAwsTable =
    root() / "tests/data/measured/collectives/allreduce_2n_p5_h100_efa_d.csv";

/// Every time by a factor of its own between a tenth and ten.
void scatter(CalibrationData& data, unsigned seed) {
  std::mt19937 random(seed);
  for (double& time : data.measured) {
    const double exponent = 2.0 * (static_cast<double>(random()) / 4294967296.0) - 1.0;
    time *= std::pow(10.0, exponent);
  }
}

struct Fit {
  Document base;
  CalibrationData data;
  Calibration calibration;
  Document made{};
};

Fit finish(Document base, CalibrationData data, const std::vector<std::string>& texts) {
  std::vector<FittedFigure> figures;
  for (const std::string& text : texts) {
    figures.push_back(fitted_figure(base, text));
  }
  Fit fit{.base = std::move(base), .data = std::move(data), .calibration = {}};
  fit.calibration = calibrate(fit.base, figures, fit.data);
  fit.made = calibrated_document(
      fit.base, fit.calibration, fit.data, {.name = {}, .source = {}, .date = {}});
  return fit;
}

/// The network of two p5 nodes, fitted to nccl-tests on them.
struct NetworkFit {
  Bytes least{};
  std::optional<unsigned> nonsense{};  // the seed of its times' factors
  std::optional<double> efficiency{};  // to start from
  std::optional<int> nics{};           // of a node; none: p5's 32
};

Fit network_fit(const NetworkFit& question) {
  Document base = load_data(kNetworkData, "efa-32x100g");
  if (question.nics) {
    *base.root.find("nics") = Value(*question.nics);
  }
  if (question.efficiency) {
    put_figure(base, fitted_figure(base, "protocols.1.efficiency"), *question.efficiency);
  }
  const std::vector<fs::path> files = {kAwsTable};
  CalibrationData data = collective_data(files, base, "dgx-h100", question.least);
  if (question.nonsense) {
    scatter(data, *question.nonsense);
  }
  const std::vector<std::string> texts = usual_network_figures(base, true);
  return finish(std::move(base), std::move(data), texts);
}

const std::vector<std::string> kChipNames = {"launch_floor", "matrix.bf16.plateau"};

/// A chip's products as they are where a launch takes 5 us and the plateau is 0.7.
struct TrueProducts {
  Document base = load_data(kChipData, "h100-sxm5-80gb");
  std::vector<FittedFigure> figures;
  CalibrationData data;
  std::vector<std::size_t> rows;

  TrueProducts(const TemporaryFolder& folder, const std::string& csv) {
    for (const std::string& name : kChipNames) {
      figures.push_back(fitted_figure(base, name));
    }
    const std::vector<fs::path> files = {folder.file("mine_gemm.csv", csv)};
    data = kernel_data(files, figures);
    Document truth = base;
    put_figure(truth, figures[0], 5e-6);
    put_figure(truth, figures[1], 0.7);
    rows.resize(data.measured.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    data.predict(truth, rows, data.measured);
  }
};

Fit chip_fit(const TemporaryFolder& folder, bool nonsense) {
  std::string csv = "dtype,m,n,k,time_us\n";
  for (const int m : {64, 512, 4096}) {
    for (int k = 256; k <= 16384; k *= 2) {
      csv += fmt::format("bf16,{},4096,{},1\n", m, k);
    }
  }
  TrueProducts products(folder, csv);
  if (nonsense) {
    scatter(products.data, 2);
  }
  return finish(std::move(products.base), std::move(products.data), kChipNames);
}

Fit stack_fit(bool nonsense) {
  std::vector<MeasuredRun> runs;
  for (const int micro_batch : {1, 2, 4}) {
    for (const char* const name : {"gpt3-175b-64xa100", "llama3-70b-64xh100"}) {
      ScenarioSource source = ScenarioSource::load(name);
      source.assign({"plan.micro_batch", Value(micro_batch), "test"});
      source.assign({"training.sequence", Value(128), "test"});  // kernels take less than launches
      source.assign({"stack.dispatch", Value("2 ms"), "test"});
      MeasuredRun run{.scenario = source.read(), .iteration_time = {}, .group = name};
      run.iteration_time = estimate(run.scenario).iteration_time;
      runs.push_back(std::move(run));
    }
  }
  CalibrationData data = run_data(std::move(runs));
  if (nonsense) {
    scatter(data, 3);
  }
  return finish(load_data(kStackData, "megatron-lm"), std::move(data), {"dispatch=70us:10ms"});
}

/// No figure of the fit counts as measured, and the file says why.
void expect_no_evidence(const Fit& fit) {
  EXPECT_FALSE(fit.calibration.is_sound());
  for (const FittedFigure& figure : fit.calibration.figures) {
    EXPECT_EQ(fit.made.at(figure.path + ".source")->text, "assumed_calibration") << figure.path;
  }
  ASSERT_NE(fit.made.at("calibration.objections.0"), nullptr);
  EXPECT_NE(
      fit.made.at("sources.assumed_calibration")
          ->text.find("no evidence, as the fit is rejected: " + fit.calibration.objections.front()),
      std::string::npos);
  // What an earlier fit says of the other figures stays.
  const Value* earlier = fit.base.at("sources.measured_calibration");
  const Value* kept = fit.made.at("sources.measured_calibration");
  EXPECT_EQ(kept == nullptr ? "" : kept->text, earlier == nullptr ? "" : earlier->text);
}

TEST(CalibrationVerdict, OfRandomTimesOfANetworkIsThatTheyAreNoEvidence) {
  for (int seed = 1; seed <= repetitions(5); ++seed) {
    SCOPED_TRACE(seed);
    const Fit fit = network_fit({.nonsense = static_cast<unsigned>(seed)});
    expect_no_evidence(fit);
    // A tenth to ten: at least half of that is left open to either side.
    EXPECT_LE(fit.made.at("error_bars.low.value")->number, 0.5);
    EXPECT_GE(fit.made.at("error_bars.high.value")->number, 2.0);
    EXPECT_EQ(fit.made.at("error_bars.high.source")->text, "assumed_calibration");
  }
}

TEST(CalibrationVerdict, OfRandomTimesOfAChipIsThatTheyAreNoEvidence) {
  const TemporaryFolder folder;
  const Fit fit = chip_fit(folder, true);
  expect_no_evidence(fit);
  const Chip chip = read_document(fit.made, read_chip);
  EXPECT_EQ(chip.rate(DataType::bf16)->grade, Grade::extrapolated);
  EXPECT_LE(chip.fit_errors.low, 0.5);
  EXPECT_GE(chip.fit_errors.high, 2.0);
}

TEST(CalibrationVerdict, OfRandomTimesOfAStackIsThatTheyAreNoEvidence) {
  const Fit fit = stack_fit(true);
  expect_no_evidence(fit);
  const Stack before = read_document(fit.base, read_stack);
  const Stack after = read_document(fit.made, read_stack);
  for (const Grade grade : {Grade::fitted, Grade::datasheet, Grade::extrapolated}) {
    const auto& bar = after.errors[static_cast<std::size_t>(grade)];
    ASSERT_TRUE(bar.has_value());
    EXPECT_LE(bar->low, before.errors[static_cast<std::size_t>(grade)].value().low);
    EXPECT_GE(bar->high, before.errors[static_cast<std::size_t>(grade)].value().high);
    EXPECT_GT(bar->high / bar->low, 4.0);
  }
}

TEST(CalibrationVerdict, TakesDataThatTheModelMeets) {
  const TemporaryFolder folder;
  const Fit chip = chip_fit(folder, false);
  EXPECT_TRUE(chip.calibration.is_sound());
  EXPECT_EQ(chip.made.at("matrix.bf16.plateau.source")->text, "measured_calibration");
  EXPECT_NEAR(chip.made.at("error_bars.high.value")->number, 1.0, 0.01);
  const Fit stack = stack_fit(false);
  EXPECT_TRUE(stack.calibration.is_sound());
  EXPECT_EQ(stack.made.at("dispatch.source")->text, "measured_calibration");
}

TEST(CalibrationVerdict, TakesAGenuineLogWhereItTellsMoreThanTheBase) {
  // The shipped figures come from this very table: there is nothing to gain.
  const Fit again = network_fit({.least = 1_MiB});
  EXPECT_FALSE(again.calibration.is_sound());
  EXPECT_TRUE(again.calibration.objections.front().starts_with("it is no better than what it "));
  // From half of the rate there is.
  const Fit fit = network_fit({.least = 1_MiB, .efficiency = 0.5});
  EXPECT_TRUE(fit.calibration.is_sound());
  EXPECT_LT(fit.calibration.fitted.mean, fit.calibration.base.mean);
  EXPECT_LE(fit.calibration.fitted.p90, kMostError);
  // Large messages say little of the protocol of small ones: what they do not tell stays as it was.
  ASSERT_FALSE(fit.calibration.undetermined.empty());
  EXPECT_EQ(fit.calibration.figures.size() + fit.calibration.undetermined.size(), 4u);
  for (const FittedFigure& figure : fit.calibration.undetermined) {
    EXPECT_TRUE(figure.path.starts_with("protocols.0.")) << figure.path;
    EXPECT_EQ(to_json(*fit.made.at(figure.path)), to_json(*fit.base.at(figure.path)));
  }
  EXPECT_EQ(fit.made.at("calibration.undetermined.0")->text,
            fit.calibration.undetermined.front().path);
}

TEST(CalibrationVerdict, RejectsAGenuineLogOfAnotherMachine) {
  // Eight NICs of 100 Gbps instead of 32: no figures of the network make up for that.
  const Fit fit = network_fit({.nics = 8});
  EXPECT_FALSE(fit.calibration.is_sound());
  EXPECT_GT(fit.calibration.fitted.p90, kMostError);
}

TEST(CalibrationVerdict, RejectsAFitThatIsFarOffItsOwnRows) {
  // Small products tell the floor alone, so that large ones cannot be left out. These take twice
  // and half as long as by the same rate: a fit
  // to them finds what small ones take, and meets none of its own rows.
  const TemporaryFolder folder;
  std::string csv = "dtype,m,n,k,time_us\n";
  for (int i = 1; i <= 12; ++i) {
    csv += fmt::format("bf16,8,8,{},1\n", 8 * i);
  }
  for (int i = 1; i <= 4; ++i) {
    const std::string large = fmt::format("bf16,8192,8192,{},1\n", 2048 * i);
    csv += large + large;
  }
  TrueProducts products(folder, csv);
  for (const std::size_t row : products.rows) {
    const bool is_large = row >= 12;
    products.data.groups[row] = is_large ? "large" : "small";
    products.data.measured[row] *= !is_large ? 1.0 : row % 2 == 0 ? 2.0 : 0.5;
  }
  const Calibration fit = calibrate(products.base, products.figures, products.data);
  ASSERT_TRUE(fit.left_out);
  EXPECT_EQ(fit.left_out->rows, 12u);
  EXPECT_LT(fit.left_out->p90, 0.01);
  ASSERT_EQ(fit.objections.size(), 1u);
  EXPECT_EQ(fit.objections.front(),
            "a tenth of the rows is off by more than 100.0 %, expected at most 30 %");
}

TEST(CalibrationVerdict, CallsNoFigureFittedThatEndsAtItsBound) {
  const TemporaryFolder folder;
  const Fit free = chip_fit(folder, false);
  Fit held = chip_fit(folder, false);
  // The truth is 5 us, and no more than 4 are allowed.
  std::vector<FittedFigure> figures = free.calibration.figures;
  figures[0].most = 4e-6;
  held.calibration = calibrate(held.base, figures, held.data);
  held.made = calibrated_document(
      held.base, held.calibration, held.data, {.name = {}, .source = {}, .date = {}});
  ASSERT_TRUE(held.calibration.fit.at_bound[0]);
  ASSERT_FALSE(held.calibration.fit.at_bound[1]);
  EXPECT_TRUE(held.calibration.is_sound());
  const Chip chip = read_document(held.made, read_chip);
  EXPECT_EQ(chip.evidence.grade("launch_floor"), Grade::extrapolated);
  EXPECT_TRUE(chip.evidence.source("launch_floor").starts_with("not told by the data"));
  EXPECT_EQ(chip.evidence.grade("matrix.bf16.plateau"), Grade::fitted);
}

TEST(CalibrationVerdict, WidensWhatAnAnswerLeavesOpen) {
  // The same step with a network that leaves its transfers between half and twice their time, and
  // with one that says nothing.
  const auto bar_of = [](const std::string& low, const std::string& high) {
    ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
    source.assign({"cluster.network.error_bars.low", parse_json(low, "").root, "test"});
    source.assign({"cluster.network.error_bars.high", parse_json(high, "").root, "test"});
    return estimate(source.read());
  };
  const StepResult before = estimate(ScenarioSource::load("llama3-70b-64xh100").read());
  const StepResult same = bar_of("1", "1");
  const StepResult wide = bar_of("0.01", "10");
  ASSERT_TRUE(before.error_bar && same.error_bar && wide.error_bar);
  EXPECT_EQ(same.error_bar->low, before.error_bar->low);
  EXPECT_EQ(same.error_bar->high, before.error_bar->high);
  EXPECT_GT(wide.error_bar->high, before.error_bar->high);
  EXPECT_LE(wide.error_bar->low, before.error_bar->low);
  EXPECT_EQ(wide.iteration_time, before.iteration_time);
  // What all transfers take nine times over, and no more.
  Seconds transfers;
  for (const CommunicationPart& part : kCommunicationParts) {
    transfers += wide.comm_total.*part.value;
  }
  EXPECT_NEAR(wide.error_bar->high / (wide.iteration_time + 9.0 * transfers), 1.0, 1e-9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
