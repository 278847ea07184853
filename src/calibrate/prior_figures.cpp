#include "prior_figures.hpp"

#include <algorithm>
#include <array>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Figures that go together, and by how much they may be off where they were fitted.
struct KnownPrior {
  FigureOwner owner;
  std::string_view figure;
  double spread;
  std::array<std::string_view, 3> paths;  // below the part; "" where there are fewer
};
// The spreads are those with which three runs of a family predict its others best, of twelve sets
// tried on the public runs (`titer validate --given 3`): families of software differ so much.
constexpr std::array<KnownPrior, 12> kKnownPriors = {{
    {FigureOwner::stack, "memory_traffic", 0.2, {"memory_traffic"}},
    {FigureOwner::stack, "operator_traffic", 0.2, {"operator_traffic"}},
    {FigureOwner::stack, "attention_slowdown", 0.15, {"attention_slowdown"}},
    {FigureOwner::stack, "dispatch", 0.3, {"dispatch"}},
    {FigureOwner::stack, "loop_dispatch", 0.3, {"loop_dispatch"}},
    {FigureOwner::stack, "overlap_slowdown", 0.05, {"overlap_slowdown"}},
    {FigureOwner::chip, "matrix.*.plateau", 0.1, {"matrix.*.plateau"}},
    {FigureOwner::chip, "memory.efficiency", 0.03, {"memory.efficiency"}},
    {FigureOwner::cluster,
     "node.*.efficiency",
     0.2,
     {"node.protocols.*.efficiency",
      "node.peer_protocols.*.efficiency",
      "node.switch_protocols.*.efficiency"}},
    {FigureOwner::cluster,
     "node.*.latency",
     0.2,
     {"node.protocols.*.latency",
      "node.peer_protocols.*.latency",
      "node.switch_protocols.*.latency"}},
    {FigureOwner::cluster,
     "network.*.efficiency",
     0.3,
     {"network.protocols.*.efficiency", "network.switch_protocols.*.efficiency"}},
    {FigureOwner::cluster,
     "network.*.latency",
     0.2,
     {"network.protocols.*.latency", "network.switch_protocols.*.latency"}},
}};
// Of figures with weaker evidence, by grade: over a fitted one's.
constexpr std::array<double, 3> kSpreadOfGrade = {1.0, 1.25, 1.5};
constexpr double kMostFactor = 5;

void list_paths(const Value& value,
                std::string_view pattern,
                const std::string& path,
                std::vector<std::string>& paths) {
  const std::size_t dot = std::min(pattern.find('.'), pattern.size());
  const std::string_view key = pattern.substr(0, dot);
  const std::string_view rest = pattern.substr(std::min(dot + 1, pattern.size()));
  const auto take = [&](const std::string& name, const Value& inner) {
    if (rest.empty()) {
      paths.push_back(join_path(path, name));
    } else {
      list_paths(inner, rest, join_path(path, name), paths);
    }
  };
  for (const auto& [name, member] : value.members) {
    if (key == "*" || key == name) {
      take(name, member);
    }
  }
  for (std::size_t i = 0; i < value.items.size() && key == "*"; ++i) {
    take(std::to_string(i), value.items[i]);
  }
}

/// The best of those that have such a key, as files are noted: "node.simple.efficiency".
Grade best_grade(const EvidenceList& evidence, std::string_view figure) {
  const std::size_t star = std::min(figure.find('*'), figure.size());
  const std::string_view head = figure.substr(0, star);
  const std::string_view tail = figure.substr(std::min(star + 1, figure.size()));
  Grade best = Grade::extrapolated;
  for (const Evidence& known : evidence.figures()) {
    const bool is_it = star == figure.size()
                           ? known.key == figure
                           : known.key.starts_with(head) && known.key.ends_with(tail);
    best = is_it ? std::min(best, known.grade) : best;
  }
  return best;
}

const EvidenceList& evidence_of(FigureOwner owner, const Scenario& scenario) {
  switch (owner) {
    case FigureOwner::stack:
      return scenario.stack.evidence;
    case FigureOwner::chip:
      return scenario.cluster.chip.evidence;
    case FigureOwner::cluster:
      break;
  }
  return scenario.cluster.evidence;
}

