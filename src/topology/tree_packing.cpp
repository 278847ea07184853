// Matroid union for k copies of the graphic matroid: a link joins one of k forests, perhaps after a
// chain of exchanges. A search starts at a link that is in no forest. A forest whose parts the link
// joins takes it; otherwise every link of the cycle that it would close there may make room for it,
// and is searched in turn. The shortest chain found is carried out. A search that finds none has
// proved that the links it reached are spanned k times over by themselves: they are never searched
// again, and the parts that they span are the division that limits the packing.

#include "titer/topology/tree_packing.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "titer/units/ensure.hpp"
#include "topology/family/forest.hpp"
#include "topology/family/shallow_trees.hpp"

namespace titer {

using packing::Forest;
using packing::Index;
using packing::kNowhere;
using packing::Link;

namespace {

/// As many links as possible in a number of forests that grows one by one.
class Union {
 public:
  Union(Index members, std::vector<Link> links)
      : members_(members), links_(std::move(links)), home_(links_.size(), kNowhere) {}

  /// One forest more; whether all forests span the group then.
  bool grow() {
    forests_.emplace_back(members_);
    reached_.assign(links_.size(), false);
    for (Index link = 0; link < links_.size(); ++link) {
      if (home_[link] == kNowhere && !reached_[link] && find_room(link)) {
        ++housed_;
      }
    }
    return housed_ == forests_.size() * (members_ - 1);
  }

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<Forest>& forests() const { return forests_; }
  [[nodiscard]] const std::vector<Index>& home() const { return home_; }

  /// The parts that the links of failed searches span, and the links between them.
  [[nodiscard]] Division division() const {
    Division result{.part_of = std::vector<int>(members_, -1), .parts = 0, .crossing = 0};
    Forest spanned(members_);
    for (Index link = 0; link < links_.size(); ++link) {
      if (reached_[link] && !spanned.path(links_[link].a, links_[link].b)) {
        spanned.add(link, links_[link]);
      }
    }
    std::vector<bool> placed(members_, false);
    for (Index member = 0; member < members_; ++member) {
      if (placed[member]) {
        continue;
      }
      for (const Index other : spanned.search(member).order) {
        placed[other] = true;
        result.part_of[other] = result.parts;
      }
      ++result.parts;
    }
    for (const Link& link : links_) {
      result.crossing += result.part_of[link.a] != result.part_of[link.b] ? 1 : 0;
    }
    return result;
  }

 private:
  bool find_room(Index start) {
    std::vector<Index> queue = {start};
    before_.assign(links_.size(), kNowhere);
    reached_[start] = true;
    for (Index next = 0; next < queue.size(); ++next) {
      if (const auto forest = forest_for(queue[next], queue)) {
        move_chain(queue[next], *forest);
        for (const Index link : queue) {
          reached_[link] = false;
        }
        return true;
      }
    }
    return false;
  }

  /// A forest that takes the link as it is; if there is none, the links that could make room for it
  /// join the queue.
  std::optional<Index> forest_for(Index link, std::vector<Index>& queue) {
    for (Index forest = 0; forest < forests_.size(); ++forest) {
      const auto path = home_[link] == forest
                            ? std::vector<Index>{}
                            : forests_[forest].path(links_[link].a, links_[link].b);
      if (!path) {
        return forest;
      }
      for (const Index other : *path) {
        if (!reached_[other]) {
          reached_[other] = true;
          before_[other] = link;
          queue.push_back(other);
        }
      }
    }
    return std::nullopt;
  }

  /// `link` moves to `forest`, the one that it made room for to its old place, and so on.
  void move_chain(Index link, Index forest) {
    for (Index next = link; next != kNowhere; next = before_[next]) {
      const Index left = home_[next];
      if (left != kNowhere) {
        forests_[left].remove(next, links_[next]);
      }
      forests_[forest].add(next, links_[next]);
      home_[next] = forest;
      forest = left;
    }
  }

  Index members_;
  std::vector<Link> links_;
  std::vector<Forest> forests_;
  std::vector<Index> home_;    // the forest of each link
  std::vector<bool> reached_;  // by the search under way, or by one that failed
  std::vector<Index> before_;  // in the search under way: the link that a link makes room for
  Index housed_ = 0;
};

/// The links among the group, each `shares` times, and the bandwidth of the slowest.
struct Inside {
  std::vector<Link> links;
  std::optional<BytesPerSecond> slowest;
};

Inside links_inside(const Topology& topology, const std::vector<int>& group, int shares) {
  Inside inside;
  for (const Wire& wire : topology.wires) {
    const auto a = std::ranges::find(group, wire.a);
    const auto b = std::ranges::find(group, wire.b);
    if (a == group.end() || b == group.end() || wire.a == wire.b) {
      continue;
    }
    const Link link = {static_cast<Index>(a - group.begin()),
                       static_cast<Index>(b - group.begin())};
    inside.links.insert(
        inside.links.end(), static_cast<Index>(wire.count) * static_cast<Index>(shares), link);
    inside.slowest = std::min(inside.slowest.value_or(wire.bandwidth), wire.bandwidth);
  }
  return inside;
}

}  // namespace

TreePacking pack_trees(const Topology& topology, const std::vector<int>& group, int shares) {
  ensure(group.size() >= 2, "a spanning tree needs two or more devices");
  ensure(are_distinct_devices(topology, group), "a tree spans distinct devices of the topology");
  ensure(shares >= 1, "a link is cut into one or more shares");
  const Inside inside = links_inside(topology, group, shares);
  Union forests(group.size(), inside.links);
  std::vector<Index> home(inside.links.size(), kNowhere);
  int count = 0;
  while (forests.grow()) {
    home = forests.home();
    ++count;
  }
  return {.count = count,
          .per_tree = inside.slowest.value_or(BytesPerSecond{}) / shares,
          .trees = packing::shallow_trees(
              inside.links, std::move(home), static_cast<Index>(count), group),
          .division = forests.division()};
}

}  // namespace titer
