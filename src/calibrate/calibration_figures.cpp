// Which figures of a document can be fitted, between which bounds, and how they are written.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "titer/calibrate/calibration.hpp"
#include "titer/calibrate/calibration_data.hpp"
#include "titer/input/csv.hpp"
#include "titer/input/reader.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// What is known of figures by the last key of their path: bounds, and what a data sheet that knows
/// of no loss would say. In SI units. Others: a tenth to ten times the start.
struct KnownFigure {
  std::string_view key;
  double least;
  double most;
  double neutral;
};
constexpr std::array<KnownFigure, 27> kKnownFigures = {{
    {"plateau", 0.05, 1, 1},            // of the peak
    {"saturation", 1e3, 1e12, 1e3},     // FLOP; a thousand are none
    {"efficiency", 0.005, 1, 1},        // of a bandwidth
    {"launch_floor", 0, 1e-3, 0},       // s
    {"graph_start", 0, 1e-3, 0},        // s
    {"feed", 1e11, 1e18, 1e18},         // B/s
    {"store", 1e11, 1e18, 1e18},        // B/s
    {"partial_wave", 0, 1, 0},          //
    {"split", 0, 1e-3, 0},              // s
    {"grouped", 0.05, 1, 1},            //
    {"softmax", 0, 1e4, 0},             // operations
    {"wide_heads", 0.05, 1, 1},         //
    {"edge", 0, 1e4, 0},                // keys
    {"start", 0, 1e-3, 0},              // s
    {"backward", 0.05, 1, 1},           //
    {"share", 0.3, 1, 1},               // of a clock
    {"onset", 1e-6, 1, 1},              // s
    {"dispatch", 0, 1e-3, 0},           // s
    {"loop_dispatch", 0, 1e-3, 0},      // s
    {"latency", 0, 1e-3, 0},            // s
    {"startup", 0, 1e-2, 0},            // s
    {"overlap_slowdown", 1, 10, 1},     //
    {"memory_traffic", 1, 5, 1},        // eager software passes up to 3.4 times
    {"operator_traffic", 1, 5, 1},      // likewise
    {"attention_slowdown", 0.8, 2, 1},  //
    {"straggling", 0, 0.05, 0},         // of a device's compute
    {"allocator_overhead", 0, 1, 0},    //
}};

/// What is fitted of a chip that has it, where the tables time such kernels.
struct UsualFigure {
  std::string_view path;
  std::string_view table;         // a column that tells tables of such kernels; "": any
  std::string_view twin = {};     // which takes the same value
  std::string_view instead = {};  // not where the chip has this
};
constexpr std::array<UsualFigure, 17> kUsualFigures = {{
    {"launch_floor", ""},
    {"matrix.bf16.plateau", "m", "matrix.fp16.plateau"},  // the same unit, the same rate
    {"matrix.fp16.plateau", "m", "", "matrix.bf16"},
    {"matrix.bf16.saturation", "m", "matrix.fp16.saturation", "tiling"},
    {"matrix.fp16.saturation", "m", "", "matrix.bf16"},
    {"memory.efficiency", "m"},
    {"tiling.feed", "m"},
    {"tiling.store", "m"},
    {"tiling.partial_wave", "m"},
    {"tiling.split", "m"},
    {"sustained.onset", "m"},
    {"attention.plateau", "kv_heads", "", "attention.tiling"},
    {"attention.tiling.softmax", "kv_heads"},
    {"attention.tiling.edge", "head_dim"},
    {"attention.tiling.start", "head_dim"},
    {"attention.tiling.backward", "pass"},
    {"graph_start", "head_dim"},
}};

/// A dimension that figures have. Numbers without one come last.
struct Unit {
  std::string_view name;
  std::optional<double> (*read)(std::string_view text);
  std::string (*write)(double value);
};

template <class Q>
constexpr Unit unit_of(std::string_view name) {
  return {name,
          [](std::string_view text) {
            const auto value = parse<Q>(text);
            return value ? std::optional(value->si()) : std::nullopt;
          },
          [](double value) { return format(Q::from_si(value)); }};
}

