// Reading a scenario's "conditions".

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "titer/scenario/conditions.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostNumber = 1'000'000'000;  // of a device; of a node
constexpr Range kShare = {1e-3, 1e3};

/// A number from 0, of the whole text; empty if it is none.
std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto number = number_of_text<std::int64_t>(text);
  return number && *number >= 0 && *number <= kMostNumber ? number : std::nullopt;
}

std::optional<DeviceRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(trimmed(text.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos ? first : parse_number(trimmed(text.substr(dash + 1)));
  if (!first || !last || *first > *last) {
    return std::nullopt;
  }
  return DeviceRange{*first, *last};
}

/// What "devices" and "nodes" of an entry are written as: either is there, not both.
std::vector<DeviceRange> read_ranges(Reader& in, std::int64_t devices_per_node) {
  const bool by_node = in.has("nodes");
  const std::string_view key = by_node ? "nodes" : "devices";
  const Value* devices = in.raw("devices");  // a key that is known, whichever is read
  const Value* written = by_node ? in.raw("nodes") : devices;
  if (by_node == in.has("devices")) {
    in.fail("", "expected either \"devices\" or \"nodes\", such as \"8-15\"");
    return {};
  }
  std::vector<DeviceRange> ranges = parse_ranges(bare_text(*written));
  if (ranges.empty() || (written->kind != Value::Kind::text && !written->is_integer)) {
    in.fail(key, "expected numbers from 0, such as 3, \"8-15\" or \"0-3,8\"");
    return {};
  }
  for (DeviceRange& range : ranges) {
    range = by_node ? DeviceRange{range.first * devices_per_node,
                                  (range.last + 1) * devices_per_node - 1}
                    : range;
  }
  return ranges;
}

/// Chips that conditions name, each once.
class ChipList {
 public:
  explicit ChipList(std::vector<Chip>& chips) : chips_(chips) {}

  std::optional<std::size_t> read(std::string_view key, Reader& in) {
    const Value* written = in.raw(key);
    if (!in.has(key)) {
      return std::nullopt;
    }
    const std::string text = to_json(*written, 0);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i] == text) {
        return i;
      }
    }
    Reader chip = in.object(key);
    chips_.push_back(read_chip(chip));
    texts_.push_back(text);
    return texts_.size() - 1;
  }

 private:
  std::vector<Chip>& chips_;
  std::vector<std::string> texts_;
};

/// Refuses two chips for one device, at the entry written later.
void check_chips(std::vector<Reader>& entries, std::vector<DeviceCondition> conditions) {
  std::erase_if(conditions, [](const DeviceCondition& condition) { return !condition.chip; });
  std::ranges::stable_sort(conditions,
                           [](const auto& a, const auto& b) { return a.first < b.first; });
  const DeviceCondition* furthest = nullptr;
  for (const DeviceCondition& condition : conditions) {
    if (furthest != nullptr && condition.first <= furthest->last &&
        condition.chip != furthest->chip) {
      Reader& later = entries[std::max(condition.entry, furthest->entry)];
      later.fail(later.has("nodes") ? "nodes" : "devices",
                 fmt::format("expected one chip for each device: device {} has another one in "
                             "conditions.devices.{}",
                             condition.first,
                             std::min(condition.entry, furthest->entry)));
      return;
    }
    furthest = furthest == nullptr || condition.last > furthest->last ? &condition : furthest;
  }
}

/// An entry of the list of devices, with what it is read beside.
struct DeviceEntry {
  std::int64_t devices_per_node = 1;
  ChipList* known_chips = nullptr;
  std::vector<DeviceRange> ranges{};
  double speed = 1;
  double node_bandwidth = 1;
  double network_bandwidth = 1;
  std::optional<std::size_t> chip{};
};

using Entry = DeviceEntry;

Value ranges_schema(const Field<Entry>& /*own*/) {
  return schema::either({schema::integer({}), schema::text_like("^[-, 0-9]+$")});
}

