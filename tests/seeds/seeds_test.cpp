// The seeds: every statement is there, its laws hold, and each printed figure is as near as it
// says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "paths.hpp"
#include "repetitions.hpp"
#include "temporary_folder.hpp"
#include "titer/report/evidence/seed_report.hpp"
#include "titer/seeds/equations.hpp"
#include "titer/seeds/seed.hpp"
#include "titer/seeds/seed_totals.hpp"
#include "whatif/halved_plateaus.hpp"

namespace titer {
namespace TITER_TEST_FILE {

// Seed/Statement.Holds/F33 is the test of finding F33, and so on.
class Statement : public ::testing::TestWithParam<std::string> {};

TEST_P(Statement, Holds) {
  const Seed seed = load_seed(GetParam());
  const SeedReport report = run_seed(seed);
  EXPECT_NE(report.status(), SeedStatus::fails) << seed_view(std::span(&report, 1), true).as_text();
  for (const CheckResult& result : report.results) {
    const SeedCheck& check = *result.check;
    if (check.is_figure()) {
      // A change in accuracy, either way, is to be seen: scripts/update_seeds.py writes it down.
      constexpr double last_digit = 0.02;
      EXPECT_NEAR(result.ratio, *check.ratio, last_digit * *check.ratio) << check.what;
      EXPECT_TRUE(result.status == CheckStatus::met || !check.why.empty()) << check.what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seed, Statement, ::testing::ValuesIn(seed_ids()), [](const auto& of) {
  return of.param;
});

bool is_there(const std::string& id) {
  const std::vector<std::string> ids = seed_ids();
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

TEST(Seeds, AreAllThere) {
  const auto expect_all = [](const std::string& letter, int last) {
    for (int number = 1; number <= last; ++number) {
      EXPECT_TRUE(is_there(letter + std::to_string(number))) << letter << number;
    }
  };
  expect_all("S", 35);
  expect_all("H", 16);
  expect_all("E", 18);
  expect_all("D", 16);
  expect_all("F", 56);
  expect_all("T", 36);
  for (const std::string id : {"E7a", "E7b", "E12a", "E12b", "E15a"}) {
    EXPECT_TRUE(is_there(id)) << id;
  }
}

TEST(Seeds, AreFoundInSmallLetters) {
  EXPECT_EQ(load_seed("e12a").id, "E12a");
  EXPECT_EQ(load_seed("f33").id, "F33");
}

TEST(Seeds, NameAHeaderThatIsThere) {
  for (const std::string& id : seed_ids()) {
    const std::string home = load_seed(id).home;
    EXPECT_TRUE(home.empty() || std::filesystem::exists(testing::root() / "include" / home))
        << id << ": " << home;
  }
}

TEST(Seeds, AreInTheOrderOfTheirKindsAndNumbers) {
  const std::vector<std::string> ids = seed_ids();
  const auto at = [&](const std::string& id) { return std::find(ids.begin(), ids.end(), id); };
  EXPECT_LT(at("F2"), at("F10"));
  EXPECT_LT(at("E12"), at("E12a"));
  EXPECT_LT(at("S35"), at("E1"));
  EXPECT_LT(at("F56"), at("T1"));
}

// What every named equation takes and gives is as it says.
TEST(NamedEquations, TakeTheirInputsAndGiveTheirOutputs) {
  for (const NamedEquation& equation : equations()) {
    NamedNumbers inputs;
    std::string word;
    for (const char c : std::string(equation.inputs) + " ") {
      if (c != ' ') {
        word += c;
      } else {
        inputs.push_back({word, 4.0});
        word.clear();
      }
    }
    std::string outputs;
    for (const NamedNumber& output : compute_equation(equation.name, inputs)) {
      outputs += (outputs.empty() ? "" : " ") + output.name;
    }
    EXPECT_EQ(outputs, equation.outputs) << equation.name;
    EXPECT_TRUE(std::filesystem::exists(testing::root() / "include" / equation.home))
        << equation.home;
    inputs.pop_back();
    EXPECT_THROW(static_cast<void>(compute_equation(equation.name, inputs)), InputError);
  }
  EXPECT_THROW(static_cast<void>(compute_equation("E99", {})), InputError);
}

// A file of one's own with these checks and the equation E16 for four stages.
std::string own_file(std::string_view checks) {
  return R"({"id": "X1", "title": "own", "document": "here", "says": "something",
"questions": {"four": {"equation": "E16", "with": {"N": 4}},
"volume": {"equation": "E6", "with": {"parameters": 4, "precision": 2, "d": 2}},
"gpt": {"model": "gpt2-1.5b"},
"pipe": {"schedule": "gpipe", "pipeline": 4, "forward": 1, "input_gradient": 1, "weight_gradient": 1,
"cases": {"m1": {"micro_batches": 1}, "m12": {"micro_batches": 12}}}},
"checks": [)" +
         std::string(checks) + "]}";
}

SeedStatus status_of(std::string_view checks) {
  const testing::TemporaryFolder folder;
  const Seed seed = load_seed(folder.file("own.json", own_file(checks)));
  return run_seed(seed).status();
}

TEST(OwnStatement, HoldsWithinItsBoundsOnly) {
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.gpu_util", "expected": "1/4"})"),
            SeedStatus::holds);
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.gpu_util", "expected": 0.26})"),
            SeedStatus::fails);
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.gpu_util", "expected": 0.26,
                          "tolerance": 0.05, "why": "rounded"})"),
            SeedStatus::holds);
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.gpu_util", "expected": 0.26,
                          "margin": 0.005})"),
            SeedStatus::fails);
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.total_time", "at_least": 8, "at_most": 8})"),
            SeedStatus::holds);
  EXPECT_EQ(status_of(R"({"what": "w", "value": "four.total_time", "at_least": 8.1})"),
            SeedStatus::fails);
}