constexpr std::array<Unit, 6> kUnits = {unit_of<Seconds>("s"),
                                        unit_of<Bytes>("B"),
                                        unit_of<Flops>("FLOP"),
                                        unit_of<BytesPerSecond>("B/s"),
                                        unit_of<FlopsPerSecond>("FLOP/s"),
                                        unit_of<Watts>("W")};

/// The figure itself, where it is written with its source.
const Value* bare(const Value* figure) {
  const Value* inner = figure == nullptr ? nullptr : figure->find("value");
  return inner == nullptr ? figure : inner;
}

bool is_figure(const Value& value) {
  if (value.kind == Value::Kind::number) {
    return true;
  }
  return value.kind == Value::Kind::text && std::ranges::any_of(kUnits, [&](const Unit& unit) {
           return unit.read(value.text).has_value();
         });
}

/// The paths of all figures under a value.
void list_figures(const Value& value, const std::string& path, std::vector<std::string>& paths) {
  if (const Value* figure = bare(&value); is_figure(*figure)) {
    paths.push_back(path);
    return;
  }
  for (const auto& [key, member] : value.members) {
    if (key != "sources" && key != "calibration") {
      list_figures(member, join_path(path, key), paths);
    }
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    list_figures(value.items[i], join_path(path, std::to_string(i)), paths);
  }
}

[[noreturn]] void refuse_path(const Document& document, const std::string& path) {
  std::vector<std::string> paths;
  list_figures(document.root, "", paths);
  const std::string name = document.sources.empty() ? "the base" : document.sources.front();
  throw InputError(
      fmt::format("--fit {}: not a figure of {}{}", path, name, suggestion(path, paths)));
}

