// What machines say of themselves: matrices of nvidia-smi, NCCL's XML.

#include "titer/topology/import/imports.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/topology/properties.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using graphs::links_between;

namespace fs = std::filesystem;

const LinkFigures kFigures = {.link = 25_GBps, .pcie = 31_GBps, .socket = 20_GBps};

int count_of(const Topology& topology, SwitchKind kind) {
  int count = 0;
  for (const Switch& detail : topology.details) {
    count += detail.kind == kind ? 1 : 0;
  }
  return count;
}

std::string refusal(const std::function<Imported()>& import) {
  try {
    static_cast<void>(import());
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 1U);
    return error.lines.front();
  }
  return {};
}

std::string matrix_refusal(const std::string& text, const LinkFigures& figures = kFigures) {
  return refusal([&] { return import_nvidia_smi(text, "m.txt", figures); });
}

std::string xml_refusal(const std::string& text,
                        const LinkFigures& figures = kFigures,
                        const XmlChoices& choices = {}) {
  return refusal([&] { return import_nccl_xml(text, "t.xml", figures, choices); });
}

void expect_holds(const std::string& line, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(line.find(part), std::string::npos) << line << "\nlacks: " << part;
  }
}

// Four GPUs in two pairs, one NIC beside each pair.
constexpr const char* kPairs =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV2\tSYS\tNV1\tPIX\tSYS\t0-15\t0\n"
    "GPU1\tNV2\t X \tNV1\tSYS\tPIX\tSYS\t0-15\t0\n"
    "GPU2\tSYS\tNV1\t X \tNV2\tSYS\tPXB\t16-31\t1\n"
    "GPU3\tNV1\tSYS\tNV2\t X \tSYS\tPXB\t16-31\t1\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tSYS\tPXB\tPXB\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n";

TEST(NvidiaSmi, WiresAreNvlinksAndATreeOfPcie) {
  const Imported imported = import_nvidia_smi(kPairs, "m.txt", kFigures);
  const Topology& topology = imported.topology;
  EXPECT_EQ(topology.devices, 4);
  EXPECT_EQ(links_between(topology, 0, 1), 2);
  EXPECT_EQ(links_between(topology, 0, 2), 0);
  EXPECT_EQ(links_between(topology, 0, 3), 1);
  EXPECT_EQ(count_of(topology, SwitchKind::nic), 2);
  EXPECT_EQ(count_of(topology, SwitchKind::pcie), 2);
  EXPECT_EQ(count_of(topology, SwitchKind::cpu), 2);
  // 4 NVLink pairs, 4 GPUs and 2 NICs on 2 switches, those on 2 processors, one between these.
  EXPECT_EQ(topology.wires.size(), 4U + 4U + 2U + 2U + 1U);
  EXPECT_EQ(imported.used,
            (std::vector<std::string>{"link_bandwidth", "pcie_bandwidth", "socket_bandwidth"}));
  EXPECT_FALSE(unreachable_device(topology));
}

TEST(NvidiaSmi, LeavesPcieOutWithoutItsFigureWhereThereAreNvlinks) {
  const Imported imported =
      import_nvidia_smi(kPairs, "m.txt", {.link = 25_GBps, .pcie = {}, .socket = {}});
  EXPECT_EQ(imported.topology.switches, 0);
  EXPECT_EQ(imported.topology.wires.size(), 4U);
  expect_holds(matrix_refusal(kPairs, {}), {"m.txt", "link_bandwidth", "25 GB/s"});
  expect_holds(matrix_refusal(kPairs, {.link = 25_GBps, .pcie = 16_GBps, .socket = {}}),
               {"socket_bandwidth"});
}

/// A matrix of so many GPUs that show the same number of NVLinks to each other.
std::string uniform_matrix(int devices, int links) {
  std::string text;
  for (int a = 0; a < devices; ++a) {
    text += " GPU" + std::to_string(a);
  }
  for (int a = 0; a < devices; ++a) {
    text += "\nGPU" + std::to_string(a);
    for (int b = 0; b < devices; ++b) {
      text += a == b ? " X" : " NV" + std::to_string(links);
    }
  }
  return text + "\n";
}

TEST(NvidiaSmi, TakesMoreLinksThanAGpuHasForASwitch) {
  const Topology hub =
      import_nvidia_smi(uniform_matrix(8, 12), "m.txt", kFigures).topology;  // 7 * 12 > 18
  EXPECT_EQ(hub.switches, 1);
  EXPECT_EQ(graphs::degree(hub, 0), 12);
  const Topology mesh =
      import_nvidia_smi(uniform_matrix(4, 6), "m.txt", kFigures).topology;  // 3 * 6 = 18
  EXPECT_EQ(mesh.switches, 0);
  EXPECT_EQ(graphs::degree(mesh, 0), 3 * 6);
}

