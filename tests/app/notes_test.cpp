// What the question of an answer was taken to be, where it did not say: in every command that
// answers one.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

constexpr const char* kAssumed =
    "training.sequence is not given: 2048 tokens, the longest of the model";
constexpr const char* kBeyond = "beyond what megatron-lm can do: schedule zb-h1";

class AppNotes : public ::testing::Test {
 protected:
  [[nodiscard]] std::string run(const std::string& training) const {
    return folder_.file("run.json",
                        R"({
      "model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
      "plan": {"pipeline": 2, "tensor": 2, "data": 2, "schedule": "zb-h1"},
      "training": {"global_batch": 16, )" +
                            training + "}}");
  }
  static Outcome in(Arguments arguments, const std::string& format) {
    arguments.insert(arguments.end(), {"--format", format});
    return titer(arguments);
  }

  TemporaryFolder folder_;
  std::string open_ = run(R"("precision": "bf16")");
};

/// In text and JSON once, in CSV in a column of its own; `notes` in this order.
void expect_notes(const Arguments& command, const Arguments& notes) {
  SCOPED_TRACE(::testing::PrintToString(command));
  const auto in = [&](const char* format) {
    Arguments arguments = command;
    arguments.insert(arguments.end(), {"--format", format});
    const Outcome outcome = titer(arguments);
    EXPECT_LE(outcome.code, 1) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  };
  std::string lines;
  std::string joined;
  for (const std::string& note : notes) {
    lines += "note: " + note + "\n";
    joined += (joined.empty() ? "" : "; ") + note;
  }
  EXPECT_TRUE(contains(in("text"), lines)) << in("text");
  const Document json = parse_json(in("json"), "out");
  ASSERT_NE(json.at("notes"), nullptr);
  ASSERT_EQ(json.at("notes")->items.size(), notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) {
    EXPECT_EQ(json.at("notes")->items[i].text, notes[i]);
  }
  const auto rows = parse_csv(in("csv"));
  ASSERT_GT(rows.size(), 1u);
  EXPECT_EQ(rows[0].back(), "notes");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), rows[0].size());
    EXPECT_EQ(rows[i].back(), joined);
  }
}

TEST_F(AppNotes, AreInEveryViewOfAnAnswer) {
  const Arguments both = {kAssumed, kBeyond};
  expect_notes({"run", open_}, both);
  expect_notes({"explain", open_}, both);
  expect_notes({"sensitivity", open_}, both);
  expect_notes({"diff", open_, open_, "--set-b", "plan.micro_batch=2"}, both);
  expect_notes({"capacity", open_, "--tokens", "1B", "--devices", "8,16"}, both);
  const std::string course = folder_.file(
      "course.json", R"({"scenario": "run.json", "phases": [{"name": "all", "iterations": 10}]})");
  expect_notes({"course", course}, both);
}

TEST_F(AppNotes, NameTheScenariosThatTheyAreOf) {
  expect_notes({"diff", open_, open_, "--set-b", "training.sequence=1024"},
               {std::string(kAssumed) + " (in A)", kBeyond});
  const std::string course = folder_.file("course.json", R"({
    "scenario": "run.json",
    "phases": [{"name": "first", "iterations": 10},
               {"name": "second", "set": {"plan.schedule": "1f1b"}, "iterations": 10}]})");
  expect_notes({"course", course}, {kAssumed, std::string(kBeyond) + " (in first)"});
}

TEST_F(AppNotes, AreOfThePlansThatCapacityHas) {
  expect_notes({"capacity", open_, "--tokens", "1B", "--devices", "8", "--search"}, {kAssumed});
}

TEST_F(AppNotes, AreBesideWhatHasNoFormats) {
  const std::string lines = std::string("note: ") + kAssumed + "\nnote: " + kBeyond + "\n";
  EXPECT_TRUE(data_of(titer({"check", open_})).starts_with(lines));
  for (const char* command : {"timeline", "traffic"}) {
    for (const char* format : {"text", "json", "csv", "svg"}) {
      const Outcome outcome = in({command, open_}, format);
      EXPECT_EQ(outcome.code, 0);
      const bool has_place = format == std::string("text") || format == std::string("json");
      EXPECT_EQ(outcome.err, has_place ? "" : lines) << command << " " << format;
      EXPECT_EQ(contains(outcome.out, kAssumed), has_place) << command << " " << format;
    }
  }
  EXPECT_EQ(in({"timeline", open_}, "trace").err, lines);
  EXPECT_EQ(in({"timeline", open_}, "actions").err, lines);
  EXPECT_EQ(in({"export", open_, "--detail", "pass"}, "goal").err, lines);
}

TEST_F(AppNotes, AreNoneWhereAllIsSaid) {
  const std::string whole = run(R"("sequence": 2048, "precision": "bf16")");
  const std::string open = "plan.schedule=1f1b";
  for (const char* command : {"run", "explain", "sensitivity", "timeline", "traffic"}) {
    for (const char* format : {"text", "json", "csv"}) {
      const Outcome outcome = in({command, whole, "--set", open}, format);
      EXPECT_EQ(outcome.err, "");
      for (const char* of_notes : {"note: ", "\"notes\"", "is not given", "beyond what"}) {
        EXPECT_FALSE(contains(outcome.out, of_notes)) << command << " " << format;
      }
    }
  }
  EXPECT_FALSE(contains(data_of(titer({"check", whole, "--set", open})), "note"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
