// What ibnetdiscover prints of an InfiniBand subnet: a paragraph for each switch and host, a line
// in it for each port with a cable, which says where the other end is.

#include "titer/topology/import/fabric_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "text_file.hpp"

namespace titer {
namespace {

/// What a lane carries less its line code [InfiniBand Architecture Specification, volume 2].
struct LaneSpeed {
  std::string_view name;
  BytesPerSecond bandwidth;
};
constexpr std::array<LaneSpeed, 9> kLaneSpeeds = {{{"SDR", 2 * 1_Gbps},
                                                   {"DDR", 4 * 1_Gbps},
                                                   {"QDR", 8 * 1_Gbps},
                                                   {"FDR10", 10 * 1_Gbps},
                                                   {"FDR", 13.64 * 1_Gbps},
                                                   {"EDR", 25 * 1_Gbps},
                                                   {"HDR", 50 * 1_Gbps},
                                                   {"NDR", 100 * 1_Gbps},
                                                   {"XDR", 200 * 1_Gbps}}};

/// "4xHDR"
std::optional<BytesPerSecond> cable_bandwidth(std::string_view text) {
  const auto lanes = take_number<int>(text);
  if (!lanes || *lanes < 1 || *lanes > 12 || !text.starts_with('x')) {
    return std::nullopt;
  }
  const auto* speed = std::ranges::find_if(
      kLaneSpeeds, [&](const auto& known) { return known.name == text.substr(1); });
  return speed == kLaneSpeeds.end() ? std::nullopt : std::optional(*lanes * speed->bandwidth);
}

/// A switch, or a host's adapter.
struct IbNode {
  std::string description;
  bool is_switch = false;
};

struct IbEnd {
  std::string node;  // "S-…" or "H-…"
  int port = 0;
  auto operator<=>(const IbEnd&) const = default;
};

/// What lies between the first pair of quotes from `at` on, which is moved behind it.
std::optional<std::string_view> take_quoted(std::string_view line, std::size_t& at) {
  const std::size_t begin = line.find('"', at);
  const std::size_t end = begin == line.npos ? begin : line.find('"', begin + 1);
  if (end == line.npos) {
    return std::nullopt;
  }
  at = end + 1;
  return line.substr(begin + 1, end - begin - 1);
}

/// The number in brackets that begins at `at`: "[12]".
std::optional<int> bracketed(std::string_view line, std::size_t at) {
  if (at >= line.size() || line[at] != '[') {
    return std::nullopt;
  }
  line.remove_prefix(at + 1);
  const auto port = take_number<int>(line);
  return line.starts_with(']') ? port : std::nullopt;
}

/// "H-0xa088…" and "H-a088…" are one.
std::string node_of(std::string_view id) {
  std::string node(id.substr(0, 2));
  id.remove_prefix(std::min<std::size_t>(2, id.size()));
  id.remove_prefix(id.starts_with("0x") ? 2 : 0);
  return node.append(id);
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

class SubnetReader {
 public:
  SubnetReader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Imported run(std::optional<int> ports) {
    for (const std::string_view line : divided(text_, "\n")) {
      ++line_;
      read_line(line);
    }
    find_devices(ports);
    add_switches_by_level();
    for (const auto& [ends, bandwidth] : cables_) {
      const auto a = vertices_.find(key_of(ends.first));
      const auto b = vertices_.find(key_of(ends.second));
      if (a != vertices_.end() && b != vertices_.end()) {
        wires_[{a->second, b->second, bandwidth.si()}] += 1;
      }
    }
    for (const auto& [wire, count] : wires_) {
      topology_.wires.push_back({.a = std::get<0>(wire),
                                 .b = std::get<1>(wire),
                                 .count = count,
                                 .bandwidth = BytesPerSecond::from_si(std::get<2>(wire))});
    }
    topology_.name = IbNetwork::name;
    return {std::move(topology_), std::move(used_)};
  }

 private:
  void read_line(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) {
      current_.clear();
      return;
    }
    line.remove_prefix(begin);
    for (const std::string_view kind : {"Switch", "Ca", "Rt"}) {
      if (line.starts_with(kind) && line.size() > kind.size() &&
          (line[kind.size()] == '\t' || line[kind.size()] == ' ')) {
        read_node(line, kind == "Switch");
      }
    }
    if (line.front() == '[' && !current_.empty()) {
      read_port(line);
    }
  }

  void read_node(std::string_view line, bool is_switch) {
    std::size_t at = 0;
    const auto id = take_quoted(line, at);
    const auto description = take_quoted(line, at);
    if (!id) {
      refuse_line(source_, line_, "expected the name of the node in quotes, such as \"S-ec0d…\"");
    }
    current_ = node_of(*id);
    nodes_[current_] = {.description = std::string(description.value_or(*id)),
                        .is_switch = is_switch};
  }

  /// "[1](guid)  "S-…"[21]  # … 4xHDR": a cable, which both its ends list.
  void read_port(std::string_view line) {
    const auto port = bracketed(line, 0);
    std::size_t at = 0;
    const auto peer = take_quoted(line, at);
    const auto peer_port = bracketed(line, at);
    const std::vector<std::string> words = text_words(line);
    const auto bandwidth = cable_bandwidth(words.empty() ? std::string() : words.back());
    if (!port || !peer || !peer_port || !bandwidth) {
      refuse_line(source_,
                  line_,
                  "expected a port, the port at the other end and the cable's width and speed: "
                  "[1] \"S-…\"[2] # … 4xHDR");
    }
    const IbEnd here{current_, *port};
    const IbEnd there{node_of(*peer), *peer_port};
    cables_[std::minmax(here, there)] = *bandwidth;
  }

  [[nodiscard]] bool is_switch(const std::string& node) const {
    const auto known = nodes_.find(node);
    return known == nodes_.end() ? node.starts_with("S-") : known->second.is_switch;
  }
  [[nodiscard]] std::string description(const std::string& node) const {
    const auto known = nodes_.find(node);
    return known == nodes_.end() ? node : known->second.description;
  }
  /// A switch is one vertex, a host one for each port.
  [[nodiscard]] IbEnd key_of(const IbEnd& end) const {
    return {end.node, is_switch(end.node) ? 0 : end.port};
  }

  /// The cables' ends at hosts, by host: "node7 mlx5_0" is an adapter of node7.
  void find_devices(std::optional<int> ports) {
    std::vector<std::pair<std::string, IbEnd>> ends;
    std::set<std::string> aggregators;
    for (const auto& [cable, bandwidth] : cables_) {
      for (const IbEnd& end : {cable.first, cable.second}) {
        const std::string name = description(end.node);
        if (is_switch(end.node)) {
          continue;
        }
        if (name.find("Aggregation Node") != name.npos) {
          aggregators.insert(end.node);
        } else {
          ends.emplace_back(name, end);
        }
      }
    }
    std::ranges::sort(ends, [](const auto& a, const auto& b) {
      return a.first != b.first ? before_by_number(a.first, b.first) : a.second < b.second;
    });
    leave_out(ports, ends);
    if (ends.empty()) {
      throw InputError(std::string(source_) +
                       ": no host with a cable; expected what "
                       "ibnetdiscover prints, with lines such as [1] \"H-…\"[1] # … 4xNDR");
    }
    for (const auto& [name, end] : ends) {
      vertices_.emplace(end, topology_.devices++);
    }
    if (!aggregators.empty()) {
      used_.push_back(std::to_string(aggregators.size()) + " aggregation nodes left out");
    }
  }

  void leave_out(std::optional<int> ports, std::vector<std::pair<std::string, IbEnd>>& ends) {
    std::map<std::string, int, std::less<>> counts;
    for (const auto& [name, end] : ends) {
      ++counts[std::string(first_word(name))];
    }
    std::map<int, int> hosts;  // by their number of ports
    for (const auto& [host, count] : counts) {
      ++hosts[count];
    }
    for (const auto& [count, number] : hosts) {
      const bool stays = !ports || count == *ports;
      used_.push_back(std::to_string(number) + " hosts with " + std::to_string(count) + " ports" +
                      (stays ? "" : " left out"));
    }
    std::erase_if(ends, [&](const auto& end) {
      return ports && counts.find(first_word(end.first))->second != *ports;
    });
  }

  using SwitchLevels = std::map<std::string, int>;

  /// Switches that have no level yet get this one where a cable joins them to such an end.
  template <typename IsNext>
  void reach(SwitchLevels& levels, int level, const IsNext& is_next) const {
    std::vector<std::string> reached;
    for (const auto& [cable, bandwidth] : cables_) {
      for (const auto& [near, far] : {cable, std::pair(cable.second, cable.first)}) {
        if (is_switch(far.node) && !levels.contains(far.node) && is_next(near)) {
          reached.push_back(far.node);
        }
      }
    }
    for (const std::string& node : reached) {
      levels.emplace(node, level);
    }
  }

  /// Leaves are next to a host, spines next to a leaf, all others cores.
  [[nodiscard]] SwitchLevels switch_levels() const {
    SwitchLevels levels;
    reach(levels, 0, [&](const IbEnd& near) { return vertices_.contains(near); });
    reach(levels, 1, [&](const IbEnd& near) {
      const auto known = levels.find(near.node);
      return known != levels.end() && known->second == 0;
    });
    reach(levels, 2, [](const IbEnd& /*near*/) { return true; });
    return levels;
  }

  /// Those of a level by the numbers in their descriptions.
  void add_switches_by_level() {
    const SwitchLevels levels = switch_levels();
    std::vector<std::tuple<int, std::string, std::string>> order;
    order.reserve(levels.size());
    for (const auto& [node, level] : levels) {
      order.emplace_back(level, description(node), node);
    }
    std::ranges::sort(order, [](const auto& a, const auto& b) {
      const auto& [level, name, node] = a;
      const auto& [other_level, other_name, other_node] = b;
      if (level != other_level) {
        return level < other_level;
      }
      return name != other_name ? before_by_number(name, other_name) : node < other_node;
    });
    constexpr std::array kinds = {SwitchKind::leaf, SwitchKind::spine, SwitchKind::core};
    for (const auto& [level, name, node] : order) {
      const SwitchKind kind = kinds[static_cast<std::size_t>(level)];
      vertices_.emplace(IbEnd{node, 0}, add_switches(topology_, 1, {.kind = kind}));
    }
  }

  std::string_view text_;
  std::string_view source_;
  int line_ = 0;
  std::string current_;  // the node whose paragraph it is
  std::map<std::string, IbNode> nodes_;
  std::map<std::pair<IbEnd, IbEnd>, BytesPerSecond> cables_;
  std::map<IbEnd, int> vertices_;
  std::map<std::tuple<int, int, double>, int> wires_;  // how many of two ends and a bandwidth
  Topology topology_;
  std::vector<std::string> used_;
};

}  // namespace

bool is_ibnetdiscover(std::string_view text) {
  return text.find("switchguid=0x") != text.npos || text.find("caguid=0x") != text.npos;
}

Imported import_ibnetdiscover(std::string_view text,
                              std::string_view source,
                              std::optional<int> ports) {
  return SubnetReader(text, source).run(ports);
}

std::span<const Field<IbNetwork>> IbNetwork::fields() {
  static constexpr std::array table = {
      kFileField<IbNetwork>,
      titer::fields::integer<&IbNetwork::ports>(
          "ports", {1, 64}, "of the nodes that count: hosts with another number are left out")};
  return table;
}

void IbNetwork::check(Reader& /*in*/) {
  if (!file.empty()) {
    imported = import_ibnetdiscover(file_text(file), file, ports);
  }
}

}  // namespace titer
