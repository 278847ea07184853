#include "titer/hardware/figure_sources.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kFile = R"({
  "sources": {"sheet": "the maker's sheet", "bench": "a bench", "old": "nobody's any more"},
  "memory": {"capacity": {"value": "80 GB", "source": "sheet"}},
  "protocols": [{"latency": {"value": "1 us", "source": "bench"}}],
  "shape": {"source": {"a": 1}}})";

TEST(FigureSources, AreThoseOfFiguresAtAnyDepth) {
  const Document file = parse_json(kFile, "f");
  EXPECT_EQ(named_sources(file.root), (std::set<std::string>{"bench", "sheet"}));
}

TEST(FigureSources, MayBeRenamed) {
  Document file = parse_json(kFile, "f");
  each_source(file.root, [](std::string& source) { source = "as_a100_" + source; });
  EXPECT_EQ(file.at("memory.capacity.source")->text, "as_a100_sheet");
  EXPECT_EQ(file.at("protocols.0.latency.source")->text, "as_a100_bench");
  EXPECT_NE(file.at("sources.sheet"), nullptr) << "the list is another matter";
}

TEST(FigureSources, AreDroppedFromTheListWhereNoFigureNamesThem) {
  Document file = parse_json(kFile, "f");
  drop_unnamed_sources(file.root, {"sheet"});
  EXPECT_NE(file.at("sources.old"), nullptr) << "not among those asked for";
  drop_unnamed_sources(file.root, {"sheet", "old", "unlisted"});
  EXPECT_EQ(to_json(*file.at("sources"), 0), R"({"sheet":"the maker's sheet","bench":"a bench"})");
  file.root.erase("sources");
  EXPECT_NO_THROW(drop_unnamed_sources(file.root, {"sheet"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