constexpr std::array kEntryFields = {
    fields::special<Entry>("devices",
                           {[](const Field<Entry>& /*own*/, Reader& in, Entry& entry) {
                              entry.ranges = read_ranges(in, entry.devices_per_node);
                            },
                            ranges_schema,
                            nullptr},
                           "which, from 0, such as `8-15`, `3` or `0-3,8`; or `nodes`"),
    fields::special<Entry>("nodes",
                           {[](const Field<Entry>& own, Reader& in, Entry& /*entry*/) {
                              static_cast<void>(in.raw(own.key));
                            },
                            ranges_schema,
                            nullptr},
                           "the same of whole nodes"),
    fields::number<&Entry::speed>(
        "speed", kShare, "of compute, over the normal: 0.5 takes twice as long"),
    fields::number<&Entry::node_bandwidth>(
        "node_bandwidth", kShare, "the same of transfers inside nodes"),
    fields::number<&Entry::network_bandwidth>(
        "network_bandwidth", kShare, "the same of transfers between nodes"),
    fields::of_schema<Entry, schema::named_data>(
        "chip",
        [](const Field<Entry>& own, Reader& in, Entry& entry) {
          entry.chip = entry.known_chips->read(own.key, in);
        },
        "another one, such as of `titer list chips`")
        .or_else("the cluster's")};

/// Conditions, and what entries of devices are read with.
struct WrittenConditions : Conditions {
  std::int64_t devices_per_node = 1;
};

void read_devices(const Field<WrittenConditions>& own, Reader& in, WrittenConditions& read) {
  if (!in.has(own.key)) {
    static_cast<void>(in.raw(own.key));
    return;
  }
  std::vector<DeviceCondition> conditions;
  ChipList known(read.chips);
  std::size_t number = 0;
  std::vector<Reader> entries = in.objects(own.key);
  for (Reader& one : entries) {
    Entry entry{.devices_per_node = read.devices_per_node, .known_chips = &known};
    read_fields<Entry>(kEntryFields, one, entry);
    for (const DeviceRange& range : entry.ranges) {
      conditions.push_back({.first = range.first,
                            .last = range.last,
                            .compute = 1 / entry.speed,
                            .node = 1 / entry.node_bandwidth,
                            .network = 1 / entry.network_bandwidth,
                            .chip = entry.chip,
                            .entry = number});
    }
    ++number;
  }
  check_chips(entries, conditions);
  read.devices = disjoint(conditions);
}

constexpr std::array kStragglerFields = {
    fields::number<&Stragglers::probability>("probability", {0, 1}, "of being one").needed(),
    fields::number<&Stragglers::slowdown>("slowdown", {1, 1e6}, "of compute").needed(),
    fields::choice<&Stragglers::per, kStragglerPers>("per", "for how long it stays one")};

std::span<const Field<Stragglers>> straggler_fields() { return kStragglerFields; }

using C = WrittenConditions;
constexpr std::array kConditionFields = {
    fields::integer<&C::seed, C>("seed", {}, "of the noise"),
    fields::special<C>("devices",
                       {read_devices,
                        [](const Field<C>& /*own*/) {
                          return schema::list_of(
                              schema_of(std::span<const Field<Entry>>(kEntryFields)));
                        },
                        nullptr},
                       "devices that are not as the others")
        .or_else("all alike"),
    fields::object<&C::compute_jitter, jitter_fields, C>("compute_jitter",
                                                         "noise of what takes compute"),
    fields::object<&C::transfer_jitter, jitter_fields, C>("transfer_jitter", "noise of transfers"),
    fields::object<&C::stragglers, straggler_fields, C>(
        "stragglers", "now and then a device takes several times as long")};

}  // namespace

std::vector<DeviceRange> parse_ranges(std::string_view text) {
  std::vector<DeviceRange> ranges;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto range = parse_range(trimmed(text.substr(0, comma)));
    if (!range) {
      return {};
    }
    ranges.push_back(*range);
    if (comma == std::string_view::npos) {
      return ranges;
    }
    text.remove_prefix(comma + 1);
  }
}

Value conditions_schema() { return schema_of(std::span<const Field<C>>(kConditionFields)); }

Conditions read_conditions(Reader& in, std::int64_t devices_per_node) {
  WrittenConditions read;
  read.devices_per_node = devices_per_node;
  read_fields<WrittenConditions>(kConditionFields, in, read);
  return static_cast<Conditions&&>(read);
}

}  // namespace titer
