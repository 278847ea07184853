#include <gtest/gtest.h>

#include <limits>

#include "titer/input/document.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// The one line of the error for this text; "" when it parses.
std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse_json(text, "run.json"));
    return "";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 1U);
    return error.lines.front();
  }
}

std::string place_of(const Document& document, std::string_view path) {
  const Value* value = document.at(path);
  return value == nullptr ? "nowhere" : document.where(value->origin);
}

TEST(ParseJson, BuildsEveryKindOfValue) {
  const auto document = parse_json(R"({"a":null,"b":true,"c":-7,"d":2.5,"e":"x","f":[1,{}]})", "f");
  EXPECT_EQ(document.root.kind, Value::Kind::object);
  EXPECT_EQ(document.at("a")->kind, Value::Kind::null);
  EXPECT_TRUE(document.at("b")->boolean);
  EXPECT_EQ(document.at("c")->integer, -7);
  EXPECT_EQ(document.at("c")->number, -7.0) << "set for integers too";
  EXPECT_EQ(document.at("d")->number, 2.5);
  EXPECT_FALSE(document.at("d")->is_integer);
  EXPECT_EQ(document.at("e")->text, "x");
  EXPECT_EQ(document.at("f")->items.size(), 2U);
  EXPECT_EQ(document.at("f.1")->kind, Value::Kind::object);
}

TEST(ParseJson, AcceptsAValueThatIsNoObject) {
  EXPECT_EQ(parse_json("42", "f").root.integer, 42);
  EXPECT_EQ(parse_json(" \"text\" ", "f").root.text, "text");
  EXPECT_EQ(parse_json("[]", "f").root.kind, Value::Kind::array);
}

