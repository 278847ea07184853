// Slurm's topology.conf, or topology.yaml: which nodes are below which switch, and which switches
// below which; or which nodes are in which block.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "text_file.hpp"
#include "titer/input/words.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostNames = 65536;  // of a list of hosts

/// A switch or a block, as a line tells of it.
struct SlurmLine {
  int line = 0;
  std::string name{};
  std::vector<std::string> nodes{};
  std::vector<std::string> switches{};
  bool is_block = false;
};

/// "rack[1-2]node[01-16,20],login1" as names, as Slurm's lists of hosts are read.
class HostList {
 public:
  HostList(std::string_view source, int line) : source_(source), line_(line) {}

  [[nodiscard]] std::vector<std::string> expand(std::string_view text) const {
    std::vector<std::string> names;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() || (text[i] == ',' && depth == 0)) {
        add_all("", text.substr(begin, i - begin), names);
        begin = i + 1;
      } else {
        depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
      }
    }
    return names;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    refuse_line(source_,
                line_,
                std::string(what) + ": expected a list of names, such as node[01-16,20],login1");
  }

  /// All names that begin so and go on as the text says.
  void add_all(const std::string& begin,
               std::string_view text,
               std::vector<std::string>& names) const {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == text.npos ? 0 : open);
    if (open == text.npos) {
      if (begin.empty() && text.empty()) {
        return;
      }
      names.push_back(begin + std::string(text));
      if (names.size() > kMostNames) {
        refuse("more than " + std::to_string(kMostNames) + " names");
      }
      return;
    }
    if (close == text.npos) {
      refuse(text);
    }
    const std::string head = begin + std::string(text.substr(0, open));
    const std::string_view tail = text.substr(close + 1);
    for (const std::string_view range : divided(text.substr(open + 1, close - open - 1), ",")) {
      add_range(head, range, tail, names);
    }
  }

  void add_range(const std::string& head,
                 std::string_view range,
                 std::string_view tail,
                 std::vector<std::string>& names) const {
    const std::size_t dash = range.find('-');
    const std::string_view least = range.substr(0, dash);
    const std::string_view most = dash == range.npos ? least : range.substr(dash + 1);
    const auto first = number(least);
    const auto last = number(most);
    if (*last < *first || *last - *first > static_cast<int>(kMostNames)) {
      refuse(range);
    }
    for (int value = *first; value <= *last; ++value) {
      std::string digits = std::to_string(value);
      digits.insert(0, least.size() > digits.size() ? least.size() - digits.size() : 0, '0');
      add_all(head + digits, tail, names);
    }
  }

  [[nodiscard]] std::optional<int> number(std::string_view text) const {
    const auto value = number_of_text<int>(text);
    if (!value || *value < 0) {
      refuse(text);
    }
    return value;
  }

  std::string_view source_;
  int line_;
};

/// A line without its comment and the blanks at its end.
std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == line.npos ? 0 : last + 1);
}

/// What a line says, all that goes on behind it included; its name is "" where it tells of no
/// switch and no block.
SlurmLine slurm_line(const std::string& whole, std::string_view source, int number) {
  SlurmLine entry{.line = number};
  const HostList list(source, number);
  for (const std::string& word : text_words(whole)) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string key = lower(word.substr(0, equals));
    const std::string value = word.substr(std::min(equals + 1, word.size()));
    if (key == "switchname" || key == "blockname") {
      entry.name = value;
      entry.is_block = key == "blockname";
    } else if (key == "nodes") {
      entry.nodes = list.expand(value);
    } else if (key == "switches") {
      entry.switches = list.expand(value);
    }
  }
  return entry;
}

/// The lines that tell of switches or blocks.
std::vector<SlurmLine> slurm_lines(std::string_view text, std::string_view source) {
  std::vector<SlurmLine> found;
  std::string whole;
  int number = 0;
  for (const std::string_view raw : divided(text, "\n")) {
    ++number;
    std::string_view line = without_comment(raw);
    const bool goes_on = line.ends_with('\\');
    line.remove_suffix(goes_on ? 1 : 0);
    whole.append(line).push_back(' ');
    if (goes_on) {
      continue;
    }
    SlurmLine entry = slurm_line(whole, source, number);
    if (!entry.name.empty()) {
      found.push_back(std::move(entry));
    }
    whole.clear();
  }
  return found;
}

class SlurmBuilder {
 public:
  SlurmBuilder(std::vector<SlurmLine> lines, std::string_view source, const SlurmChoices& choices)
      : lines_(std::move(lines)), source_(source), choices_(choices) {}

  Imported run() {
    if (lines_.empty()) {
      throw InputError(std::string(source_) +
                       ": no switch and no block; expected lines of Slurm's topology.conf, such as "
                       "SwitchName=leaf1 Nodes=node[01-16]");
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      add(i);
    }
    join_blocks();
    for (const SlurmLine& line : lines_) {
      for (const std::string& below : line.switches) {
        const auto known = numbers_.find(below);
        if (known == numbers_.end()) {
          refuse_line(source_, line.line, "Switches: " + below + " is not in this file");
        }
        above_[known->second].push_back(numbers_.at(line.name));
      }
    }
    build();
    return {std::move(topology_),
            {"bandwidth",
             fmt::format(
                 "each node's {} ports on its switch (nics), links up for oversubscription {:g}",
                 choices_.nics,
                 choices_.oversubscription)}};
  }

