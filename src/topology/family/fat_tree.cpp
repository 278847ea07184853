#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "titer/topology/family/trees.hpp"
#include "titer/units/listed.hpp"
#include "topology/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostLevels = 8;

/// The number of parents that gives a switch of `below` so much less bandwidth up than down.
double parents(const FatTreeLevel& below, const FatTreeLevel& above, double ratio) {
  return below.down * below.parallel * below.bandwidth / (ratio * above.parallel * above.bandwidth);
}

void set_parents_by_ratio(Reader& in, std::vector<FatTreeLevel>& levels) {
  const std::vector<double> ratios = maybe_ratios(in, "oversubscription", levels.size() - 1);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double up = parents(levels[i], levels[i + 1], ratios[i]);
    const double whole = std::round(up);
    if (whole < 1.0 || std::abs(up - whole) > 1e-9 * whole) {
      in.fail("oversubscription",
              "the switches of level " + std::to_string(i + 1) + " would need " +
                  std::to_string(up) +
                  " parents; expected a ratio that gives a whole number, or \"up\"");
      return;
    }
    levels[i + 1].up = static_cast<int>(whole);
  }
}

/// "up" or "oversubscription", one of them where there is more than one level.
void read_parents(Reader& in, std::vector<FatTreeLevel>& levels) {
  const bool by_ratio = in.has("oversubscription");
  const std::vector<int> up = maybe_counts(in, "up", kMostDevicesOfFamily);
  if (by_ratio == in.has("up") && (by_ratio || levels.size() > 1)) {
    in.fail(by_ratio ? "up" : "",
            "expected \"up\" (parents per level, from the bottom) or \"oversubscription\" (down "
            "over up), one of them");
    static_cast<void>(in.raw("oversubscription"));
    return;
  }
  if (by_ratio) {
    set_parents_by_ratio(in, levels);
    return;
  }
  if (!up.empty() && up.size() != levels.size()) {
    in.fail("up", "expected as many entries as \"down\", " + std::to_string(levels.size()));
    return;
  }
  for (std::size_t i = 0; i < up.size(); ++i) {
    levels[i].up = up[i];
  }
}

void read_parallel(Reader& in, std::vector<FatTreeLevel>& levels) {
  const std::vector<int> parallel = maybe_counts(in, "parallel", 1024);
  if (!parallel.empty() && parallel.size() != levels.size()) {
    in.fail("parallel", "expected as many entries as \"down\", " + std::to_string(levels.size()));
    return;
  }
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    levels[i].parallel = parallel[i];
  }
}

SwitchKind kind_of(std::size_t level, std::size_t levels) {
  if (level == 1) {
    return SwitchKind::leaf;
  }
  return level == 2 || level < levels ? SwitchKind::spine : SwitchKind::core;
}

/// Neither devices nor the switches of any level may be too many to build.
bool is_buildable(const FatTree& tree) {
  std::vector<int> counts = {tree.planes};
  for (const FatTreeLevel& level : tree.levels) {
    counts.push_back(level.down);
  }
  if (!product_within(counts, kMostDevicesOfFamily)) {
    return false;
  }
  for (std::size_t above = 1; above <= tree.levels.size(); ++above) {
    // The links into this level: its switches by their lower neighbours.
    counts = {tree.planes};
    for (std::size_t i = 0; i < tree.levels.size(); ++i) {
      counts.push_back(i < above ? tree.levels[i].up : tree.levels[i].down);
    }
    counts.push_back(tree.levels[above - 1].down);
    if (!product_within(counts, 4 * kMostDevicesOfFamily)) {
      return false;
    }
  }
  return true;
}

/// Levels up to the highest one whose switches have more than one lower neighbour.
std::size_t branching_levels(const std::vector<FatTreeLevel>& levels) {
  std::size_t branching = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    branching = levels[i].down > 1 ? i + 1 : branching;
  }
  return branching;
}

}  // namespace

