// Whole numbers of a scenario, moved to the next sound value.

#include <array>
#include <cmath>
#include <span>

#include "titer/whatif/sensitivity.hpp"

namespace titer {
namespace {

/// To multiply by, or to divide by.
constexpr std::array<std::int64_t, 3> kCountFactors = {2, 3, 4};

std::int64_t data_degree(const ScenarioProbe& probe) { return probe.scenario().plan.data; }

Assignment to_count(std::string_view path, std::int64_t value) {
  return {std::string(path), Value(value), "sensitivity"};
}

/// What else may change with it, the first the least: nothing; the data degree the other way, so
/// that the devices stay as many; as many times more nodes, and with them replicas.
std::vector<std::vector<Assignment>> companions(const ScenarioProbe& probe,
                                                const ScenarioFigure& figure,
                                                std::int64_t to) {
  std::vector<std::vector<Assignment>> ways = {{}};
  const auto from = std::int64_t{std::llround(figure.value)};
  const std::int64_t data = data_degree(probe);
  const bool is_degree = figure.path == "plan.tensor" || figure.path == "plan.pipeline" ||
                         figure.path == "plan.context";
  if (is_degree && data * from % to == 0) {
    ways.push_back({to_count("plan.data", data * from / to)});
  }
  const auto nodes = probe.scenario().cluster.nodes;
  if (nodes && (is_degree || figure.path == "plan.data") && *nodes * to % from == 0) {
    ways.push_back({to_count("cluster.nodes", *nodes * to / from)});
  }
  if (figure.path == "cluster.nodes" && data * to % from == 0) {
    ways.push_back({to_count("plan.data", data * to / from)});
  }
  return ways;
}

std::optional<CountMove> move_to(ScenarioProbe& probe,
                                 const ScenarioFigure& figure,
                                 const OutcomeFigure& of,
                                 std::int64_t to) {
  for (std::vector<Assignment>& along : companions(probe, figure, to)) {
    std::vector<Assignment> changes = along;
    changes.push_back(to_count(figure.place, to));
    const StepResult* result = probe.with(changes);
    if (result == nullptr) {
      continue;
    }
    const double outcome = of.value(*result);
    const double ratio = outcome / of.value(probe.base());
    return CountMove{
        .to = to,
        .along = std::move(along),
        .outcome = outcome,
        .elasticity =
            ratio > 0 ? std::log(ratio) / std::log(static_cast<double>(to) / figure.value) : 0.0};
  }
  return std::nullopt;
}

std::optional<CountMove> first_sound(ScenarioProbe& probe,
                                     const ScenarioFigure& figure,
                                     const OutcomeFigure& of,
                                     std::span<const std::int64_t> candidates) {
  for (const std::int64_t to : candidates) {
    if (auto move = move_to(probe, figure, of, to)) {
      return move;
    }
  }
  return std::nullopt;
}

}  // namespace

CountEffect count_effect(ScenarioProbe& probe,
                         const ScenarioFigure& figure,
                         const OutcomeFigure& of) {
  const auto from = std::int64_t{std::llround(figure.value)};
  std::vector<std::int64_t> less;
  std::vector<std::int64_t> more;
  for (const std::int64_t factor : kCountFactors) {
    if (from > 0) {
      more.push_back(from * factor);
    }
    if (from > 0 && from % factor == 0) {
      less.push_back(from / factor);
    }
  }
  if (from > 1) {
    more.push_back(from + 1);
    less.push_back(from - 1);
  }
  return {.figure = figure,
          .down = first_sound(probe, figure, of, less),
          .up = first_sound(probe, figure, of, more)};
}

}  // namespace titer