 private:
  void add(std::size_t number) {
    const SlurmLine& line = lines_[number];
    if (!numbers_.emplace(line.name, number).second) {
      refuse_line(source_, line.line, line.name + ": a second time; expected each switch once");
    }
    for (const std::string& node : line.nodes) {
      if (!nodes_.insert(node).second) {
        refuse_line(source_, line.line, node + ": below two switches; expected each node once");
      }
    }
    if (line.nodes.empty() && line.switches.empty()) {
      refuse_line(source_, line.line, line.name + ": expected Nodes=… or Switches=…");
    }
  }

  /// What joins blocks is not told: one switch.
  void join_blocks() {
    SlurmLine top{.line = 0, .name = "the blocks", .switches = {}, .is_block = true};
    for (const SlurmLine& line : lines_) {
      if (line.is_block) {
        top.switches.push_back(line.name);
      }
    }
    if (top.switches.size() > 1) {
      numbers_.emplace(top.name, lines_.size());
      lines_.push_back(std::move(top));
    }
  }

  void build() {
    topology_.name = SlurmNetwork::name;
    topology_.devices = static_cast<int>(nodes_.size()) * choices_.nics;
    std::vector<int> vertices;
    for (const SlurmLine& line : lines_) {
      const SwitchKind kind = line.switches.empty() ? SwitchKind::leaf : SwitchKind::spine;
      vertices.push_back(add_switches(topology_, 1, {.kind = kind}));
    }
    int device = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int ports = static_cast<int>(lines_[i].nodes.size()) * choices_.nics;
      for (int port = 0; port < ports; ++port) {
        join(device++, vertices[i], 1);
      }
      const auto up = above_.find(i);
      if (up == above_.end()) {
        continue;
      }
      const double links = std::ceil(ports_below(i) / choices_.oversubscription);
      const auto parents = static_cast<double>(up->second.size());
      for (const std::size_t parent : up->second) {
        join(vertices[i],
             vertices[parent],
             std::max(1, static_cast<int>(std::lround(links / parents))));
      }
    }
  }

  /// Of devices below a switch. REQUIRES no circle, which would be endless: it is refused.
  double ports_below(std::size_t number, int depth = 0) {
    if (depth > static_cast<int>(lines_.size())) {
      refuse_line(source_, lines_[number].line, lines_[number].name + ": is below itself");
    }
    double ports = static_cast<double>(lines_[number].nodes.size()) * choices_.nics;
    for (const std::string& below : lines_[number].switches) {
      const std::size_t child = numbers_.at(below);
      ports += ports_below(child, depth + 1) / static_cast<double>(above_.at(child).size());
    }
    return ports;
  }

  void join(int a, int b, int count) {
    topology_.wires.push_back({.a = a, .b = b, .count = count, .bandwidth = choices_.bandwidth});
  }

  std::vector<SlurmLine> lines_;
  std::string_view source_;
  SlurmChoices choices_;
  std::map<std::string, std::size_t> numbers_;
  std::set<std::string> nodes_;
  std::map<std::size_t, std::vector<std::size_t>> above_;
  Topology topology_;
};

}  // namespace

bool is_slurm_topology(std::string_view text) {
  if (is_slurm_yaml(text)) {
    return true;
  }
  const std::vector<std::string_view> lines = divided(text, "\n");
  return std::ranges::any_of(lines, [](std::string_view line) {
    const std::string key = lower(trimmed(line).substr(0, 11));
    return key.starts_with("switchname=") || key.starts_with("blockname=");
  });
}

Imported import_slurm_topology(std::string_view text,
                               std::string_view source,
                               const SlurmChoices& choices) {
  const std::string conf =
      is_slurm_yaml(text) ? slurm_conf_of_yaml(text, source) : std::string(text);
  return SlurmBuilder(slurm_lines(conf, source), source, choices).run();
}

std::span<const Field<SlurmNetwork>> SlurmNetwork::fields() {
  static constexpr std::array table = {
      kFileField<SlurmNetwork>,
      titer::fields::quantity<&SlurmChoices::bandwidth, SlurmNetwork>(
          "bandwidth", "of a port and of a cable, one direction")
          .needed(),
      titer::fields::integer<&SlurmChoices::nics, SlurmNetwork>(
          "nics", {1, 64}, "ports of a node, all on its switch"),
      titer::fields::number<&SlurmChoices::oversubscription, SlurmNetwork>(
          "oversubscription", {1, 64}, "of each switch, down over up")};
  return table;
}

void SlurmNetwork::check(Reader& /*in*/) {
  if (!file.empty() && bandwidth > BytesPerSecond{}) {
    imported = import_slurm_topology(file_text(file), file, *this);
  }
}

}  // namespace titer
