// YAML as values.

#include <gtest/gtest.h>

#include "import/imports.hpp"
#include "titer/input/yaml.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string json(std::string_view text) { return to_json(parse_yaml(text, "a.yml").root, 0); }

std::string refusal(const std::string& text) {
  return testing::refusal_of([&] { return parse_yaml(text, "a.yml"); });
}

TEST(YamlText, AnchorsStandForTheirValues) {
  EXPECT_EQ(json("a: &x {b: 1}\nc: *x\n"), R"({"a":{"b":1},"c":{"b":1}})");
  EXPECT_EQ(json("a: &x 3\nb: [*x, *x]\n"), R"({"a":3,"b":[3,3]})");
}

TEST(YamlText, WhatIsMergedGoesBehindTheMapsOwn) {
  EXPECT_EQ(json("base: &b {x: 1, y: 2}\nrun:\n  <<: *b\n  y: 3\n"),
            R"({"base":{"x":1,"y":2},"run":{"y":3,"x":1}})");
  EXPECT_EQ(json("a: &a {x: 1}\nb: &b {x: 2, z: 4}\nrun:\n  <<: [*a, *b]\n"),
            R"({"a":{"x":1},"b":{"x":2,"z":4},"run":{"x":1,"z":4}})");
}

TEST(YamlText, OfAKeyGivenTwiceTheLastCounts) {
  EXPECT_EQ(json("a: 1\nb: 2\na: 3\n"), R"({"b":2,"a":3})");
}

TEST(YamlText, WordsAreWhatTheyLookLikeUnlessQuoted) {
  EXPECT_EQ(json("[yes, 'yes', 1e-4, '1', ~, 2x]"), R"([true,"yes",0.0001,"1",null,"2x"])");
  EXPECT_EQ(refusal("a: .inf\n"), "a.yml:1:4: .inf: expected a finite number");
}

TEST(YamlText, WhatIsTooDeepOrTooMuchIsRefused) {
  EXPECT_NE(refusal(std::string(300, '[') + std::string(300, ']')), "not refused");
  // Nine levels of ten references each would be a thousand million values.
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) {
      text += ", " + before;
    }
    text += "]\n";
  }
  EXPECT_NE(refusal(text).find("expected at most"), std::string::npos);
  EXPECT_NE(refusal("a: [1\n"), "not refused");
  EXPECT_EQ(refusal("? [1, 2]\n: 3\n"), "a.yml:1:3: expected a word as a key");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
