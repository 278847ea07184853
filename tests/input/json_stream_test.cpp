#include "titer/input/json_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

ByteSource source_of(std::string_view text) {
  return [text](std::span<char> piece) mutable {
    const std::size_t count = std::min(piece.size(), text.size());
    std::copy_n(text.begin(), count, piece.begin());
    text.remove_prefix(count);
    return count;
  };
}

/// All tokens in short: "{ k:a t:b n:1 }".
std::string tokens(std::string_view text, std::size_t piece = 64) {
  JsonStream json(source_of(text), "t.json", piece);
  std::string all;
  for (JsonToken token = json.next(); token != JsonToken::end; token = json.next()) {
    constexpr std::array<std::string_view, 9> short_names = {
        "{", "}", "[", "]", "k:", "t:", "n:", "b:", "null"};
    all += all.empty() ? "" : " ";
    all += short_names[static_cast<std::size_t>(token)];
    if (token == JsonToken::boolean) {
      all += json.boolean() ? "1" : "0";
    } else if (token >= JsonToken::key && token <= JsonToken::number) {
      all += json.text();
    }
  }
  return all;
}

std::string refusal(std::string_view text, std::size_t piece = 64) {
  try {
    return "accepted: " + tokens(text, piece);
  } catch (const InputError& error) {
    return error.lines.front();
  }
}

constexpr std::string_view kNasty =
    "\xEF\xBB\xBF { \"a\" : [1, -2.5e+3,0 ,true,false , null, NaN,-Infinity],\n"
    "\"escapes\\n\\\"\\\\\" :\t\"\\u00e9\\ud83d\\ude00\\ud83dx\\/\\u0041\\ud83d\\n\", \"\":{},"
    "\"deep\":[[[{\"x\":[]}]]],\"\xC3\xA9\":\"long text without any escape at all\" }\r\n ";
constexpr std::string_view kNastyTokens =
    "{ k:a [ n:1 n:-2.5e+3 n:0 b:1 b:0 null null null ] "
    "k:escapes\n\"\\ t:\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBDx/A\xEF\xBF\xBD\n k: { } "
    "k:deep [ [ [ { k:x [ ] } ] ] ] k:\xC3\xA9 t:long text without any escape at all }";

TEST(JsonStream, TokensAreTheSameWhereverPiecesEnd) {
  for (std::size_t piece = 1; piece <= kNasty.size() + 1; ++piece) {
    ASSERT_EQ(tokens(kNasty, piece), kNastyTokens) << "pieces of " << piece;
  }
}

TEST(JsonStream, NumbersAreReadToTheNearestDouble) {
  JsonStream json(source_of("[0.1, 1e400, -1e400, 1e-400, 4458677009853.422]"), "t.json");
  json.next();
  std::vector<double> numbers;
  while (json.next() == JsonToken::number) {
    numbers.push_back(json.number());
  }
  constexpr double most = std::numeric_limits<double>::max();
  EXPECT_EQ(numbers, (std::vector<double>{0.1, most, -most, 0.0, 4458677009853.422}));
}

TEST(JsonStream, SkippedValuesAndTheRestOfAnObjectLeaveNoTrace) {
  for (std::size_t piece = 1; piece < 40; ++piece) {
    JsonStream json(
        source_of(R"([{"a":{"b":[1,{"c":"\u0041"}]},"d":2,"e":[3]}, "next"])"), "t.json", piece);
    json.next();
    json.next();
    ASSERT_EQ(json.next(), JsonToken::key);
    json.skip();
    ASSERT_EQ(json.next(), JsonToken::key);
    EXPECT_EQ(json.text(), "d");
    json.next();
    json.leave();
    ASSERT_EQ(json.next(), JsonToken::text);
    EXPECT_EQ(json.text(), "next");
  }
}

