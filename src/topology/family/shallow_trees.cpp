#include "shallow_trees.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer::packing {

namespace {

/// The middle of a tree.
struct Centre {
  Index member = 0;
  int depth = 0;   // from there to the farthest member
  int spread = 0;  // the sum of the distances of all pairs of members: least for a star
};

Centre centre_of(const Forest& tree) {
  const Index end = tree.search(0).order.back();
  const Forest::Reach along = tree.search(end);
  Index middle = along.order.back();  // one end of a longest path, `end` being the other
  for (int left = along.depth[middle] / 2; left > 0; --left) {
    middle = along.back[middle].member;
  }
  const Forest::Reach from = tree.search(middle);
  Centre centre{.member = middle, .depth = from.depth[from.order.back()], .spread = 0};
  const auto members = static_cast<int>(from.order.size());
  std::vector<int> below(from.order.size(), 1);  // members of the subtree, with its top
  for (Index i = from.order.size() - 1; i > 0; --i) {
    const Index at = from.order[i];
    centre.spread += below[at] * (members - below[at]);  // the pairs that this link joins
    below[from.back[at].member] += below[at];
  }
  return centre;
}

/// Makes spanning trees shallower: a tree gives up one link for a free one, or swaps one with
/// another tree, as long as the deeper of the trees concerned, else the sum of their depths, else
/// the distances of their members get less.
class Flattener {
 public:
  Flattener(const std::vector<Link>& links, std::vector<Index> home, Index trees, Index members)
      : links_(links), home_(std::move(home)), trees_(trees, Forest(members)) {
    for (Index link = 0; link < links_.size(); ++link) {
      if (home_[link] != kNowhere) {
        trees_[home_[link]].add(link, links_[link]);
      }
    }
    for (const Forest& tree : trees_) {
      centres_.push_back(centre_of(tree));
    }
  }

  void run() {
    for (bool progress = true; progress && work_ < most_work;) {
      progress = false;
      for (Index tree = 0; tree < trees_.size(); ++tree) {
        for (Index link = 0; link < links_.size(); ++link) {
          progress = improve(tree, link) || progress;
        }
      }
    }
  }

  [[nodiscard]] std::vector<SpanningTree> trees(const std::vector<int>& group) const {
    std::vector<SpanningTree> result;
    for (Index i = 0; i < trees_.size(); ++i) {
      const Forest::Reach reach = trees_[i].search(centres_[i].member);
      std::vector<Index> children(reach.order.begin() + 1, reach.order.end());
      std::ranges::sort(children, [&reach](Index one, Index other) {
        return std::tuple(reach.depth[one], one) < std::tuple(reach.depth[other], other);
      });
      SpanningTree tree{.root = group[centres_[i].member], .links = {}, .depth = centres_[i].depth};
      for (const Index child : children) {
        tree.links.push_back({group[reach.back[child].member], group[child]});
      }
      const auto same = std::ranges::find_if(result, [&tree](const auto& other) {
        return other.root == tree.root && other.links == tree.links;
      });
      if (same == result.end()) {
        result.push_back(std::move(tree));
      } else {
        ++same->copies;
      }
    }
    return result;
  }

 private:
  // Exchanges tried before giving up: some tens of milliseconds for a node.
  static constexpr int most_work = 1 << 17;

  /// Puts `link` into a tree in place of one of the cycle that it closes, where that helps.
  bool improve(Index tree, Index link) {
    const Index other = home_[link];
    if (other == tree || work_ >= most_work) {
      return false;
    }
    const auto cycle = trees_[tree].path(links_[link].a, links_[link].b);
    ensure(cycle.has_value(), "a spanning tree joins all of its group");
    if (cycle->size() == 1) {
      return false;  // parallel links: no other tree comes of that
    }
    return std::ranges::any_of(*cycle, [&](Index out) {
      ++work_;
      return other == kNowhere ? replace(tree, out, link) : swap(tree, out, link);
    });
  }

  void exchange(Index tree, Index out, Index in) {
    trees_[tree].remove(out, links_[out]);
    trees_[tree].add(in, links_[in]);
  }

  bool replace(Index tree, Index out, Index in) {
    exchange(tree, out, in);
    const Centre changed = centre_of(trees_[tree]);
    const Centre& now = centres_[tree];
    if (std::tuple(changed.depth, changed.spread) >= std::tuple(now.depth, now.spread)) {
      exchange(tree, in, out);
      return false;
    }
    centres_[tree] = changed;
    home_[in] = tree;
    home_[out] = kNowhere;
    return true;
  }

  bool swap(Index tree, Index out, Index in) {
    const Index other = home_[in];
    const auto cycle = trees_[other].path(links_[out].a, links_[out].b);
    if (!cycle || !includes(*cycle, in)) {
      return false;
    }
    exchange(tree, out, in);
    exchange(other, in, out);
    const std::array changed = {centre_of(trees_[tree]), centre_of(trees_[other])};
    const auto weight = [](const Centre& one, const Centre& two) {
      return std::tuple(
          std::max(one.depth, two.depth), one.depth + two.depth, one.spread + two.spread);
    };
    if (weight(changed[0], changed[1]) >= weight(centres_[tree], centres_[other])) {
      exchange(tree, in, out);
      exchange(other, out, in);
      return false;
    }
    centres_[tree] = changed[0];
    centres_[other] = changed[1];
    home_[in] = tree;
    home_[out] = other;
    return true;
  }

  const std::vector<Link>& links_;
  std::vector<Index> home_;
  std::vector<Forest> trees_;
  std::vector<Centre> centres_;
  int work_ = 0;
};

}  // namespace

std::vector<SpanningTree> shallow_trees(const std::vector<Link>& links,
                                        std::vector<Index> home,
                                        Index trees,
                                        const std::vector<int>& group) {
  Flattener flattener(links, std::move(home), trees, group.size());
  flattener.run();
  return flattener.trees(group);
}

}  // namespace titer::packing