TEST(ParseJson, KeepsIntegersExactAndTurnsTheLargestIntoNumbers) {
  const auto document = parse_json(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615,"
      " 18446744073709551616, 9007199254740993]",
      "f");
  EXPECT_EQ(document.at("0")->integer, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(document.at("1")->integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(document.at("2")->is_integer);
  EXPECT_EQ(document.at("2")->number, 9223372036854775808.0);
  EXPECT_EQ(document.at("3")->number, 18446744073709551616.0);
  EXPECT_EQ(document.at("4")->number, 18446744073709551616.0);
  EXPECT_EQ(document.at("5")->integer, (std::int64_t{1} << 53) + 1);
}

TEST(ParseJsonPlaces, AreLineAndColumnOfEachValue) {
  const auto document = parse_json("{\n  \"a\": 1,\n  \"b\": [10, [20, 30],\n 40]\n}", "run.json");
  EXPECT_EQ(place_of(document, ""), "run.json:1:1");
  EXPECT_EQ(place_of(document, "a"), "run.json:2:8");
  EXPECT_EQ(place_of(document, "b"), "run.json:3:8");
  EXPECT_EQ(place_of(document, "b.0"), "run.json:3:9");
  EXPECT_EQ(place_of(document, "b.1"), "run.json:3:13");
  EXPECT_EQ(place_of(document, "b.1.0"), "run.json:3:14");
  EXPECT_EQ(place_of(document, "b.1.1"), "run.json:3:18");
  EXPECT_EQ(place_of(document, "b.2"), "run.json:4:2");
}

TEST(ParseJsonPlaces, AreKnownForKeys) {
  const auto document = parse_json("{\"a\": {}, \n \"b\"\n:\n0}", "f");
  ASSERT_EQ(document.root.key_origins.size(), 2U);
  EXPECT_EQ(document.where(document.root.key_origins[0]), "f:1:2");
  EXPECT_EQ(document.where(document.root.key_origins[1]), "f:2:2");
  EXPECT_EQ(place_of(document, "b"), "f:4:1");
}

TEST(ParseJsonPlaces, ArePastEscapesAndBracketsInTexts) {
  const auto document = parse_json(R"(["a\"],[{\\", "\u00e9\\\"", 3])", "f");
  EXPECT_EQ(document.at("0")->text, "a\"],[{\\");
  EXPECT_EQ(place_of(document, "1"), "f:1:" + std::to_string(2 + sizeof(R"("a\"],[{\\", )") - 1));
  EXPECT_EQ(document.at("1")->text, "\u00e9\\\"");
  EXPECT_EQ(place_of(document, "2"),
            "f:1:" + std::to_string(2 + sizeof(R"("a\"],[{\\", "\u00e9\\\"", )") - 1));
}

TEST(ParseJsonPlaces, CountBytesOfUnicodeText) {
  const auto document = parse_json("[\"\u00e9\u4e16\U0001f600\", 1]", "f");
  const int bytes = 2 + 3 + 4;  // of the three characters
  EXPECT_EQ(place_of(document, "1"), "f:1:" + std::to_string(2 + bytes + 2 + 2));
}

TEST(ParseJsonPlaces, ArePastComments) {
  const auto document = parse_json(
      "// head, with: \"quotes\" and {\n"
      "{ /* a, b */ \"a\" /**/ : // \"b\": 2,\n"
      "/* two\n lines ***/ 1, // last\n"
      "\"b\": /* // */ 2 }// end",
      "f");
  EXPECT_EQ(place_of(document, ""), "f:2:1");
  EXPECT_EQ(document.where(document.root.key_origins[0]), "f:2:14");
  EXPECT_EQ(place_of(document, "a"), "f:4:" + std::to_string(sizeof(" lines ***/ ")));
  EXPECT_EQ(document.at("a")->integer, 1);
  EXPECT_EQ(place_of(document, "b"), "f:5:15");
  EXPECT_EQ(document.root.members.size(), 2U);
}

TEST(ParseJsonPlaces, HoldForEveryLineEnd) {
  EXPECT_EQ(place_of(parse_json("{\r\n\"a\":\r\n  1}\r\n", "f"), "a"), "f:3:3");
  // A lone carriage return ends a comment, but no line.
  EXPECT_EQ(place_of(parse_json("// x\r[7]", "f"), "0"), "f:1:7");
}

TEST(ParseJsonPlaces, StartAfterAByteOrderMark) {
  const auto document = parse_json("\xEF\xBB\xBF{\"a\": 1}", "f");
  EXPECT_EQ(place_of(document, ""), "f:1:1");
  EXPECT_EQ(place_of(document, "a"), "f:1:7");
}

TEST(ParseJsonErrors, NameThePlaceAndWhatWasExpected) {
  const std::string not_valid = "not valid JSON: expected ";
  EXPECT_EQ(error_of("{\n \"a\": 1,\n \"b\": 2 \"c\": 3}"),
            "run.json:3:9: " + not_valid + "a comma or '}' here");
  EXPECT_EQ(error_of("[1, 2 3]"), "run.json:1:7: " + not_valid + "a comma or ']' here");
  EXPECT_EQ(error_of("[1,, 2]"), "run.json:1:4: " + not_valid + "a value here");
  EXPECT_EQ(error_of("[1, ]"), "run.json:1:5: " + not_valid + "a value here");
  EXPECT_EQ(error_of("{\"a\": 1, }"), "run.json:1:10: " + not_valid + "a key in quotes here");
  EXPECT_EQ(error_of("{a: 1}"), "run.json:1:2: " + not_valid + "a key in quotes or '}' here");
  EXPECT_EQ(error_of("{\"a\" 1}"), "run.json:1:6: " + not_valid + "a ':' here");
  EXPECT_EQ(error_of("{\"a\": }"), "run.json:1:7: " + not_valid + "a value here");
  EXPECT_EQ(error_of("[}"), "run.json:1:2: " + not_valid + "a value or ']' here");
  EXPECT_EQ(error_of("[1}"), "run.json:1:3: " + not_valid + "a comma or ']' here");
  EXPECT_EQ(error_of("{} {}"), "run.json:1:4: " + not_valid + "the end of the text here");
  EXPECT_EQ(error_of("tru"), "run.json:1:1: " + not_valid + "a value here");
  EXPECT_EQ(error_of("[NaN]"), "run.json:1:2: " + not_valid + "a value or ']' here");
  EXPECT_EQ(error_of("['a']"), "run.json:1:2: " + not_valid + "a value or ']' here");
  EXPECT_EQ(error_of("\xEF\xBB\xBF\xEF\xBB\xBF{}"), "run.json:1:1: " + not_valid + "a value here");
}

TEST(ParseJson, TakesPythonsWordsForNumbersInConfigurationsOfModels) {
  const Document document = parse_json(
      R"({"model_type": "NaN", "limit": [0.0, Infinity], "least": -Infinity, "x": NaN, "last": 1})",
      "config.json");
  EXPECT_EQ(document.root.find("model_type")->text, "NaN");
  EXPECT_EQ(document.root.find("limit")->items.back().kind, Value::Kind::text);
  EXPECT_EQ(document.root.find("least")->text, "-inf");
  EXPECT_EQ(document.where(document.root.find("last")->origin), "config.json:1:87");
  EXPECT_EQ(error_of(R"({"model": NaN})"), "run.json:1:11: not valid JSON: expected a value here");
}

TEST(ParseJsonErrors, PointAtTheTailThatIsNoPartOfANumber) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> numbers = {{{"0", "x80"},
                                                                                     {"0", "128"},
                                                                                     {"-0", "a"},
                                                                                     {"1.5", ".2"},
                                                                                     {"12e3", "e4"},
                                                                                     {"128", "L"},
                                                                                     {"1", "_000"},
                                                                                     {"3", "-2"}}};
  for (const auto& [number, tail] : numbers) {
    const std::string before = " \"global_batch\": " + std::string(number);
    EXPECT_EQ(error_of("{\n" + before + std::string(tail) + ",\n \"sequence\": 1}"),
              "run.json:2:" + std::to_string(before.size() + 1) +
                  ": not valid JSON: expected a comma or '}' here")
        << number << tail;
  }
}

TEST(ParseJsonErrors, SayWhenTheTextEnds) {
  EXPECT_EQ(error_of(""), "run.json:1:1: not valid JSON: expected a value here, but the text ends");
  EXPECT_EQ(error_of("{\"a\": [1\n"),
            "run.json:2:1: not valid JSON: expected a comma or ']' here, but the text ends");
}

TEST(ParseJsonErrors, TellWhatIsWrongWithAToken) {
  EXPECT_EQ(error_of("{\"a\": \"x}"),
            "run.json:1:7: not valid JSON: this text has no closing quote");
  EXPECT_EQ(error_of("[\"a\nb\"]"),
            "run.json:1:4: not valid JSON: a line break or control character inside a text; write "
            "it as an escape such as \\n");
  EXPECT_EQ(error_of("[0, \"a\\x\"]"),
            "run.json:1:8: not valid JSON: unknown escape; expected one of \\\" \\\\ \\/ \\b \\f "
            "\\n \\r \\t \\u");
  EXPECT_EQ(error_of("[\"\\u12G4\"]"),
            "run.json:1:7: not valid JSON: expected four hexadecimal digits after \\u");
  EXPECT_EQ(error_of("[\"\\ud800\"]"),
            "run.json:1:9: not valid JSON: this \\u escape is half of a surrogate pair");
  EXPECT_EQ(error_of("[\"a\xFF\"]"),
            "run.json:1:4: not valid JSON: this byte is not part of valid UTF-8");
  EXPECT_EQ(error_of("[1, 2.]"), "run.json:1:5: not valid JSON: this number is not complete");
  EXPECT_EQ(error_of("[1, /* 2]"), "run.json:1:5: not valid JSON: this comment is not closed");
  EXPECT_EQ(error_of("[1, 1e999]"), "run.json:1:5: not valid JSON: this number is too large");
}

TEST(ParseJsonErrors, AreNotMisledByTheTextItself) {
  EXPECT_EQ(error_of("[1 \"surrogate, ill-formed UTF-8; last read: missing closing quote\"]"),
            "run.json:1:4: not valid JSON: expected a comma or ']' here");
  const std::string until_escape = "[\"; last read: missing closing quote \\";
  EXPECT_EQ(
      error_of(until_escape + "x\"]"),
      "run.json:1:" + std::to_string(until_escape.size() + 1) +
          ": not valid JSON: unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
          "\\u");
}

TEST(ParseJsonErrors, RefuseNulBytes) {
  const std::string nul(1, '\0');
  const std::string words = "not valid JSON: a NUL byte; the text must be UTF-8";
  EXPECT_EQ(error_of("{}" + nul), "run.json:1:3: " + words);
  EXPECT_EQ(error_of("//" + nul + "\n1"), "run.json:1:3: " + words);
  EXPECT_EQ(error_of("[\n\"" + nul + "\"]"), "run.json:2:2: " + words);
}

TEST(ParseJsonErrors, RefuseADuplicateKeyAtItsPlace) {
  EXPECT_EQ(error_of("{\"plan\": {\"tensor\": 1,\n  \"tensor\": 2}}"),
            "run.json:2:3: plan.tensor: this key is given twice");
  EXPECT_EQ(error_of("[{}, {\"a\": 1, \"b\": 1, \"\\u0061\": 2}]"),
            "run.json:1:23: 1.a: this key is given twice");
  EXPECT_EQ(error_of("{\"x\\ny\": 1, \"x\\ny\": 2}"),
            "run.json:1:13: x\\ny: this key is given twice")
      << "one line, whatever the key holds";
  EXPECT_EQ(error_of("{\"a\": {\"b\": 1}, \"c\": {\"b\": 1}}"), "");
}

TEST(ParseJsonErrors, RefuseNestingDeeperThan200) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(200)), "");
  EXPECT_EQ(error_of(nested(201)), "run.json:1:201: nested deeper than 200 levels");
  EXPECT_EQ(error_of(std::string(1000000, '[')), "run.json:1:201: nested deeper than 200 levels");
}

constexpr std::string_view kSample =
    "\xEF\xBB\xBF{ // head\n \"a\\u00e9\\\"\": [1, -2.5e3, \"\u4e16 \\n\", true, null],\r\n"
    " /* c, */ \"b\": {\"x\": {}, \"y\": [[], {\"z\": false}]} }\n";

/// Parses, or throws InputError with one line that names a place; anything else is a failure.
void expect_parsed_or_refused(const std::string& text) {
  try {
    static_cast<void>(to_json(parse_json(text, "run.json").root));
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 1U);
    const std::string& line = error.lines.front();
    EXPECT_EQ(line.rfind("run.json:", 0), 0U) << line;
    EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos) << line;
    EXPECT_EQ(line.find("json.exception"), std::string::npos) << line;
  }
}

TEST(ParseJsonMutations, OfEveryPrefixAreParsedOrRefused) {
  ASSERT_EQ(error_of(kSample), "");
  for (std::size_t size = 0; size < kSample.size(); ++size) {
    expect_parsed_or_refused(std::string(kSample.substr(0, size)));
  }
}

TEST(ParseJsonMutations, OfEveryByteAreParsedOrRefused) {
  for (std::size_t at = 0; at < kSample.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(kSample);
      text[at] = static_cast<char>(byte);
      expect_parsed_or_refused(text);
    }
  }
}

TEST(ParseJsonMutations, OfTwoTokensAreParsedOrRefused) {
  const std::string_view tokens[] = {
      "{", "}", "[", "]", ",", ":", "\"", "1", "-", "/", "*", "//", "/*", "*/", "\\", "\r", "\n"};
  for (std::size_t at = 0; at < kSample.size(); ++at) {
    for (const std::string_view first : tokens) {
      for (const std::string_view second : tokens) {
        std::string text(kSample);
        expect_parsed_or_refused(text.insert(at, first).insert(at, second));
      }
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
