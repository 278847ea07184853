#include "titer/report/file/goal_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "titer/collectives/catalogue.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::size_t kBuffered = 1 << 20;
constexpr Ticks kTicksPerNanosecond = 1000;

using Label = std::uint32_t;
using Labels = std::vector<Label>;

/// A collective's messages, and which of them each member has a part in.
struct Exchange {
  Steps steps;
  std::vector<std::vector<std::uint32_t>> of_member;
};

Exchange exchange(Steps steps) {
  Exchange made{.steps = std::move(steps), .of_member = {}};
  made.of_member.resize(static_cast<std::size_t>(made.steps.ranks()));
  for (std::uint32_t i = 0; i < made.steps.size(); ++i) {
    const Message& message = made.steps.message(i);
    made.of_member[static_cast<std::size_t>(message.from)].push_back(i);
    if (!message.is_join()) {
      made.of_member[static_cast<std::size_t>(message.to)].push_back(i);
    }
  }
  return made;
}

/// The messages of the algorithm that a library would choose; of the next fastest where that one
/// needs more than the ranks themselves.
Steps library_steps(Collective collective, Bytes size, const GroupWays& ways) {
  Fabric unnamed = ways.fabric;
  unnamed.named = {};
  for (const Fabric& fabric : {ways.fabric, unnamed}) {
    for (const auto& [entry, time] : library_algorithms(collective, size, ways.group, fabric)) {
      Steps steps = entry->steps(size, ways.group, fabric);
      if (steps.helpers() == 0) {
        return steps;
      }
    }
  }
  ensure(false, "some algorithm of every collective takes its ranks only");
  return {1, Bytes{}, 1};
}

/// The collectives of a step, each kind, size and way of lying made once.
class Exchanges {
 public:
  explicit Exchanges(const ExportedStep& step) : step_(step) {}

  const Exchange& of(const GraphNode& node, const RankGroup& group) {
    const auto key = std::tuple(group.ways, node.collective, node.bytes.si());
    auto found = made_.find(key);
    if (found == made_.end()) {
      Steps steps = library_steps(node.collective, node.bytes, step_.ways(group));
      found = made_.emplace(key, exchange(std::move(steps))).first;
    }
    return found->second;
  }

 private:
  const ExportedStep& step_;
  std::map<std::tuple<std::size_t, Collective, double>, Exchange> made_;
};

/// GOAL's sends have at least one byte.
std::int64_t whole_bytes(Bytes size) { return std::max<std::int64_t>(1, std::llround(size.si())); }

/// Text on its way to the sink, counted in lines.
class GoalText {
 public:
  explicit GoalText(const TextSink& sink) : sink_(sink) {}

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
    if (++lines_ > kMostGoalLines) {
      throw InputError(
          fmt::format("export: more than {} lines of GOAL; expected a smaller step: fewer ranks or "
                      "micro-batches, or --detail pass",
                      kMostGoalLines));
    }
    if (text_.size() >= kBuffered) {
      flush();
    }
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  const TextSink& sink_;
  std::string text_;
  std::int64_t lines_ = 0;
};

/// One rank's schedule.
class GoalRank {
 public:
  GoalRank(const ExportedStep& step, int rank, Exchanges& exchanges, GoalText& text)
      : step_(step), rank_(rank), exchanges_(exchanges), text_(text) {}

  void write() {
    const RankGraph graph = step_.graph(rank_);
    text_.line("\nrank {} {{", rank_);
    for (RankGraph::Id id = 0; id < graph.size(); ++id) {
      Labels after;
      for (const RankGraph::Id before : graph.after(id)) {
        after.push_back(ends_[before]);
      }
      ends_.push_back(write(graph.node(id), after));
    }
    text_.line("}}");
  }

 private:
  Label write(const GraphNode& node, const Labels& after) {
    switch (node.kind) {
      case NodeKind::compute:
        return calculate(nanoseconds(node.duration), after);
      case NodeKind::copy:
        return beside(1, node.duration, after);
      case NodeKind::input:
        return beside(2, node.duration, after);
      case NodeKind::collective:
        return collective(node, after);
      case NodeKind::send:
        return send(node.bytes, node.peer, node.tag, after);
      case NodeKind::receive:
        return receive(node.bytes, node.peer, node.tag, after);
    }
    ensure(false, "a node is of one of the enumerated kinds");
    return 0;
  }

  /// Rounded so that the sum is right.
  std::int64_t nanoseconds(Ticks duration) {
    const std::int64_t before = (computed_ + kTicksPerNanosecond / 2) / kTicksPerNanosecond;
    computed_ += duration;
    return (computed_ + kTicksPerNanosecond / 2) / kTicksPerNanosecond - before;
  }

  Label require(Label label, const Labels& after) {
    for (const Label before : after) {
      text_.line("l{} requires l{}", label, before);
    }
    return label;
  }
  Label calculate(std::int64_t duration, const Labels& after) {
    text_.line("l{}: calc {}", ++labels_, duration);
    return require(labels_, after);
  }
  /// Beside what the device computes: GOAL's second processor, and its third.
  Label beside(int processor, Ticks duration, const Labels& after) {
    text_.line("l{}: calc {} cpu {}",
               ++labels_,
               (duration + kTicksPerNanosecond / 2) / kTicksPerNanosecond,
               processor);
    return require(labels_, after);
  }
  Label send(Bytes size, int to, int tag, const Labels& after) {
    text_.line("l{}: send {}b to {} tag {}", ++labels_, whole_bytes(size), to, tag);
    return require(labels_, after);
  }
  Label receive(Bytes size, int from, int tag, const Labels& after) {
    text_.line("l{}: recv {}b from {} tag {}", ++labels_, whole_bytes(size), from, tag);
    return require(labels_, after);
  }
  /// What stands for all of them.
  Labels joined(const Labels& labels) {
    return labels.size() < 2 ? labels : Labels{calculate(0, labels)};
  }

