// NCCL's and RCCL's XML of a machine: processors, the PCI tree below them, GPUs with their NVLinks
// or xGMI links, NICs. What is none of these is refused, since it may be a link.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <pugixml.hpp>

#include "titer/topology/import/imports.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "topology/link_rates.hpp"

namespace titer {
namespace {

/// Elements that say nothing of links between devices.
constexpr std::array<std::string_view, 1> kOfNoConcern = {"net"};

class Importer {
 public:
  Importer(std::string_view text,
           std::string_view source,
           const LinkFigures& figures,
           const XmlChoices& choices)
      : text_(text), source_(source), figures_(figures), choices_(choices) {}

  Imported run() {
    const pugi::xml_parse_result parsed = document_.load_buffer(text_.data(), text_.size());
    if (!parsed) {
      refuse(parsed.offset, std::string("not well-formed XML: ") + parsed.description());
    }
    const pugi::xml_node root = document_.document_element();
    const std::string_view name = root.name();
    if (name == "graphs") {
      refuse(root,
             "this is a graph file (NCCL_GRAPH_DUMP_FILE), what NCCL chose; expected a topology "
             "file (NCCL_TOPO_DUMP_FILE), whose root is <system>");
    }
    if (name != "system") {
      refuse(root, "root <" + std::string(name) + ">: expected <system>");
    }
    refuse_unknown(root);
    find_devices(root);
    if (busids_.empty()) {
      refuse(root,
             "no <pci> has a GPU's class (0x0302..) or holds a <gpu>; expected a file whose "
             "elements say what they are");
    }
    for (const pugi::xml_node& cpu : root.children("cpu")) {
      const int vertex = add_switches(topology_, 1, {.kind = SwitchKind::cpu});
      cpus_.push_back(vertex);
      cpu_of_element_.emplace(cpu.offset_debug(), vertex);
      add_children(cpu, vertex);
    }
    join_processors(root);
    add_links();
    if (!has_links_) {
      add_untold_links(root);
    } else if (choices_.nvlinks) {
      refuse(root, "nvlinks: expected none, since the file tells the links of its GPUs");
    }
    topology_.name = NcclXmlNode::name;
    return {std::move(topology_), std::move(used_)};
  }

 private:
  struct Gpu {
    std::string busid;
    int number = -1;  // NCCL's, to sort by
    pugi::xml_node element;
  };

  [[noreturn]] void refuse(std::ptrdiff_t offset, const std::string& what) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(text_));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    throw InputError(std::string(source_) + ":" + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& what) const {
    refuse(node.offset_debug(), what);
  }

  /// Every element is one that is read, or may be passed over.
  void refuse_unknown(const pugi::xml_node& parent) {
    constexpr std::array<std::string_view, 7> read = {
        "cpu", "pci", "gpu", "nic", "nvlink", "xgmi", "c2c"};
    for (const pugi::xml_node& child : parent.children()) {
      const std::string_view name = child.name();
      const auto is_in = [&](const auto& names) { return includes(names, name); };
      if (child.type() != pugi::node_element || is_in(kOfNoConcern)) {
        continue;
      }
      if (is_in(read)) {
        refuse_unknown(child);
      } else if (choices_.accept_unknown) {
        used_.push_back("<" + std::string(name) + "> left out");
      } else {
        refuse(child,
               "<" + std::string(name) +
                   ">: not known, and may be a link; expected elements of NCCL or RCCL, or "
                   "accept_unknown, which leaves it out");
      }
    }
  }

  static bool has_class(const pugi::xml_node& pci, std::string_view prefix) {
    return std::string_view(pci.attribute("class").value()).starts_with(prefix);
  }
  static bool is_gpu(const pugi::xml_node& pci) {
    return pci.child("gpu") || has_class(pci, "0x03") || has_class(pci, "0x12");
  }

  /// Numbers the GPUs: as NCCL does, or as they are written.
  void find_devices(const pugi::xml_node& root) {
    std::vector<Gpu> gpus;
    for (const pugi::xpath_node& found : root.select_nodes(".//pci")) {
      const pugi::xml_node pci = found.node();
      if (is_gpu(pci)) {
        gpus.push_back({.busid = pci.attribute("busid").value(),
                        .number = pci.child("gpu").attribute("dev").as_int(-1),
                        .element = pci});
      }
    }
    std::ranges::stable_sort(gpus, {}, &Gpu::number);
    for (const Gpu& gpu : gpus) {
      if (gpu.busid.empty() || !busids_.try_emplace(gpu.busid, topology_.devices).second) {
        refuse(gpu.element, "busid \"" + gpu.busid + "\": expected one of its own for each GPU");
      }
      ++topology_.devices;
      gpus_.push_back(gpu.element);
    }
  }

