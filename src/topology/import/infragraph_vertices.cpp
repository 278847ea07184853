// InfraGraph: devices made of components, instances of devices, and edges among them, given by
// slices of names.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "infragraph_vertices.hpp"
#include "titer/input/input_error.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostVertices = 100'000;

struct ComponentKind {
  std::string name;
  std::string kind;  // "xpu", "switch", "device", …
  std::int64_t count = 0;
};

/// What a link's name stands for.
struct LinkKind {
  std::optional<BytesPerSecond> bandwidth{};
  Seconds latency{};
};
using LinkKinds = std::map<std::string, LinkKind, std::less<>>;

struct DeviceKind {
  std::vector<ComponentKind> components;
  LinkKinds links;
  std::span<const Value> edges;
};

struct Instance {
  std::string name;
  std::string device;
  std::int64_t count = 0;
};

/// A name with a slice as Python has it: "xpu[0:8:2]", "xpu[3]", "xpu".
struct NameSlice {
  std::string name;
  std::vector<std::int64_t> indices;
};

template <class T>
const T* with_name(const std::vector<T>& all, std::string_view name) {
  return first_with(all, name, &T::name);
}

class InfraReader {
 public:
  InfraReader(const Document& document, const InfraChoices& choices)
      : document_(document), choices_(choices) {}

  InfraVertices run() {
    const Value* root = document_.root.find("infrastructure");
    root = root == nullptr ? &document_.root : root;
    for (const Value& device : list(*root, "devices")) {
      DeviceKind kind{.components = {}, .links = links_of(device), .edges = list(device, "edges")};
      for (const Value& component : list(device, "components")) {
        kind.components.push_back({.name = text(component, "name"),
                                   .kind = text(component, "choice"),
                                   .count = count(component)});
      }
      devices_[text(device, "name")] = std::move(kind);
    }
    for (const Value& instance : list(*root, "instances")) {
      instances_.push_back({.name = text(instance, "name"),
                            .device = text(instance, "device"),
                            .count = count(instance)});
      add_instances(instances_.back(), instance);
    }
    add_edges(*root, links_of(*root));
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(const Value& at, const std::string& what) const {
    throw InputError(document_.where(at.origin) + ": " + what);
  }
  [[nodiscard]] static std::span<const Value> list(const Value& of, std::string_view key) {
    const Value* found = of.find(key);
    return found == nullptr ? std::span<const Value>() : std::span<const Value>(found->items);
  }
  [[nodiscard]] std::string text(const Value& of, std::string_view key) const {
    const Value* found = of.find(key);
    if (found == nullptr || found->kind != Value::Kind::text) {
      refuse(of, fmt::format("expected \"{}\", a text", key));
    }
    return found->text;
  }
  [[nodiscard]] std::int64_t count(const Value& of) const {
    const Value* found = of.find("count");
    if (found == nullptr || !found->is_integer || found->integer < 0 ||
        found->integer > kMostVertices) {
      refuse(of, fmt::format("expected \"count\", a whole number up to {}", kMostVertices));
    }
    return found->integer;
  }
  [[nodiscard]] const DeviceKind& device(const std::string& name, const Value& at) const {
    const auto found = devices_.find(name);
    if (found == devices_.end()) {
      refuse(at, name + ": is none of the devices");
    }
    return found->second;
  }

  [[nodiscard]] LinkKinds links_of(const Value& of) const {
    LinkKinds links;
    for (const Value& link : list(of, "links")) {
      links[text(link, "name")] = {.bandwidth = bandwidth_of(link), .latency = latency_of(link)};
    }
    return links;
  }
  /// Of the user, or the file's; transfers do not tell how wide the link is.
  [[nodiscard]] std::optional<BytesPerSecond> bandwidth_of(const Value& link) const {
    const std::string name = text(link, "name");
    for (const NamedBandwidth& own : choices_.links) {
      if (own.link == name) {
        return own.bandwidth;
      }
    }
    return physical<BytesPerSecond>(
        link, "bandwidth.", {{"gigabits_per_second", 1e9 / 8}, {"gigabytes_per_second", 1e9}});
  }
  [[nodiscard]] static Seconds latency_of(const Value& link) {
    return physical<Seconds>(link, "latency.", {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}})
        .value_or(Seconds{});
  }
  template <class Q>
  [[nodiscard]] static std::optional<Q> physical(
      const Value& link,
      std::string_view of,
      std::initializer_list<std::pair<std::string_view, double>> units) {
    for (const auto& [unit, size] : units) {
      const Value* value = link.at(fmt::format("physical.{}{}", of, unit));
      if (value != nullptr && value->kind == Value::Kind::number && value->number > 0) {
        return Q::from_si(value->number * size);
      }
    }
    return std::nullopt;
  }