  Label collective(const GraphNode& node, const Labels& after) {
    const RankGroup& group = step_.group(node.group);
    if (node.senders != Senders::all) {
      return messages(node, after);
    }
    return goes_in_turn(node.collective) ? in_turn(node, group, after)
                                         : library_exchange(node, group, after);
  }

  Label in_turn(const GraphNode& node, const RankGroup& group, const Labels& after) {
    const GroupWays& ways = step_.ways(group);
    const ChainRings rings = chain_rings(node.collective, node.bytes, ways.group, ways.fabric);
    const Labels entry = joined(after);
    Labels ends;
    for (int ring = 0; ring < rings.count; ++ring) {
      ends.push_back(chains(node, rings, ring, group.ranks, entry));
    }
    return joined(ends).front();
  }

  /// Along one ring, to the rank at each of its places in turn, or from it: the next chain begins
  /// at the rank where the one before ends, as the formula has them one after the other.
  Label chains(const GraphNode& node,
               const ChainRings& rings,
               int ring,
               const std::vector<int>& ranks,
               const Labels& entry) {
    constexpr int most = 16;  // of all rings together
    const auto member = static_cast<int>(std::ranges::find(ranks, rank_) - ranks.begin());
    const int n = rings.ranks;
    const int self = rings.place(ring, member);
    const auto rank_at = [&](int place) {
      return ranks[static_cast<std::size_t>(rings.member(ring, place))];
    };
    const int blocks = std::min(std::max(1, most / rings.count), rings.blocks);
    const Bytes block = node.bytes / n / rings.count / blocks;
    const bool forward = node.collective == Collective::broadcast;
    const int before = rank_at(forward ? self + n - 1 : self + 1);
    const int behind = rank_at(forward ? self + 1 : self + n - 1);
    Labels last = entry;
    for (int turn = 0; turn < n; ++turn) {
      const int root = forward ? n - 1 - turn : turn;
      const int from_root = (self + n - root) % n;
      const int left = forward ? n - 1 - from_root : from_root;  // hops of the chain from here
      for (int i = 0; i < blocks; ++i) {
        Labels awaited = last;
        if (left + 1 < n) {
          awaited.push_back(message(false, block, before, entry));
        }
        last = left > 0 ? Labels{message(true, block, behind, awaited)}
                        : Labels{calculate(0, awaited)};
      }
    }
    return last.front();
  }

  /// The first rank's sends are one after the other.
  Label messages(const GraphNode& node, const Labels& after) {
    Labels entry = joined(after);
    Labels ends;
    for (const RankMessage& one : step_.messages(node, rank_)) {
      ends.push_back(message(one.sends, one.bytes, one.peer, entry));
      if (node.senders == Senders::first) {
        entry = {ends.back()};
      }
    }
    return joined(ends).front();
  }

  /// Receives are posted on entry, so that no send waits for one that is yet to come.
  Label library_exchange(const GraphNode& node, const RankGroup& group, const Labels& after) {
    const std::vector<int>& ranks = group.ranks;
    const auto self = std::ranges::find(ranks, rank_);
    const auto member = static_cast<std::int32_t>(self - ranks.begin());
    const Exchange& exchange = exchanges_.of(node, group);
    const auto& own = exchange.of_member[static_cast<std::size_t>(member)];
    const Labels entry = joined(after);
    std::map<std::uint32_t, Label> label_of;
    std::map<std::uint32_t, Label> last;  // nothing of this rank's waits for them
    for (const std::uint32_t index : own) {
      const Message& message = exchange.steps.message(index);
      Labels awaited;
      for (const std::uint32_t before : exchange.steps.after(index)) {
        if (message.from == member) {
          awaited.push_back(label_of.at(before));
          last.erase(before);
        }
      }
      const Label label = part(message, member, ranks, awaited.empty() ? entry : awaited);
      label_of[index] = label;
      last[index] = label;
    }
    Labels ends;
    for (const auto& [index, label] : last) {
      ends.push_back(label);
    }
    ensure(!ends.empty(), "every member of a collective has a message");
    return joined(ends).front();
  }

  Label part(const Message& message,
             std::int32_t member,
             const std::vector<int>& ranks,
             const Labels& after) {
    if (message.is_join()) {
      return calculate(0, after);
    }
    const bool sends = message.from == member;
    const auto peer = static_cast<std::size_t>(sends ? message.to : message.from);
    return this->message(sends, message.size, ranks[peer], after);
  }
  /// Of a collective.
  Label message(bool sends, Bytes size, int peer, const Labels& after) {
    return sends ? send(size, peer, step_.tags() + sent_[peer]++, after)
                 : receive(size, peer, step_.tags() + received_[peer]++, after);
  }

  const ExportedStep& step_;
  int rank_;
  Exchanges& exchanges_;
  GoalText& text_;
  Labels ends_;  // of each node
  Label labels_ = 0;
  Ticks computed_ = 0;
  std::map<int, int> sent_;  // messages of collectives to each rank, in the order of both
  std::map<int, int> received_;
};

}  // namespace

void write_goal(const ExportedStep& step,
                const TextSink& sink,
                const std::function<void(int ranks)>& done) {
  GoalText text(sink);
  Exchanges exchanges(step);
  text.line("num_ranks {}", step.ranks());
  for (int rank = 0; rank < step.ranks(); ++rank) {
    GoalRank(step, rank, exchanges, text).write();
    if (done) {
      done(rank + 1);
    }
  }
  text.flush();
}

}  // namespace titer
