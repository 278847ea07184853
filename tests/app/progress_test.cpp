// How far a long command is, on a terminal, and what it leaves behind where it is ended.

#include <gtest/gtest.h>

#include "app/on_terminal.hpp"
#include "titer/report/file/chakra_export.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// All that it tells there.
std::string told(const std::vector<std::string>& arguments) {
  OnATerminal running(arguments);
  EXPECT_FALSE(running.saw("what no program says"));
  EXPECT_LE(running.code(), 1);
  return running.seen;
}

TEST(Progress, IsShownOnATerminalAndWipedBeforeTheAnswer) {
  std::string devices = "512";  // so many that the fastest machine takes a while
  for (int nodes = 128; nodes <= 160 * 64; nodes += 64) {
    devices += "," + std::to_string(8 * nodes);
  }
  const std::vector<std::string> long_one = {"capacity",
                                             "llama3-405b",
                                             "--set=stack=megatron-lm",
                                             "--search",
                                             "--jobs=1",
                                             "--tokens=1T",
                                             "--devices=" + devices};
  const std::string shown = told(long_one);
  EXPECT_TRUE(contains(shown, " of 160 numbers of devices, ")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
  EXPECT_EQ(titer(long_one).err, "") << "no terminal";
}

TEST(Progress, SaysHowLongItHasBeenWhereNothingIsCounted) {
  OnATerminal running({"collective",
                       "--cluster=dgx-h100",
                       "--op=all_to_all",
                       "--bytes=1MiB",
                       "--ranks=0-2047",
                       "--fidelity=flow"});
  EXPECT_TRUE(running.saw("1 s so far"));
  running.send(SIGTERM);
  EXPECT_EQ(running.code(), 128 + SIGTERM);
}

/// Of which the first part tells how large all of it will be.
TEST(Progress, SaysHowLargeATableWillBeBeforeItIsWritten) {
  const TemporaryFolder folder;
  const std::string sweep = folder.file("sweep.json", R"({
    "scenario": "llama3-70b-64xh100",
    "axes": {"training.global_batch": {"from": 128, "to": 400000, "step": 2},
             "plan.micro_batch": [1, 2]}})");
  OnATerminal running({"sweep", sweep, "--out=" + (folder.path() / "rows.csv").string()});
  EXPECT_TRUE(running.saw("rows.csv: some 1")) << running.seen;
  EXPECT_TRUE(running.saw(" MB will be written")) << running.seen;
  running.send(SIGTERM);
  EXPECT_NE(running.code(), 0);
}

TEST(Progress, IsNoWordOfAShortCommand) { EXPECT_EQ(told({"run", "llama3-70b-64xh100"}), ""); }

/// A file and a folder, which are not there before they are whole.
TEST(Temporaries, AreRemovedWhereASignalEndsTheProgram) {
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  for (const int signal : {SIGINT, SIGTERM}) {
    for (const char* format : {"goal", "chakra"}) {
      const TemporaryFolder folder;
      OnATerminal running({"export",
                           "gpt3-175b-64xa100",
                           std::string("--format=") + format,
                           "--detail=operation",
                           "--out=" + (folder.path() / "step").string()});
      ASSERT_TRUE(running.saw(" of 64 ranks"));
      ASSERT_EQ(names_in(folder.path()).size(), 1u);
      running.send(signal);
      EXPECT_EQ(running.code(), 128 + signal);
      EXPECT_TRUE(names_in(folder.path()).empty()) << names_in(folder.path()).front();
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