const std::string& name_of(FigureOwner owner, const Scenario& scenario) {
  switch (owner) {
    case FigureOwner::stack:
      return scenario.stack.name;
    case FigureOwner::chip:
      return scenario.cluster.chip.name;
    case FigureOwner::cluster:
      break;
  }
  return scenario.cluster.name;
}

/// Nothing of what cannot be moved by a factor.
std::vector<FittedFigure> movable(const Document& document, const KnownPrior& known) {
  std::vector<std::string> paths;
  for (const std::string_view pattern : known.paths) {
    if (!pattern.empty()) {
      list_paths(document.root, path_of(known.owner) + "." + std::string(pattern), "", paths);
    }
  }
  std::vector<FittedFigure> figures;
  for (const std::string& path : paths) {
    try {
      FittedFigure figure = fitted_figure(document, path);
      if (figure.start > 0) {
        figures.push_back(std::move(figure));
      }
    } catch (const InputError&) {  // the file says what no fit would: it is left as it is
      continue;
    }
  }
  return figures;
}

}  // namespace

std::string_view name(FigureOwner owner) {
  constexpr std::array<std::string_view, 3> names = {"stack", "chip", "cluster"};
  return names[static_cast<std::size_t>(owner)];
}

std::string path_of(FigureOwner owner) {
  return owner == FigureOwner::chip ? "cluster.chip" : std::string(name(owner));
}

std::vector<PlacedPrior> priors_of(const Document& document, const Scenario& scenario) {
  std::vector<PlacedPrior> priors;
  for (const KnownPrior& known : kKnownPriors) {
    PlacedPrior made{.prior = {.owner = known.owner,
                               .of = name_of(known.owner, scenario),
                               .figure = std::string(known.figure),
                               .spread = known.spread,
                               .least = 1 / kMostFactor,
                               .most = kMostFactor},
                     .figures = movable(document, known)};
    for (const FittedFigure& figure : made.figures) {
      made.prior.least = std::max(made.prior.least, figure.least / figure.start);
      made.prior.most = std::min(made.prior.most, figure.most / figure.start);
    }
    if (!made.figures.empty() && made.prior.least < made.prior.most) {
      const Grade grade = best_grade(evidence_of(known.owner, scenario), known.figure);
      made.prior.spread *= kSpreadOfGrade[static_cast<std::size_t>(grade)];
      priors.push_back(std::move(made));
    }
  }
  return priors;
}

MovedParts::MovedParts(const ScenarioSource& source, const Scenario& scenario)
    : cluster_(scenario.cluster), stack_(scenario.stack) {
  document_.root = Value::make_object();
  document_.sources = source.document().sources;
  for (const std::string_view part : {"cluster", "stack"}) {
    const Value* value = source.document().at(part);
    ensure(value != nullptr, "a scenario that was read has a cluster and a stack");
    document_.root.add(std::string(part), *value);
  }
  priors_ = priors_of(document_, scenario);
  factors_.assign(priors_.size(), 1.0);
}

bool MovedParts::put(std::span<const double> factors, bool of_stack) {
  bool is_moved = false;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == factors_[i] || (priors_[i].prior.owner == FigureOwner::stack) != of_stack) {
      continue;
    }
    for (const FittedFigure& figure : priors_[i].figures) {
      put_figure(
          document_, figure, std::clamp(factors[i] * figure.start, figure.least, figure.most));
    }
    factors_[i] = factors[i];
    is_moved = true;
  }
  return is_moved;
}

void MovedParts::put(std::span<const double> factors) {
  ensure(factors.size() == priors_.size(), "a factor for each prior");
  const bool has_cluster = put(factors, false);
  const bool has_stack = put(factors, true);
  Problems problems;
  Reader root(document_, problems);
  if (has_cluster) {
    Reader cluster = root.object("cluster");
    cluster_ = read_cluster(cluster);
  }
  if (has_stack) {
    Reader stack = root.object("stack");
    stack_ = read_stack(stack);
  }
  problems.raise();
}

void MovedParts::give(Scenario& scenario) const {
  const auto nodes = scenario.cluster.nodes;
  const int used = scenario.cluster.devices_per_node;
  scenario.cluster = cluster_;
  scenario.cluster.nodes = nodes;
  scenario.cluster.use_of_node(used);
  scenario.stack = stack_;
}

}  // namespace titer
