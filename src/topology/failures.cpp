#include "titer/topology/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/pending/disjoint_sets.hpp>
#include <cmath>
#include <random>

#include "titer/topology/properties.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr double kMostFailures = 4e6;

template <auto Member>
void read_amount(const Field<Failures>& own, Reader& in, Failures& failures) {
  const double amount = in.maybe_number(own.key, own.range.least, own.range.most).value_or(0.0);
  if (amount > 1 && amount != std::floor(amount)) {
    in.fail(own.key, "expected a whole number, or a share below 1");
  }
  failures.*Member = amount;
}

template <auto Member>
constexpr Field<Failures> amount(std::string_view key, std::string_view about) {
  return fields::number<Member>(key, {0, kMostFailures}, about).read_by(read_amount<Member>);
}

Value names_schema() { return schema::list_of(schema::text()); }

constexpr double kMostSeed = 9007199254740991;  // 2^53 - 1

constexpr std::array kFailureFields = {
    amount<&Failures::links>("links", "between switches, or below 1 their share"),
    amount<&Failures::ports>("ports", "between devices and switches, or below 1 their share"),
    amount<&Failures::switches>("switches", "with all their links, or below 1 their share"),
    fields::of_schema<Failures, names_schema>(
        "named",
        [](const Field<Failures>& own, Reader& in, Failures& failures) {
          failures.named = in.texts(own.key);
        },
        "parts such as `spine 3`, or `leaf 0 - spine 3`: all links between them"),
    fields::number<&Failures::left>("left", {0, 1}, "of the bandwidth of each failed link"),
    fields::integer<&Failures::seed>("seed", {0, kMostSeed}, "another one draws others")};

std::size_t number_of(double amount, std::size_t all) {
  return static_cast<std::size_t>(amount < 1 ? std::round(amount * static_cast<double>(all))
                                             : amount);
}

/// So many of the candidates, each as likely as any other.
template <class T>
std::vector<T> draw(std::vector<T> candidates, std::size_t number, std::mt19937_64& random) {
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t rest = candidates.size() - i;
    std::swap(candidates[i], candidates[i + random() % rest]);
  }
  candidates.resize(number);
  return candidates;
}

std::string spaceless_end(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// By vertex, one that stands for all that are joined with it.
std::vector<std::size_t> parts_of(const Topology& topology) {
  const auto vertices = static_cast<std::size_t>(topology.vertices());
  boost::disjoint_sets_with_storage<> joined(vertices);
  for (const Wire& wire : topology.wires) {
    joined.union_set(static_cast<std::size_t>(wire.a), static_cast<std::size_t>(wire.b));
  }
  std::vector<std::size_t> parts;
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    parts.push_back(joined.find_set(vertex));
  }
  return parts;
}

/// Links that fail, by wire, and what is said of those that cannot.
class Outage {
 public:
  Outage(const Failures& failures, const Topology& topology)
      : failures_(failures),
        topology_(topology),
        random_(failures.seed),
        failed_(topology.wires.size(), 0) {}

  std::optional<std::string> choose() {
    const bool done = choose_switches() && choose_named() &&
                      choose_links("links", failures_.links, false) &&
                      choose_links("ports", failures_.ports, true);
    return done ? std::nullopt : std::optional(problem_);
  }

