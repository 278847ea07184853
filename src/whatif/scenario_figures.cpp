#include "titer/whatif/scenario_figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, 9> kKindNames = {
    "time", "size", "work", "energy", "bandwidth", "compute rate", "power", "ratio", "count"};

/// What is beside the figures: where they come from, how they were fitted, and how far off.
constexpr std::array<std::string_view, 10> kBeside = {"$schema",
                                                      "sources",
                                                      "source",
                                                      "notes",
                                                      "calibration",
                                                      "error_bars",
                                                      "name",
                                                      "title",
                                                      "year",
                                                      "seed"};

static_assert(static_cast<std::size_t>(FigureKind::ratio) == std::variant_size_v<AnyQuantity>,
              "kinds of quantities come first, in AnyQuantity's order");

bool is_quantity(std::string_view text, ScenarioFigure& figure) {
  const std::optional<AnyQuantity> quantity = parse_any(text);
  if (quantity) {
    figure.kind = static_cast<FigureKind>(quantity->index());
    figure.value = si_of(*quantity);
  }
  return quantity.has_value();
}

/// Empty for plain numbers.
template <std::size_t... I>
std::optional<AnyQuantity> quantity_of(FigureKind kind,
                                       double si,
                                       std::index_sequence<I...> /*kinds*/) {
  std::optional<AnyQuantity> made;
  ((static_cast<std::size_t>(kind) == I
        ? void(made = std::variant_alternative_t<I, AnyQuantity>::from_si(si))
        : void()),
   ...);
  return made;
}

constexpr std::make_index_sequence<std::variant_size_v<AnyQuantity>> kQuantities{};

/// Parts whose whole numbers are numbers of things.
bool counts_things(std::string_view path) {
  const auto part = scenario_part(path);
  return part == ScenarioPart::model || part == ScenarioPart::plan ||
         part == ScenarioPart::training || path == "cluster.nodes";
}

class FigureList {
 public:
  void walk(const Value& value, const std::string& path, const std::string& owner) {
    const Value* inner = value.find("value");
    if (inner != nullptr && inner->kind != Value::Kind::object) {
      add(*inner, path, path + ".value", owner);
    } else if (value.kind == Value::Kind::object) {
      walk_members(value, path, owner);
    } else if (value.kind == Value::Kind::array) {
      walk_items(value, path);
    } else {
      add(value, path, path, owner);
    }
  }

  std::vector<ScenarioFigure> figures;

 private:
  void walk_members(const Value& value, const std::string& path, const std::string& owner) {
    for (const auto& [key, member] : value.members) {
      // A key with a dot has no path.
      const bool has_path = key.find('.') == std::string::npos;
      if (has_path && !includes(kBeside, key)) {
        walk(member, path.empty() ? key : fmt::format("{}.{}", path, key), owner);
      }
    }
  }

  /// Elements that are objects; those of a model are its layers, each with numbers of its own.
  void walk_items(const Value& list, const std::string& path) {
    if (scenario_part(path) == ScenarioPart::model) {
      return;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const Value& item = list.items[i];
      if (item.kind == Value::Kind::object) {
        const Value* label = item.find("name");
        const bool named = label != nullptr && label->kind == Value::Kind::text;
        walk(item, fmt::format("{}.{}", path, i), named ? label->text : "");
      }
    }
  }

  void add(const Value& value,
           const std::string& path,
           const std::string& place,
           const std::string& owner) {
    ScenarioFigure figure{.path = path, .place = place, .owner = owner};
    if (value.kind == Value::Kind::number) {
      figure.whole = value.is_integer;
      figure.kind = value.is_integer && counts_things(path) ? FigureKind::count : FigureKind::ratio;
      figure.value = value.number;
    } else if (value.kind != Value::Kind::text || !is_quantity(value.text, figure)) {
      return;
    }
    figures.push_back(std::move(figure));
  }
};

}  // namespace

std::string_view name(FigureKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::vector<ScenarioFigure> scenario_figures(const Document& document) {
  FigureList list;
  list.walk(document.root, "", "");
  return std::move(list.figures);
}

const ScenarioFigure& figure_at(const std::vector<ScenarioFigure>& figures,
                                std::string_view path,
                                std::string_view option) {
  std::vector<std::string_view> paths;
  for (const ScenarioFigure& figure : figures) {
    if (figure.path == path || figure.place == path) {
      return figure;
    }
    paths.emplace_back(figure.path);
  }
  throw InputError(
      fmt::format("{}: {}: expected the path of a number of the scenario, such as "
                  "cluster.chip.memory.bandwidth{}",
                  option,
                  path,
                  suggestion(path, paths)));
}

Value figure_value(FigureKind kind, double value) {
  if (const auto quantity = quantity_of(kind, value, kQuantities)) {
    return std::visit([](const auto& of_kind) { return Value(exact_text(of_kind)); }, *quantity);
  }
  const bool whole = kind == FigureKind::count;
  return whole ? Value(std::int64_t{std::llround(value)}) : Value(value);
}

std::string figure_text(FigureKind kind, double value) {
  if (const auto quantity = quantity_of(kind, value, kQuantities)) {
    return std::visit([](const auto& of_kind) { return format(of_kind); }, *quantity);
  }
  return kind == FigureKind::count ? fmt::format("{}", std::llround(value))
                                   : fmt::format("{:.4g}", value);
}

}  // namespace titer
