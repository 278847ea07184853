// Chakra traces of all ranks as one workload.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "chakra_records.hpp"
#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/workload.hpp"
#include "trace/wire_format.hpp"

namespace titer {
namespace {

constexpr std::uint64_t kHostLane = std::uint64_t{1} << 32U;
constexpr std::uint64_t kComputation = 4;  // the type of its nodes
constexpr std::uint64_t kBarrier = 9;      // comm_type

/// A number that a negative one was not written as.
std::int64_t plain(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// {"0": [0, 1, 2, 3], …}
std::map<std::string, std::vector<int>> read_groups(const std::filesystem::path& path, int ranks) {
  const Document document = load_json(path);
  std::map<std::string, std::vector<int>> groups;
  for (const auto& [name, members] : document.root.members) {
    std::vector<int>& group = groups[name];
    for (const Value& member : members.items) {
      const bool good = member.kind == Value::Kind::number && member.is_integer &&
                        member.integer >= 0 && member.integer < ranks;
      if (!good) {
        throw InputError(document.where(member.origin) + ": " + name + ": expected ranks below " +
                         std::to_string(ranks) + ", of which there are traces");
      }
      group.push_back(static_cast<int>(member.integer));
    }
    std::ranges::sort(group);
  }
  return groups;
}

/// Numbers of the groups that the traces name, in the order in which they name them.
class ChakraGroups {
 public:
  /// `file` says who is in them; without one all ranks are in each.
  ChakraGroups(int ranks,
               const std::optional<std::filesystem::path>& file,
               std::set<std::string>& remarks)
      : ranks_(ranks), remarks_(remarks) {
    if (file) {
      members_ = read_groups(*file, ranks);
    }
  }

  std::size_t number_of(const std::string& name) {
    const auto [place, is_new] = numbers_.try_emplace(name, groups_.size());
    if (is_new) {
      groups_.push_back(members_of(name));
    }
    return place->second;
  }

  [[nodiscard]] std::vector<std::vector<int>> take() { return std::move(groups_); }

 private:
  [[nodiscard]] std::vector<int> members_of(const std::string& name) const {
    const auto known = members_.find(name);
    if (known != members_.end()) {
      return known->second;
    }
    if (!name.empty()) {
      remarks_.insert("group \"" + name + "\" is in no file of groups: it counts as all ranks");
    }
    std::vector<int> all(static_cast<std::size_t>(ranks_));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  int ranks_;
  std::set<std::string>& remarks_;
  std::map<std::string, std::vector<int>> members_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::vector<int>> groups_;
};

/// Nodes that a node waits for, by id.
struct ChakraWaits {
  std::vector<std::uint64_t> control;
  std::vector<std::uint64_t> data;
};

/// Whether some of `nodes` wait for what waits for them.
bool wait_in_a_circle(const std::vector<WorkNode>& nodes) {
  std::vector<std::vector<std::uint32_t>> next(nodes.size());
  std::vector<std::size_t> open(nodes.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    open[i] = nodes[i].after.size();
    for (const std::uint32_t before : nodes[i].after) {
      next[before].push_back(i);
    }
    if (open[i] == 0) {
      ready.push_back(i);
    }
  }
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    for (const std::uint32_t i : next[ready[done]]) {
      if (--open[i] == 0) {
        ready.push_back(i);
      }
    }
  }
  return done < nodes.size();
}

class ChakraRank {
 public:
  ChakraRank(const std::filesystem::path& path, std::set<std::string>& remarks)
      : path_(path), remarks_(remarks) {}

  std::vector<WorkNode> read(ChakraGroups& groups) {
    read_chakra_records(path_, [&](ChakraRecord record) { add(std::move(record), groups); });
    resolve();
    return std::move(nodes_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(path_.string() + ": " + what);
  }

  void add(ChakraRecord record, ChakraGroups& groups) {
    WorkNode node{.name = std::move(record.name), .bytes = {}, .after = {}};
    set_kind(record, node);
    if (node.kind == WorkKind::collective) {
      node.group = groups.number_of(record.group);
    }
    if (!numbers_.emplace(record.id, static_cast<std::uint32_t>(nodes_.size())).second) {
      fail("node " + std::to_string(record.id) + " is there twice");
    }
    waits_.push_back({.control = std::move(record.control), .data = std::move(record.data)});
    nodes_.push_back(std::move(node));
  }

  void set_kind(const ChakraRecord& record, WorkNode& node) {
    node.bytes = Bytes::from_si(static_cast<double>(record.number("comm_size").value_or(0)));
    if (is_collective(record)) {
      node.kind = WorkKind::collective;
      set_collective(record.number("comm_type").value_or(0), node);
    } else if (record.type == kSend || record.type == kReceive) {
      set_message(record, node);
    } else {
      set_work(record, node);
    }
  }

  bool is_collective(const ChakraRecord& record) {
    // An operator of PyTorch that starts a collective is of its type too, and says nothing of it.
    const bool starts_one =
        record.number("is_cpu_op").value_or(0) != 0 && !record.number("comm_type");
    if (record.type != kCollective || starts_one) {
      return false;
    }
    const bool is_known = record.number("comm_type") || record.number("comm_size");
    if (!is_known && record.duration > 0) {
      remarks_.insert(
          "collectives of which neither \"comm_type\" nor \"comm_size\" is there take as long as "
          "they took");
      return false;
    }
    return true;
  }

  void set_message(const ChakraRecord& record, WorkNode& node) const {
    const bool sends = record.type == kSend;
    node.kind = sends ? WorkKind::send : WorkKind::receive;
    const std::string end = sends ? "comm_dst" : "comm_src";
    const auto peer = record.number(end);
    if (!peer) {
      fail("node \"" + node.name + "\" has no " + end);
    }
    node.peer = static_cast<int>(plain(*peer));
    node.tag = static_cast<int>(plain(record.number("comm_tag").value_or(0)));
  }

  /// What a rank does by itself.
  static void set_work(const ChakraRecord& record, WorkNode& node) {
    const bool of_host = record.number("is_cpu_op").value_or(0) != 0;
    node.lane = (of_host ? kHostLane : 0) + record.number("stream").value_or(0);
    const auto picoseconds = record.number("duration_ps");
    const double operations = static_cast<double>(record.number("num_ops").value_or(0));
    const double touched = static_cast<double>(record.number("tensor_size").value_or(0));
    if (picoseconds) {
      node.duration = Seconds::from_si(1e-12 * static_cast<double>(*picoseconds));
    } else if (record.duration > 0 || record.type != kComputation ||
               (operations == 0 && touched == 0)) {
      node.duration = Seconds::from_si(1e-6 * static_cast<double>(record.duration));
    } else {
      node.kernel = {.kind = operations > 0 ? KernelKind::matrix : KernelKind::memory,
                     .flops = Flops::from_si(operations),
                     .bytes = Bytes::from_si(touched)};
    }
  }

  void set_collective(std::uint64_t type, WorkNode& node) {
    constexpr std::array<std::pair<std::uint64_t, Collective>, 7> known = {
        {{0, Collective::all_reduce},
         {1, Collective::reduce},
         {2, Collective::all_gather},
         {5, Collective::broadcast},
         {6, Collective::all_to_all},
         {7, Collective::reduce_scatter},
         {8, Collective::reduce_scatter}}};
    if (type == kBarrier) {
      remarks_.insert("barriers count as all-reduces of 4 bytes");
      node.collective = Collective::all_reduce;
      node.bytes = Bytes::from_si(4);
      return;
    }
    const auto* found =
        std::ranges::find_if(known, [&](const auto& one) { return one.first == type; });
    if (found == known.end()) {
      const bool named = type < kChakraCollectives.size();
      fail("node \"" + node.name + "\": comm_type " + std::to_string(type) +
           (named ? " (" + std::string(kChakraCollectives[type]) + ")" : "") + " is not modelled");
    }
    node.collective = found->second;
  }

  void resolve() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      wait_for(waits_[i].data, nodes_[i]);
    }
    std::vector<std::size_t> of_data;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      of_data.push_back(nodes_[i].after.size());
      wait_for(waits_[i].control, nodes_[i]);
    }
    if (!wait_in_a_circle(nodes_)) {
      return;
    }
    remarks_.insert(
        "nodes wait for each other in a circle by \"ctrl_deps\": \"data_deps\" alone count, as in "
        "ASTRA-sim");
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].after.resize(of_data[i]);
    }
  }

  void wait_for(std::span<const std::uint64_t> ids, WorkNode& node) {
    for (const std::uint64_t id : ids) {
      const auto known = numbers_.find(id);
      if (known == numbers_.end()) {
        remarks_.insert("nodes wait for others that the traces do not hold: these count as done");
        continue;
      }
      node.after.push_back(known->second);
    }
  }

  std::filesystem::path path_;
  std::set<std::string>& remarks_;
  std::vector<WorkNode> nodes_;
  std::vector<ChakraWaits> waits_;                  // of each node
  std::map<std::uint64_t, std::uint32_t> numbers_;  // of nodes by id
};

/// Of what is gathered a trace has the part of a rank.
void complete_gathers(Workload& workload) {
  for (std::vector<WorkNode>& nodes : workload.ranks) {
    for (WorkNode& node : nodes) {
      if (node.kind == WorkKind::collective && node.collective == Collective::all_gather) {
        node.bytes = static_cast<double>(workload.groups[node.group].size()) * node.bytes;
      }
    }
  }
}

}  // namespace

Workload load_chakra_workload(std::span<const std::filesystem::path> traces,
                              const std::optional<std::filesystem::path>& groups) {
  Workload workload{.source = traces.front().string(),
                    .format = "Chakra",
                    .ranks = {},
                    .groups = {},
                    .remarks = {}};
  std::set<std::string> remarks;
  ChakraGroups named(static_cast<int>(traces.size()), groups, remarks);
  for (const std::filesystem::path& path : traces) {
    workload.ranks.push_back(ChakraRank(path, remarks).read(named));
  }
  workload.groups = named.take();
  complete_gathers(workload);
  workload.remarks.assign(remarks.begin(), remarks.end());
  return workload;
}

}  // namespace titer