TEST(NvidiaSmi, IgnoresTheTerminalsUnderlining) {
  const std::string text = "\x1b[4m\tGPU0\tGPU1\x1b[0m\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n";
  EXPECT_TRUE(is_nvidia_smi(text));
  const Topology topology = import_nvidia_smi(text, "m.txt", kFigures).topology;
  EXPECT_EQ(count_of(topology, SwitchKind::cpu), 1);
  EXPECT_EQ(topology.wires.size(), 2U);
}

TEST(NvidiaSmi, RefusesAMalformedMatrixWithItsLine) {
  expect_holds(matrix_refusal("hello\n"), {"m.txt:1:", "no header row"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU0 X NV2\n"), {"m.txt:2:", "row of GPU1 is missing"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU0 X\n"), {"m.txt:2:", "has 1 cells; expected 2"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU0 X NV2\nGPU1 NVX X\n"),
               {"m.txt:3:", "GPU1 to GPU0", "\"NVX\"", "NV#, PIX"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU0 X NV2\nGPU1 NV1 X\n"), {"m.txt:3:", "symmetric"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU1 X NV2\n"), {"m.txt:2:", "expected the row of GPU0"});
  expect_holds(matrix_refusal("GPU0 GPU1\nGPU0 NV1 X\n"), {"m.txt:2:", "expected X"});
  std::string many;
  for (int device = 0; device < 129; ++device) {
    many += "GPU" + std::to_string(device) + " ";
  }
  expect_holds(matrix_refusal("\n" + many), {"m.txt:2:", "129 GPUs", "at most 128"});
}

std::string gpu(const std::string& busid, int number, const std::string& inner) {
  return "<pci busid=\"" + busid +
         "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">\n<gpu dev=\"" +
         std::to_string(number) + "\" sm=\"80\">" + inner + "</gpu></pci>\n";
}

TEST(NcclXml, ReadsProcessorsSwitchesGpusAndNics) {
  const std::string text =
      "<system version=\"1\">\n<cpu numaid=\"0\">\n"
      "<pci busid=\"a\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n" +
      gpu("b", 1, "") + gpu("c", 0, "") +
      "<pci busid=\"n\" class=\"0x020000\" link_speed=\"8 GT/s\" link_width=\"8\"/>\n"
      "<pci busid=\"d\" class=\"0x010802\" link_speed=\"8 GT/s\" link_width=\"4\"/>\n"
      "</pci></cpu>\n<cpu numaid=\"1\"><nic><net name=\"eth0\" speed=\"100000\"/></nic></cpu>\n"
      "</system>\n";
  const Imported imported = import_nccl_xml(text, "t.xml", kFigures);
  const Topology& topology = imported.topology;
  EXPECT_EQ(topology.devices, 2);
  EXPECT_EQ(count_of(topology, SwitchKind::cpu), 2);
  EXPECT_EQ(count_of(topology, SwitchKind::pcie), 1);
  EXPECT_EQ(count_of(topology, SwitchKind::nic), 2);
  ASSERT_EQ(topology.wires.size(), 1U + 2U + 1U + 1U + 1U);
  EXPECT_DOUBLE_EQ(topology.wires[0].bandwidth.si(), 32e9 * 16 / 8 * 128 / 130);  // the switch
  EXPECT_DOUBLE_EQ(topology.wires[1].bandwidth.si(), 16e9 * 16 / 8 * 128 / 130);
  EXPECT_EQ(topology.wires[1].a, 1);  // written first, but NCCL's device 1
  EXPECT_DOUBLE_EQ(topology.wires[3].bandwidth.si(), 8e9 * 8 / 8 * 128 / 130);
  EXPECT_DOUBLE_EQ(topology.wires[4].bandwidth.si(), 100e9 / 8);
  EXPECT_EQ(imported.used, (std::vector<std::string>{"socket_bandwidth"}));
}

std::string two_gpus(const std::string& first, const std::string& second) {
  return "<system version=\"1\"><cpu>\n" + gpu("a", 0, first) + gpu("b", 1, second) +
         "</cpu></system>\n";
}

TEST(NcclXml, CountsTheLinksThatBothEndsListOnce) {
  const auto link = [](const std::string& target, int count) {
    return "<nvlink target=\"" + target + "\" count=\"" + std::to_string(count) +
           "\" tclass=\"0x030200\"/>";
  };
  const Imported both = import_nccl_xml(two_gpus(link("b", 12), link("a", 12)), "t.xml", {});
  EXPECT_EQ(links_between(both.topology, 0, 1), 12);
  EXPECT_DOUBLE_EQ(both.topology.wires.back().bandwidth.si(), 25e9);  // sm 80: NVLink 3
  EXPECT_TRUE(both.used.empty());
  expect_holds(xml_refusal(two_gpus(link("b", 12), link("a", 4))), {"t.xml:", "4 links", "12"});
  expect_holds(xml_refusal(two_gpus(link("z", 12), "")), {"\"z\" is no GPU"});
  expect_holds(xml_refusal(two_gpus(link("b", 0), "")), {"count"});
}

TEST(NcclXml, MakesAVertexOfEachNvSwitch) {
  const std::string links =
      "<nvlink target=\"s0\" count=\"2\" tclass=\"0x068000\"/>"
      "<nvlink target=\"s1\" count=\"4\" tclass=\"0x068000\"/>";
  const Topology topology = import_nccl_xml(two_gpus(links, links), "t.xml", {}).topology;
  EXPECT_EQ(count_of(topology, SwitchKind::crossbar), 2);
  EXPECT_EQ(graphs::degree(topology, 0), 1 + 2 + 4);
}

TEST(NcclXml, RefusesWhatIsNoTopologyWithTheLine) {
  expect_holds(xml_refusal("<graphs version=\"1\">\n</graphs>"), {"t.xml:1:", "graph file"});
  expect_holds(xml_refusal("\n<other/>"), {"t.xml:2:", "<other>", "expected <system>"});
  expect_holds(xml_refusal("<system>\n<cpu>\n</system>"), {"t.xml:3:", "not well-formed"});
  expect_holds(xml_refusal("<system>\n<cpu><pci busid=\"a\"/></cpu></system>"), {"a GPU's class"});
  const std::string bare =
      "<system><cpu>\n<pci busid=\"a\" class=\"0x030200\" link_speed=\"\"/></cpu></system>";
  expect_holds(xml_refusal(bare, {}), {"t.xml:2:", "link_speed", "pcie_bandwidth"});
}

TEST(NcclXml, AFileWithoutWhatNcclFoundDoesNotTellTheNvlinks) {
  const std::string bare =
      "<system>\n<cpu><pci busid=\"a\" class=\"0x030200\"/>"
      "<pci busid=\"b\" class=\"0x030200\"/></cpu></system>";
  expect_holds(xml_refusal(bare), {"t.xml:1:", "no NVLink in this file", "nvlinks", "PCIe alone"});
  const XmlChoices accepting = {.accept_unknown = true};
  const Imported alone = import_nccl_xml(bare, "t.xml", kFigures, accepting);
  EXPECT_EQ(alone.topology.wires.size(), 2U);
  expect_holds(alone.used.back(), {"PCIe only"});
  const XmlChoices told = {.nvlinks = 18};
  const Topology joined = import_nccl_xml(bare, "t.xml", kFigures, told).topology;
  EXPECT_EQ(count_of(joined, SwitchKind::crossbar), 1);
  EXPECT_EQ(graphs::degree(joined, 0), 1 + 18);
  EXPECT_DOUBLE_EQ(joined.wires.back().bandwidth.si(), 25e9);
  // NCCL noted what it found: none; or the links themselves.
  EXPECT_EQ(xml_refusal(two_gpus("", "")), "");
  const std::string link = "<nvlink target=\"b\" count=\"4\" tclass=\"0x030200\"/>";
  expect_holds(xml_refusal(two_gpus(link, ""), kFigures, told), {"nvlinks: expected none"});
}

TEST(NcclXml, ReadsTheLinksOfRccl) {
  const auto gpu_of = [](const std::string& busid, int number, const std::string& peer) {
    return "<pci busid=\"" + busid +
           "\" class=\"0x120000\" link_speed=\"32 GT/s\" link_width=\"16\">" + "<gpu dev=\"" +
           std::to_string(number) + "\" sm=\"304\" gcn=\"gfx942\"><xgmi target=\"" + peer +
           "\" count=\"2\" tclass=\"0x120000\"/></gpu></pci>\n";
  };
  const std::string text = "<system version=\"2\"><cpu>\n" + gpu_of("a", 0, "b") +
                           gpu_of("b", 1, "a") + "</cpu></system>";
  const Imported imported = import_nccl_xml(text, "t.xml", {});
  EXPECT_EQ(links_between(imported.topology, 0, 1), 2);
  EXPECT_DOUBLE_EQ(imported.topology.wires.back().bandwidth.si(), 64e9);
  ASSERT_EQ(imported.used.size(), 1U);
  expect_holds(imported.used.front(), {"xGMI", "gfx942", "64 GB/s"});
  const std::string elsewhere =
      std::string(text).replace(text.find("target=\"b\""), 10, "target=\"z\"");
  expect_holds(xml_refusal(elsewhere), {"xgmi: target \"z\" is no GPU"});
  std::string unknown = text;
  while (unknown.find("gfx942") != std::string::npos) {
    unknown.replace(unknown.find("gfx942"), 6, "gfx1");
  }
  expect_holds(xml_refusal(unknown, {}), {"gcn \"gfx1\"", "link_bandwidth"});
}

TEST(NcclXml, XgmiLinksAreAsFastAsThePairsOfTheShippedChips) {
  for (const auto& [chip, gcn] : {std::pair{"mi250x", "gfx90a"},
                                  std::pair{"mi300x", "gfx942"},
                                  std::pair{"mi355x", "gfx950"}}) {
    const Document shipped =
        load_json(testing::root().string() + "/configs/chips/" + chip + ".json");
    const Value* pair = shipped.at("scale_up.pair_bandwidth.value");
    ASSERT_NE(pair, nullptr) << chip;
    const std::string text =
        std::string(
            "<system><cpu><pci busid=\"a\" class=\"0x120000\" link_speed=\"32 GT/s\" "
            "link_width=\"16\"><gpu gcn=\"") +
        gcn +
        "\"><xgmi target=\"b\" count=\"1\"/></gpu></pci><pci busid=\"b\" class=\"0x120000\" "
        "link_speed=\"32 GT/s\" link_width=\"16\"><gpu gcn=\"" +
        gcn + "\"/></pci></cpu></system>";
    const Topology topology = import_nccl_xml(text, "t.xml", {}).topology;
    EXPECT_DOUBLE_EQ(topology.wires.back().bandwidth.si(), parse<BytesPerSecond>(pair->text)->si())
        << chip;
  }
}

TEST(NcclXml, NoElementIsPassedOverInSilence) {
  expect_holds(xml_refusal(two_gpus("<warp target=\"b\"/>", "")),
               {"t.xml:3:", "<warp>", "accept_unknown"});
  const Imported without =
      import_nccl_xml(two_gpus("<warp target=\"b\"/>", ""), "t.xml", {}, {.accept_unknown = true});
  expect_holds(without.used.front(), {"<warp> left out"});
  // Grace: ten links of 45 GB/s to its own processor.
  const Topology grace =
      import_nccl_xml(two_gpus("<c2c bw=\"45000\" count=\"10\"/>", ""), "t.xml", {}).topology;
  EXPECT_EQ(links_between(grace, 0, 2), 1 + 10);
  EXPECT_DOUBLE_EQ(grace.wires.back().bandwidth.si(), 45e9);
}

/// Every file of a folder of samples beside the project; none where it is absent.
std::vector<fs::path> samples(const std::string& kind) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry :
       fs::directory_iterator(testing::root() / "../shared/samples" / kind, missing)) {
    files.push_back(entry.path());
  }
  return files;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(ImportedSamples, OfNvidiaSmiAllRead) {
  const auto files = samples("nvidia_smi_topo");
  if (files.empty()) {
    GTEST_SKIP() << "../shared/samples/nvidia_smi_topo is absent";
  }
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    EXPECT_TRUE(is_nvidia_smi(text)) << file;
    const Topology topology = import_nvidia_smi(text, file.string(), kFigures).topology;
    EXPECT_GE(topology.devices, 2) << file;
    EXPECT_FALSE(unreachable_device(topology)) << file;
  }
}

TEST(ImportedSamples, OfNcclReadOrAreRefusedInOneLine) {
  const auto files = samples("nccl_xml");
  if (files.empty()) {
    GTEST_SKIP() << "../shared/samples/nccl_xml is absent";
  }
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    EXPECT_TRUE(is_xml(text)) << file;
    const std::string line = xml_refusal(text);
    const bool says_no_more = file.filename() == "aws-g5.48xl-topo.xml";  // no classes at all
    // Files for NCCL to read leave the NVLinks to the driver.
    const bool tells_none = text.find("<gpu") == std::string::npos && !says_no_more;
    const bool is_graph = file.filename().string().ends_with("graph.xml");
    EXPECT_EQ(!line.empty(), is_graph || says_no_more || tells_none) << file << ": " << line;
    EXPECT_EQ(line.find("no NVLink in this file") != std::string::npos, tells_none) << line;
    if (!is_graph && !says_no_more) {
      const XmlChoices accepting = {.accept_unknown = true};
      const Topology topology = import_nccl_xml(text, "t.xml", kFigures, accepting).topology;
      EXPECT_FALSE(unreachable_device(topology)) << file;
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
