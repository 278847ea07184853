// Data files that say what they start from, and what they change of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

/// A chip with nothing of its own but what is given.
std::string chip_text(const std::string& name, const std::string& base, const std::string& more) {
  return R"({"name": ")" + name + R"(", "base": ")" + base + "\"" + (more.empty() ? "" : ", ") +
         more + "}\n";
}

Chip chip_of(const std::string& path) {
  return read_document(load_data(kChipData, path), read_chip);
}

Chip shipped(const std::string& name) { return chip_of(name); }

std::vector<std::string> refusals(const std::string& path) {
  try {
    (void)chip_of(path);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(DerivedData, HasTheFiguresOfItsBaseButForWhatItChanges) {
  const TemporaryFolder folder;
  const Chip base = shipped("h100-sxm5-80gb");
  const Chip chip = chip_of(folder.file("mine.json",
                                        chip_text("mine",
                                                  "h100-sxm5-80gb",
                                                  R"("sources": {"board": "its label"},
    "memory": {"capacity": {"value": "94 GiB", "source": "board"}, "bandwidth": "3.9 TB/s"},
    "tiling": {"feed": {"times": 0.5, "source": "board"}}, "matrix": {"int8": null})")));
  EXPECT_EQ(chip.name, "mine");
  EXPECT_EQ(chip.title, "mine");  // not the base's
  EXPECT_EQ(chip.memory.capacity, 94_GiB);
  EXPECT_EQ(chip.evidence.source("memory.capacity"), "its label");
  EXPECT_EQ(chip.memory.bandwidth, 3900_GBps);
  EXPECT_EQ(chip.evidence.source("memory.bandwidth"), "given by the user");
  EXPECT_NEAR(chip.tiling->feed / base.tiling->feed, 0.5, 1e-5);
  EXPECT_EQ(chip.evidence.source("tiling.feed"), "its label");
  EXPECT_FALSE(chip.rate(DataType::int8));
  EXPECT_TRUE(base.rate(DataType::int8));
  EXPECT_EQ(chip.tiling->store, base.tiling->store);
  EXPECT_EQ(chip.launch_floor, base.launch_floor);
  EXPECT_EQ(chip.rate(DataType::bf16)->plateau, base.rate(DataType::bf16)->plateau);
}

TEST(DerivedData, SaysWhoseAnInheritedFigureIs) {
  const TemporaryFolder folder;
  const Chip base = shipped("b200-sxm");
  ASSERT_EQ(base.evidence.grade("launch_floor"), Grade::fitted);
  const std::string source(base.evidence.source("launch_floor"));
  const Chip other = chip_of(folder.file("other.json", chip_text("other", "b200-sxm", "")));
  EXPECT_EQ(other.evidence.source("launch_floor"), "as b200-sxm: " + source);
  EXPECT_EQ(other.evidence.grade("launch_floor"), Grade::extrapolated);
  EXPECT_EQ(other.evidence.grade("memory.bandwidth"), Grade::extrapolated);
  const Chip same =
      chip_of(folder.file("same.json", chip_text("same", "b200-sxm", R"("same_silicon": true)")));
  EXPECT_EQ(same.evidence.source("launch_floor"), "as b200-sxm, the same silicon: " + source);
  EXPECT_EQ(same.evidence.grade("launch_floor"), Grade::fitted);
  EXPECT_EQ(same.evidence.grade("memory.bandwidth"), Grade::datasheet);
}

TEST(DerivedData, MayStartFromDataThatStartFromOthers) {
  const TemporaryFolder folder;
  (void)folder.file("one.json", chip_text("one", "h100-sxm5-80gb", R"("launch_floor": "4 us")"));
  const Chip two =
      chip_of(folder.file("two.json", chip_text("two", "./one.json", R"("power": "9 W")")));
  EXPECT_EQ(two.launch_floor, 4_us);
  EXPECT_EQ(two.power, 9_W);
  EXPECT_EQ(two.memory.capacity, shipped("h100-sxm5-80gb").memory.capacity);
  EXPECT_TRUE(two.evidence.source("graph_start").starts_with("as one: as h100-sxm5-80gb: "));
}

TEST(DerivedData, FollowsItsBase) {
  // Another file under the same path: nothing of a base is written out anywhere else.
  const TemporaryFolder folder;
  const std::string mine = folder.file("mine.json", chip_text("mine", "./base.json", ""));
  (void)folder.file("base.json", chip_text("base", "b200-sxm", R"("launch_floor": "4 us")"));
  EXPECT_EQ(chip_of(mine).launch_floor, 4_us);
  (void)folder.file("base.json", chip_text("base", "b200-sxm", R"("launch_floor": "5 us")"));
  EXPECT_EQ(chip_of(mine).launch_floor, 5_us);
}

TEST(DerivedData, RefusesABaseThatIsNotThereOrLeadsBack) {
  const TemporaryFolder folder;
  const std::string none = folder.file("none.json", chip_text("none", "h100-sxm5-80g", ""));
  ASSERT_EQ(refusals(none).size(), 1u);
  EXPECT_EQ(refusals(none).front().find(none + ":1:26: base: h100-sxm5-80g: no shipped chip has "
                                               "this name; did you mean \"h100-sxm5-80gb\"?"),
            0u)
      << refusals(none).front();
  (void)folder.file("a.json", chip_text("a", "./b.json", ""));
  const std::string b = folder.file("b.json", chip_text("b", "./a.json", ""));
  ASSERT_EQ(refusals(b).size(), 1u);
  EXPECT_NE(
      refusals(b).front().find("base: ./b.json: it starts from itself; expected another chip"),
      std::string::npos)
      << refusals(b).front();
  const std::string number = folder.file("n.json", R"({"name": "n", "base": 7})");
  EXPECT_EQ(refusals(number).front(), number + ":1:23: base: expected the name or file of a chip");
  const std::string times = folder.file(
      "t.json", chip_text("t", "b200-sxm", R"("memory": {"bandwidth": {"times": -1}})"));
  EXPECT_NE(refusals(times).front().find("times: expected a factor above 0 of the base's figure"),
            std::string::npos)
      << refusals(times).front();
  const std::string typo =
      folder.file("y.json", chip_text("y", "b200-sxm", R"("lauch_floor": "4 us")"));
  EXPECT_NE(refusals(typo).front().find("did you mean \"launch_floor\"?"), std::string::npos);
}

TEST(DerivedData, IsAsGoodAsAnyOtherInAScenario) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  source.assign(parse_assignment(
      R"(cluster.chip={"name": "mine", "base": "h200-sxm-141gb", "memory": {"capacity": "100 GiB"}})"));
  EXPECT_EQ(source.read().cluster.chip.memory.capacity, 100_GiB);
  EXPECT_EQ(source.read().cluster.chip.launch_floor, shipped("h200-sxm-141gb").launch_floor);
  source.assign(parse_assignment("cluster.chip.launch_floor=7 us"));
  EXPECT_EQ(source.read().cluster.chip.launch_floor, 7_us);
  source.assign(parse_assignment("cluster.chip=gb300-nvl72"));
  source.assign(parse_assignment("cluster.chip.memory.bandwidth=9 TB/s"));
  EXPECT_EQ(source.read().cluster.chip.memory.bandwidth, 9000_GBps);
  EXPECT_THROW(source.assign(parse_assignment("cluster.chip.base=b200-sxm")), InputError);
}

/// The shipped data with a copy of everything that may be changed.
class DataCopy {
 public:
  DataCopy() {
    fs::copy(root() / "configs", folder_.path() / "configs", fs::copy_options::recursive);
    fs::create_directory(folder_.path() / "models");
    setenv("TITER_DATA", folder_.path().c_str(), 1);
  }
  DataCopy(const DataCopy&) = delete;
  DataCopy& operator=(const DataCopy&) = delete;
  ~DataCopy() { setenv("TITER_DATA", root().c_str(), 1); }

  void replace(const std::string& file, const std::string& from, const std::string& to) {
    const fs::path path = folder_.path() / file;
    std::string text = file_text(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(path, std::ios::binary) << text;
  }

 private:
  TemporaryFolder folder_;
};

TEST(DerivedData, OfShippedChipsMovesWithThoseThatTheyFollow) {
  const std::vector<std::array<std::string, 2>> relatives = {{"a100-sxm4-40gb", "a100-sxm4-80gb"},
                                                             {"a800-sxm4-80gb", "a100-sxm4-80gb"},
                                                             {"a100-pcie-80gb", "a100-sxm4-80gb"},
                                                             {"gh200-96gb", "h100-sxm5-80gb"},
                                                             {"h800-sxm-80gb", "h100-sxm5-80gb"},
                                                             {"h100-pcie-80gb", "h100-sxm5-80gb"},
                                                             {"b300-sxm", "gb300-nvl72"},
                                                             {"rtx-pro-6000", "l40s"},
                                                             {"v100-sxm2-16gb", "a100-sxm4-80gb"},
                                                             {"v100-sxm3-32gb", "a100-sxm4-80gb"},
                                                             {"k80", "a100-sxm4-80gb"},
                                                             {"rtx-4090", "l40s"}};
  DataCopy data;
  for (const std::string base : {"a100-sxm4-80gb", "h100-sxm5-80gb", "gb300-nvl72", "l40s"}) {
    const Value floor = *load_data(kChipData, base).at("launch_floor.value");
    data.replace("configs/chips/" + base + ".json",
                 R"("launch_floor": {"value": ")" + floor.text,
                 R"("launch_floor": {"value": "6.5 us)");
  }
  for (const auto& [chip, base] : relatives) {
    EXPECT_EQ(shipped(base).launch_floor, 6.5 * 1_us) << base;
    EXPECT_EQ(shipped(chip).launch_floor, 6.5 * 1_us) << chip;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
