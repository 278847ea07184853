// The command line's contract apart from what the subcommands compute: exit codes, and errors of
// one line each on standard error with nothing on standard output.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "paths.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kRun = "gpt3-175b-64xa100";
constexpr std::array<const char*, 6> kSubcommands = {
    "run", "check", "explain", "list", "sweep", "import"};

TEST(AppHelp, IsDataAndSucceeds) {
  const std::string help = data_of(titer({"--help"}));
  for (const char* subcommand : kSubcommands) {
    EXPECT_TRUE(contains(help, std::string("  ") + subcommand + " "));
    const std::string own = data_of(titer({subcommand, "--help"}));
    EXPECT_TRUE(contains(own, std::string("titer ") + subcommand + " "));
  }
}

TEST(AppHelp, OfTheVersionIsOneLine) {
  const std::string text = data_of(titer({"--version"}));
  EXPECT_TRUE(text.starts_with("titer ")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(AppUsage, NeedsASubcommand) {
  EXPECT_EQ(refusal_of(titer({})), "titer: A subcommand is required");
}

TEST(AppUsage, NeedsWhatASubcommandWorksOn) {
  EXPECT_EQ(refusal_of(titer({"run"})), "titer: scenario is required");
  EXPECT_EQ(refusal_of(titer({"check"})), "titer: scenario is required");
  EXPECT_EQ(refusal_of(titer({"explain"})), "titer: scenario is required");
  EXPECT_EQ(refusal_of(titer({"sweep"})), "titer: sweep is required");
}

TEST(AppUsage, SuggestsTheSubcommandMeant) {
  EXPECT_EQ(refusal_of(titer({"rnu", kRun})), "titer: rnu: not known here; did you mean \"run\"?");
  EXPECT_EQ(refusal_of(titer({"frobnicate"})),
            "titer: frobnicate: not known here; `titer --help` lists what is");
}

TEST(AppUsage, NamesTheHelpOfTheSubcommand) {
  EXPECT_EQ(refusal_of(titer({"support", "--zzzz"})),
            "titer: --zzzz: not known here; `titer support --help` lists what is");
}

TEST(AppUsage, NamesTheSubcommandsThatKnowAnOption) {
  EXPECT_EQ(refusal_of(titer({"capacity", "--model=llama3-8b"})),
            "titer: --model=llama3-8b: not known here; `titer capacity --help` lists what is; "
            "`titer search`, `titer import`, `titer compare` and `titer new` know it");
}

/// As of --budget "$BUDGET" without a BUDGET, which must not be answered as if there were no limit.
TEST(AppUsage, RefusesOptionsThatSayNothing) {
  EXPECT_EQ(refusal_of(titer({"capacity", "gpt3-175b", "--budget", ""})),
            "titer: --budget: empty; expected a value");
  EXPECT_EQ(refusal_of(titer({"capacity", "gpt3-175b", "--budget="})),
            "titer: --budget: empty; expected a value");
  EXPECT_EQ(refusal_of(titer({"run", ""})), "titer: an empty word; expected a value");
  EXPECT_EQ(titer({"run", kRun, "--set", "title="}).code, 0);
}

TEST(AppUsage, SuggestsTheOptionMeant) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--fidelty", "event"})),
            "titer: --fidelty: not known here; did you mean \"--fidelity\"?");
  EXPECT_EQ(refusal_of(titer({"sweep", "gpt3-175b-plans", "--job", "2"})),
            "titer: --job: not known here; did you mean \"--jobs\"?");
}

TEST(AppUsage, SuggestsTheChoiceMeant) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--format", "jsn"})),
            "--format: jsn: expected text, csv, json; did you mean \"json\"?");
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--fidelity", "evnt"})),
            "--fidelity: evnt: expected closed, event, network; did you mean \"event\"?");
  EXPECT_EQ(refusal_of(titer({"explain", kRun, "--format", "xml"})),
            "--format: xml: expected text, csv, json");
}

TEST(AppUsage, RefusesASecondScenarioAndAnOptionWithoutItsValue) {
  EXPECT_TRUE(contains(refusal_of(titer({"run", kRun, "other"})), "other: not known here"));
  EXPECT_TRUE(contains(refusal_of(titer({"run", kRun, "--set"})), "--set"));
  EXPECT_TRUE(contains(refusal_of(titer({"run", kRun, "--format"})), "--format"));
}

