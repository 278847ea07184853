#include <gtest/gtest.h>

#include <string>

#include "titer/collectives/nccl/nccl.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr const char* kDgxA100 = R"({
  "version": "2.27.3",
  "generation": "ampere", "cpu": "amd", "medium": "nvlink", "gpus_per_node": 8,
  "links": {"value": 12, "source": "datasheet"},
  "nics": 8, "nic_bandwidth": {"value": "200 Gbps", "source": "datasheet"})";

struct Read {
  NcclSystem system;
  EvidenceList evidence;
};

/// Reads `{"sources": …, "library": json}`.
Read read(const std::string& json) {
  const Document document = parse_json(
      R"({"sources": {"datasheet": "a data sheet", "measured": "a log"}, "library": )" + json + "}",
      "c.json");
  Problems problems;
  Reader file(document, problems);
  Read result;
  result.evidence.read_sources(file);
  Reader library = file.object("library");
  result.system = read_nccl_system(library, result.evidence);
  file.finish();
  problems.raise();
  return result;
}

std::string complaint(const std::string& json) {
  try {
    (void)read(json);
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return {};
}

TEST(ReadNcclSystem, ReadsAMachineAndWhereItsFiguresComeFrom) {
  const Read result = read(std::string(kDgxA100) + "}");
  EXPECT_EQ(result.system.version.minor, 27);
  EXPECT_EQ(result.system.generation, GpuGeneration::ampere);
  EXPECT_EQ(result.system.cpu, CpuVendor::amd);
  EXPECT_NEAR(result.system.node_bandwidth.si(), 12 * 20e9, 1.0);
  EXPECT_EQ(result.system.nics, 8);
  EXPECT_EQ(result.system.nic_latency, Seconds{});
  EXPECT_FALSE(result.system.nvls);
  EXPECT_TRUE(result.system.ll128);
  EXPECT_FALSE(result.system.rings.has_value());
  EXPECT_EQ(result.evidence.source("library.nic_bandwidth"), "a data sheet");
  EXPECT_EQ(result.evidence.grade("library.links"), Grade::datasheet);
}

TEST(ReadNcclSystem, TakesTheChannelsOfALog) {
  const Read result = read(std::string(kDgxA100) + R"(, "nic_latency": "3 us", "collnet": true,
    "rings": {"channels": {"value": 8, "source": "measured"}, "intra": "24 GB/s",
              "inter": "22 GB/s"}})");
  ASSERT_TRUE(result.system.rings.has_value());
  EXPECT_EQ(result.system.rings->channels, 8);
  EXPECT_EQ(result.system.rings->intra, 24_GBps);
  EXPECT_EQ(result.system.rings->inter, 22_GBps);
  EXPECT_TRUE(result.system.collnet);
  EXPECT_EQ(result.system.nic_latency, 3_us);
  EXPECT_EQ(result.evidence.grade("library.rings.channels"), Grade::fitted);
  EXPECT_EQ(result.evidence.grade("library.rings.inter"), Grade::given);
}

TEST(ReadNcclSystem, WantsEitherLinksOrABandwidth) {
  const std::string both = std::string(kDgxA100) + R"(, "node_bandwidth": "240 GB/s"})";
  EXPECT_NE(complaint(both).find("library: "), std::string::npos) << complaint(both);
  EXPECT_NE(complaint(both).find("expected either \"links\""), std::string::npos);
  const std::string neither = R"({"generation": "ampere", "cpu": "amd", "medium": "pcie",
    "gpus_per_node": 8, "nics": 1, "nic_bandwidth": "100 Gbps"})";
  EXPECT_NE(complaint(neither).find("expected either \"links\""), std::string::npos);
}

TEST(ReadNcclSystem, RefusesWhatIsNoRelease) {
  for (const std::string text : {"3.1", "2.", "2.x", "2.27x", "latest", ""}) {
    const std::string line =
        complaint(R"({"version": ")" + text + R"(", "generation": "ampere", "cpu": "amd",
      "medium": "nvlink", "gpus_per_node": 8, "links": 12, "nics": 8, "nic_bandwidth": "200 Gbps"})");
    EXPECT_NE(line.find("library.version"), std::string::npos) << text << ": " << line;
    EXPECT_NE(line.find("such as \"2.27.3\""), std::string::npos) << line;
  }
}

TEST(ReadNcclSystem, RefusesUnknownKeysAndNames) {
  EXPECT_NE(complaint(std::string(kDgxA100) + R"(, "nvsl": true})").find("nvls"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"generation": "pascal"})").find("volta"), std::string::npos);
  EXPECT_NE(complaint(R"({"generation": "volta", "cpu": "amd", "medium": "nvlink",
    "gpus_per_node": 0, "links": 1, "nics": 8, "nic_bandwidth": "1 Gbps"})")
                .find("gpus_per_node"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
