#pragma once
// Topologies that a machine says of itself: the matrix of `nvidia-smi topo -m`, the tables of
// `rocm-smi --showtopo`, and the XML files of NCCL (NCCL_TOPO_DUMP_FILE). Networks between nodes
// are in fabric_files.hpp.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// The bandwidths, one direction, that such a file may leave open.
struct LinkFigures {
  std::optional<BytesPerSecond> link;    // of one NVLink
  std::optional<BytesPerSecond> pcie;    // of a device's PCIe link
  std::optional<BytesPerSecond> socket;  // between two processors
};

/// A topology, and the keys of the figures that it took from outside the file.
struct Imported {
  Topology topology;
  std::vector<std::string> used;
};

/// Reads the matrix, whatever stands before it. NV# are so many NVLinks; where all pairs show the
/// same number, and too many for a wire to each, the devices are on a switch. The other codes
/// become a tree of PCIe switches (PIX, PXB) and processors (PHB, NODE; SYS between them); without
/// figures.pcie, where NVLinks join the devices, they are left out. Throws InputError with the line
/// of the text.
[[nodiscard]] Imported import_nvidia_smi(std::string_view text,
                                         std::string_view source,
                                         const LinkFigures& figures);
[[nodiscard]] bool is_nvidia_smi(std::string_view text);

/// Reads the tables of `rocm-smi --showtopo`. Of links XGMI one between each pair a hop apart, as
/// it does not tell how many there are; links PCIE become processors, by NUMA node. Throws
/// InputError with the line of the text.
[[nodiscard]] Imported import_rocm_smi(std::string_view text,
                                       std::string_view source,
                                       const LinkFigures& figures);
[[nodiscard]] bool is_rocm_smi(std::string_view text);

[[nodiscard]] bool is_xml(std::string_view text);

/// What families share that read such a file.
struct MachineFile : LinkFigures {
  std::string file;  // "" after a problem
  Imported imported;
  [[nodiscard]] Topology build() const { return imported.topology; }
};

/// {"family": "nvidia-smi", "file": "…", "link_bandwidth": "25 GB/s", …}
struct NvidiaSmiNode : MachineFile {
  static constexpr std::string_view name = "nvidia-smi";
  static constexpr std::string_view about = "what `nvidia-smi topo -m` prints, in `file`";
  [[nodiscard]] static std::span<const Field<NvidiaSmiNode>> fields();
  void check(Reader& in);
};

/// {"family": "rocm-smi", "file": "…", "link_bandwidth": "64 GB/s", …}
struct RocmSmiNode : MachineFile {
  static constexpr std::string_view name = "rocm-smi";
  static constexpr std::string_view about = "what `rocm-smi --showtopo` prints, in `file`";
  [[nodiscard]] static std::span<const Field<RocmSmiNode>> fields();
  void check(Reader& in);
};

/// What a user says of links that the XML of NCCL does not hold.
struct XmlChoices {
  std::optional<int> nvlinks =
      std::nullopt;             // of every GPU to one switch, where the file tells none
  bool accept_unknown = false;  // leave out what the file holds and nothing here stands for
};

/// Reads the XML's processors, PCIe switches, GPUs, NICs, NVLinks and NVSwitches. The bandwidth of
/// an NVLink follows from the GPU's "sm" unless given. Without choices it refuses a file that
/// leaves the NVLinks to the driver, and elements that are not known: they may be links. `used`
/// also names what was taken of the file's own links without being told. Throws InputError with the
/// line of the text.
[[nodiscard]] Imported import_nccl_xml(std::string_view text,
                                       std::string_view source,
                                       const LinkFigures& figures,
                                       const XmlChoices& choices = {});

/// {"family": "nccl-xml", "file": "…"}
struct NcclXmlNode : MachineFile, XmlChoices {
  static constexpr std::string_view name = "nccl-xml";
  static constexpr std::string_view about = "what NCCL writes (NCCL_TOPO_DUMP_FILE), in `file`";
  [[nodiscard]] static std::span<const Field<NcclXmlNode>> fields();
  void check(Reader& in);
};

/// The family that reads a text; none where no machine or program wrote it.
[[nodiscard]] std::optional<std::string_view> machine_family(std::string_view text);
/// A file of a machine's or program's own as a document that refers to it, {"family", "file"}; none
/// where the file is none of them. Throws InputError for one that cannot be read.
[[nodiscard]] std::optional<Document> machine_document(const std::filesystem::path& path);

}  // namespace titer
