// From what `rocm-smi --showtopo` prints to a topology: a table of the kind of link between any two
// GPUs, one of the hops, and a line for the NUMA node of each.

#include <map>

#include "text_file.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kLinkTypes = "Link Type between two GPUs";
constexpr std::string_view kHops = "Hops between two GPUs";
constexpr std::string_view kNumaNode = "Numa Node:";

/// The cells of one of the tables.
struct SmiTable {
  int line = 0;  // of its title
  std::vector<std::vector<std::string>> rows;
};

int number_or(std::string_view text, int otherwise) {
  return take_number<int>(text).value_or(otherwise);
}

bool names_gpu(std::string_view word, std::size_t number) {
  return word == "GPU" + std::to_string(number);
}

class RocmSmiReader {
 public:
  RocmSmiReader(std::string_view text, std::string_view source)
      : lines_(divided(text, "\n")), source_(source) {}

  Imported run(const LinkFigures& figures) {
    const SmiTable types = table(kLinkTypes);
    const SmiTable hops = table(kHops);
    topology_.name = RocmSmiNode::name;
    topology_.devices = static_cast<int>(types.rows.size());
    bool needs_pcie = false;
    for (std::size_t a = 0; a < types.rows.size(); ++a) {
      for (std::size_t b = a + 1; b < types.rows.size(); ++b) {
        const std::string& type = types.rows[a][b];
        if (type != types.rows[b][a]) {
          refuse(types, a, b, type + " one way, " + types.rows[b][a] + " the other");
        }
        if (type == "XGMI") {
          add_link(a, b, hops, figures);
        } else if (type == "PCIE") {
          needs_pcie = true;
        } else {
          refuse(types, a, b, type + ": expected XGMI or PCIE");
        }
      }
    }
    if (needs_pcie) {
      add_processors(figures);
    }
    return {std::move(topology_), std::move(used_)};
  }

 private:
  [[noreturn]] void refuse(const SmiTable& table,
                           std::size_t a,
                           std::size_t b,
                           const std::string& what) const {
    const std::string pair = "GPU" + std::to_string(a) + " to GPU" + std::to_string(b) + ": ";
    refuse_line(source_, table.line + 2 + static_cast<int>(a), pair + what);
  }

  /// The rows below a title and the row of names; none where there is no such table.
  [[nodiscard]] SmiTable table(std::string_view title) const {
    SmiTable found;
    for (std::size_t i = 0; i + 1 < lines_.size(); ++i) {
      if (lines_[i].find(title) == std::string_view::npos) {
        continue;
      }
      found.line = static_cast<int>(i) + 1;
      const std::size_t count = text_words(lines_[i + 1]).size();
      for (std::size_t row = 0; row < count; ++row) {
        const std::size_t at = i + 2 + row;
        std::vector<std::string> words =
            at < lines_.size() ? text_words(lines_[at]) : std::vector<std::string>();
        if (words.size() != count + 1 || !names_gpu(words.front(), row)) {
          refuse_line(source_,
                      static_cast<int>(at) + 1,
                      "expected the row of GPU" + std::to_string(row) + " with " +
                          std::to_string(count) + " cells, one per column");
        }
        words.erase(words.begin());
        found.rows.push_back(std::move(words));
      }
      return found;
    }
    return found;
  }

  /// What is more than one hop away is reached by way of others.
  void add_link(std::size_t a, std::size_t b, const SmiTable& hops, const LinkFigures& figures) {
    const bool direct = a >= hops.rows.size() || number_or(hops.rows[a][b], 1) <= 1;
    if (!direct) {
      return;
    }
    topology_.wires.push_back({.a = static_cast<int>(a),
                               .b = static_cast<int>(b),
                               .count = 1,
                               .bandwidth = use("link_bandwidth", figures.link)});
  }

  BytesPerSecond use(const std::string& key, std::optional<BytesPerSecond> figure) {
    return use_figure("rocm-smi", source_, key, figure, used_);
  }

  /// The NUMA node of each GPU, by the lines "GPU[0] : (Topology) Numa Node: 0"; 0 where none
  /// tells.
  [[nodiscard]] std::vector<int> numa_nodes() const {
    std::vector<int> nodes(static_cast<std::size_t>(topology_.devices), 0);
    for (const std::string_view line : lines_) {
      const std::size_t gpu = line.find("GPU[");
      const std::size_t node = line.find(kNumaNode);
      if (gpu == line.npos || node == line.npos) {
        continue;
      }
      const int number = number_or(line.substr(gpu + 4), -1);
      if (number >= 0 && number < topology_.devices) {
        const std::vector<std::string> words = text_words(line.substr(node + kNumaNode.size()));
        nodes[static_cast<std::size_t>(number)] = words.empty() ? 0 : number_or(words.front(), 0);
      }
    }
    return nodes;
  }

  /// Every GPU on the processor of its NUMA node, these joined pair by pair.
  void add_processors(const LinkFigures& figures) {
    std::map<int, int> processors;
    const std::vector<int> nodes = numa_nodes();
    for (std::size_t gpu = 0; gpu < nodes.size(); ++gpu) {
      const auto [place, is_new] = processors.try_emplace(nodes[gpu], 0);
      if (is_new) {
        place->second = add_switches(topology_, 1, {.kind = SwitchKind::cpu});
      }
      topology_.wires.push_back({.a = static_cast<int>(gpu),
                                 .b = place->second,
                                 .count = 1,
                                 .bandwidth = use("pcie_bandwidth", figures.pcie)});
    }
    for (auto a = processors.begin(); a != processors.end(); ++a) {
      for (auto b = std::next(a); b != processors.end(); ++b) {
        topology_.wires.push_back({.a = a->second,
                                   .b = b->second,
                                   .count = 1,
                                   .bandwidth = use("socket_bandwidth", figures.socket)});
      }
    }
  }

  std::vector<std::string_view> lines_;
  std::string_view source_;
  Topology topology_;
  std::vector<std::string> used_;
};

}  // namespace

bool is_rocm_smi(std::string_view text) { return text.find(kLinkTypes) != text.npos; }

Imported import_rocm_smi(std::string_view text,
                         std::string_view source,
                         const LinkFigures& figures) {
  if (!is_rocm_smi(text)) {
    refuse_line(
        source,
        1,
        "no table \"" + std::string(kLinkTypes) + "\"; expected what rocm-smi --showtopo prints");
  }
  return RocmSmiReader(text, source).run(figures);
}

std::span<const Field<RocmSmiNode>> RocmSmiNode::fields() {
  return kMachineFileFields<RocmSmiNode>;
}

void RocmSmiNode::check(Reader& /*in*/) {
  if (!file.empty()) {
    imported = import_rocm_smi(file_text(file), file, *this);
  }
}

}  // namespace titer
