#pragma once
// The numbers that a scenario's document has, each by its path: what can be changed a little, or
// taken apart one by one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

/// What a number of a document measures.
enum class FigureKind : std::uint8_t {
  time,
  size,
  work,
  energy,
  bandwidth,
  compute_rate,
  power,
  ratio,  // a plain number
  count,  // a plain number of a model, plan or training set-up that is whole
};
[[nodiscard]] std::string_view name(FigureKind kind);
/// The power of time in its dimension is -1: with k times all rates and 1/k times all times
/// everything takes 1/k of the time.
[[nodiscard]] constexpr bool is_rate(FigureKind kind) {
  return kind == FigureKind::bandwidth || kind == FigureKind::compute_rate;
}

struct ScenarioFigure {
  std::string path;   // "cluster.chip.memory.bandwidth"
  std::string place;  // of its value: the same, or the path of "value" beside a source
  std::string owner;  // the name of the element of a list that it belongs to, as of a protocol
  FigureKind kind = FigureKind::ratio;
  double value = 0;  // in SI units
  bool whole = false;
};

/// Every number of the expanded document, in its order, except what only says where others come
/// from, and lists of bare numbers.
[[nodiscard]] std::vector<ScenarioFigure> scenario_figures(const Document& document);
/// One of them. Throws InputError, naming `option`, where the path leads to no number.
[[nodiscard]] const ScenarioFigure& figure_at(const std::vector<ScenarioFigure>& figures,
                                              std::string_view path,
                                              std::string_view option);

/// A value of this kind as a document has it; nothing is rounded.
[[nodiscard]] Value figure_value(FigureKind kind, double value);
/// The same for people: "1.935 TB/s".
[[nodiscard]] std::string figure_text(FigureKind kind, double value);

}  // namespace titer
