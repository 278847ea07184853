#include "titer/report/file/chakra_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "titer/cost/sync_cost.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

#ifdef TITER_PROTOBUF
#include <chakra.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#endif

namespace titer {

std::string chakra_groups(const ExportedStep& step) {
  const std::vector<std::string> lines = each_of(step.groups(), [&](const RankGroup& group) {
    return fmt::format("  \"{}\": [{}]", group.number, fmt::join(group.ranks, ", "));
  });
  return lines.empty() ? "{}\n" : fmt::format("{{\n{}\n}}\n", fmt::join(lines, ",\n"));
}

#ifdef TITER_PROTOBUF
namespace {

constexpr Ticks kTicksPerMicrosecond = 1'000'000;
constexpr std::string_view kVersion = "0.0.4";  // of the schema

// The published schema's numbers.
std::int32_t type_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::compute:
    case NodeKind::copy:
    case NodeKind::input:
      return 4;
    case NodeKind::send:
      return 5;
    case NodeKind::receive:
      return 6;
    case NodeKind::collective:
      return 7;
  }
  ensure(false, "a node is of one of the enumerated kinds");
  return 0;
}

std::int64_t comm_type(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return 0;
    case Collective::reduce:
      return 1;
    case Collective::all_gather:
      return 2;
    case Collective::broadcast:
      return 5;
    case Collective::all_to_all:
      return 6;
    case Collective::reduce_scatter:
      return 7;
    case Collective::send_recv:
      break;
  }
  ensure(false, "a message between two ranks is no collective of a trace");
  return 0;
}

/// Adds attributes, each of the width in its name.
class Attributes {
 public:
  explicit Attributes(chakra::Node& node) : node_(node) {}

  void int32(const char* name, std::int32_t value) { add(name).set_int32_val(value); }
  void int64(const char* name, std::int64_t value) { add(name).set_int64_val(value); }
  void uint64(const char* name, std::uint64_t value) { add(name).set_uint64_val(value); }
  void boolean(const char* name, bool value) { add(name).set_bool_val(value); }
  void text(const char* name, const std::string& value) { add(name).set_string_val(value); }

 private:
  chakra::Attribute& add(const char* name) {
    chakra::Attribute& attribute = *node_.add_attributes();
    attribute.set_name(name);
    return attribute;
  }
  chakra::Node& node_;
};

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

/// A node of a trace: one of a graph, or a part of it; of a reduce the rank that it comes to.
struct TraceNode {
  GraphNode from;
  std::optional<int> root{};
};

void add_attributes(const ExportedStep& step,
                    int rank,
                    const TraceNode& written,
                    chakra::Node& to) {
  const GraphNode& from = written.from;
  Attributes attributes(to);
  // Beside the device's kernels.
  const bool of_host = from.kind == NodeKind::copy || from.kind == NodeKind::input;
  attributes.boolean("is_cpu_op", of_host);
  attributes.int64("duration_ps", from.duration);
  if (from.kind == NodeKind::compute || of_host) {
    attributes.int64("num_ops", whole(from.flops.si()));
    attributes.uint64("tensor_size", static_cast<std::uint64_t>(whole(from.bytes.si())));
    return;
  }
  if (from.kind == NodeKind::collective) {
    const bool gathers = from.collective == Collective::all_gather;
    const auto members = static_cast<double>(step.group(from.group).ranks.size());
    attributes.int64("comm_type", comm_type(from.collective));
    attributes.int64("comm_size", whole(from.bytes.si() / (gathers ? members : 1.0)));
    attributes.text("pg_name", std::to_string(from.group));
    if (written.root) {
      attributes.int32("comm_dst", *written.root);
    }
    return;
  }
  const bool sends = from.kind == NodeKind::send;
  attributes.int64("comm_size", whole(from.bytes.si()));
  attributes.int32("comm_src", sends ? rank : from.peer);
  attributes.int32("comm_dst", sends ? from.peer : rank);
  attributes.int32("comm_tag", from.tag);
}

/// Whole microseconds of the rank's compute, rounded so that the sum is right; of anything else by
/// itself.
class Microseconds {
 public:
  std::uint64_t of(const GraphNode& node) {
    if (node.kind != NodeKind::compute) {
      return nearest(node.duration);
    }
    const std::uint64_t before = nearest(computed_);
    computed_ += node.duration;
    return nearest(computed_) - before;
  }

 private:
  static std::uint64_t nearest(Ticks ticks) {
    return static_cast<std::uint64_t>((ticks + kTicksPerMicrosecond / 2) / kTicksPerMicrosecond);
  }
  Ticks computed_ = 0;
};

}  // namespace

bool can_write_chakra() { return true; }

namespace {

/// Whether the parts of a node follow one another.
bool in_turn(const GraphNode& node) {
  return node.senders == Senders::first ||
         (node.senders == Senders::all && goes_in_turn(node.collective));
}

/// What the nodes of a rank's graph are in its trace: collectives of which not all ranks send alike
/// are messages, and of those in turn there is one for each rank.
class TraceNodes {
 public:
  TraceNodes(const ExportedStep& step, int rank) : step_(step), rank_(rank) {}

