// titer completion, and that the bash script completes what a user types.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// What is offered for the last of the words behind the program's name.
std::vector<std::string> offered(std::vector<std::string> words) {
  words.insert(words.begin(), {"completion", "words", "--"});
  const Outcome outcome = titer(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return lines_of(outcome.out);
}

using Words = std::vector<std::string>;

TEST(AppCompletion, OffersCommands) {
  EXPECT_EQ(offered({"se"}), (Words{"search", "seeds", "sensitivity", "serve"}));
  const Words all = offered({""});
  EXPECT_NE(std::find(all.begin(), all.end(), "run"), all.end());
  EXPECT_EQ(offered({"help", "expl"}), Words{"explain"});
  EXPECT_EQ(offered({"calibrate", "ch"}), Words{"chip"});
}

TEST(AppCompletion, OffersOptionsOfTheCommand) {
  EXPECT_EQ(offered({"run", "gpt3-175b-64xa100", "--f"}),
            (Words{"--fail-on", "--fidelity", "--format", "--formula"}));
  EXPECT_EQ(offered({"--vers"}), Words{"--version"});
  EXPECT_TRUE(offered({"run", "--no-such"}).empty());
}

TEST(AppCompletion, OffersWhatAnOptionMayBe) {
  EXPECT_EQ(offered({"run", "--format", ""}), (Words{"csv", "json", "text"}));
  EXPECT_EQ(offered({"run", "--fidelity", ""}), (Words{"closed", "event", "network"}));
  EXPECT_EQ(offered({"export", "--format", "=", "g"}), Words{"goal"});  // as bash cuts it
  EXPECT_EQ(offered({"run", "x", "--set", "plan.micro_batch_g"}), Words{"plan.micro_batch_group="});
  const Words offload = offered({"run", "--set", "plan.offload."});
  EXPECT_NE(std::find(offload.begin(), offload.end(), "plan.offload.weights="), offload.end());
}

TEST(AppCompletion, OffersNames) {
  EXPECT_EQ(offered({"run", "gpt3-175b-64xa100"}), Words{"gpt3-175b-64xa100"});
  EXPECT_EQ(offered({"run", "--format", "csv", "gpt3-175b-64xa100"}), Words{"gpt3-175b-64xa100"});
  EXPECT_TRUE(offered({"run", "gpt3-175b-64xa100", "gpt3"}).empty()) << "a run has one scenario";
  EXPECT_EQ(offered({"list", "netw"}), Words{"networks"});
  const Words clusters = offered({"show", "dgx-h"});
  EXPECT_NE(std::find(clusters.begin(), clusters.end(), "dgx-h100"), clusters.end());
}

/// What bash has to offer for the words, with the script that is printed for it.
std::vector<std::string> by_bash(const std::string& words, int number) {
  const TemporaryFolder folder;
  const std::string script = (folder.path() / "titer.bash").string();
  std::ofstream(script) << data_of(titer({"completion", "bash"}));
  const std::string command = "TITER_DATA='" + root().string() + "' bash -c '. " + script +
                              "; COMP_WORDS=(" + program() + " " + words +
                              "); COMP_CWORD=" + std::to_string(number) +
                              "; _titer; printf \"%s\\n\" \"${COMPREPLY[@]}\"; complete -p titer'";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {};
  }
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), got);
  }
  pclose(pipe);
  return lines_of(text);
}

TEST(AppCompletion, IsWhatBashAsks) {
  const std::string bound = "complete -o default -F _titer titer";
  EXPECT_EQ(by_bash("run x --fid", 3), (Words{"--fidelity", bound}));
  EXPECT_EQ(by_bash("run --fidelity ne", 3), (Words{"network", bound}));
  EXPECT_EQ(by_bash("sens", 1), (Words{"sensitivity", bound}));
  EXPECT_EQ(by_bash("run --set plan.micro_batch_g", 3), (Words{"plan.micro_batch_group=", bound}));
}

TEST(AppCompletion, KnowsItsShells) {
  EXPECT_TRUE(titer({"completion", "zsh"}).out.starts_with("#compdef titer\n"));
  EXPECT_NE(titer({"completion", "fish"}).out.find("complete -c titer"), std::string::npos);
  const Outcome wrong = titer({"completion", "tcsh"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("tcsh"), std::string::npos) << wrong.err;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