CheckStatus figure_of(std::string_view check) {
  const testing::TemporaryFolder folder;
  const Seed seed = load_seed(folder.file("own.json", own_file(check)));
  const SeedReport report = run_seed(seed);
  EXPECT_EQ(seed.checks.front().kind, CheckKind::figure);
  return report.results.front().status;
}

// A bubble of 3/4 with one micro-batch, of 1/5 with twelve.
TEST(OwnStatement, SaysHowNearAPrintedFigureIs) {
  const std::string begin = R"({"what": "w", "value": "pipe.m1.bubble_ratio", )";
  EXPECT_EQ(figure_of(begin + R"("printed": 0.72, "ratio": 1.04})"), CheckStatus::met);
  EXPECT_EQ(figure_of(begin + R"("printed": 0.6, "ratio": 1.25, "why": "x"})"), CheckStatus::unmet);
  EXPECT_EQ(figure_of(begin + R"("printed_from": 0.5, "printed_to": 0.8, "ratio": 1})"),
            CheckStatus::met);
  EXPECT_EQ(figure_of(begin + R"("printed_from": 0.9, "ratio": 0.83, "why": "x"})"),
            CheckStatus::unmet);
  EXPECT_EQ(figure_of(begin + R"("printed_to": 0.9, "ratio": 1})"), CheckStatus::met);
}

TEST(OwnStatement, LeavesOpenWhatTheDocumentDoes) {
  const std::string begin =
      R"({"what": "w", "value": "pipe.m1.bubble_ratio", "over": ["pipe.m12.bubble_ratio"], "why": "x", )";
  EXPECT_EQ(figure_of(begin + R"("printed": 0.5, "ratio": 1.5})"), CheckStatus::open);
  EXPECT_EQ(figure_of(begin + R"("printed": 0.75, "ratio": 1})"), CheckStatus::open);
  EXPECT_EQ(figure_of(begin + R"("printed": 0.9, "ratio": 0.83})"), CheckStatus::unmet);
  EXPECT_EQ(figure_of(begin + R"("printed_to": 0.8, "ratio": 1})"), CheckStatus::met);
}

CheckKind kind_of(std::string_view check) {
  const testing::TemporaryFolder folder;
  return load_seed(folder.file("own.json", own_file(check))).checks.front().kind;
}

TEST(OwnStatement, IsWorthWhatItsNumbersAre) {
  EXPECT_EQ(kind_of(R"({"what": "w", "value": "2 * 3", "expected": 6})"), CheckKind::transcription);
  EXPECT_EQ(kind_of(R"({"what": "w", "value": "volume.all_reduce", "expected": 4})"),
            CheckKind::transcription);
  EXPECT_EQ(kind_of(R"({"what": "w", "value": "four.gpu_util", "expected": "1/4"})"),
            CheckKind::structure);
  EXPECT_EQ(kind_of(R"({"what": "w", "value": "gpt.parameters", "expected": 4})"),
            CheckKind::volume);
  EXPECT_EQ(kind_of(R"({"what": "w", "value": "gpt.parameters * pipe.m1.busy", "expected": 4})"),
            CheckKind::structure);
  EXPECT_EQ(
      kind_of(R"({"what": "w", "value": "four.gpu_util", "expected": 4, "reads_back": true})"),
      CheckKind::transcription);
}