  void add_children(const pugi::xml_node& parent, int above) {
    for (const pugi::xml_node& child : parent.children()) {
      const std::string_view name = child.name();
      if (name == "pci") {
        add_pci(child, above);
      } else if (name == "nic" && child.child("net")) {
        // A NIC without a PCI entry of its own is as fast as its port: Mb/s.
        const double speed = child.child("net").attribute("speed").as_double();
        if (speed <= 0.0) {
          refuse(child, "net: expected a \"speed\" above zero, in Mb/s");
        }
        const int nic = add_switches(topology_, 1, {.kind = SwitchKind::nic});
        join(nic, above, speed / 1000.0 * 1_Gbps);
      }
    }
  }

  void add_pci(const pugi::xml_node& pci, int above) {
    if (is_gpu(pci)) {
      join(busids_.at(pci.attribute("busid").value()), above, bandwidth_of(pci));
      return;
    }
    const bool is_bridge = has_class(pci, "0x0604") || pci.child("pci");
    const bool is_nic = has_class(pci, "0x02") || pci.child("nic");
    if (!is_bridge && !is_nic) {
      return;  // storage and the like
    }
    const int vertex =
        add_switches(topology_, 1, {.kind = is_bridge ? SwitchKind::pcie : SwitchKind::nic});
    join(vertex, above, bandwidth_of(pci));
    if (is_bridge) {
      add_children(pci, vertex);
    }
  }

  void join(int a, int b, BytesPerSecond bandwidth, int count = 1) {
    topology_.wires.push_back({.a = a, .b = b, .count = count, .bandwidth = bandwidth});
  }

  BytesPerSecond bandwidth_of(const pugi::xml_node& pci) {
    const double transfers = pci.attribute("link_speed").as_double();  // "16.0 GT/s PCIe"
    const int lanes = pci.attribute("link_width").as_int();
    if (transfers > 0.0 && transfers < 1000.0 && lanes > 0 && lanes <= 32) {
      return pcie_bandwidth(transfers, lanes);
    }
    return use(pci, "pcie_bandwidth", figures_.pcie, "link_speed and link_width are not given");
  }

  BytesPerSecond use(const pugi::xml_node& where,
                     const std::string& key,
                     std::optional<BytesPerSecond> figure,
                     const std::string& why) {
    if (!figure) {
      refuse(where, why + "; expected them, or " + key + ", such as \"25 GB/s\"");
    }
    note(key);
    return *figure;
  }

  void join_processors(const pugi::xml_node& root) {
    for (std::size_t b = 1; b < cpus_.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        join(cpus_[a],
             cpus_[b],
             use(root,
                 "socket_bandwidth",
                 figures_.socket,
                 "the file says no bandwidths of links "
                 "between processors"));
      }
    }
  }

  void add_links() {
    for (int device = 0; device < topology_.devices; ++device) {
      const pugi::xml_node gpu = gpus_[static_cast<std::size_t>(device)].child("gpu");
      for (const pugi::xml_node& link : gpu.children()) {
        const std::string_view name = link.name();
        has_links_ = has_links_ || name == "nvlink" || name == "xgmi";
        if (name == "c2c") {
          add_chip_link(device, link);
        } else if (name == "nvlink" || name == "xgmi") {
          add_link(device, link);
        }
      }
    }
  }

  /// Between the GPU and the processor of one package: so many links of so many MB/s.
  void add_chip_link(int device, const pugi::xml_node& link) {
    const int count = link.attribute("count").as_int();
    const double speed = link.attribute("bw").as_double();
    if (count < 1 || count > 1024 || speed <= 0.0) {
      refuse(link, "c2c: expected a \"count\" of one or more, and a \"bw\" above zero, in MB/s");
    }
    pugi::xml_node above = link.parent();
    while (above && std::string_view(above.name()) != "cpu") {
      above = above.parent();
    }
    const auto cpu = cpu_of_element_.find(above.offset_debug());
    ensure(cpu != cpu_of_element_.end(), "a GPU is below a processor");
    join(device, cpu->second, speed / 1000.0 * 1_GBps, count);
  }