  void add_instances(const Instance& instance, const Value& at) {
    const DeviceKind& kind = device(instance.device, at);
    for (std::int64_t i = 0; i < instance.count; ++i) {
      const std::string host = fmt::format("{}.{}", instance.name, i);
      add_vertices(host, host, kind, at);
      add_device_edges(host, kind);
    }
  }
  void add_vertices(const std::string& host,
                    const std::string& path,
                    const DeviceKind& kind,
                    const Value& at) {
    if (std::ranges::count(path, '.') > 20) {
      refuse(at, path + ": devices of devices without end");
    }
    for (const ComponentKind& component : kind.components) {
      for (std::int64_t i = 0; i < component.count; ++i) {
        const std::string own = fmt::format("{}.{}.{}", path, component.name, i);
        if (component.kind == "device") {
          const DeviceKind& inner = device(component.name, at);
          add_vertices(host, own, inner, at);
          add_device_edges(own, inner);
        } else {
          numbers_.emplace(own, static_cast<int>(found_.vertices.size()));
          found_.vertices.push_back({.kind = component.kind, .host = host});
        }
        if (std::ssize(found_.vertices) > kMostVertices) {
          refuse(at, fmt::format("expected at most {} components in all", kMostVertices));
        }
      }
    }
  }

  /// "0:8:2", "3" or ":4" as begin, end and step.
  [[nodiscard]] std::optional<std::array<std::int64_t, 3>> range(std::string_view text,
                                                                 std::int64_t most) const {
    std::array<std::int64_t, 3> parts = {0, most, 1};
    const bool is_one = text.find(':') == text.npos;
    for (std::int64_t& part : parts) {
      const std::size_t end = std::min(text.find(':'), text.size());
      const auto [rest, error] = std::from_chars(text.data(), text.data() + end, part);
      if (end > 0 && (error != std::errc() || rest != text.data() + end)) {
        return std::nullopt;
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    parts[1] = is_one ? parts[0] + 1 : parts[1];
    return parts;
  }
  [[nodiscard]] NameSlice slice(std::string_view word, std::int64_t most, const Value& at) const {
    const std::size_t bracket = std::min(word.find('['), word.size());
    NameSlice found{.name = std::string(word.substr(0, bracket)), .indices = {}};
    std::string_view inside = ":";
    if (bracket < word.size()) {
      inside = word.substr(bracket + 1);
      const bool is_closed = inside.size() > 1 && inside.back() == ']';
      inside = is_closed ? inside.substr(0, inside.size() - 1) : "?";
    }
    const auto parts = range(inside, most);
    if (!parts) {
      refuse(at, fmt::format("{}: expected a slice, such as xpu[0:8]", word));
    }
    const auto& [begin, end, step] = *parts;
    if (begin < 0 || end > most || step < 1) {
      refuse(at, fmt::format("{}: expected numbers from 0 to {}", word, most - 1));
    }
    for (std::int64_t i = begin; i < end; i += step) {
      found.indices.push_back(i);
    }
    return found;
  }
  /// "cx5[0:2].port[0]" below each of some paths.
  [[nodiscard]] std::vector<std::string> below(std::vector<std::string> paths,
                                               std::string_view components,
                                               const DeviceKind* kind,
                                               const Value& at) const {
    for (const std::string_view word : divided(components, ".")) {
      const std::string name(word.substr(0, word.find('[')));
      const ComponentKind* component =
          kind == nullptr ? nullptr : with_name(kind->components, name);
      if (component == nullptr) {
        refuse(at, fmt::format("{}: no component of that name", name));
      }
      std::vector<std::string> longer;
      for (const std::string& path : paths) {
        for (const std::int64_t i : slice(word, component->count, at).indices) {
          longer.push_back(fmt::format("{}.{}.{}", path, name, i));
        }
      }
      paths = std::move(longer);
      kind = component->kind == "device" ? &device(name, at) : nullptr;
    }
    return paths;
  }

  void add_device_edges(const std::string& path, const DeviceKind& kind) {
    for (const Value& edge : kind.edges) {
      const auto ends = [&](std::string_view key) {
        const Value& end = object(edge, key);
        const Value* of = end.find("device");
        const bool inner = of != nullptr && of->kind == Value::Kind::text && !of->text.empty();
        return below({path}, (inner ? of->text + "." : "") + text(end, "component"), &kind, end);
      };
      connect(ends("ep1"), ends("ep2"), edge, kind.links);
    }
  }
  void add_edges(const Value& root, const LinkKinds& links) {
    for (const Value& edge : list(root, "edges")) {
      const auto ends = [&](std::string_view key) {
        const Value& end = object(edge, key);
        const std::string word = text(end, "instance");
        const std::string name = word.substr(0, word.find('['));
        const Instance* found = with_name(instances_, name);
        if (found == nullptr) {
          refuse(end, name + ": is none of the instances");
        }
        const std::vector<std::string> paths =
            each_of(slice(word, found->count, end).indices,
                    [&](const std::int64_t i) { return fmt::format("{}.{}", name, i); });
        return below(paths, text(end, "component"), &device(found->device, end), end);
      };
      connect(ends("ep1"), ends("ep2"), edge, links);
    }
  }
  [[nodiscard]] const Value& object(const Value& of, std::string_view key) const {
    const Value* found = of.find(key);
    if (found == nullptr || found->kind != Value::Kind::object) {
      refuse(of, fmt::format("expected \"{}\", an object", key));
    }
    return *found;
  }

  void connect(const std::vector<std::string>& from,
               const std::vector<std::string>& to,
               const Value& edge,
               const LinkKinds& links) {
    const auto link = links.find(text(edge, "link"));
    if (link == links.end()) {
      refuse(edge, text(edge, "link") + ": is none of the links");
    }
    const std::string scheme = text(edge, "scheme");
    if (scheme != "many2many" && scheme != "one2one") {
      refuse(edge, scheme + ": expected the scheme many2many or one2one");
    }
    if (scheme == "one2one" && from.size() != to.size()) {
      refuse(edge,
             fmt::format(
                 "expected as many ends on both sides, got {} and {}", from.size(), to.size()));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t first = scheme == "one2one" ? i : 0;
      const std::size_t last = scheme == "one2one" ? i + 1 : to.size();
      for (std::size_t k = first; k < last; ++k) {
        join(from[i], to[k], *link, edge);
      }
    }
  }
  void join(const std::string& from,
            const std::string& to,
            const LinkKinds::value_type& link,
            const Value& at) {
    const auto a = numbers_.find(from);
    const auto b = numbers_.find(to);
    if (a == numbers_.end() || b == numbers_.end()) {
      refuse(at, (a == numbers_.end() ? from : to) + ": is a device, expected a component of it");
    }
    if (a->second == b->second) {
      return;
    }
    InfraVertex& one = found_.vertices[static_cast<std::size_t>(a->second)];
    InfraVertex& other = found_.vertices[static_cast<std::size_t>(b->second)];
    if (one.host != other.host) {
      one.leaves = other.leaves = true;
    }
    if (joined_.insert(std::minmax(a->second, b->second)).second) {
      found_.edges.push_back({.a = a->second,
                              .b = b->second,
                              .link = link.first,
                              .bandwidth = link.second.bandwidth,
                              .latency = link.second.latency});
    }
  }

  const Document& document_;
  const InfraChoices& choices_;
  std::map<std::string, DeviceKind> devices_;
  std::vector<Instance> instances_;
  std::map<std::string, int> numbers_;
  std::set<std::pair<int, int>> joined_;
  InfraVertices found_;
};

}  // namespace

InfraVertices infra_vertices(const Document& document, const InfraChoices& choices) {
  return InfraReader(document, choices).run();
}

}  // namespace titer
