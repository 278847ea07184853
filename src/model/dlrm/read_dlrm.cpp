// From a document.

#include <fmt/core.h>

#include "titer/model/dlrm/dlrm.hpp"
#include "titer/model/limits.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostTables = 100'000;
constexpr double kMostTableParameters = 1e17;  // so that their number stays within 64 bits

/// The output widths of an MLP's layers.
std::vector<std::int64_t> read_widths(Reader& in, std::string_view key) {
  constexpr std::size_t most_layers = 1000;
  const Value* list = in.raw(key);
  const std::string expected =
      fmt::format("expected the layers' widths: a list of integers from 1 to {}", kMostWidth);
  std::vector<std::int64_t> widths;
  bool good = list != nullptr && list->kind == Value::Kind::array && !list->items.empty() &&
              list->items.size() <= most_layers;
  if (good) {
    for (const Value& item : list->items) {
      good = good && item.kind == Value::Kind::number && item.is_integer && item.integer >= 1 &&
             item.integer <= kMostWidth;
      widths.push_back(item.integer);
    }
  }
  if (!good) {
    in.fail(key, expected);
    return {};
  }
  return widths;
}

/// A table as often as its count says.
void read_table(Reader& in, Dlrm& model) {
  EmbeddingTable table{.rows = in.integer("rows", 1, kMostRows)};
  const auto count = in.maybe_integer("count", 1, kMostTables).value_or(1);
  table.pooling = in.maybe_number("pooling", 0.001, 1e6).value_or(1);
  table.placement = in.maybe_choice<TablePlacement>("placement", kTablePlacements)
                        .value_or(TablePlacement::table_wise);
  if (table.placement == TablePlacement::column_wise) {
    table.parts = in.integer("parts", 1, kMostWidth);
    if (model.dim % table.parts != 0) {
      in.fail("parts", fmt::format("expected a divisor of the {} columns", model.dim));
    }
  } else if (in.maybe_integer("parts", 1, kMostWidth)) {
    in.fail("parts", "expected none: only a \"column-wise\" table has parts");
  }
  in.finish();
  model.tables.insert(model.tables.end(), static_cast<std::size_t>(count), table);
}

void read_tables(Reader& in, Dlrm& model) {
  double parameters = 0;
  const Value* list = in.raw("tables");
  if (list != nullptr && list->kind == Value::Kind::array && list->items.empty()) {
    in.fail("tables", "expected a table at least");
  }
  for (Reader& table : in.objects("tables")) {
    read_table(table, model);
    if (model.tables.size() > static_cast<std::size_t>(kMostTables)) {
      in.fail("tables", fmt::format("expected at most {} tables", kMostTables));
      model.tables.resize(1);
      return;
    }
  }
  for (const EmbeddingTable& table : model.tables) {
    parameters += static_cast<double>(table.rows) * static_cast<double>(model.dim);
  }
  if (parameters > kMostTableParameters) {
    in.fail("tables", fmt::format("expected at most {:g} parameters", kMostTableParameters));
  }
}

}  // namespace

Dlrm read_dlrm(Reader& in) {
  Dlrm model;
  model.name = in.text("name");
  model.title = in.maybe_text("title").value_or(model.name);
  model.source = in.maybe_text("source").value_or("given by the user");
  model.dense_features = in.integer("dense_features", 1, kMostWidth);
  model.dim = in.integer("dim", 1, kMostWidth);
  model.bottom = read_widths(in, "bottom");
  model.top = read_widths(in, "top");
  if (!model.bottom.empty() && model.bottom.back() != model.dim) {
    in.fail("bottom",
            fmt::format("expected a last width of {}, that of the tables' vectors (\"dim\")",
                        model.dim));
  }
  read_tables(in, model);
  model.table_type = in.maybe_choice<DataType>("table_type", kDataTypes).value_or(DataType::fp32);
  model.row_wise_adagrad = in.flag("row_wise_adagrad", false);
  in.finish();
  return model;
}

}  // namespace titer
