#include "titer/plan/place/torus_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// A number of chips, in the order of their numbers, as whole axes and a part of the next one.
struct Prefix {
  std::size_t axes = 0;   // whole ones
  std::int64_t part = 1;  // chips of the axis after them; it divides that axis
};

/// Empty where so many chips end an axis nowhere, nor a divisor of one.
std::optional<Prefix> prefix_of(const Torus& torus, std::int64_t chips) {
  Prefix prefix;
  for (; prefix.axes < torus.dimensions.size() && chips > 1; ++prefix.axes) {
    const std::int64_t length = torus.dimensions[prefix.axes];
    if (chips % length != 0) {
      prefix.part = chips;
      return length % chips == 0 ? std::optional(prefix) : std::nullopt;
    }
    chips /= length;
  }
  return chips == 1 ? std::optional(prefix) : std::nullopt;
}

/// A group's chips along one axis: `length` of them, `apart` from one to the next.
struct Stretch {
  std::size_t axis = 0;
  std::int64_t length = 1;
  std::int64_t apart = 1;

  [[nodiscard]] bool is_ring(const Torus& torus) const {
    return torus.wrap[axis] && length * apart == torus.dimensions[axis];
  }
  [[nodiscard]] bool has_two_ways(const Torus& torus) const {
    return is_ring(torus) && length == 2 && apart > 1;
  }
};

/// Those of a group's axes that have several of its chips.
struct Stretches {
  std::array<Stretch, Torus::most_dimensions> list{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const Stretch> all() const { return std::span(list).first(count); }
};

std::optional<Stretches> stretches_of(const Torus& torus, const GroupRanks& of) {
  const auto begin = prefix_of(torus, of.stride);
  const auto end = prefix_of(torus, of.stride * of.ranks);
  if (!begin || !end) {
    return std::nullopt;
  }
  Stretches stretches;
  for (std::size_t axis = begin->axes; axis < torus.dimensions.size() && axis <= end->axes;
       ++axis) {
    const std::int64_t first = axis == begin->axes ? begin->part : 1;
    const std::int64_t last = axis == end->axes ? end->part : torus.dimensions[axis];
    if (last > first) {
      stretches.list[stretches.count++] = {.axis = axis, .length = last / first, .apart = first};
    }
  }
  return stretches;
}

struct NamedGroup {
  PlanGroup group;
  std::string_view path;
  std::string_view name;
  GroupRanks of{};
};

constexpr std::string_view kApart = "apart";  // stands for the key that sets them apart
constexpr std::array<NamedGroup, 14> kGroupsInUse = {
    {{PlanGroup::tensor, "plan.tensor", "tensor"},
     {PlanGroup::context_inner, "plan.context_inner", "inner context"},
     {PlanGroup::context_outer, "plan.context", "outer context"},
     {PlanGroup::context, "plan.context", "context"},
     {PlanGroup::expert_tensor, "plan.expert_tensor", "expert-tensor"},
     {PlanGroup::expert, "plan.expert", "expert"},
     {PlanGroup::shard, kApart, "shard"},
     {PlanGroup::shard_copies, kApart, "shard-copies"},
     {PlanGroup::data, "plan.data", "data"},
     {PlanGroup::replicas, "plan.data", "data-context"},
     {PlanGroup::expert_shard, kApart, "expert-shard"},
     {PlanGroup::expert_shard_copies, kApart, "expert-shard-copies"},
     {PlanGroup::expert_replicas, "plan.expert", "expert-data"},
     {PlanGroup::pipeline, "plan.pipeline", "pipeline"}}};

bool is_in_use(const Plan& plan, const NamedGroup& one) {
  return one.path != kApart || plan.group().has_value();
}

/// The kinds of groups that exchange something, inner ones before those that lie around them.
std::vector<NamedGroup> groups_in_use(const Plan& plan) {
  std::vector<NamedGroup> groups;
  std::ranges::copy_if(kGroupsInUse, std::back_inserter(groups), [&](const NamedGroup& one) {
    return is_in_use(plan, one);
  });
  for (NamedGroup& one : groups) {
    if (one.path == kApart) {
      one.path = plan.local_steps ? "plan.local_steps.islands" : "plan.shard";
    }
    one.of = group_ranks(plan, one.group);
  }
  std::ranges::stable_sort(
      groups, [](const NamedGroup& a, const NamedGroup& b) { return a.of.stride < b.of.stride; });
  return groups;
}

bool is_misfit(const Torus& torus, const GroupRanks& of) {
  return of.ranks > 1 && !torus_shape(torus, of);
}

/// All groups of most plans that are asked about fit, in whatever order.
bool all_fit(const Plan& plan, const Torus& torus) {
  return std::ranges::none_of(kGroupsInUse, [&](const NamedGroup& one) {
    return is_in_use(plan, one) && is_misfit(torus, group_ranks(plan, one.group));
  });
}

std::optional<NamedGroup> first_misfit(const Plan& plan, const Torus& torus) {
  if (all_fit(plan, torus)) {
    return std::nullopt;
  }
  for (const NamedGroup& one : groups_in_use(plan)) {
    if (is_misfit(torus, one.of)) {
      return one;
    }
  }
  return std::nullopt;
}

/// Where the numbers of a box end that begins at the first chip, fewest first: whole axes, and a
/// part of the next one.
std::set<std::int64_t> ends_of_boxes(const Torus& torus) {
  std::set<std::int64_t> ends;
  std::int64_t whole = 1;
  for (const int length : torus.dimensions) {
    for (int part = 1; part <= length; ++part) {
      if (length % part == 0) {
        ends.insert(whole * part);
      }
    }
    whole *= length;
  }
  return ends;
}

/// The numbers of ranks that would fit at a stride.
std::string fitting_degrees(const Torus& torus, std::int64_t stride) {
  std::string list;
  for (const std::int64_t end : ends_of_boxes(torus)) {
    if (end % stride == 0 && torus_shape(torus, {.ranks = end / stride, .stride = stride})) {
      add_listed(list, std::to_string(end / stride));
    }
  }
  return list;
}

/// A rank order with which every group fits.
std::optional<std::string> fitting_order(Plan plan, const Torus& torus) {
  std::ranges::sort(plan.rank_order);
  do {
    if (!refused_order(plan) && !first_misfit(plan, torus)) {
      return rank_order_name(plan);
    }
  } while (std::next_permutation(plan.rank_order.begin(), plan.rank_order.end()));
  return std::nullopt;
}

}  // namespace