TEST(AppSet, RefusesWhatIsNoAssignment) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--set", "plan.tensor"})),
            "--set plan.tensor: expected path=value, such as plan.tensor=8");
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--set", "=8"})),
            "--set =8: expected path=value, such as plan.tensor=8");
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--set", "plan..tensor=8"})),
            "--set plan..tensor=8: plan..tensor: expected a path of object keys, such as "
            "plan.tensor");
}

TEST(AppSet, SuggestsTheKeyMeant) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--set", "plan.tensr=8"})),
            "--set plan.tensr=8: plan.tensr: unknown key; did you mean \"tensor\"?");
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--set", "plans.tensor=8"})),
            "--set plans.tensor=8: plans: unknown key; did you mean \"plan\"?");
}

TEST(AppSet, RefusesAQuantityWithoutItsUnit) {
  EXPECT_EQ(
      refusal_of(titer({"run", kRun, "--set", "cluster.node.nic_bandwidth=200"})),
      "--set cluster.node.nic_bandwidth=200: cluster.node.nic_bandwidth: 200: expected a "
      "bandwidth with its unit, such as \"25 GB/s\"; did you mean \"200 GB/s\" or \"200 Gbps\"?");
}

TEST(AppInput, NamesAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing.json").string();
  EXPECT_EQ(refusal_of(titer({"run", missing})), missing + ": there is no such file");
  const std::string directory = folder.path().string();
  EXPECT_EQ(refusal_of(titer({"run", directory})),
            directory + ": is a folder; expected a JSON file");
  EXPECT_EQ(refusal_of(titer({"run", "gpt3-175b-64xa10"})),
            "gpt3-175b-64xa10: no shipped run has this name; did you mean \"gpt3-175b-64xa100\"? "
            "(a file is given by a path with a slash or ending in .json)");
}

TEST(AppInput, SaysWhatTakesWhatANameIsOf) {
  EXPECT_TRUE(contains(refusal_of(titer({"run", "llama3-8b"})),
                       "no shipped run has this name, a model has: `titer new --model llama3-8b`"));
  EXPECT_TRUE(contains(refusal_of(titer({"run", "gpt3-175b-plans"})),
                       "a sweep has: `titer sweep gpt3-175b-plans` takes it"));
}

/// A file of any bytes is the user's mistake, told in one line that starts with its place.
void expect_refused(std::string_view bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("input.json", bytes);
  for (const char* subcommand : {"run", "check", "explain", "sweep"}) {
    const testing::Outcome outcome = titer({subcommand, path});
    EXPECT_EQ(outcome.code, 2) << subcommand << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << subcommand;
    ASSERT_FALSE(outcome.errors().empty()) << subcommand;
    EXPECT_TRUE(outcome.errors()[0].starts_with(path)) << outcome.err;
  }
}

TEST(AppInput, RefusesAnEmptyFile) { expect_refused(""); }

TEST(AppInput, RefusesBinaryGarbage) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) {
    bytes += static_cast<char>((i * 7919 + i / 256) % 256);
  }
  expect_refused(bytes);
  expect_refused(std::string_view("\0\0\0\0", 4));
  expect_refused("{\"model\": \"\xff\xfe\"}");
}

TEST(AppInput, RefusesTruncatedJson) {
  const std::string whole = file_text(root().string() + "/configs/runs/" + kRun + ".json");
  for (const std::size_t size : {std::size_t{1}, whole.size() / 3, whole.size() / 2}) {
    expect_refused(whole.substr(0, size));
  }
}

TEST(AppInput, RefusesDeepNesting) {
  expect_refused(std::string(100'000, '['));
  expect_refused(std::string(100'000, '[') + std::string(100'000, ']'));
  std::string objects;
  for (int i = 0; i < 50'000; ++i) {
    objects += "{\"a\":";
  }
  expect_refused(objects);
}

TEST(AppInput, RefusesWhatIsNoObject) {
  for (const char* text : {"null", "[]", "5", "\"gpt3-175b\"", "{}"}) {
    expect_refused(text);
  }
}

TEST(AppData, NamesTheFolderThatHoldsNone) {
  const TemporaryFolder folder;
  const std::string nowhere = (folder.path() / "nowhere").string();
  EXPECT_EQ(refusal_of(titer({"list", "models"}, {.data = nowhere, .output = ""})),
            "TITER_DATA: " + nowhere + ": expected a folder that holds models and configs");
  EXPECT_EQ(titer({"run", kRun}, {.data = nowhere, .output = ""}).code, 2);
  EXPECT_EQ(titer({"--help"}, {.data = nowhere, .output = ""}).code, 0) << "needs no data";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
