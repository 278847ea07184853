// titer help: manual pages, made of the options that commands have.

#include <gtest/gtest.h>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppManual, HasAPageForEachCommandWithItsOptions) {
  const TemporaryFolder folder;
  const std::string pages = (folder.path() / "man").string();
  EXPECT_EQ(titer({"help", "--man", pages}).code, 0);
  const std::string program = file_text(pages + "/titer.1");
  const std::string run = file_text(pages + "/titer-run.1");
  EXPECT_TRUE(program.starts_with(".TH \"TITER\" 1 "));
  EXPECT_TRUE(contains(program, "\\fBtiter\\-run\\fR(1)\nPredict one iteration of a scenario.\n"));
  EXPECT_TRUE(contains(run, "titer\\-run \\- Predict one iteration of a scenario\n"));
  EXPECT_TRUE(contains(run, ".B titer run\n[\\fIOPTION\\fR...] \\fISCENARIO\\fR\n"));
  EXPECT_TRUE(contains(run, "\\fB\\-\\-set\\fR \\fIPATH=VALUE\\fR\n"));
  EXPECT_TRUE(contains(run, "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"));
  EXPECT_TRUE(contains(run, ".SH EXAMPLES\n.nf\ntiter run gpt3\\-175b\\-64xa100\n"));
  EXPECT_TRUE(contains(run, ".SH EXIT STATUS"));
  EXPECT_EQ(run.find("\n'"), run.npos) << "a line that troff would take for a request";
}

TEST(AppManual, GoesToANewFolderAndTakesNoCommand) {
  const TemporaryFolder folder;
  EXPECT_TRUE(
      contains(refusal_of(titer({"help", "--man", folder.path().string() + "/a/b"})), "a/b"));
  EXPECT_TRUE(contains(refusal_of(titer({"help", "run", "--man", "x"})), "--man"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