TEST(OwnStatement, IsWorthWhatItsOwnQuestionsAre) {
  // The model's name begins the equation's, whose figures are the equation itself.
  const testing::TemporaryFolder folder;
  const Seed seed = load_seed(folder.file("own.json", R"({"id": "X1", "title": "own",
"document": "here", "says": "something", "questions": {"vol": {"model": "gpt2-1.5b"},
"volume": {"equation": "E6", "with": {"parameters": 4, "precision": 2, "d": 2}}},
"checks": [{"what": "w", "value": "volume.all_reduce", "expected": 4}]})"));
  EXPECT_EQ(seed.checks.front().kind, CheckKind::transcription);
}

// A run by the documents' own formula is that formula, not a prediction; what it takes from the
// plan and from the data stands there.
TEST(OwnStatement, TellsFormulasFromPredictions) {
  const auto number = [](std::string_view set, std::string_view name) {
    const testing::TemporaryFolder folder;
    const Seed seed = load_seed(folder.file("own.json",
                                            R"({"id": "X1", "title": "own", "document": "here",
"says": "something", "questions": {"run": {"run": "gpt-1.5b-16x3090", "set": {)" +
                                                std::string(set) +
                                                R"(}}}, "checks": [{"what": "w", "value": "run.)" +
                                                std::string(name) + R"(", "expected": 1}]})"));
    return seed.checks.front().kind;
  };
  EXPECT_EQ(number("", "iteration_time_s"), CheckKind::transcription);
  EXPECT_EQ(number(R"("formula": "titer")", "iteration_time_s"), CheckKind::structure);
  EXPECT_EQ(number("", "memory.peak_bytes"), CheckKind::volume);
  EXPECT_EQ(number(R"("formula": "titer")", "devices"), CheckKind::transcription);
  EXPECT_EQ(number(R"("formula": "titer")", "memory.capacity_bytes"), CheckKind::transcription);
}

TEST(OwnStatement, AsksOneQuestionForEachCase) {
  EXPECT_EQ(status_of(R"({"what": "w", "value": "pipe.m1.bubble_ratio", "expected": "3 / 4"},
                         {"what": "w", "value": "pipe.m12.bubble_ratio", "expected": "3 / 15"})"),
            SeedStatus::holds);
}

std::string problem_of(std::string_view text) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("own.json", text);
  try {
    static_cast<void>(run_seed(load_seed(file)));
  } catch (const InputError& error) {
    const std::string& line = error.lines.front();
    return line.starts_with(file) ? line.substr(file.size() + 1) : line;
  }
  return "";
}

TEST(OwnStatement, IsRefusedWhereItIsNotSound) {
  EXPECT_EQ(
      problem_of(own_file(R"({"what": "w", "value": "1", "expected": "1", "tolerance": 0.1})")),
      "7:12: checks.0.why: expected the reason of the tolerance");
  EXPECT_EQ(problem_of(own_file(R"({"what": "w", "value": "four.gpu_utl", "expected": 1})")),
            "X1: w: four.gpu_utl: expected known names, found four.gpu_utl; did you mean "
            "\"four.gpu_util\"?");
  EXPECT_EQ(problem_of(own_file(R"({"what": "w", "value": "1"})")),
            "7:35: checks.0.value: \"1\": expected \"expected\", \"at_least\", \"at_most\" or "
            "\"printed\" "
            "beside it");
  EXPECT_EQ(problem_of(R"({"id": "X1", "title": "t", "document": "d", "says": "s"})"),
            "1:1: expected either \"checks\" or the \"reason\" why there is nothing to compute");
  EXPECT_NE(problem_of(R"({"id": "X1", "title": "t", "document": "d", "says": "s",
"questions": {"q": {"equatoin": "E1"}}, "checks": [{"what": "w", "value": 1, "expected": 1}]})")
                .find("expected a question with one of the keys run, traffic"),
            std::string::npos);
}

