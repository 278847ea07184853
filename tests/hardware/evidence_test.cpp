#include "titer/hardware/evidence.hpp"

#include <gtest/gtest.h>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

constexpr std::string_view kFile = R"({
  "sources": {
    "datasheet": "the maker's sheet",
    "library": "a constant of the library",
    "measured": "a bench",
    "measured_fp8": "a bench in fp8",
    "mamf": "a search for the best product",
    "assumed": "a guess",
    "assumed_floor": "another guess",
    "as_bf16": "that of bf16",
    "unread": "general knowledge",
    "notes": "not a source"
  },
  "a": {"value": 1, "source": "datasheet"},
  "b": {"value": 1, "source": "library"},
  "c": {"value": 1, "source": "measured"},
  "d": {"value": 1, "source": "measured_fp8"},
  "e": {"value": 1, "source": "mamf"},
  "f": {"value": 1, "source": "assumed"},
  "g": {"value": 1, "source": "assumed_floor"},
  "h": {"value": 1, "source": "as_bf16"},
  "i": {"value": 1, "source": "unread"},
  "bare": 1,
  "lost": {"value": 1, "source": "datasheets"},
  "noted": {"value": 1, "source": "notes"}
})";

/// A file that the tests read figures from, as a room's reader does.
struct File {
  Document document = parse_json(kFile, "file.json");
  Problems problems;
  Reader in{document, problems};
  EvidenceList evidence;

  File() { evidence.read_sources(in); }
  void note(std::string_view key) {
    static_cast<void>(in.number(key, 0.0, 1.0));
    evidence.note(in, key, "part." + std::string(key));
  }
  [[nodiscard]] Lines lines() const {
    try {
      problems.raise();
    } catch (const InputError& error) {
      return error.lines;
    }
    return {};
  }
};

Grade grade_of(std::string_view key) {
  File file;
  file.note(key);
  EXPECT_EQ(file.lines(), Lines());
  return file.evidence.grade("part." + std::string(key));
}

TEST(Evidence, GradesAreNamed) {
  EXPECT_EQ(name(Grade::fitted), "fitted");
  EXPECT_EQ(name(Grade::datasheet), "datasheet");
  EXPECT_EQ(name(Grade::extrapolated), "extrapolated");
  EXPECT_EQ(name(Grade::given), "given");
}

TEST(Evidence, GradesAreOrderedFromBestToWorst) {
  EXPECT_LT(Grade::fitted, Grade::datasheet);
  EXPECT_LT(Grade::datasheet, Grade::extrapolated);
  EXPECT_LT(Grade::extrapolated, Grade::given);
}

TEST(Evidence, MeasuredFiguresAreFitted) {
  EXPECT_EQ(grade_of("c"), Grade::fitted);
  EXPECT_EQ(grade_of("d"), Grade::fitted);
  EXPECT_EQ(grade_of("e"), Grade::fitted);
}

TEST(Evidence, PrintedFiguresAreDatasheet) {
  EXPECT_EQ(grade_of("a"), Grade::datasheet);
  EXPECT_EQ(grade_of("b"), Grade::datasheet);
}

TEST(Evidence, GuessedAndBorrowedFiguresAreExtrapolated) {
  EXPECT_EQ(grade_of("f"), Grade::extrapolated);
  EXPECT_EQ(grade_of("g"), Grade::extrapolated);
  EXPECT_EQ(grade_of("h"), Grade::extrapolated);
  EXPECT_EQ(grade_of("i"), Grade::extrapolated);
}

TEST(Evidence, FiguresWithoutASourceAreTheUsers) {
  EXPECT_EQ(grade_of("bare"), Grade::given);
  File file;
  file.note("bare");
  EXPECT_EQ(file.evidence.source("part.bare"), "given by the user");
}

TEST(Evidence, SharesAreTheUsersWhereTheirWholeIs) {
  File file;
  for (const char* key : {"a", "c", "f"}) {
    file.note(key);
  }
  EXPECT_EQ(file.evidence.grade_of_share("part.c", "part.a"), Grade::fitted);
  EXPECT_EQ(file.evidence.grade_of_share("part.c", "part.f"), Grade::fitted);
  EXPECT_FALSE(file.evidence.has_given());
  file.note("bare");
  EXPECT_EQ(file.evidence.grade_of_share("part.c", "part.bare"), Grade::given);
  EXPECT_TRUE(file.evidence.has_given());
  EvidenceList whole;
  whole.append(file.evidence);
  EXPECT_TRUE(whole.has_given());
}

TEST(Evidence, FiguresNeverNotedAreTheUsers) {
  const File file;
  EXPECT_EQ(file.evidence.find("part.a"), nullptr);
  EXPECT_EQ(file.evidence.grade("part.a"), Grade::given);
  EXPECT_EQ(file.evidence.source("part.a"), "given by the user");
}

TEST(Evidence, FiguresKeepTheTextOfTheirSource) {
  File file;
  file.note("c");
  file.note("a");
  EXPECT_EQ(file.evidence.source("part.c"), "a bench");
  EXPECT_EQ(file.evidence.source("part.a"), "the maker's sheet");
  ASSERT_NE(file.evidence.find("part.c"), nullptr);
  EXPECT_EQ(file.evidence.find("part.c")->key, "part.c");
  EXPECT_EQ(file.evidence.find("c"), nullptr);
}

TEST(Evidence, SourcesThatTheFileDoesNotListAreRefused) {
  File file;
  file.note("lost");
  file.note("noted");
  EXPECT_EQ(file.lines(),
            (Lines{R"(file.json:24:11: lost: {"value":1,"source":"datasheets"}: )"
                   R"(its source "datasheets" is not in the file's "sources")",
                   R"(file.json:25:12: noted: {"value":1,"source":"notes"}: )"
                   R"(its source "notes" is not in the file's "sources")"}));
  EXPECT_EQ(file.evidence.find("part.lost"), nullptr);
}

TEST(Evidence, FilesMayListNoSources) {
  const Document document = parse_json(R"({"x": 1})", "file.json");
  Problems problems;
  Reader in(document, problems);
  EvidenceList evidence;
  evidence.read_sources(in);
  static_cast<void>(in.number("x", 0.0, 1.0));
  evidence.note(in, "x", "x");
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(evidence.grade("x"), Grade::given);
}

TEST(Evidence, SourcesAreTexts) {
  const Document document = parse_json(R"({"sources": {"datasheet": 2020}})", "file.json");
  Problems problems;
  Reader in(document, problems);
  EvidenceList evidence;
  evidence.read_sources(in);
  EXPECT_FALSE(problems.empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
