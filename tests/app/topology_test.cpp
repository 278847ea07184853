// titer topology, from the outside.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kMatrix =
    "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n";
constexpr const char* kXml =
    "<system version=\"1\">\n<cpu numaid=\"0\">\n"
    "<pci busid=\"a\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\"/>\n"
    "<pci busid=\"b\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\"/>\n"
    "</cpu>\n</system>\n";

/// The path of a new file with the text.
std::string file_with(const TemporaryFolder& folder, const char* name, const std::string& text) {
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path) << text;
  return path.string();
}

std::string json_text(const std::string& family) {
  return "{\"name\": \"mine\", \"title\": \"Mine & <yours>\", " + family + "}\n";
}

TEST(AppTopology, SaysWhatAShippedOneIs) {
  const std::string text = data_of(titer({"topology", "dgx1-v100"}));
  EXPECT_TRUE(contains(text, "links      24"));
  EXPECT_TRUE(contains(text, "degree     6 links at every device"));
  EXPECT_TRUE(contains(text, "6 directed rings of 25 GB/s: 150 GB/s at each device"));
  EXPECT_TRUE(contains(text, "device 0  device 3      2  25 GB/s"));
  const std::string torus = data_of(titer({"topology", "tpu-v4-pod"}));
  EXPECT_TRUE(contains(torus, "diameter   24 links"));
  EXPECT_TRUE(contains(torus, "bisection  25.6 TB/s"));
}

TEST(AppTopology, TakesJsonInTheNamesPlace) {
  const TemporaryFolder folder;
  const std::string written = json_text(
      "\"family\": \"ring\", \"devices\": 6, "
      "\"bandwidth\": \"25 GB/s\"");
  EXPECT_EQ(data_of(titer({"topology", written})),
            data_of(titer({"topology", file_with(folder, "mine.json", written)})));
  EXPECT_TRUE(contains(refusal_of(titer({"topology", "{\"family\": \"rung\"}"})),
                       "topology:1:12: family: "));
}

TEST(AppTopology, SaysTheSameInJsonAndCsv) {
  const Document json =
      parse_json(data_of(titer({"topology", "dgx1-p100", "--format", "json"})), "out");
  EXPECT_EQ(json.at("links")->integer, 16);
  EXPECT_EQ(json.at("least_degree")->integer, 4);
  EXPECT_EQ(json.at("devices")->integer, 8);
  EXPECT_DOUBLE_EQ(json.at("bisection.bytes_per_s")->number, 4 * 20e9);
  const auto rows = parse_csv(data_of(titer({"topology", "dgx1-p100", "--format", "csv"})));
  ASSERT_EQ(rows.size(), 1 + json.at("wires")->items.size());
  const std::size_t asked = 4;  // as it was named, topology, family, devices
  EXPECT_EQ(rows[0][asked], "a");
  EXPECT_DOUBLE_EQ(std::stod(rows[1][asked + 5]), 20e9);
}

TEST(AppTopology, TellsFilesApartByTheirContent) {
  const TemporaryFolder folder;
  const std::string matrix = data_of(titer({"topology", file_with(folder, "m", kMatrix)}));
  EXPECT_TRUE(contains(matrix, "family     nvidia-smi"));
  EXPECT_TRUE(contains(matrix, "assumed    link_bandwidth 25 GB/s"));
  EXPECT_TRUE(contains(matrix, "links      4"));
  const std::string file = file_with(folder, "x.txt", kXml);
  EXPECT_TRUE(contains(refusal_of(titer({"topology", file})), "no NVLink in this file"));
  const std::string xml = data_of(titer({"topology", file, "--accept-unknown"}));
  EXPECT_TRUE(contains(xml, "family     nccl-xml"));
  EXPECT_TRUE(contains(xml, "assumed    no link between devices in this file: PCIe only"));
  const std::string joined =
      data_of(titer({"topology", file, "--set", "nvlinks=18", "--set", "link_bandwidth=25 GB/s"}));
  EXPECT_TRUE(contains(joined, "degree     19 links at every device"));
  const std::string json = data_of(
      titer({"topology",
             file_with(folder,
                       "t.json",
                       json_text(R"("family": "ring", "devices": 5, "bandwidth": "1 GB/s")"))}));
  EXPECT_TRUE(contains(json, "mine: Mine & <yours>"));
  EXPECT_TRUE(contains(json, "diameter   2 links"));
}

TEST(AppTopology, TakesChangesInsteadOfAssumptions) {
  const TemporaryFolder folder;
  const std::string text = data_of(
      titer({"topology", file_with(folder, "m", kMatrix), "--set", "link_bandwidth=50 GB/s"}));
  EXPECT_FALSE(contains(text, "assumed"));
  EXPECT_TRUE(contains(text, "4 directed rings of 50 GB/s"));
  const std::string torus =
      data_of(titer({"topology", "tpu-v4-pod", "--set", "dimensions.2=4", "--set", "wrap=false"}));
  EXPECT_TRUE(contains(torus, "devices    1024"));
  EXPECT_TRUE(contains(torus, "diameter   33 links"));  // 15 + 15 + 3
}