TEST(OwnStatement, CannotClaimAFigureThatIsNone) {
  EXPECT_EQ(problem_of(own_file(R"({"what": "w", "value": "2", "printed": 2, "ratio": 1})")),
            "X1: w: 2: expected a prediction, found no model in it");
  EXPECT_EQ(
      problem_of(own_file(
          R"({"what": "w", "value": "four.gpu_util", "printed": "four.gpu_util", "ratio": 1})")),
      "X1: w: four.gpu_util: expected what a document prints alone");
  EXPECT_EQ(problem_of(own_file(
                R"({"what": "w", "value": "four.gpu_util", "printed": 0.5, "ratio": 0.5})")),
            "7:12: checks.0.why: expected why the figure is not met within 10 %");
  EXPECT_EQ(problem_of(own_file(R"({"what": "w", "value": "four.gpu_util", "printed": 0.25})")),
            "7:12: checks.0.ratio: expected predicted over printed, to see when it changes");
  EXPECT_EQ(problem_of(own_file(R"({"what": "w", "value": "four.gpu_util", "printed": 0.25,
"ratio": 1, "tolerance": 0.5})")),
            "8:26: checks.0.tolerance: 0.5: expected none of it beside what is printed");
}

// Figures first, the unmet before all others.
TEST(Seeds, ListFirstWhatIsUnmet) {
  std::vector<Seed> seeds;
  for (const std::string id : {"E13", "D6", "S35"}) {
    seeds.push_back(load_seed(id));
  }
  std::vector<SeedReport> reports;
  for (const Seed& seed : seeds) {
    reports.push_back(run_seed(seed));
  }
  const std::string text = seed_view(reports, false).as_text();
  EXPECT_TRUE(text.starts_with("of "));
  const std::size_t headline = text.find("laws that hold: structure ");
  const std::size_t unmet = text.find("unmet, the worst first\n  ");
  const std::size_t list = text.find("all statements\n");
  EXPECT_LT(headline, unmet);
  EXPECT_LT(unmet, list);
  EXPECT_NE(list, std::string::npos);
}

// Where all of a chip's products and attention are half as fast, the figures show it: what holds
// whatever the chip does is structure.
TEST(Seeds, NoticeAMiscalibration) {
  if (testing::kSanitized) {
    GTEST_SKIP() << "a sanitizer sees the same code in each statement by itself";
  }
  const testing::HalvedPlateaus halved;
  std::size_t moved = 0;
  std::size_t changed = 0;
  std::size_t figures = 0;
  for (const std::string id : {"D6", "E12a", "F20", "F28", "F39", "S35"}) {
    const Seed seed = load_seed(id);
    const SeedReport report = run_seed(seed);
    const testing::HalvedPlateaus::Chosen chosen(halved);
    const SeedReport slow = run_seed(seed);
    for (std::size_t i = 0; i < report.results.size(); ++i) {
      if (report.results[i].check->is_figure()) {
        ++figures;
        moved += std::abs(slow.results[i].value / report.results[i].value - 1) > 0.05 ? 1 : 0;
        changed += slow.results[i].status != report.results[i].status ? 1 : 0;
      }
    }
  }
  EXPECT_GE(figures, 25U);
  EXPECT_GE(moved, figures * 9 / 10);
  EXPECT_GE(changed, figures / 3);
}

TEST(SeedTotals, CountAFigureInEveryBandThatItIsWithin) {
  SeedCheck figure;
  figure.kind = CheckKind::figure;
  SeedCheck volume;
  volume.kind = CheckKind::volume;
  std::vector<SeedReport> reports(2);
  const auto add = [&](const SeedCheck& check, double ratio, CheckStatus status) {
    CheckResult result;
    result.check = &check;
    result.ratio = ratio;
    result.status = status;
    reports[0].results.push_back(result);
  };
  for (const double ratio : {1.0, 1.04, 0.94, 1.08, 1.2, 0.8, 0.7, 3.0}) {
    const bool met = std::abs(ratio - 1) <= kMet;
    add(figure, ratio, met ? CheckStatus::met : CheckStatus::unmet);
  }
  add(figure, 1.0, CheckStatus::open);
  add(volume, 1.0, CheckStatus::holds);
  add(volume, 1.0, CheckStatus::fails);
  const SeedTotals totals = seed_totals(reports);
  EXPECT_EQ(totals.statements, 1U) << "the other has nothing to compute";
  EXPECT_EQ(totals.figures, 9U);
  EXPECT_EQ(totals.within, (std::array<std::size_t, 3>{2, 4, 6}));
  EXPECT_EQ(totals.unmet, 4U);
  EXPECT_EQ(totals.open, 1U);
  EXPECT_EQ(totals.of(CheckKind::volume).checks, 2U);
  EXPECT_EQ(totals.of(CheckKind::volume).hold, 1U);
}

TEST(Seeds, SuggestTheClosestId) {
  try {
    static_cast<void>(load_seed("F-33"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.front(),
              "F-33: expected a statement of the seeds, such as F33; did you mean \"F33\"?");
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
