#include "titer/whatif/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "input_changes.hpp"
#include "titer/units/blanks.hpp"
#include "titer/whatif/shapley.hpp"

namespace titer {
namespace {

/// The value at `path`, made on the way as an object where there is none.
Value& made_at(Value& root, std::string_view path) {
  Value* here = &root;
  for (const std::string_view key : divided(path, ".")) {
    if (here->find(key) == nullptr) {
      here->add(std::string(key), Value::make_object());
    }
    here = here->find(key);
  }
  return *here;
}

/// Gives an object, and those in it, the sources that its counterpart names: figures of both may be
/// in it.
void add_sources(Value& object, const Value& other) {
  if (!is_branch(&object) || !is_branch(&other)) {
    return;
  }
  for (auto& [key, member] : object.members) {
    if (const Value* counterpart = other.find(key)) {
      add_sources(member, *counterpart);
    }
  }
  const Value* named = other.find("sources");
  if (named == nullptr) {
    return;
  }
  Value& sources = made_at(object, "sources");
  for (const auto& [key, text] : named->members) {
    if (sources.find(key) == nullptr) {
      sources.add(key, text);
    }
  }
}

/// Both documents in one, so that values of either keep where they were written.
class MixedSource {
 public:
  MixedSource(const ScenarioSource& a, const ScenarioSource& b)
      : a_(a.document()), b_root_(adopt(a_, b.document())) {
    add_sources(a_.root, b_root_);
  }

  [[nodiscard]] const Value& a() const { return a_.root; }
  [[nodiscard]] const Value& b() const { return b_root_; }

  /// A with the values of B at some paths.
  [[nodiscard]] ScenarioSource mix(const std::vector<std::string>& paths,
                                   std::uint32_t taken) const {
    Document document = a_;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if ((taken >> i & 1) != 0) {
        const Value* value = b_root_.at(paths[i]);
        made_at(document.root, paths[i]) = value == nullptr ? Value() : *value;
      }
    }
    return ScenarioSource(std::move(document));
  }

  /// The paths to take over: those of the first level, and below one of them those of the next,
  /// as long as they are no more than `most`.
  [[nodiscard]] std::vector<std::string> players(std::size_t most) const {
    std::vector<std::string> paths = differing("");
    while (const auto next = next_split(paths, most)) {
      const std::vector<std::string> inner = differing(paths[*next]);
      const auto at = paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(*next));
      paths.insert(at, inner.begin(), inner.end());
    }
    return paths;
  }

 private:
  /// The members at a path that differ.
  [[nodiscard]] std::vector<std::string> differing(const std::string& path) const {
    const Value* a = a_.root.at(path);
    const Value* b = b_root_.at(path);
    std::vector<std::string> found;
    if (!is_branch(a) || !is_branch(b)) {
      return found;
    }
    for (const std::string& key : branch_keys(*a, *b, path)) {
      const std::string inner = path.empty() ? key : fmt::format("{}.{}", path, key);
      Value left = Value::make_object();
      Value right = Value::make_object();
      put(a->find(key), left);
      put(b->find(key), right);
      if (!input_changes(left, right).empty()) {
        found.push_back(inner);
      }
    }
    return found;
  }
  static void put(const Value* value, Value& into) {
    if (value != nullptr) {
      into.add("it", *value);
    }
  }

  /// The path that is nearest to the root, of these the one with the fewest that differ below.
  [[nodiscard]] std::optional<std::size_t> next_split(const std::vector<std::string>& paths,
                                                      std::size_t most) const {
    std::optional<std::size_t> best;
    std::pair<std::ptrdiff_t, std::size_t> least;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::size_t inner = differing(paths[i]).size();
      const std::pair cost{std::ranges::count(paths[i], '.'), inner};
      if (inner > 0 && paths.size() - 1 + inner <= most && (!best || cost < least)) {
        best = i;
        least = cost;
      }
    }
    return best;
  }

  Document a_;
  Value b_root_;
};

/// What every mixture takes.
class MixtureTable {
 public:
  MixtureTable(const MixedSource& mixed, const std::vector<std::string>& paths, Fidelity fidelity)
      : mixed_(mixed), paths_(paths), fidelity_(fidelity) {}

  [[nodiscard]] CoalitionWorth fill(Difference& into) {
    const std::uint32_t count = 1U << paths_.size();
    CoalitionWorth worth(count);
    for (std::uint32_t taken = 0; taken < count; ++taken) {
      worth[taken] = time_of(taken, into);
    }
    worth.front() = into.a.iteration_time.si();
    worth.back() = into.b.iteration_time.si();
    return worth;
  }

 private:
  [[nodiscard]] std::optional<double> time_of(std::uint32_t taken, Difference& into) {
    try {
      const Scenario scenario = mixed_.mix(paths_, taken).read();
      const std::int64_t devices = scenario.plan.devices();
      if (devices != into.a.devices && devices != into.b.devices) {
        throw InputError(fmt::format("{} devices: expected as many as A or B has", devices));
      }
      evaluate(scenario, fidelity_, estimator_, result_);
      ++into.evaluations;
      return result_.iteration_time.si();
    } catch (const InputError& error) {
      into.refusal = into.refusal.empty() ? error.lines.front() : into.refusal;
      return std::nullopt;
    }
  }

  const MixedSource& mixed_;
  const std::vector<std::string>& paths_;
  Fidelity fidelity_;
  Estimator estimator_;
  StepResult result_;
};

/// Shares the difference out among the paths, or groups of them that only go together.
void attribute(const MixedSource& mixed,
               const std::vector<std::string>& paths,
               Fidelity fidelity,
               Difference& into) {
  MixtureTable table(mixed, paths, fidelity);
  const CoalitionWorth worth = table.fill(into);
  std::vector<std::uint32_t> groups;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    groups.push_back(1U << i);
  }
  groups = joined_groups(worth, std::move(groups));
  const ShapleyShares shares = shapley_shares(worth, groups);
  into.sound_orders = std::llround(shares.orders);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    into.orders *= static_cast<std::int64_t>(group + 1);
    Contribution contribution{.paths = {}, .time = Seconds::from_si(shares.shares[group])};
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if ((groups[group] >> i & 1) != 0) {
        contribution.paths.push_back(paths[i]);
      }
    }
    into.contributions.push_back(std::move(contribution));
  }
  std::ranges::stable_sort(into.contributions, [](const Contribution& a, const Contribution& b) {
    return std::abs(a.time.si()) > std::abs(b.time.si());
  });
}

}  // namespace

Difference difference(const ScenarioSource& a,
                      const ScenarioSource& b,
                      Fidelity fidelity,
                      std::size_t most) {
  Difference found;
  found.a_scenario = a.read();
  found.b_scenario = b.read();
  Estimator estimator;
  evaluate(found.a_scenario, fidelity, estimator, found.a);
  evaluate(found.b_scenario, fidelity, estimator, found.b);
  found.evaluations = 2;
  const MixedSource mixed(a, b);
  found.changes = input_changes(mixed.a(), mixed.b());
  if (!found.changes.empty()) {
    attribute(mixed, mixed.players(most), fidelity, found);
  }
  return found;
}

}  // namespace titer