TEST(AppTopology, WhatAMachineSaysCanBePredictedWith) {
  const std::string topo = (root() / "tests/data/doctor/topo.txt").string();
  const std::string run = (root() / "tests/data/doctor/run.json").string();
  EXPECT_TRUE(contains(data_of(titer({"topology", topo})), "family     nvidia-smi"));
  const std::vector<std::string> asked = {"run", run, "--set", "cluster.node.fabric=" + topo};
  EXPECT_TRUE(contains(refusal_of(titer(asked)), "expected link_bandwidth"));
  const auto time_with = [&](const std::string& bandwidth) {
    std::vector<std::string> arguments = asked;
    arguments.insert(
        arguments.end(),
        {"--set", "cluster.node.fabric.link_bandwidth=" + bandwidth, "--format", "json"});
    return parse_json(data_of(titer(arguments)), "out").at("iteration_time_s")->number;
  };
  // 18 NVLinks of 25 GB/s are the cluster's own 450 GB/s.
  const Document own = parse_json(data_of(titer({"run", run, "--format", "json"})), "out");
  EXPECT_NEAR(time_with("25 GB/s") / own.at("iteration_time_s")->number, 1, 0.02);
  EXPECT_GT(time_with("5 GB/s"), time_with("25 GB/s"));
}

TEST(AppTopology, ReadsAFileFromTheFolderOfTheOneThatNamesIt) {
  const TemporaryFolder folder;
  file_with(folder, "matrix.txt", kMatrix);
  const std::string path = file_with(
      folder,
      "t.json",
      json_text(R"("family": "nvidia-smi", "file": "matrix.txt", "link_bandwidth": "20 GB/s")"));
  EXPECT_TRUE(contains(data_of(titer({"topology", path})), "4 directed rings of 20 GB/s"));
}

TEST(AppTopology, DrawsEveryShippedTopology) {
  for (const auto& entry : std::filesystem::directory_iterator(root() / "topologies")) {
    const std::string name = entry.path().stem().string();
    const std::string svg = data_of(titer({"topology", name, "--format", "svg"}));
    EXPECT_TRUE(svg.starts_with("<svg ")) << name;
    EXPECT_TRUE(svg.ends_with("</svg>\n")) << name;
    EXPECT_FALSE(contains(svg, "nan")) << name;
    EXPECT_LT(svg.size(), 200'000U) << name;
  }
  EXPECT_TRUE(contains(data_of(titer({"topology", "tpu-v4-pod", "--format", "svg"})),
                       "a corner of 4 x 4 x 4 out of 16 x 16 x 16"));
}

TEST(AppTopology, WritesDotWithEveryVertexAndLink) {
  const std::string dot = data_of(titer({"topology", "dgx1-v100-pcie", "--format", "dot"}));
  EXPECT_TRUE(dot.starts_with("graph \"dgx1-v100-pcie\" {\n"));
  EXPECT_TRUE(contains(dot, "v8 [label=\"PCIe switch 0\", shape=box];"));
  EXPECT_TRUE(contains(dot, "v0 -- v3 [label=\"2 x 25 GB/s\", penwidth=2];"));
  EXPECT_TRUE(dot.ends_with("}\n"));
}

TEST(AppTopology, WritesAFileWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "picture.svg").string();
  const auto outcome = titer({"topology", "dgx1-v100", "--format", "svg", "--out", path});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(file_text(path), data_of(titer({"topology", "dgx1-v100", "--format", "svg"})));
  refusal_of(titer({"topology", "no-such", "--out", (folder.path() / "other").string()}));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "other"));
}

TEST(AppTopology, EscapesTheUsersTextInPictures) {
  const TemporaryFolder folder;
  const std::string path = file_with(
      folder, "t.json", json_text(R"("family": "ring", "devices": 5, "bandwidth": "1 GB/s")"));
  EXPECT_TRUE(
      contains(data_of(titer({"topology", path, "--format", "svg"})), "Mine &amp; &lt;yours&gt;"));
}

TEST(AppTopology, RefusesInOneSentence) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& family) {
    return refusal_of(titer({"topology", file_with(folder, "t.json", json_text(family))}));
  };
  EXPECT_TRUE(contains(refusal_of(titer({"topology", "dgx1-v10"})), "did you mean \"dgx1-v100"));
  EXPECT_TRUE(contains(
      refusal(
          R"("family": "edges", "devices": 4, "bandwidth": "1 GB/s", "edges": [[0, 1, 1], [2, 3, 1]])"),
      "device 2 cannot be reached from device 0"));
  EXPECT_TRUE(
      contains(refusal(R"("family": "ring", "devices": 4, "bandwidth": "0 GB/s")"), "t.json:1:"));
  EXPECT_TRUE(contains(refusal(R"("family": "ring", "devices": 4)"), "bandwidth"));
  EXPECT_TRUE(contains(
      refusal(R"("family": "edges", "devices": 2, "bandwidth": "1 GB/s", "edges": [[0, 7, 1]])"),
      "device 7 is not in 0 .. 1"));
  EXPECT_TRUE(contains(refusal_of(titer({"topology", file_with(folder, "x", "<graphs/>")})),
                       "x:1: this is a graph file"));
  EXPECT_TRUE(contains(refusal_of(titer({"topology", "dgx1-v100", "--format", "gif"})),
                       "text, csv, json, dot, svg, png"));
}

TEST(AppTopology, GivesTheSameBytesEveryTime) {
  for (const char* format : {"text", "csv", "json", "dot", "svg"}) {
    EXPECT_EQ(data_of(titer({"topology", "dgx-h100-su", "--format", format})),
              data_of(titer({"topology", "dgx-h100-su", "--format", format})));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
