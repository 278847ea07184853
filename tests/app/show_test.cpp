// titer show, help and version, and data of one's own by name, from the outside.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppShow, PrintsAFileAndSaysWhatItIs) {
  const std::filesystem::path file = root() / "configs/chips/a100-sxm4-80gb.json";
  ASSERT_TRUE(std::filesystem::exists(file));
  const Outcome chip = titer({"show", "a100-sxm4-80gb"});
  EXPECT_EQ(chip.code, 0);
  EXPECT_EQ(chip.out, file_text(file));
  EXPECT_EQ(chip.err, "chip a100-sxm4-80gb: " + file.string() + "\n");
}

TEST(AppShow, RefusesUnknownAndAmbiguousNames) {
  const Outcome unknown = titer({"show", "dgx-h10"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_EQ(unknown.err, "dgx-h10: nothing shipped has this name; did you mean \"dgx-h100\"?\n");
  EXPECT_TRUE(contains(titer({"show", "h100"}).err, "has this name; names with it: h100-"));
  const TemporaryFolder own;
  for (const char* kind : {"models", "configs/clusters"}) {
    std::filesystem::create_directories(own.path() / kind);
    std::ofstream(own.path() / kind / "twin.json") << "{}\n";
  }
  const Surroundings around{.path = own.path().string()};
  const Outcome twin = titer({"show", "twin"}, around);
  EXPECT_EQ(twin.code, 2);
  EXPECT_EQ(twin.err,
            "twin: the name of more than one thing: expected --kind model or --kind cluster\n");
  EXPECT_EQ(titer({"show", "twin", "--kind", "cluster"}, around).out, "{}\n");
  EXPECT_EQ(titer({"show", "twin", "--kind", "planet"}, around).code, 2);
}

TEST(AppShow, FindsDataOfOnesOwnBeforeWhatIsShipped) {
  const TemporaryFolder own;
  std::filesystem::create_directories(own.path() / "configs/clusters");
  std::ofstream(own.path() / "configs/clusters/our-pod.json")
      << "{\"base\": \"dgx-h100\", \"name\": \"our-pod\", \"title\": \"Our pod\"}\n";
  const Surroundings around{.path = own.path().string()};
  const std::vector<std::string> run = {
      "run", "llama3-70b-64xh100", "--set", "cluster=our-pod", "--format", "json"};
  EXPECT_EQ(titer(run, around).code, 0) << titer(run, around).err;
  EXPECT_EQ(titer(run).code, 2) << "only where the folder is named";
  EXPECT_NE(titer({"list", "clusters"}, around).out.find("our-pod"), std::string::npos);

  std::filesystem::create_directories(own.path() / "configs/runs");
  const auto shadow = own.path() / "configs/runs/llama3-70b-64xh100.json";
  std::ofstream(shadow) << "{\"ours\": true}\n";
  EXPECT_EQ(titer({"show", "llama3-70b-64xh100"}, around).out, "{\"ours\": true}\n");
  const Outcome missing = titer({"list", "runs"}, {.path = "/no/such/folder"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err,
            "TITER_PATH: /no/such/folder: expected folders of data of your own, with colons "
            "between them\n");
}

TEST(AppHelp, IsThatOfTheCommand) {
  EXPECT_EQ(titer({"help"}).out, titer({"--help"}).out);
  EXPECT_EQ(titer({"help", "run"}).out, titer({"run", "--help"}).out);
  const Outcome wrong = titer({"help", "rum"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean \"run\"?"), std::string::npos) << wrong.err;
  EXPECT_EQ(titer({"help", "run"}).code, 0);
}

TEST(AppVersion, IsTheSameByAnyName) {
  const Outcome version = titer({"version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("titer ")) << version.out;
  EXPECT_EQ(titer({"--version"}).out, version.out);
  EXPECT_EQ(titer({"-V"}).out, version.out);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
