// What all answers have to tell whoever acts on them, whichever task they are of.

#include <algorithm>

#include "tasks/screen.hpp"
#include "tasks/task.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::string kDoctor = (root() / "tests/data/doctor/").string();

using Words = std::vector<std::string>;

/// A question, and what its answer says that it is of.
struct Asked {
  Words question;
  Words said;
};

const std::vector<Asked>& questions() {
  const Words of_70b = {"Llama 3 70B", "dgx-h100", "128 x 8192 tokens", "bf16", "megatron-lm"};
  const Words of_mixture = {
      "Mixtral 8x7B on 64 x NVIDIA H100", "256 x 4096 tokens", "megatron-core"};
  static const std::vector<Asked> all = {
      {{"capacity", "llama3-70b-64xh100", "--tokens=1T", "--devices=64,128"}, of_70b},
      {{"capacity", "llama3-405b", "--grid=france"},
       {"Llama 3.1 405B", "tokens, bf16", "no memory kept free"}},
      {{"compare", "--model=llama3-8b", "--cluster=dgx-h100", "--tokens=2T", "--deadline=60d"},
       {"llama3-8b on dgx-h100", "2T tokens in 60.0 days", "2048 x 8192 tokens"}},
      {{"search", "gpt3-175b-64xa100"},
       {"GPT-3 175B on 64 x NVIDIA A100", "64 x 2048 tokens", "bf16", "megatron-lm"}},
      {{"search", "llama3-70b-time-and-cost"},
       {"Llama 3 70B on 64 to 512 x", "512 x 8192 tokens", "megatron-core"}},
      {{"run", "llama3-70b-64xh100"}, of_70b},
      {{"run",
        "mixtral-8x7b-64xh100",
        "--set=cluster.network.topology=dragonfly-1056",
        "--fidelity=network"},
       of_mixture},
      {{"tune", "llama3-70b-64xh100"}, of_70b},
      {{"sensitivity", "llama3-70b-64xh100"}, {"Llama 3 70B on 64 x NVIDIA H100"}},
      {{"diff", "llama3-70b-64xh100", "llama3-70b-64xh100", "--set-b=cluster=dgx-b200"},
       {"A: Llama 3 70B on 64 x NVIDIA H100", "B: Llama 3 70B on 64 x NVIDIA B200"}},
      {{"compare",
        "mixtral-8x7b-64xh100",
        "--topology=fat-tree-2-level-1024",
        "--failed-links=0,1"},
       of_mixture},
      {{"trace", kDoctor + "rank0.json", "--scenario=" + kDoctor + "run.json"},
       {"rank0.json", "Llama 3 8B on 8 x NVIDIA H100"}},
      {{"trace", kDoctor + "train.log", "--scenario=" + kDoctor + "run.json"},
       {"train.log", "Llama 3 8B on 8 x NVIDIA H100"}},
      {{"doctor", kDoctor + "run.json", kDoctor + "train.log", kDoctor + "rank0.json"},
       {"Llama 3 8B on 8 x NVIDIA H100"}},
      {{"collective",
        "--cluster=dgx-h100",
        "--op=all_reduce",
        "--ranks=0-7",
        "--measured=" + kDoctor + "all_reduce.txt"},
       {"all-reduce, 8 ranks of dgx-h100"}},
      {{"timeline", "--schedule=1f1b,zb-h1,dualpipe", "--pipeline=4", "--micro-batches=8"},
       {"1f1b: 4 stages, 8 micro-batches", "zb-h1: 4 stages"}},
  };
  return all;
}

TEST(AnswersToTasks, SayWhatWasAsked) {
  for (const Asked& asked : questions()) {
    const Outcome outcome = titer(asked.question);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string head = outcome.out.substr(0, 1000) + outcome.err;
    for (const std::string& words : asked.said) {
      EXPECT_TRUE(contains(head, words)) << asked.question.front() << ": " << words << "\n" << head;
    }
  }
}

/// Characters, of which some have more bytes than one.
std::size_t width(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(AnswersToTasks, FitATerminal) {
  constexpr unsigned short columns = 100;
  for (const Asked& asked : questions()) {
    Screen screen(columns);
    const std::vector<std::string> lines = screen.lines_of(asked.question);
    EXPECT_GT(lines.size(), 3u) << asked.question.front();
    for (const std::string& line : lines) {
      EXPECT_LE(width(line), columns) << asked.question.front() << ": " << line;
    }
  }
}

void expect_between(const Document& answer,
                    const std::string& low,
                    const std::string& figure,
                    const std::string& high) {
  EXPECT_LT(number(answer, low), number(answer, figure)) << low;
  EXPECT_GT(number(answer, high), number(answer, figure)) << high;
}

void expect_grade(const Document& answer, const std::string& path) {
  const std::string grade = text(answer, path);
  EXPECT_TRUE(grade == "fitted" || grade == "datasheet" || grade == "extrapolated") << grade;
}

/// How far off a time may be, and on what evidence it rests, beside every time that somebody acts
/// on.
TEST(AnswersToTasks, SayHowSureTheyAre) {
  const Document run = answer({"run", "llama3-70b-64xh100"});
  expect_between(run, "error_bar.low_s", "iteration_time_s", "error_bar.high_s");
  expect_grade(run, "grade");
  const Document search = answer({"search", "gpt3-175b-64xa100"});
  expect_between(search,
                 "plans.0.iteration_time_low_s",
                 "plans.0.iteration_time_s",
                 "plans.0.iteration_time_high_s");
  expect_grade(search, "plans.0.grade");
  const Document capacity = answer({"capacity", "llama3-405b"});
  expect_between(capacity, "points.0.time_low_s", "points.0.time_s", "points.0.time_high_s");
  expect_grade(capacity, "points.0.grade");
  const Document table = answer(
      {"compare", "--model=llama3-8b", "--cluster=dgx-h100", "--tokens=2T", "--deadline=60d"});
  expect_between(table, "rows.0.time_low_s", "rows.0.time_s", "rows.0.time_high_s");
  expect_grade(table, "rows.0.grade");
  for (const Words& question :
       std::vector<Words>{{"capacity", "llama3-405b"},
                          {"search", "gpt3-175b-64xa100"},
                          {"run", "llama3-70b-64xh100"},
                          {"tune", "llama3-70b-64xh100"},
                          {"sensitivity", "llama3-70b-64xh100"},
                          {"compare", "llama3-70b-64xh100", "--topology=fat-tree-2-level-1024"}}) {
    const std::string out = titer(question).out;
    EXPECT_TRUE(contains(out, "basis: ")) << question.front();
    EXPECT_TRUE(contains(out, "four of five between") || contains(out, "10-90 %")) << out;
  }
  const std::string difference = titer({"diff", "llama3-70b-64xh100", "gpt3-175b-64xa100"}).out;
  EXPECT_TRUE(contains(difference, "figures; four of five between ")) << difference;
}

/// Another machine is another machine of as many devices, unless it is said.
TEST(AnswersToTasks, KeepTheDevicesThatWereAskedFor) {
  for (const char* cluster : {"dgx-b200", "dgx-h200", "dgx-a100-80gb"}) {
    const Outcome run =
        titer({"run", "llama3-70b-64xh100", "--set=cluster=" + std::string(cluster)});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "Llama 3 70B on 64 x NVIDIA")) << run.out.substr(0, 100);
  }
  const Document search =
      answer({"search", "llama3-70b-64xh100", "--set=cluster=dgx-b200", "--top=2"});
  EXPECT_EQ(number(search, "plans.0.devices"), 64);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
