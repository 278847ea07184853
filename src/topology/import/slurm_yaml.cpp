// Slurm's topology.yaml, of releases since 25.05: the same switches and blocks as in topology.conf,
// of several topologies of which one is the cluster's.
#include <algorithm>

#include "text_file.hpp"
#include "titer/input/yaml.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

std::string text_of(const Value& entry, std::string_view key) {
  const Value* const value = entry.find(key);
  return value == nullptr ? "" : value->text;
}

/// The one that partitions take which name none, else the first.
const Value* clusters_own(const Value& topologies) {
  for (const Value& topology : topologies.items) {
    const Value* const is_own = topology.find("cluster_default");
    if (is_own != nullptr && is_own->boolean) {
      return &topology;
    }
  }
  return topologies.items.empty() ? nullptr : &topologies.items.front();
}

}  // namespace

bool is_slurm_yaml(std::string_view text) {
  const std::vector<std::string_view> lines = divided(text, "\n");
  return std::ranges::any_of(lines, [](std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    const std::string_view rest = begin == line.npos ? "" : line.substr(begin);
    return rest.starts_with("- switch:") || rest.starts_with("- block:");
  });
}

std::string slurm_conf_of_yaml(std::string_view text, std::string_view source) {
  const Document document = parse_yaml(text, std::string(source));
  const Value* const topology = clusters_own(document.root);
  std::string conf;
  const auto add = [&](const Value& entry, const std::string& words) {
    const auto lines = std::ranges::count(conf, '\n');
    conf.append(
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, entry.origin.line - 1 - lines)), '\n');
    conf.append(words).push_back('\n');
  };
  const auto each = [&](std::string_view list, const auto& take) {
    const Value* const entries = topology == nullptr ? nullptr : topology->at(list);
    for (std::size_t i = 0; entries != nullptr && i < entries->items.size(); ++i) {
      take(entries->items[i]);
    }
  };
  each("tree.switches", [&](const Value& entry) {
    const std::string below = text_of(entry, "children");
    const std::string nodes = text_of(entry, "nodes");
    add(entry,
        "SwitchName=" + text_of(entry, "switch") + (below.empty() ? "" : " Switches=" + below) +
            (nodes.empty() ? "" : " Nodes=" + nodes));
  });
  each("block.blocks", [&](const Value& entry) {
    add(entry, "BlockName=" + text_of(entry, "block") + " Nodes=" + text_of(entry, "nodes"));
  });
  return conf;
}

}  // namespace titer