/// In SI units; "" is a plain number's.
std::optional<double> read_value(std::string_view unit, std::string_view text) {
  for (const Unit& known : kUnits) {
    if (known.name == unit) {
      return known.read(text);
    }
  }
  try {
    const Value value = parse_json(text, "").root;
    return value.kind == Value::Kind::number ? std::optional(value.number) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string written_text(const FittedFigure& figure, double value) {
  return bare_text(written_figure(figure, value));
}

void read_start(const Document& document, FittedFigure& figure) {
  const Value* value = bare(document.at(figure.path));
  if (value == nullptr || !is_figure(*value)) {
    refuse_path(document, figure.path);
  }
  figure.start = value->number;
  for (const Unit& unit : kUnits) {
    if (value->kind != Value::Kind::text || !figure.unit.empty()) {
      break;
    }
    if (const auto number = unit.read(value->text)) {
      figure.unit = unit.name;
      figure.start = *number;
    }
  }
}

void usual_bounds(FittedFigure& figure) {
  const std::string_view path = figure.path;
  const std::string_view key = path.substr(path.rfind('.') + 1);
  figure.least = figure.start / 10.0;
  figure.most = figure.start * 10.0;
  for (const KnownFigure& known : kKnownFigures) {
    if (known.key == key) {
      figure.least = known.least;
      figure.most = known.most;
      figure.neutral = known.neutral;
    }
  }
}

void read_bounds(std::string_view text, std::string_view bounds, FittedFigure& figure) {
  const std::size_t colon = bounds.find(':');
  std::optional<double> least;
  std::optional<double> most;
  if (colon != std::string_view::npos) {
    least = read_value(figure.unit, bounds.substr(0, colon));
    most = read_value(figure.unit, bounds.substr(colon + 1));
  }
  if (!least || !most || !(*least < *most)) {
    throw InputError(fmt::format("--fit {}: expected path=least:most, such as {}={}:{}",
                                 text,
                                 figure.path,
                                 written_text(figure, 0.5 * figure.start),
                                 written_text(figure, 2.0 * figure.start)));
  }
  figure.least = *least;
  figure.most = *most;
}

}  // namespace

FittedFigure fitted_figure(const Document& document, std::string_view text) {
  const std::size_t equals = text.find('=');
  std::string_view paths = text.substr(0, equals);
  FittedFigure figure;
  figure.path = paths.substr(0, paths.find(','));
  read_start(document, figure);
  while (paths.find(',') != std::string_view::npos) {
    paths.remove_prefix(paths.find(',') + 1);
    FittedFigure other;
    other.path = paths.substr(0, paths.find(','));
    read_start(document, other);
    if (other.unit != figure.unit) {
      throw InputError(fmt::format(
          "--fit {}: {} and {} are not of one dimension", text, figure.path, other.path));
    }
    figure.same.push_back(other.path);
  }
  usual_bounds(figure);
  if (equals != std::string_view::npos) {
    read_bounds(text, text.substr(equals + 1), figure);
  }
  if (!(figure.least < figure.most) || figure.start < figure.least || figure.start > figure.most) {
    throw InputError(fmt::format("--fit {}: the base says {}, outside the bounds {} and {}",
                                 text,
                                 written_text(figure, figure.start),
                                 written_text(figure, figure.least),
                                 written_text(figure, figure.most)));
  }
  return figure;
}

void put_figure(Document& document, const FittedFigure& figure, double value) {
  const Value exact =
      figure.unit.empty() ? Value(value) : Value(fmt::format("{} {}", value, figure.unit));
  const auto put = [&](const std::string& path) {
    const Value* place = document.at(path);
    ensure(place != nullptr, "a fitted figure is in the document");
    const bool has_source = place->find("value") != nullptr;
    assign(document, {has_source ? path + ".value" : path, exact, "a value tried by calibrate"});
  };
  put(figure.path);
  std::ranges::for_each(figure.same, put);
}

Value written_figure(const FittedFigure& figure, double value) {
  for (const Unit& unit : kUnits) {
    if (unit.name == figure.unit) {
      return unit.write(value);
    }
  }
  return parse_json(fmt::format("{:.4g}", value), "").root;
}

double rounded_figure(const FittedFigure& figure, double value) {
  const Value written = written_figure(figure, value);
  const auto read = written.kind == Value::Kind::text ? read_value(figure.unit, written.text)
                                                      : std::optional(written.number);
  ensure(read.has_value(), "a figure reads back as it was written");
  return std::clamp(*read, figure.least, figure.most);
}

std::vector<std::string> usual_chip_figures(const Document& chip,
                                            std::span<const std::filesystem::path> files) {
  std::vector<CsvTable> tables =
      each_of(files, [](const std::filesystem::path& file) { return CsvTable::load(file); });
  const auto has = [&](std::string_view path) { return !path.empty() && chip.at(path) != nullptr; };
  const auto is_timed = [&](std::string_view column) {
    return column.empty() ||
           std::ranges::any_of(tables, [&](const CsvTable& table) { return table.has(column); });
  };
  std::vector<std::string> figures;
  for (const UsualFigure& usual : kUsualFigures) {
    if (has(usual.path) && !has(usual.instead) && is_timed(usual.table)) {
      const std::string twin = has(usual.twin) ? fmt::format(",{}", usual.twin) : std::string();
      figures.push_back(std::string(usual.path) + twin);
    }
  }
  return figures;
}

/// Networks: what the protocols say, of the network, or of the node where nothing leaves it.
std::vector<std::string> usual_network_figures(const Document& base, bool crosses_nodes) {
  const bool is_network = base.at("protocols") != nullptr;
  const std::string list = is_network      ? "protocols"
                           : crosses_nodes ? "network.protocols"
                                           : "node.protocols";
  std::vector<std::string> figures;
  const Value* protocols = base.at(list);
  for (std::size_t i = 0; protocols != nullptr && i < protocols->items.size(); ++i) {
    for (const std::string_view key : {"latency", "efficiency"}) {
      figures.push_back(fmt::format("{}.{}.{}", list, i, key));
    }
  }
  return figures;
}

std::vector<std::string> usual_stack_figures(const Document& stack) {
  std::vector<std::string> figures;
  for (const std::string_view key : {"memory_traffic", "attention_slowdown", "straggling"}) {
    if (stack.at(key) != nullptr) {
      figures.emplace_back(key);
    }
  }
  return figures.empty() ? std::vector<std::string>{"dispatch"} : figures;
}

}  // namespace titer