FatTree FatTree::read(Reader& in) {
  FatTree tree;
  const std::vector<int> down = read_counts(in, "down", kMostDevicesOfFamily);
  const bool too_deep = down.size() > kMostLevels;
  if (too_deep) {
    in.fail("down", "expected at most " + std::to_string(kMostLevels) + " levels");
  }
  tree.levels.resize(too_deep || down.empty() ? 1 : down.size());
  const std::vector<BytesPerSecond> bandwidths =
      read_bandwidths(in, "bandwidth", tree.levels.size());
  const Seconds latency = in.maybe_quantity<Seconds>("latency").value_or(Seconds{});
  for (std::size_t i = 0; i < tree.levels.size() && !down.empty() && !too_deep; ++i) {
    tree.levels[i].down = down[i];
    tree.levels[i].bandwidth = bandwidths[i];
    tree.levels[i].latency = latency;
  }
  read_parallel(in, tree.levels);
  read_parents(in, tree.levels);
  tree.planes = static_cast<int>(in.maybe_integer("planes", 1, 256).value_or(1));
  tree.reduces = in.flag("reduces", false);
  if (!is_buildable(tree)) {
    in.fail("down", "expected a tree of at most a million devices and four million links a level");
    tree.levels = {FatTreeLevel{}};
  }
  return tree;
}

int FatTree::devices() const { return size(0); }

int FatTree::size(std::size_t level) const {
  int count = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    count *= i < level ? levels[i].up : levels[i].down;
  }
  return count;
}

Topology FatTree::build() const {
  Topology topology{.name = std::string(name), .devices = devices(), .switches = 0, .wires = {}};
  for (int plane = 0; plane < planes; ++plane) {
    int lower_first = 0;
    int trees = 1;  // W: of the lower level's number, the digits of its place among its parents
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const FatTreeLevel& level = levels[i];
      const int upper_first =
          add_switches(topology, size(i + 1), {kind_of(i + 1, levels.size()), reduces});
      for (int lower = 0; lower < size(i); ++lower) {
        for (int j = 0; j < level.up; ++j) {
          const int upper =
              lower / trees / level.down * (trees * level.up) + j * trees + lower % trees;
          topology.wires.push_back({.a = lower_first + lower,
                                    .b = upper_first + upper,
                                    .count = level.parallel,
                                    .bandwidth = level.bandwidth,
                                    .latency = level.latency});
        }
      }
      lower_first = upper_first;
      trees *= level.up;
    }
  }
  return topology;
}

FatTree FatTree::in_small(std::string& note) const {
  FatTree drawn = *this;
  const int most = levels.size() <= 2 ? 4 : levels.size() == 3 ? 3 : 2;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    FatTreeLevel& level = drawn.levels[i];
    level.down = std::min(level.down, most);
    level.up = std::min(level.up, i == 0 ? most : most - 1);
  }
  drawn.planes = std::min(planes, 2);
  const auto number = [](int FatTreeLevel::*member) {
    return [member](const FatTreeLevel& level) { return std::to_string(level.*member); };
  };
  note = fmt::format(
      "drawn in small: the whole has {} lower neighbours and {} parents per level, bottom first",
      listed(levels, number(&FatTreeLevel::down)),
      listed(levels, number(&FatTreeLevel::up)));
  note += planes > 1 ? fmt::format(", in {} planes", planes) : "";
  return drawn;
}

std::optional<Bisection> FatTree::bisection() const {
  const std::size_t top = branching_levels(levels);
  if (top == 0 || levels[top - 1].down % 2 != 0) {
    return std::nullopt;
  }
  std::optional<BytesPerSecond> narrowest;
  for (std::size_t i = 0; i < top; ++i) {
    const FatTreeLevel& level = levels[i];
    const BytesPerSecond all =
        (1.0 * planes * size(i) * level.up * level.parallel) * level.bandwidth;
    narrowest = std::min(narrowest.value_or(all), all);
  }
  return Bisection{*narrowest / 2.0, "half of the narrowest level's links"};
}

std::optional<int> FatTree::diameter() const {
  return 2 * static_cast<int>(branching_levels(levels));
}

}  // namespace titer
