#include "titer/input/reader.hpp"

#include <gtest/gtest.h>

#include <array>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

Lines raised(const Problems& problems) {
  try {
    problems.raise();
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

/// The problems that `read` finds in a text.
template <class Read>
Lines problems_in(std::string_view text, Read read) {
  const Document document = parse_json(text, "run.json");
  Problems problems;
  Reader in(document, problems);
  read(in);
  return raised(problems);
}

enum class Schedule { gpipe, one_f_one_b, interleaved };
constexpr std::array kSchedules = {Choice<Schedule>{"gpipe", Schedule::gpipe},
                                   Choice<Schedule>{"1f1b", Schedule::one_f_one_b},
                                   Choice<Schedule>{"interleaved", Schedule::interleaved}};

TEST(Problems, AreThrownTogether) {
  Problems problems;
  EXPECT_TRUE(problems.empty());
  EXPECT_NO_THROW(problems.raise());
  problems.add("first");
  problems.add("second");
  EXPECT_FALSE(problems.empty());
  try {
    problems.raise();
    FAIL() << "two problems must be thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines, (Lines{"first", "second"}));
    EXPECT_STREQ(error.what(), "first\nsecond");
  }
}

TEST(Problems, DoNothingToATerminal) {
  Problems problems;
  problems.add("model: \x1b]0;owned\x07: no such\nerror: all good\x7f\t\u00e9");
  EXPECT_EQ(
      raised(problems),
      Lines{"model: \\u001b]0;owned\\u0007: no such\\u000aerror: all good\\u007f\\u0009\u00e9"});
  EXPECT_STREQ(InputError("a\nb").what(), "a\\u000ab");
}

TEST(ReaderErrors, RefuseTextsThatWouldDoSomethingToATerminal) {
  EXPECT_EQ(
      problems_in(R"({"title": "\u001b[2Jgone"})",
                  [](Reader& in) { static_cast<void>(in.text("title")); }),
      Lines{
          R"(run.json:1:11: title: "\u001b[2Jgone": expected a text without control characters)"});
}

TEST(ReaderValues, AreReadByName) {
  const auto lines = problems_in(
      R"({"name": "n", "on": true, "schedule": "1f1b", "tags": ["x", "y"], "o": {"k": 1}})",
      [](Reader& in) {
        EXPECT_EQ(in.text("name"), "n");
        EXPECT_EQ(in.maybe_text("name"), "n");
        EXPECT_TRUE(in.flag("on", false));
        EXPECT_EQ(in.maybe_flag("on"), true);
        EXPECT_EQ(in.choice<Schedule>("schedule", kSchedules), Schedule::one_f_one_b);
        EXPECT_EQ(in.texts("tags"), (Lines{"x", "y"}));
        EXPECT_EQ(in.object("o").integer("k", 1), 1);
        EXPECT_EQ(in.keys(), (Lines{"name", "on", "schedule", "tags", "o"}));
        in.finish();
      });
  EXPECT_EQ(lines, Lines());
}

TEST(ReaderValues, MayBeAbsentOrNull) {
  const auto lines = problems_in(R"({"null": null})", [](Reader& in) {
    for (const char* key : {"absent", "null"}) {
      EXPECT_FALSE(in.has(key));
      EXPECT_EQ(in.maybe_text(key), std::nullopt);
      EXPECT_EQ(in.maybe_flag(key), std::nullopt);
      EXPECT_TRUE(in.flag(key, true));
      EXPECT_EQ(in.maybe_choice<Schedule>(key, kSchedules), std::nullopt);
      EXPECT_FALSE(in.maybe_object(key).has_value());
      EXPECT_EQ(in.texts(key), Lines());
    }
    EXPECT_EQ(in.raw("absent"), nullptr);
    EXPECT_EQ(in.raw("null")->kind, Value::Kind::null);
    in.finish();
  });
  EXPECT_EQ(lines, Lines());
}

TEST(ReaderErrors, SuggestTheKnownKeyForAnUnknownOne) {
  const auto lines =
      problems_in("{\n  \"plan\": {\n    \"tensr\": 8, \"data\": 2, \"qqqq\": 1}}", [](Reader& in) {
        Reader plan = in.object("plan");
        EXPECT_EQ(plan.maybe_integer("tensor", 1), std::nullopt);
        EXPECT_EQ(plan.integer("data", 1), 2);
        plan.finish();
        in.finish();
      });
  EXPECT_EQ(lines,
            (Lines{"run.json:3:5: plan.tensr: unknown key; did you mean \"tensor\"?",
                   "run.json:3:28: plan.qqqq: unknown key; known keys: tensor, data"}));
}

TEST(ReaderErrors, SayWhenNoKeyIsKnown) {
  EXPECT_EQ(problems_in(R"({"a": 1})", [](Reader& in) { in.finish(); }),
            Lines{"run.json:1:2: a: unknown key; no keys are known here"});
}

TEST(ReaderErrors, PlaceAMissingKeyAtTheEnclosingObject) {
  const auto lines = problems_in("{\n  \"plan\": {}}", [](Reader& in) {
    Reader plan = in.object("plan");
    EXPECT_EQ(plan.integer("tensor", 1), 1);
    EXPECT_EQ(plan.text("name"), "");
    EXPECT_EQ(plan.choice<Schedule>("schedule", kSchedules), Schedule::gpipe);
    EXPECT_TRUE(plan.objects("nodes").empty());
    static_cast<void>(in.object("cluster"));
  });
  EXPECT_EQ(
      lines,
      (Lines{"run.json:2:11: plan.tensor: missing; expected an integer of at least 1",
             "run.json:2:11: plan.name: missing; expected a text in quotes",
             "run.json:2:11: plan.schedule: missing; expected one of: gpipe, 1f1b, interleaved",
             "run.json:2:11: plan.nodes: missing; expected an array of objects",
             "run.json:1:1: cluster: missing; expected an object"}));
}

TEST(ReaderErrors, PlaceARequiredNullAtTheNull) {
  EXPECT_EQ(
      problems_in(R"({"tensor": null})", [](Reader& in) { EXPECT_EQ(in.integer("tensor", 1), 1); }),
      Lines{"run.json:1:12: tensor: null: expected an integer of at least 1"});
}

TEST(ReaderErrors, NameTheExpectedKind) {
  const auto lines = problems_in(
      R"({"t": 1, "f": "true", "g": 1, "tags": "x", "mixed": ["a", 2], "o": [1], "os": {}})",
      [](Reader& in) {
        EXPECT_EQ(in.text("t"), "");
        EXPECT_FALSE(in.flag("f", false));
        EXPECT_TRUE(in.flag("g", true));
        EXPECT_EQ(in.texts("tags"), Lines());
        EXPECT_EQ(in.texts("mixed"), (Lines{"a", ""}));
        EXPECT_EQ(in.object("o").integer("x", 7), 7);
        EXPECT_TRUE(in.objects("os").empty());
        in.finish();
      });
  EXPECT_EQ(lines,
            (Lines{"run.json:1:7: t: 1: expected a text in quotes",
                   "run.json:1:15: f: \"true\": expected true or false; did you mean true?",
                   "run.json:1:28: g: 1: expected true or false",
                   "run.json:1:39: tags: \"x\": expected an array of texts",
                   "run.json:1:59: mixed.1: 2: expected a text in quotes",
                   "run.json:1:68: o: [1]: expected an object",
                   "run.json:1:79: os: {}: expected an array of objects"}));
}

TEST(ReaderErrors, ListTheNamesOfAChoice) {
  const auto lines = problems_in(R"({"a": "1f2b", "b": "zzzzzz", "c": 1})", [](Reader& in) {
    EXPECT_EQ(in.choice<Schedule>("a", kSchedules), Schedule::gpipe);
    EXPECT_EQ(in.maybe_choice<Schedule>("b", kSchedules), std::nullopt);
    EXPECT_EQ(in.choice<Schedule>("c", kSchedules), Schedule::gpipe);
  });
  const std::string names = "expected one of: gpipe, 1f1b, interleaved";
  EXPECT_EQ(lines,
            (Lines{"run.json:1:7: a: \"1f2b\": " + names + "; did you mean \"1f1b\"?",
                   "run.json:1:20: b: \"zzzzzz\": " + names,
                   "run.json:1:35: c: 1: " + names}));
}

TEST(ReaderErrors, RefuseAChoiceOfNothing) {
  EXPECT_THROW(
      problems_in(R"({"a": "x"})",
                  [](Reader& in) {
                    static_cast<void>(in.maybe_choice("a", std::span<const Choice<Schedule>>()));
                  }),
      Defect);
}

TEST(ReaderErrors, AreReportedAllAtOnceInReadingOrder) {
  const auto lines = problems_in("{\"x\": 1.5,\n\"y\": \"5 parsecs\",\n\"zz\": 0}", [](Reader& in) {
    static_cast<void>(in.integer("x", 1));
    static_cast<void>(in.quantity<Seconds>("y"));
    static_cast<void>(in.text("name"));
    in.finish();
  });
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].rfind("run.json:1:7: x: ", 0), 0U) << lines[0];
  EXPECT_EQ(lines[1].rfind("run.json:2:6: y: ", 0), 0U) << lines[1];
  EXPECT_EQ(lines[2].rfind("run.json:1:1: name: missing", 0), 0U) << lines[2];
  EXPECT_EQ(lines[3].rfind("run.json:3:1: zz: unknown key", 0), 0U) << lines[3];
}

TEST(ReaderErrors, DoNotCascadeFromSomethingThatIsNoObject) {
  const auto read = [](Reader& in) {
    EXPECT_EQ(in.integer("a", 3), 3);
    EXPECT_EQ(in.quantity<Bytes>("b"), 1_B);
    EXPECT_EQ(in.choice<Schedule>("c", kSchedules), Schedule::gpipe);
    EXPECT_EQ(in.object("d").object("e").text("f"), "");
    EXPECT_TRUE(in.objects("g").empty() && in.keys().empty());
    EXPECT_FALSE(in.has("a"));
    in.fail("a", "unheard");
    in.finish();
  };
  EXPECT_EQ(problems_in("[1, 2]", read), Lines{"run.json:1:1: [1,2]: expected an object"});
  EXPECT_EQ(problems_in(R"({"in": 7})",
                        [&](Reader& in) {
                          Reader inner = in.object("in");
                          read(inner);
                        }),
            Lines{"run.json:1:8: in: 7: expected an object"});
  EXPECT_EQ(problems_in("{}",
                        [&](Reader& in) {
                          Reader inner = in.object("in");
                          read(inner);
                        }),
            Lines{"run.json:1:1: in: missing; expected an object"});
}

TEST(ReaderErrors, KeepTheIndexOfAnElementThatIsNoObject) {
  const auto lines = problems_in(R"({"links": [{"n": 1}, 5, {"n": "x"}]})", [](Reader& in) {
    std::vector<Reader> links = in.objects("links");
    ASSERT_EQ(links.size(), 3U);
    EXPECT_EQ(links[0].integer("n", 0), 1);
    EXPECT_EQ(links[1].integer("n", 0), 0);
    EXPECT_EQ(links[2].integer("n", 0), 0);
  });
  EXPECT_EQ(lines,
            (Lines{"run.json:1:22: links.1: 5: expected an object",
                   "run.json:1:31: links.2.n: \"x\": expected an integer of at least 0"}));
}

TEST(ReaderErrors, ShortenLongValuesBetweenCharacters) {
  const std::string long_text = std::string(58, 'x') + "\u4e16\u4e16\u4e16";
  const auto lines =
      problems_in("{\"a\": \"" + long_text + "\", \"b\": \"\\n" + "\"}", [](Reader& in) {
        static_cast<void>(in.maybe_flag("a"));
        static_cast<void>(in.maybe_flag("b"));
      });
  EXPECT_EQ(lines,
            (Lines{"run.json:1:7: a: \"" + std::string(58, 'x') + "…: expected true or false",
                   "run.json:1:83: b: \"\\n\": expected true or false"}));
}

TEST(ReaderFail, NamesPlaceKeyAndValue) {
  const auto lines = problems_in(R"({"plan": {"tensor": 3}})", [](Reader& in) {
    Reader plan = in.object("plan");
    plan.fail("tensor", "does not divide the 16 attention heads");
    plan.fail("data", "cannot be told from the number of devices");
    plan.fail("", "needs 4 devices, the cluster has 2");
    in.fail("", "is not complete");
  });
  EXPECT_EQ(lines,
            (Lines{"run.json:1:21: plan.tensor: 3: does not divide the 16 attention heads",
                   "run.json:1:10: plan.data: cannot be told from the number of devices",
                   "run.json:1:10: plan: needs 4 devices, the cluster has 2",
                   "run.json:1:1: is not complete"}));
}

TEST(ReaderFree, UnknownKeysCanBeListedInsteadOfRefused) {
  const auto lines =
      problems_in(R"({"notes": "n", "b": 1, "null": null, "asked": 2, "a": 3})", [](Reader& in) {
        EXPECT_EQ(in.integer("asked", 1), 2);
        EXPECT_EQ(in.unknown_keys(), (Lines{"b", "a"}));
      });
  EXPECT_EQ(lines, Lines());
}

TEST(ReaderFree, KeysAreAllowedInEveryObject) {
  const auto lines =
      problems_in(R"({"$schema": "s", "notes": "n", "map": {"notes": ["any"], "x": {"notes": 1}}})",
                  [](Reader& in) {
                    Reader map = in.object("map");
                    EXPECT_EQ(map.keys(), Lines{"x"}) << "notes are no entry of a map";
                    map.object("x").finish();
                    map.finish();
                    in.finish();
                  });
  EXPECT_EQ(lines, Lines());
}

TEST(ReaderSources, OfTheCommandLineAreNamedWithoutALine) {
  Document document = parse_json("{\"plan\": {}}", "run.json");
  document.sources.emplace_back("--set plan.tensor=0");
  Value zero(0);
  zero.origin = {.source = 1, .line = 0, .column = 0};
  document.root.find("plan")->add("tensor", zero);
  document.root.find("plan")->key_origins.back() = zero.origin;
  Problems problems;
  Reader plan = Reader(document, problems).object("plan");
  EXPECT_EQ(plan.integer("tensor", 1), 1);
  EXPECT_EQ(raised(problems),
            Lines{"--set plan.tensor=0: plan.tensor: 0: expected an integer of at least 1"});
}

TEST(ReaderSources, AreLeftOutForValuesMadeByHand) {
  Document document;
  document.root = Value::make_object().add("on", 1);
  Problems problems;
  static_cast<void>(Reader(document, problems).maybe_flag("on"));
  EXPECT_EQ(raised(problems), Lines{"on: 1: expected true or false"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
