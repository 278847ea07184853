// Every data file that the project ships parses, is named as it should be, and says where its
// figures come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

constexpr std::array kKinds = {kModelData, kChipData, kClusterData, kStackData, kTopologyData};

fs::path folder_of(const DataKind& kind) { return data_root() / kind.folder; }

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(ShippedData, IsFoundInItsFolders) {
  for (const DataKind& kind : kKinds) {
    const std::vector<std::string> names = shipped_names(kind);
    EXPECT_FALSE(names.empty()) << kind.name;
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << kind.name;
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_of(kind))) {
      files.push_back(entry.path().stem().string());
    }
    std::sort(files.begin(), files.end());
    EXPECT_EQ(names, files) << kind.name;
  }
}

TEST(ShippedData, FoldersHoldNothingElse) {
  for (const DataKind& kind :
       {kModelData, kChipData, kClusterData, kStackData, kTopologyData, kRunData}) {
    for (const auto& entry : fs::directory_iterator(folder_of(kind))) {
      EXPECT_EQ(entry.path().extension(), ".json") << entry.path();
    }
  }
}

TEST(ShippedData, IsNamedAfterItsFiles) {
  for (const DataKind& kind : kKinds) {
    for (const std::string& name : shipped_names(kind)) {
      const Document document = load_data(kind, name);
      const Value* written = document.at("name");
      ASSERT_NE(written, nullptr) << name;
      EXPECT_EQ(written->text, name);
      const bool is_pod = kind.name == kClusterData.name && document.at("network") == nullptr;
      const bool other_keys = document.at("blocks") != nullptr || document.at("tables") != nullptr;
      for (const std::string_view key : kind.essential) {
        // A torus of all the devices there are has no network between nodes.
        EXPECT_TRUE(document.at(key) != nullptr || (is_pod && key == "network") || other_keys)
            << name << ": " << key;
      }
      ASSERT_NE(document.at("title"), nullptr) << name;
      EXPECT_FALSE(document.at("title")->text.empty()) << name;
    }
  }
}

TEST(ShippedData, NamesAreLowerCaseWithDashes) {
  for (const DataKind& kind : kKinds) {
    for (const std::string& name : shipped_names(kind)) {
      EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos)
          << name;
    }
  }
}

TEST(ShippedData, FilesEndInOneNewline) {
  for (const DataKind& kind : kKinds) {
    for (const std::string& name : shipped_names(kind)) {
      const std::string text = text_of(folder_of(kind) / (name + ".json"));
      ASSERT_GE(text.size(), 2U) << name;
      EXPECT_EQ(text.substr(text.size() - 2), "}\n") << name;
    }
  }
}

/// The sources that the figures below `value` name, but for those that are the evidence of a fit.
void collect_sources(const Value& value, std::set<std::string>& named) {
  if (value.find("value") != nullptr) {
    const Value* source = value.find("source");
    named.insert(source == nullptr ? "(none)" : source->text);
  }
  for (const auto& [key, member] : value.members) {
    if (key != "calibration") {
      collect_sources(member, named);
    }
  }
  for (const Value& item : value.items) {
    collect_sources(item, named);
  }
}

TEST(ShippedData, FiguresNameSourcesOfTheirFile) {
  for (const DataKind& kind : {kChipData, kClusterData, kStackData, kTopologyData}) {
    for (const std::string& name : shipped_names(kind)) {
      const Document document = load_data(kind, name);
      std::set<std::string> named;
      collect_sources(document.root, named);
      ASSERT_NE(document.at("sources"), nullptr) << name;
      for (const std::string& source : named) {
        const Value* text = document.at("sources")->find(source);
        ASSERT_NE(text, nullptr) << name << ": " << source;
        EXPECT_FALSE(text->text.empty()) << name << ": " << source;
      }
    }
  }
}

TEST(ShippedData, ListsNoSourceInVain) {
  for (const DataKind& kind : {kChipData, kClusterData, kTopologyData}) {
    for (const std::string& name : shipped_names(kind)) {
      const Document document = load_data(kind, name);
      std::set<std::string> named;
      collect_sources(document.root, named);
      for (const auto& [source, text] : document.at("sources")->members) {
        EXPECT_TRUE(named.contains(source)) << name << ": " << source;
      }
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
