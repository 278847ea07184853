#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

/// The levels, as many as the list has entries.
void read_down(const Field<FatTree>& own, Reader& in, FatTree& tree) {
  const std::vector<int> down = read_counts(in, own.key, kMostDevicesOfFamily);
  const bool too_deep = down.size() > kMostLevels;
  if (too_deep) {
    in.fail(own.key, "expected at most " + std::to_string(kMostLevels) + " levels");
  }
  tree.levels.resize(too_deep || down.empty() ? 1 : down.size());
  for (std::size_t i = 0; i < down.size() && !too_deep; ++i) {
    tree.levels[i].down = down[i];
  }
}

void read_level_bandwidths(const Field<FatTree>& own, Reader& in, FatTree& tree) {
  const std::vector<BytesPerSecond> bandwidths = read_bandwidths(in, own.key, tree.levels.size());
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    tree.levels[i].bandwidth = bandwidths[i];
  }
}

void read_level_latency(const Field<FatTree>& own, Reader& in, FatTree& tree) {
  const Seconds latency = in.maybe_quantity<Seconds>(own.key).value_or(Seconds{});
  for (FatTreeLevel& level : tree.levels) {
    level.latency = latency;
  }
}

/// An entry for each level, or none at all.
template <auto Member>
void read_per_level(const Field<FatTree>& own, Reader& in, FatTree& tree) {
  const std::vector<int> counts =
      maybe_counts(in, own.key, static_cast<std::int64_t>(own.range.most));
  if (!counts.empty() && counts.size() != tree.levels.size()) {
    in.fail(own.key, "expected as many entries as \"down\", " + std::to_string(tree.levels.size()));
    return;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    tree.levels[i].*Member = counts[i];
  }
}

/// In place of "up", one of which there is where there is more than one level.
void read_oversubscription(const Field<FatTree>& own, Reader& in, FatTree& tree) {
  const bool by_ratio = in.has(own.key);
  if (by_ratio == in.has("up") && (by_ratio || tree.levels.size() > 1)) {
    in.fail(by_ratio ? "up" : "",
            "expected \"up\" (parents per level, from the bottom) or \"oversubscription\" (down "
            "over up), one of them");
    static_cast<void>(in.raw(own.key));
  } else if (by_ratio) {
    set_parents_by_ratio(in, tree.levels);
  }
}

Value latency_schema() { return schema::figure(schema::quantity<Seconds>()); }

constexpr double kMostOfLevel = static_cast<double>(kMostDevicesOfFamily);

constexpr std::array kFatTreeFields = {
    count_list<FatTree>("down",
                        kMostOfLevel,
                        read_down,
                        "lower neighbours of a switch, level by level from the bottom")
        .needed(),
    fields::of_schema<FatTree, bandwidths_schema>(
        "bandwidth", read_level_bandwidths, "of a link, one direction, of all levels or of each")
        .needed(),
    fields::of_schema<FatTree, latency_schema>("latency", read_level_latency, "of a link")
        .or_else("`0 s`"),
    count_list<FatTree>("parallel",
                        1024,
                        read_per_level<&FatTreeLevel::parallel>,
                        "links between two neighbours, level by level")
        .or_else("1 each"),
    count_list<FatTree>("up",
                        kMostOfLevel,
                        read_per_level<&FatTreeLevel::up>,
                        "switches above each lower neighbour, level by level")
        .or_else("by `oversubscription`"),
    fields::of_schema<FatTree, ratios_schema>(
        "oversubscription",
        read_oversubscription,
        "down over up, of all levels but the last or of each, in place of `up`")
        .or_else("by `up`"),
    fields::integer<&FatTree::planes>(
        "planes", {1, 256}, "independent copies, to all of which each device is attached"),
    fields::flag<&FatTree::reduces>("reduces", kReducesAbout)};

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

std::span<const Field<FatTree>> FatTree::fields() { return kFatTreeFields; }

void FatTree::check(Reader& in) {
  if (!is_buildable(*this)) {
    in.fail("down", "expected a tree of at most a million devices and four million links a level");
    levels = {FatTreeLevel{}};
  }
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
