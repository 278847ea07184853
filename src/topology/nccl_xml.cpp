// NCCL's XML of a machine: processors, the PCI tree below them, GPUs with their NVLinks, NICs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <pugixml.hpp>

#include "text_file.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// One direction of an NVLink by the compute capability of the GPU.
/// [../shared/measured/hardware.csv]
std::optional<BytesPerSecond> nvlink_bandwidth(int sm) {
  if (sm == 60) {
    return 20_GBps;
  }
  if (sm == 70 || sm == 80 || sm == 90) {
    return 25_GBps;
  }
  return sm >= 100 && sm < 110 ? std::optional(50_GBps) : std::nullopt;
}

/// One direction of a PCIe link: the rate of a lane, less its line code, by the lanes.
BytesPerSecond pcie_bandwidth(double transfers, int lanes) {
  const double code = transfers < 8.0 ? 8.0 / 10.0 : 128.0 / 130.0;
  return transfers * code * lanes * 1_Gbps;
}

class Importer {
 public:
  Importer(std::string_view text, std::string_view source, const LinkFigures& figures)
      : text_(text), source_(source), figures_(figures) {}

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
    find_devices(root);
    if (busids_.empty()) {
      refuse(root,
             "no <pci> has a GPU's class (0x0302..) or holds a <gpu>; expected a file whose "
             "elements say what they are");
    }
    for (const pugi::xml_node& cpu : root.children("cpu")) {
      const int vertex = add_switches(topology_, 1, {.kind = SwitchKind::cpu});
      cpus_.push_back(vertex);
      add_children(cpu, vertex);
    }
    join_processors(root);
    add_nvlinks();
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
    std::stable_sort(
        gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.number < b.number; });
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
    if (std::find(used_.begin(), used_.end(), key) == used_.end()) {
      used_.push_back(key);
    }
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

  void add_nvlinks() {
    for (int device = 0; device < topology_.devices; ++device) {
      const pugi::xml_node gpu = gpus_[static_cast<std::size_t>(device)].child("gpu");
      for (const pugi::xml_node& link : gpu.children("nvlink")) {
        add_nvlink(device, link);
      }
    }
  }

  void add_nvlink(int device, const pugi::xml_node& link) {
    const int count = link.attribute("count").as_int();
    const std::string target = link.attribute("target").value();
    if (count < 1 || count > 1024) {
      refuse(link, "nvlink: expected a \"count\" of one or more");
    }
    if (const auto peer = busids_.find(target); peer != busids_.end()) {
      add_peer_links(link, {device, peer->second}, count);
      return;
    }
    if (has_target_class(link, "0x03")) {
      refuse(link, "nvlink: target \"" + target + "\" is no GPU of this file");
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
      refuse(link, "nvlink: expected another GPU as target, each once");
    }
    const auto other = listed_links_.find({b, a});
    if (other == listed_links_.end()) {
      join(a, b, link_bandwidth(link.parent(), link), count);
    } else if (other->second != count) {
      refuse(link,
             "nvlink: " + std::to_string(count) + " links, but the other GPU lists " +
                 std::to_string(other->second) + "; expected the same number");
    }
  }

  BytesPerSecond link_bandwidth(const pugi::xml_node& gpu, const pugi::xml_node& link) {
    const auto known = nvlink_bandwidth(gpu.attribute("sm").as_int());
    if (known && !figures_.link) {
      return *known;
    }
    return use(link, "link_bandwidth", figures_.link, "the GPU's sm tells no NVLink generation");
  }

  std::string_view text_;
  std::string_view source_;
  LinkFigures figures_;
  pugi::xml_document document_;
  Topology topology_;
  std::vector<std::string> used_;
  std::map<std::string, int> busids_;  // of the devices
  std::vector<pugi::xml_node> gpus_;   // the <pci> of each device
  std::vector<int> cpus_;
  std::map<std::string, int> nvlink_targets_;        // switches and processors, by busid
  std::map<std::pair<int, int>, int> listed_links_;  // between GPUs, as the first one lists them
};

}  // namespace

bool is_xml(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<';
}

Imported import_nccl_xml(std::string_view text,
                         std::string_view source,
                         const LinkFigures& figures) {
  return Importer(text, source, figures).run();
}

NcclXmlNode NcclXmlNode::read(Reader& in) { return {read_imported(in, import_nccl_xml)}; }

}  // namespace titer
