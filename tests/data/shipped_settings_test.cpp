// What is shipped of other programs' settings, of the Hub's models and of formats can be read.
#include <gtest/gtest.h>

#include <set>

#include "titer/input/file.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/input/shipped_data.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Document config(std::string_view file) { return load_json(data_root() / "configs" / file); }

TEST(ShippedSettings, NameEachPatternOnce) {
  for (const std::string& program : shipped_names(kSettingsData)) {
    const Value harmless = known_settings(program, "harmless");
    for (const auto& [kind, patterns] : harmless.members) {
      std::set<std::string> seen;
      EXPECT_FALSE(kind.empty()) << program;
      for (const Value& pattern : patterns.items) {
        EXPECT_EQ(pattern.text.find(' '), std::string::npos) << program << ": " << pattern.text;
        EXPECT_GT(pattern.text.size(), 1U) << program;
        EXPECT_TRUE(seen.insert(pattern.text).second) << program << ": " << pattern.text;
      }
    }
    const Value names = known_settings(program, "names");
    for (const auto& [theirs, ours] : names.members) {
      EXPECT_EQ(ours.kind, Value::Kind::text) << program << ": " << theirs;
      EXPECT_NE(theirs, ours.text) << program;
    }
  }
}

TEST(ShippedHub, HasAModelForEachName) {
  const Document hub = config("hub.json");
  std::set<std::string> names;
  for (const auto& [name, shipped] : hub.at("shipped")->members) {
    EXPECT_TRUE(is_shipped(kModelData, shipped.text)) << name;
    names.insert(name);
  }
  for (const std::string_view list : {"models", "easylm", "types"}) {
    for (const Value& table : hub.at(list)->items) {
      for (const auto& [name, row] : table.find("models")->members) {
        EXPECT_EQ(row.items.size(), table.find("keys")->items.size()) << name;
        EXPECT_TRUE(names.insert(std::string(list) + name).second) << name;
      }
    }
  }
  for (const auto& [name, like] : hub.at("like")->members) {
    EXPECT_EQ(names.count(like.text) + names.count("models" + like.text), 1U) << name;
  }
}

TEST(ShippedFormats, SayWhatTheyAreKnownBy) {
  const Document formats = config("formats.json");
  for (const Value& format : formats.at("formats")->items) {
    const std::string name = format.find("name")->text;
    EXPECT_NE(format.find("syntaxes"), nullptr) << name;
    EXPECT_TRUE(format.find("all") != nullptr || format.find("any") != nullptr) << name;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
