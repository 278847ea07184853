#pragma once
// Networks between nodes as the programs that look after them write them down: ibnetdiscover of an
// InfiniBand subnet, Slurm's topology.conf, and InfraGraph, which tells of nodes as well.

#include "titer/topology/import/imports.hpp"

namespace titer {

/// Reads the switches, hosts and cables that ibnetdiscover found. Devices are the ports of hosts
/// that have a cable, host by host in the order of their names (the numbers in them by value), as
/// networks of clusters want them; switches count as leaves, spines or cores by how far they are
/// from a host. The bandwidth of a cable is its width times its speed ("4xNDR"). Left out and named
/// in `used` are aggregation nodes (SHARP) and, with `ports`, hosts that have another number of
/// cables. Throws InputError with the line of the text.
[[nodiscard]] Imported import_ibnetdiscover(std::string_view text,
                                            std::string_view source,
                                            std::optional<int> ports = std::nullopt);
[[nodiscard]] bool is_ibnetdiscover(std::string_view text);

/// What Slurm does not say of the switches that it knows.
struct SlurmChoices {
  BytesPerSecond bandwidth;     // of a port and of a cable, one direction
  int nics = 1;                 // ports of a node, all on its switch
  double oversubscription = 1;  // bandwidth down over bandwidth up, of each switch
};

/// Reads switches with nodes or switches below them (topology/tree), or blocks of nodes
/// (topology/block), which one switch joins. Devices are the ports of the nodes in the order of the
/// file. Throws InputError with the line of the text.
[[nodiscard]] Imported import_slurm_topology(std::string_view text,
                                             std::string_view source,
                                             const SlurmChoices& choices);
[[nodiscard]] bool is_slurm_topology(std::string_view text);

/// {"family": "ibnetdiscover", "file": "…", "ports": 8}
struct IbNetwork {
  static constexpr std::string_view name = "ibnetdiscover";
  static constexpr std::string_view about =
      "what `ibnetdiscover` prints of an InfiniBand subnet, in `file`";
  std::string file;  // "" after a problem
  std::optional<int> ports{};
  Imported imported;
  [[nodiscard]] static std::span<const Field<IbNetwork>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const { return imported.topology; }
};

/// {"family": "slurm-topology", "file": "…", "bandwidth": "400 Gbps", "nics": 8}
struct SlurmNetwork : SlurmChoices {
  static constexpr std::string_view name = "slurm-topology";
  static constexpr std::string_view about = "the topology.conf of Slurm, in `file`";
  std::string file;  // "" after a problem
  Imported imported;
  [[nodiscard]] static std::span<const Field<SlurmNetwork>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const { return imported.topology; }
};

/// Which of an infrastructure's vertices make the topology.
enum class InfraPart {
  all,      // accelerators are the devices, of the whole infrastructure
  node,     // those of the first host, and what is in it
  network,  // the hosts' ends of links that leave them, and what is beyond
};
inline constexpr std::array<Choice<InfraPart>, 3> kInfraParts = {
    {{"all", InfraPart::all}, {"node", InfraPart::node}, {"network", InfraPart::network}}};

/// A link of a name, of which a file tells no bandwidth.
struct NamedBandwidth {
  std::string link;
  BytesPerSecond bandwidth;
};

struct InfraChoices {
  InfraPart part = InfraPart::all;
  std::vector<NamedBandwidth> links{};
};

/// Reads an InfraGraph (github.com/Keysight/infragraph, from its version with `edges`): devices of
/// components, instances of them and the edges among both. A component that no bandwidth parts from
/// its port is one vertex with it; where nothing leads on, as from memory, there is none. Hosts are
/// instances with accelerators, or if none has any, with interfaces (`nic`), which then are the
/// devices. Throws InputError with the line of the text.
[[nodiscard]] Imported import_infragraph(const Document& document, const InfraChoices& choices);
[[nodiscard]] bool is_infragraph(std::string_view text);

/// {"family": "infragraph", "file": "…", "part": "network", "links": {"pcie": "32 GB/s"}}
struct InfraGraph : InfraChoices {
  static constexpr std::string_view name = "infragraph";
  static constexpr std::string_view about =
      "an infrastructure as a graph (InfraGraph, in YAML or JSON), in `file`";
  std::string file;  // "" after a problem
  Imported imported;
  [[nodiscard]] static std::span<const Field<InfraGraph>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const { return imported.topology; }
};

}  // namespace titer
