#include "titer/scenario/notes.hpp"

#include <gtest/gtest.h>

namespace titer::testing {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

TEST(AnswerNotes, SayTheSequenceThenWhatTheSoftwareLacks) {
  EXPECT_EQ(notes_of("4096 tokens", "neox", {"context 2", "fp8"}),
            (Lines{"4096 tokens", "beyond what neox can do: context 2, fp8"}));
  EXPECT_EQ(notes_of(std::nullopt, "neox", {"fp8"}), Lines{"beyond what neox can do: fp8"});
  EXPECT_EQ(notes_of("4096 tokens", "neox", {}), Lines{"4096 tokens"});
  EXPECT_TRUE(notes_of(std::nullopt, "neox", {}).empty());
}

TEST(ScenarioNotes, HasEachLineOnceWithThoseThatItIsOf) {
  ScenarioNotes notes;
  notes.add("a", {"all", "some"});
  notes.add("b", {"all"});
  notes.add("c", {"all", "last", "some"});
  EXPECT_EQ(notes.lines(), (Lines{"all", "some (in a, c)", "last (in c)"}));
  EXPECT_TRUE(ScenarioNotes().lines().empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
