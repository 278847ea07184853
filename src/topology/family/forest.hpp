#pragma once
// A forest in a multigraph of a few tens of members, for the packing of spanning trees.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace titer::packing {

using Index = std::size_t;

/// A link between members, by their positions in the group.
struct Link {
  Index a = 0;
  Index b = 0;
};

inline constexpr Index kNowhere = ~Index{0};

/// A forest of the links of a graph, as lists of neighbours.
class Forest {
 public:
  explicit Forest(Index members) : at_(members) {}

  void add(Index link, Link ends) {
    at_[ends.a].push_back({ends.b, link});
    at_[ends.b].push_back({ends.a, link});
  }
  void remove(Index link, Link ends) {
    for (const Index member : {ends.a, ends.b}) {
      auto& list = at_[member];
      list.erase(std::ranges::find(list, link, &Step::link));
    }
  }
  /// The links between two members; empty optional if they are in different parts.
  [[nodiscard]] std::optional<std::vector<Index>> path(Index from, Index to) const {
    const std::vector<Step> back = search(from).back;
    if (from != to && back[to].link == kNowhere) {
      return std::nullopt;
    }
    std::vector<Index> links;
    for (Index at = to; at != from; at = back[at].member) {
      links.push_back(back[at].link);
    }
    return links;
  }

  struct Step {
    Index member = kNowhere;
    Index link = kNowhere;
  };
  struct Reach {
    std::vector<Step> back;    // towards the start, of every member reached but it
    std::vector<Index> order;  // of members reached, the nearest first
    std::vector<int> depth;
  };
  [[nodiscard]] Reach search(Index from) const {
    Reach reach{.back = std::vector<Step>(at_.size()),
                .order = {from},
                .depth = std::vector<int>(at_.size(), 0)};
    for (Index next = 0; next < reach.order.size(); ++next) {
      const Index at = reach.order[next];
      for (const Step& step : at_[at]) {
        if (step.link != reach.back[at].link) {
          reach.back[step.member] = {at, step.link};
          reach.depth[step.member] = reach.depth[at] + 1;
          reach.order.push_back(step.member);
        }
      }
    }
    return reach;
  }

 private:
  std::vector<std::vector<Step>> at_;
};

}  // namespace titer::packing
