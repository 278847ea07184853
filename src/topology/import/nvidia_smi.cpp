// From the matrix of `nvidia-smi topo -m` to a topology.

#include <array>
#include <cstddef>
#include <map>
#include <numeric>

#include "nvidia_smi_matrix.hpp"
#include "text_file.hpp"

namespace titer {
namespace {

/// Most NVLinks of one GPU, in any generation.
constexpr int kMostLinks = 18;

/// The number of NVLinks that every pair of GPUs shows, if it is too many for a wire to each.
std::optional<int> switched_links(const Matrix& matrix) {
  const int links = matrix.devices < 2 ? 0 : matrix.rows[0][1].links;
  for (std::size_t a = 0; a < static_cast<std::size_t>(matrix.devices); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (matrix.rows[a][b].links != links) {
        return std::nullopt;
      }
    }
  }
  const bool too_many = (matrix.devices - 1) * links > kMostLinks;
  return too_many ? std::optional(links) : std::nullopt;
}

/// Classes of entries that are joined by paths up to some code.
class Classes {
 public:
  Classes(const Matrix& matrix, Path farthest) : parent_(matrix.names.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t a = 0; a < parent_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Path path = matrix.rows[a][b].path;
        // What is behind an NVLink is known by the affinities only.
        const bool same_node = path == Path::nvlink && farthest >= Path::node &&
                               !matrix.affinities[a].empty() &&
                               matrix.affinities[a] == matrix.affinities[b];
        if (same_node || (path != Path::nvlink && path <= farthest)) {
          parent_[first(a)] = first(b);
        }
      }
    }
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      parent_[i] = first(i);
    }
  }
  [[nodiscard]] std::size_t of(std::size_t entry) const { return parent_[entry]; }
  /// Whether the entry's class has a member of another one of `finer`.
  [[nodiscard]] bool joins(std::size_t entry, const Classes* finer) const {
    for (std::size_t other = 0; other < parent_.size(); ++other) {
      const bool apart = finer == nullptr ? other != entry : finer->of(other) != finer->of(entry);
      if (apart && parent_[other] == parent_[entry]) {
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] std::size_t first(std::size_t entry) const {
    while (parent_[entry] != entry) {
      entry = parent_[entry];
    }
    return entry;
  }
  std::vector<std::size_t> parent_;
};

/// Wires every entry to its PCIe switches and processor.
class PcieTreeBuilder {
 public:
  PcieTreeBuilder(const Matrix& matrix, BytesPerSecond bandwidth, Topology& topology)
      : levels_{Classes(matrix, Path::pix),
                Classes(matrix, Path::pxb),
                Classes(matrix, Path::node)},
        bandwidth_(bandwidth),
        topology_(&topology) {}

  /// Returns the processors.
  std::vector<int> run(const Matrix& matrix) {
    const int nics = static_cast<int>(matrix.names.size()) - matrix.devices;
    const int first_nic = add_switches(*topology_, nics, {.kind = SwitchKind::nic});
    for (std::size_t entry = 0; entry < matrix.names.size(); ++entry) {
      const int number = static_cast<int>(entry);
      add_way_up(entry, number < matrix.devices ? number : first_nic + number - matrix.devices);
    }
    return cpus_;
  }

 private:
  /// A level has a vertex for the entry if it joins what the finer one keeps apart.
  [[nodiscard]] bool has_vertex(std::size_t level, std::size_t entry) const {
    return is_cpu(level) || levels_[level].joins(entry, level == 0 ? nullptr : &levels_[level - 1]);
  }
  [[nodiscard]] bool is_cpu(std::size_t level) const { return level + 1 == levels_.size(); }

  void add_way_up(std::size_t entry, int below) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (!has_vertex(level, entry)) {
        continue;
      }
      const auto [place, is_new] = vertices_.try_emplace({level, levels_[level].of(entry)}, 0);
      if (is_new) {
        place->second = add_vertex(level);
      }
      topology_->wires.push_back(
          {.a = below, .b = place->second, .count = 1, .bandwidth = bandwidth_});
      if (!is_new) {
        return;  // the way up from here is there already
      }
      below = place->second;
    }
  }
  int add_vertex(std::size_t level) {
    const SwitchKind kind = is_cpu(level) ? SwitchKind::cpu : SwitchKind::pcie;
    const int vertex = add_switches(*topology_, 1, {.kind = kind});
    if (is_cpu(level)) {
      cpus_.push_back(vertex);
    }
    return vertex;
  }

  std::array<Classes, 3> levels_;
  BytesPerSecond bandwidth_;
  Topology* topology_;
  std::map<std::pair<std::size_t, std::size_t>, int> vertices_;  // of (level, class)
  std::vector<int> cpus_;
};

void add_nvlinks(const Matrix& matrix, BytesPerSecond bandwidth, Topology& topology) {
  if (const auto links = switched_links(matrix)) {
    const int hub = add_switches(topology, 1, {.kind = SwitchKind::crossbar});
    for (int device = 0; device < matrix.devices; ++device) {
      topology.wires.push_back({.a = device, .b = hub, .count = *links, .bandwidth = bandwidth});
    }
    return;
  }
  for (int a = 0; a < matrix.devices; ++a) {
    for (int b = a + 1; b < matrix.devices; ++b) {
      const Cell& cell = matrix.rows[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
      if (cell.path == Path::nvlink) {
        topology.wires.push_back({.a = a, .b = b, .count = cell.links, .bandwidth = bandwidth});
      }
    }
  }
}

bool has_path(const Matrix& matrix, Path least, Path most) {
  for (const auto& row : matrix.rows) {
    for (const Cell& cell : row) {
      if (cell.path >= least && cell.path <= most) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Imported import_nvidia_smi(std::string_view text,
                           std::string_view source,
                           const LinkFigures& figures) {
  const Matrix matrix = parse_matrix(text, source);
  Imported result;
  result.topology.name = NvidiaSmiNode::name;
  result.topology.devices = matrix.devices;
  const bool has_nvlinks = has_path(matrix, Path::nvlink, Path::nvlink);
  if (has_nvlinks) {
    add_nvlinks(matrix,
                use_figure("the matrix", source, "link_bandwidth", figures.link, result.used),
                result.topology);
  }
  const bool has_pcie = has_path(matrix, Path::pix, Path::sys);
  if (!has_pcie || (has_nvlinks && !figures.pcie)) {
    return result;
  }
  const BytesPerSecond pcie =
      use_figure("the matrix", source, "pcie_bandwidth", figures.pcie, result.used);
  const std::vector<int> cpus = PcieTreeBuilder(matrix, pcie, result.topology).run(matrix);
  for (std::size_t b = 1; b < cpus.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const BytesPerSecond bandwidth =
          use_figure("the matrix", source, "socket_bandwidth", figures.socket, result.used);
      result.topology.wires.push_back(
          {.a = cpus[a], .b = cpus[b], .count = 1, .bandwidth = bandwidth});
    }
  }
  return result;
}

std::span<const Field<NvidiaSmiNode>> NvidiaSmiNode::fields() {
  return kMachineFileFields<NvidiaSmiNode>;
}

void NvidiaSmiNode::check(Reader& /*in*/) {
  if (!file.empty()) {
    imported = import_nvidia_smi(file_text(file), file, *this);
  }
}

}  // namespace titer