  std::vector<TraceNode> of(const GraphNode& node) {
    if (node.kind != NodeKind::collective) {
      return {{.from = node}};
    }
    if (node.senders != Senders::all) {
      return messages(node);
    }
    if (!goes_in_turn(node.collective)) {
      return {{.from = node}};
    }
    std::vector<TraceNode> parts;
    const std::vector<int>& ranks = step_.group(node.group).ranks;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      parts.push_back({.from = part(node, i, ranks.size()), .root = ranks[i]});
      parts.back().from.bytes = node.bytes / static_cast<double>(ranks.size());
    }
    return parts;
  }

 private:
  std::vector<TraceNode> messages(const GraphNode& node) {
    std::vector<TraceNode> parts;
    const std::size_t others = step_.group(node.group).ranks.size() - 1;
    for (const RankMessage& message : step_.messages(node, rank_)) {
      const bool alone = node.senders == Senders::neighbours;  // at once: as long as all
      GraphNode one = alone ? node : part(node, parts.size() % others, others);
      one.kind = message.sends ? NodeKind::send : NodeKind::receive;
      one.bytes = message.bytes;
      one.peer = message.peer;
      one.tag = step_.tags() + (message.sends ? sent_ : received_)[message.peer]++;
      parts.push_back({.from = one});
    }
    return parts;
  }
  /// Of as many one after the other, rounded so that the sum is right.
  static GraphNode part(const GraphNode& node, std::size_t number, std::size_t count) {
    const auto until = [&](std::size_t parts) {
      return node.duration * static_cast<Ticks>(parts) / static_cast<Ticks>(count);
    };
    GraphNode one = node;
    one.duration = until(number + 1) - until(number);
    return one;
  }

  const ExportedStep& step_;
  int rank_;
  std::map<int, int> sent_;  // messages of collectives to each rank, in the order of both
  std::map<int, int> received_;
};

/// Writes a rank's graph to a stream, node by node.
class TraceWriter {
 public:
  TraceWriter(const ExportedStep& step, int rank, google::protobuf::io::CodedOutputStream& stream)
      : step_(step),
        rank_(rank),
        stream_(stream),
        graph_(step.graph(rank)),
        nodes_(step, rank),
        ends_(graph_.size()) {}

  void write() {
    chakra::Metadata metadata;
    metadata.set_version(std::string(kVersion));
    write(metadata);
    for (RankGraph::Id id = 0; id < graph_.size(); ++id) {
      std::vector<std::uint64_t> entry;
      for (const RankGraph::Id before : graph_.after(id)) {
        entry.insert(entry.end(), ends_[before].begin(), ends_[before].end());
      }
      for (const TraceNode& part : nodes_.of(graph_.node(id))) {
        write(part, id, entry);
      }
    }
  }

 private:
  /// A part of a node, which begins after those or, in turn, after the part before.
  void write(const TraceNode& part, RankGraph::Id id, const std::vector<std::uint64_t>& entry) {
    std::vector<std::uint64_t>& ends = ends_[id];
    const bool follows = !ends.empty() && in_turn(graph_.node(id));
    node_.Clear();
    node_.set_id(written_);
    node_.set_name(part.from.name());
    node_.set_type(type_of(part.from.kind));
    for (const std::uint64_t before : follows ? ends : entry) {
      node_.add_data_deps(before);
    }
    node_.set_duration_micros(microseconds_.of(part.from));
    add_attributes(step_, rank_, part, node_);
    write(node_);
    if (follows) {
      ends.clear();
    }
    ends.push_back(written_++);
  }
  void write(const google::protobuf::MessageLite& message) {
    stream_.WriteVarint32(static_cast<std::uint32_t>(message.ByteSizeLong()));
    ensure(message.SerializeToCodedStream(&stream_), "text takes any number of bytes");
  }

  const ExportedStep& step_;
  int rank_;
  google::protobuf::io::CodedOutputStream& stream_;
  const RankGraph graph_;
  TraceNodes nodes_;
  Microseconds microseconds_;
  std::vector<std::vector<std::uint64_t>> ends_;  // of what each node of the graph has become
  std::uint64_t written_ = 0;
  chakra::Node node_;
};

}  // namespace

std::string chakra_trace(const ExportedStep& step, int rank) {
  std::string text;
  {
    google::protobuf::io::StringOutputStream to_text(&text);
    google::protobuf::io::CodedOutputStream stream(&to_text);  // done when it is gone
    TraceWriter(step, rank, stream).write();
  }
  return text;
}

#else

bool can_write_chakra() { return false; }

std::string chakra_trace(const ExportedStep& /*step*/, int /*rank*/) {
  ensure(false, "a program built without protobuf writes no Chakra traces");
  return {};
}

#endif

}  // namespace titer