  /// A file in which NCCL did not note what it found (no <gpu>) leaves the NVLinks to the driver.
  void add_untold_links(const pugi::xml_node& root) {
    const bool noted =
        std::ranges::all_of(gpus_, [](const pugi::xml_node& pci) { return pci.child("gpu"); });
    if (!choices_.nvlinks && !noted && !choices_.accept_unknown) {
      refuse(root,
             "no NVLink in this file, which has no <gpu> that would tell of them: NCCL asks the "
             "driver; expected nvlinks, how many each GPU has to a switch, such as 18 (0 where "
             "there are none), or accept_unknown, which takes PCIe alone");
    }
    const int count = choices_.nvlinks.value_or(0);
    if (count == 0 && noted) {
      return;
    }
    if (count == 0) {
      used_.emplace_back("no link between devices in this file: PCIe only");
      return;
    }
    const int hub = add_switches(topology_, 1, {.kind = SwitchKind::crossbar});
    for (int device = 0; device < topology_.devices; ++device) {
      const pugi::xml_node& pci = gpus_[static_cast<std::size_t>(device)];
      join(device, hub, link_bandwidth(pci.child("gpu"), pci), count);
    }
  }

  void add_link(int device, const pugi::xml_node& link) {
    const int count = link.attribute("count").as_int();
    const std::string target = link.attribute("target").value();
    const std::string name = link.name();
    if (count < 1 || count > 1024) {
      refuse(link, name + ": expected a \"count\" of one or more");
    }
    if (const auto peer = busids_.find(target); peer != busids_.end()) {
      add_peer_links(link, {device, peer->second}, count);
      return;
    }
    if (name == "xgmi" || has_target_class(link, "0x03")) {
      refuse(link, name + ": target \"" + target + "\" is no GPU of this file");
    }
    const auto [place, is_new] = nvlink_targets_.try_emplace(target, 0);
    if (is_new) {
      const bool is_cpu = !has_target_class(link, "0x068000");
      place->second =
          add_switches(topology_, 1, {.kind = is_cpu ? SwitchKind::cpu : SwitchKind::crossbar});
    }
    join(device, place->second, link_bandwidth(link.parent(), link), count);
  }

  static bool has_target_class(const pugi::xml_node& link, std::string_view prefix) {
    return std::string_view(link.attribute("tclass").value()).starts_with(prefix);
  }

  /// Both ends may list the links between two GPUs; they are the same ones.
  void add_peer_links(const pugi::xml_node& link, std::pair<int, int> pair, int count) {
    const auto [a, b] = pair;
    if (a == b || !listed_links_.try_emplace({a, b}, count).second) {
      refuse(link, link.name() + std::string(": expected another GPU as target, each once"));
    }
    const auto other = listed_links_.find({b, a});
    if (other == listed_links_.end()) {
      join(a, b, link_bandwidth(link.parent(), link), count);
    } else if (other->second != count) {
      refuse(link,
             link.name() + (": " + std::to_string(count)) + " links, but the other GPU lists " +
                 std::to_string(other->second) + "; expected the same number");
    }
  }

  BytesPerSecond link_bandwidth(const pugi::xml_node& gpu, const pugi::xml_node& link) {
    const bool is_xgmi = std::string_view(link.name()) == "xgmi";
    const std::string gcn = gpu.attribute("gcn").value();
    const auto known =
        is_xgmi ? xgmi_bandwidth(gcn) : nvlink_bandwidth(gpu.attribute("sm").as_int());
    if (!known || figures_.link) {
      return use(link,
                 "link_bandwidth",
                 figures_.link,
                 is_xgmi ? "the GPU's gcn \"" + gcn + "\" tells no generation of xGMI"
                         : "the GPU's sm tells no NVLink generation");
    }
    if (is_xgmi) {
      note("xGMI links of " + gcn + " at " + format(*known) + " each way");
    }
    return *known;
  }

  void note(const std::string& what) {
    if (!includes(used_, what)) {
      used_.push_back(what);
    }
  }

  std::string_view text_;
  std::string_view source_;
  LinkFigures figures_;
  XmlChoices choices_;
  pugi::xml_document document_;
  Topology topology_;
  std::vector<std::string> used_;
  bool has_links_ = false;             // of devices to each other or to switches
  std::map<std::string, int> busids_;  // of the devices
  std::vector<pugi::xml_node> gpus_;   // the <pci> of each device
  std::vector<int> cpus_;
  std::map<std::ptrdiff_t, int> cpu_of_element_;     // by where it is written
  std::map<std::string, int> nvlink_targets_;        // switches and processors, by busid
  std::map<std::pair<int, int>, int> listed_links_;  // between GPUs, as the first one lists them
};

}  // namespace

bool is_xml(std::string_view text) { return trimmed(text).starts_with('<'); }

Imported import_nccl_xml(std::string_view text,
                         std::string_view source,
                         const LinkFigures& figures,
                         const XmlChoices& choices) {
  return Importer(text, source, figures, choices).run();
}

}  // namespace titer