std::optional<TorusShape> torus_shape(const Torus& torus, const GroupRanks& of) {
  const auto stretches = stretches_of(torus, of);
  if (!stretches || stretches->count > TorusShape::most_axes) {
    return std::nullopt;
  }
  TorusShape shape;
  for (const Stretch& stretch : stretches->all()) {
    const std::size_t i = shape.axes++;
    shape.length[i] = static_cast<int>(stretch.length);
    shape.wrap[i] = stretch.is_ring(torus);
    shape.hops[i] = static_cast<int>(stretch.apart);
    shape.sharing[i] =
        static_cast<double>(stretch.apart) / (stretch.has_two_ways(torus) ? 2.0 : 1.0);
  }
  return shape;
}

WireLoad torus_send(const Torus& torus, const GroupRanks& of, int from, int to) {
  const auto stretches = stretches_of(torus, of);
  ensure(stretches.has_value(), "the groups of a valid plan are boxes of its torus");
  WireLoad load;
  std::int64_t here = from;
  std::int64_t there = to;
  for (const Stretch& stretch : stretches->all()) {
    std::int64_t steps = std::abs(here % stretch.length - there % stretch.length);
    here /= stretch.length;
    there /= stretch.length;
    const bool ring = stretch.is_ring(torus);
    const bool half_way = ring && 2 * steps == stretch.length && stretch.length * stretch.apart > 2;
    steps = ring ? std::min(steps, stretch.length - steps) : steps;
    load.messages += static_cast<int>(steps * stretch.apart);
    // The k chips side by side have one message each over the wires between.
    const double sharing = static_cast<double>(stretch.apart) / (half_way ? 2.0 : 1.0);
    load.share = std::max(load.share, steps > 0 ? sharing : 0.0);
  }
  return load;
}

Cluster on_slice(const Cluster& cluster, std::int64_t chips) {
  Cluster part = cluster;
  if (const Torus* whole = cluster.torus()) {
    const Torus* slice = whole->of(chips);
    ensure(slice != nullptr, "a valid plan has the chips of a slice of its torus");
    const Torus torus = *slice;
    part.topology = torus;
    part.devices_per_node = torus.devices();
  }
  return part;
}

std::string torus_name(const Torus& torus) {
  std::string name;
  for (std::size_t axis = 0; axis < torus.dimensions.size(); ++axis) {
    name += fmt::format("{}{}{}",
                        axis == 0 ? "" : " x ",
                        torus.dimensions[axis],
                        torus.wrap[axis] || torus.dimensions[axis] == 1 ? "" : " (open)");
  }
  return name;
}

std::string no_slice_text(const Cluster& cluster, std::int64_t devices) {
  const Torus* torus = cluster.torus();
  if (torus == nullptr || torus->of(devices) != nullptr) {
    return "";
  }
  std::vector<std::int64_t> next;  // the most below that, and the least above
  const auto look_at = [&](std::int64_t chips) {
    if (chips < devices) {
      next.assign(1, chips);
    } else if (next.empty() || next.back() < devices) {
      next.push_back(chips);
    }
  };
  for (const Torus& slice : torus->slices) {
    look_at(slice.devices());
  }
  look_at(torus->devices());
  return fmt::format("expected as many chips as a slice of {} has; the next to {}: {}",
                     cluster.name,
                     devices,
                     fmt::join(next, ", "));
}

std::optional<TorusMisfit> torus_misfit(const Plan& plan, const Torus& torus) {
  const auto found = first_misfit(plan, torus);
  if (!found) {
    return std::nullopt;
  }
  const GroupRanks of = found->of;
  const auto order = fitting_order(plan, torus);
  return TorusMisfit{
      .path = std::string(found->path),
      .degree = of.ranks,
      .expected = fmt::format(
          "expected the chips of a {} group, their numbers {} apart, to be a box of the torus {}: "
          "groups of {} would be{}",
          found->name,
          of.stride,
          torus_name(torus),
          fitting_degrees(torus, of.stride),
          order ? fmt::format("; so would these with the rank order {}", *order) : "")};
}

}  // namespace titer