  void apply(Topology& topology) const {
    std::vector<Wire> wires;
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      Wire wire = topology_.wires[i];
      wire.count -= failed_[i];
      if (wire.count > 0) {
        wires.push_back(wire);
      }
      if (failed_[i] > 0 && failures_.left > 0) {
        wire.count = failed_[i];
        wire.bandwidth = failures_.left * wire.bandwidth;
        wires.push_back(wire);
      }
    }
    topology.wires = std::move(wires);
  }

 private:
  [[nodiscard]] bool is_port(const Wire& wire) const {
    return (wire.a < topology_.devices) != (wire.b < topology_.devices);
  }

  bool enough(std::string_view what, std::size_t number, std::size_t all) {
    if (number > all) {
      problem_ = fmt::format("{} {} of {} {}; expected no more than there are",
                             number,
                             number == 1 ? "fails" : "fail",
                             all,
                             what);
    }
    return number <= all;
  }

  bool choose_switches() {
    std::vector<int> all;
    for (int vertex = topology_.devices; vertex < topology_.vertices(); ++vertex) {
      all.push_back(vertex);
    }
    const std::size_t number = number_of(failures_.switches, all.size());
    if (!enough("switches", number, all.size())) {
      return false;
    }
    for (const int vertex : draw(std::move(all), number, random_)) {
      fail_all_of(vertex);
    }
    return true;
  }

  void fail_all_of(int vertex) {
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      const Wire& wire = topology_.wires[i];
      if (wire.a == vertex || wire.b == vertex) {
        failed_[i] = wire.count;
      }
    }
  }

  bool choose_named() {
    if (failures_.named.empty()) {
      return true;
    }
    const std::vector<std::string> names = labels(topology_);
    return std::ranges::all_of(
        failures_.named, [&](const std::string& name) { return choose_by_name(name, names); });
  }

  bool choose_by_name(const std::string& name, const std::vector<std::string>& names) {
    const std::size_t dash = name.find(" - ");
    std::vector<int> ends;
    for (const std::string& part :
         {name.substr(0, dash), dash == std::string::npos ? "" : name.substr(dash + 3)}) {
      const std::string wanted = spaceless_end(part);
      const auto found = std::ranges::find(names, wanted);
      if (found != names.end()) {
        ends.push_back(static_cast<int>(found - names.begin()));
      } else if (!wanted.empty()) {
        problem_ = fmt::format(
            "\"{}\" is no part of it{}",
            wanted,
            suggestion(wanted, names, fmt::format("; expected such as \"{}\"", names.back())));
        return false;
      }
    }
    if (ends.size() == 1) {
      fail_all_of(ends.front());
      return true;
    }
    bool joined = false;
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      const Wire& wire = topology_.wires[i];
      if (ends == std::vector{wire.a, wire.b} || ends == std::vector{wire.b, wire.a}) {
        failed_[i] = wire.count;
        joined = true;
      }
    }
    if (!joined) {
      problem_ = fmt::format("\"{}\": no link joins them", name);
    }
    return joined;
  }

  bool choose_links(std::string_view what, double amount, bool ports) {
    if (amount <= 0) {
      return true;
    }
    std::vector<std::size_t> all;  // a wire for each of its links that still work
    std::size_t total = 0;
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      const Wire& wire = topology_.wires[i];
      if (is_port(wire) == ports) {
        total += static_cast<std::size_t>(wire.count);
        all.insert(all.end(), static_cast<std::size_t>(wire.count - failed_[i]), i);
      }
    }
    const std::size_t number = number_of(amount, total);
    if (!enough(what, number, all.size())) {
      return false;
    }
    for (const std::size_t wire : draw(std::move(all), number, random_)) {
      ++failed_[wire];
    }
    return true;
  }

  const Failures& failures_;
  const Topology& topology_;
  std::mt19937_64 random_;
  std::vector<int> failed_;  // links of each wire
  std::string problem_;
};

/// The first device with links that is cut off from one with which it was joined.
std::optional<int> cut_off(const Topology& before, const Topology& after) {
  const std::vector<std::size_t> was = parts_of(before);
  const std::vector<std::size_t> is = parts_of(after);
  std::vector<bool> has_links(was.size(), false);
  for (const Wire& wire : after.wires) {
    for (const int end : {wire.a, wire.b}) {
      if (end < after.devices) {
        has_links[static_cast<std::size_t>(end)] = true;
      }
    }
  }
  std::vector<std::optional<std::size_t>> first(was.size());  // part after, by that before
  for (std::size_t device = 0; device < was.size(); ++device) {
    if (!has_links[device]) {
      continue;
    }
    std::optional<std::size_t>& part = first[was[device]];
    if (part.value_or(is[device]) != is[device]) {
      return static_cast<int>(device);
    }
    part = is[device];
  }
  return std::nullopt;
}

}  // namespace

Failures read_failures(Reader& in) {
  Failures failures;
  read_fields<Failures>(kFailureFields, in, failures);
  return failures;
}

Value failures_schema() { return schema_of<Failures>(kFailureFields); }

std::string failures_text(const Failures& failures) {
  std::vector<std::string> parts;
  bool drawn = false;
  const auto add = [&](double amount, std::string_view one, std::string_view several) {
    if (amount > 0) {
      drawn = true;
      parts.push_back(amount < 1 ? fmt::format("{:g} % of the {}", 100 * amount, several)
                                 : fmt::format("{:g} {}", amount, amount == 1 ? one : several));
    }
  };
  add(failures.links, "link", "links");
  add(failures.ports, "port", "ports");
  add(failures.switches, "switch", "switches");
  parts.insert(parts.end(), failures.named.begin(), failures.named.end());
  std::string text = listed(parts);
  if (failures.left > 0) {
    text += fmt::format(" with {:g} % of the bandwidth left", 100 * failures.left);
  }
  return text + (drawn ? fmt::format(" (seed {})", failures.seed) : "");
}

std::optional<std::string> put_out(const Failures& failures, Topology& topology) {
  if (!failures.any()) {
    return std::nullopt;
  }
  const Topology before = topology;
  Outage outage(failures, before);
  if (auto problem = outage.choose()) {
    return problem;
  }
  outage.apply(topology);
  if (const auto device = cut_off(before, topology)) {
    return fmt::format("without {} device {} is cut off from others that have links",
                       failures_text(failures),
                       *device);
  }
  return std::nullopt;
}

}  // namespace titer