TEST(JsonStream, MistakesAreToldWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.json:1:1: expected a value, found the end of the text (byte 0)"},
      {"{\"a\": 1,\n \"b\" 2}", "t.json:2:6: expected \":\" after a key, found \"2\" (byte 14)"},
      {"{\"a\": 1,\n}", "t.json:2:1: expected a key in quotes, found \"}\" (byte 9)"},
      {"[1 2]", "t.json:1:4: expected \",\" or \"]\", found \"2\" (byte 3)"},
      {"[1,]", "t.json:1:4: expected a value, found \"]\" (byte 3)"},
      {"[1}", "t.json:1:3: expected \",\" or \"]\", found \"}\" (byte 2)"},
      {"{} {}", "t.json:1:4: expected the end of the text, found \"{\" (byte 3)"},
      {"[1, tru]", "t.json:1:5: expected a value, found tru (byte 4)"},
      {"[01]", "t.json:1:2: expected a value, found 01 (byte 1)"},
      {"[1.]", "t.json:1:2: expected a value, found 1. (byte 1)"},
      {"[\n\"abc", "t.json:2:1: a text has no closing quote (byte 2)"},
      {"[\"a\nb\"]", "t.json:1:2: a text holds a control character that is not escaped (byte 1)"},
      {"[\"\\q\"]", "t.json:1:2: a text holds an unknown escape (byte 1)"},
      {"[\"\\u12g4\"]", "t.json:1:2: a text holds \\u without four hexadecimal digits (byte 1)"},
      {"{\"a\": [1, 2",
       "t.json:1:12: expected \",\" or \"]\", found the end of the text (byte 11)"},
      {"\xEF\xBB{}", "t.json:1:3: expected JSON text, found byte 191 (byte 2)"},
  };
  for (const auto& [text, message] : cases) {
    for (const std::size_t piece : {1U, 2U, 3U, 64U}) {
      EXPECT_EQ(refusal(text, piece), message) << piece;
    }
  }
  EXPECT_EQ(refusal(std::string(201, '[')),
            "t.json:1:201: nested deeper than 200 levels (byte 200)");
  for (const std::size_t piece : {1U, 4096U}) {
    EXPECT_EQ(refusal("[" + std::string(1001, '1') + "]", piece),
              "t.json:1:2: expected a value, found a word of more than 1000 bytes (byte 1)");
  }
}

TEST(JsonStream, MistakesInSkippedValuesAreFoundToo) {
  JsonStream json(source_of(R"({"a": {"b": [1, 2}}})"), "t.json");
  json.next();
  json.next();
  EXPECT_THROW(json.skip(), InputError);
}

/// An array of one text of so many letters, made as it is read.
JsonStream long_text(std::size_t letters, std::string_view letter) {
  const std::size_t bytes = letters * letter.size();
  return {[=, at = std::size_t{0}](std::span<char> piece) mutable {
            std::size_t filled = 0;
            for (; filled < piece.size() && at < bytes + 4; ++filled, ++at) {
              constexpr std::string_view begin = "[\"";
              constexpr std::string_view end = "\"]";
              piece[filled] = at < 2           ? begin[at]
                              : at < bytes + 2 ? letter[(at - 2) % letter.size()]
                                               : end[at - bytes - 2];
            }
            return filled;
          },
          "t.json"};
}

TEST(JsonStream, TextsThatWouldFillTheMemoryAreRefusedWhereSomebodyLooksAtThem) {
  constexpr std::size_t limit = std::size_t{16} << 20U;
  JsonStream longest = long_text(limit, "a");
  longest.next();
  longest.next();
  EXPECT_EQ(longest.text().size(), limit);
  for (const std::string_view letter : {"a", "\\n"}) {
    JsonStream json = long_text(limit + 1, letter);
    json.next();
    try {
      json.next();
      ADD_FAILURE() << "a text of " << json.text().size() << " bytes was kept";
    } catch (const InputError& error) {
      EXPECT_EQ(error.lines.front(), "t.json:1:2: expected texts of at most 16 MiB (byte 1)");
    }
    JsonStream skipped = long_text(limit + 1, letter);
    skipped.next();
    skipped.leave();
    EXPECT_EQ(skipped.next(), JsonToken::end);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
