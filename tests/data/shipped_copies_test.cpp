// No shipped figure that is said to be another one's is a copy of its number.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <regex>
#include <set>

#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/input/file.hpp"
#include "titer/input/words.hpp"
#include "titer/scenario/followed_figures.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const fs::path kConfigs = testing::root() / "configs";
constexpr std::array<const char*, 4> kFolders = {"chips", "clusters", "networks", "stacks"};

void for_each_file(const std::function<void(const fs::path&, const Value&)>& act) {
  for (const char* folder : kFolders) {
    for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
      SCOPED_TRACE(entry.path().string());
      act(entry.path(), load_json(entry.path()).root);
    }
  }
}

/// Lower case, with blanks for dashes: "RTX 3090" and "rtx-3090" are one.
std::string plain(std::string_view text) {
  std::string small = lower(text);
  std::replace(small.begin(), small.end(), '-', ' ');
  return small;
}

/// What texts call the data of a file: its name, and a chip's without its board and memory.
std::set<std::string> words_of(const fs::path& file) {
  static const std::regex board(" (sxm|pcie|nvl|[0-9]+gb).*");
  const std::string name = plain(file.stem().string());
  return {name, std::regex_replace(name, board, "")};
}

/// What all shipped data are called.
std::set<std::string> all_words() {
  std::set<std::string> words;
  for (const char* folder : kFolders) {
    for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
      words.merge(words_of(entry.path()));
    }
  }
  return words;
}

bool speaks_of(const std::string& text, const std::set<std::string>& words) {
  const std::string small = plain(text);
  const auto is_part = [&](std::size_t at) {
    return at < small.size() && std::isalnum(static_cast<unsigned char>(small[at])) != 0;
  };
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    for (std::size_t at = small.find(word); at != std::string::npos;
         at = small.find(word, at + 1)) {
      if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) {
        return true;
      }
    }
    return false;
  });
}

/// Calls act(figure, its source) of every figure below that names one.
void for_each_figure(const Value& value,
                     const std::function<void(const Value&, std::string)>& act) {
  if (const Value* source = value.find("source"); source != nullptr) {
    act(value, source->text);
  }
  for (const auto& [key, member] : value.members) {
    for_each_figure(member, act);
  }
  for (const Value& item : value.items) {
    for_each_figure(item, act);
  }
}

TEST(ShippedFigures, AreNoCopiesOfThoseThatTheirSourcesSpeakOf) {
  const std::set<std::string> all = all_words();
  std::size_t followed = 0;
  for_each_file([&](const fs::path& file, const Value& root) {
    std::set<std::string> others = all;
    for (const std::string& own : words_of(file)) {
      others.erase(own);
    }
    const Value* sources = root.find("sources");
    for_each_figure(root, [&](const Value& figure, const std::string& source) {
      const bool is_linked = follows(figure) || figure.find("times") != nullptr;
      followed += follows(figure) ? 1U : 0U;
      if (!source.starts_with("as")) {
        EXPECT_FALSE(follows(figure)) << source << ": what is another's was not measured here";
        return;
      }
      const bool is_of_another =
          source.starts_with("as_") || speaks_of(sources->find(source)->text, others);
      EXPECT_TRUE(is_linked || !is_of_another) << source << ": " << to_json(figure, 0);
    });
  });
  EXPECT_GT(followed, 150U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
