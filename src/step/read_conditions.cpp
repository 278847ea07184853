// Reading a scenario's "conditions".

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "titer/step/conditions.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostNumber = 1'000'000'000;  // of a device; of a node
constexpr double kLeastShare = 1e-3;
constexpr double kMostShare = 1e3;

/// A number from 0, of the whole text; empty if it is none.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool whole = error == std::errc() && rest == end;
  return whole && number >= 0 && number <= kMostNumber ? std::optional(number) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
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

/// The ranges of devices of one entry; "devices" counts devices, "nodes" whole nodes.
std::vector<DeviceRange> read_ranges(Reader& in, std::int64_t devices_per_node) {
  const bool by_node = in.has("nodes");
  const std::string_view key = by_node ? "nodes" : "devices";
  const Value* devices = in.raw("devices");
  const Value* written = by_node ? in.raw("nodes") : devices;
  if (in.has("nodes") == in.has("devices")) {
    in.fail("", "expected either \"devices\" or \"nodes\", such as \"8-15\"");
    return {};
  }
  const bool is_text = written->kind == Value::Kind::text;
  std::vector<DeviceRange> ranges = parse_ranges(is_text ? written->text : to_json(*written, 0));
  if (ranges.empty() || (!is_text && !written->is_integer)) {
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
  std::optional<std::size_t> read(Reader& in, std::vector<Chip>& chips) {
    if (!in.has("chip")) {
      static_cast<void>(in.raw("chip"));
      return std::nullopt;
    }
    const std::string text = to_json(*in.raw("chip"), 0);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i] == text) {
        return i;
      }
    }
    Reader chip = in.object("chip");
    chips.push_back(read_chip(chip));
    texts_.push_back(text);
    return texts_.size() - 1;
  }

 private:
  std::vector<std::string> texts_;
};

/// Refuses two chips for one device, at the entry written later.
void check_chips(std::vector<Reader>& entries, std::vector<DeviceCondition> conditions) {
  std::erase_if(conditions, [](const DeviceCondition& condition) { return !condition.chip; });
  std::stable_sort(conditions.begin(), conditions.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
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

double read_share(Reader& in, std::string_view key) {
  return in.maybe_number(key, kLeastShare, kMostShare).value_or(1);
}

std::vector<DeviceCondition> read_devices(Reader& in,
                                          std::int64_t devices_per_node,
                                          std::vector<Chip>& chips) {
  std::vector<DeviceCondition> conditions;
  ChipList known;
  std::size_t entry = 0;
  std::vector<Reader> entries = in.objects("devices");
  for (Reader& one : entries) {
    DeviceCondition condition;
    const std::vector<DeviceRange> ranges = read_ranges(one, devices_per_node);
    condition.compute = 1 / read_share(one, "speed");
    condition.node = 1 / read_share(one, "node_bandwidth");
    condition.network = 1 / read_share(one, "network_bandwidth");
    condition.chip = known.read(one, chips);
    condition.entry = entry++;
    one.finish();
    for (const DeviceRange& range : ranges) {
      condition.first = range.first;
      condition.last = range.last;
      conditions.push_back(condition);
    }
  }
  check_chips(entries, conditions);
  return disjoint(conditions);
}

Stragglers read_stragglers(Reader in) {
  constexpr double most_slowdown = 1e6;
  Stragglers stragglers;
  stragglers.probability = in.number("probability", 0, 1);
  stragglers.slowdown = in.number("slowdown", 1, most_slowdown);
  stragglers.per =
      in.maybe_choice<Stragglers::Per>("per", kStragglerPers).value_or(Stragglers::Per::step);
  in.finish();
  return stragglers;
}

std::optional<Jitter> maybe_jitter(Reader& in, std::string_view key) {
  const auto jitter = in.maybe_object(key);
  return jitter ? std::optional(read_jitter(*jitter)) : std::nullopt;
}

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

Conditions read_conditions(Reader& in, std::int64_t devices_per_node) {
  Conditions conditions;
  conditions.seed = static_cast<std::uint64_t>(in.maybe_integer("seed", 0).value_or(1));
  if (in.has("devices")) {
    conditions.devices = read_devices(in, devices_per_node, conditions.chips);
  } else {
    static_cast<void>(in.raw("devices"));
  }
  conditions.compute_jitter = maybe_jitter(in, "compute_jitter");
  conditions.transfer_jitter = maybe_jitter(in, "transfer_jitter");
  if (const auto stragglers = in.maybe_object("stragglers")) {
    conditions.stragglers = read_stragglers(*stragglers);
  }
  in.finish();
  return conditions;
}

}  // namespace titer
