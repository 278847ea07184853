// From a document.

#include <fmt/core.h>

#include <algorithm>

#include "model/model_files.hpp"
#include "titer/model/dlrm/dlrm.hpp"
#include "titer/model/limits.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostTables = 100'000;
constexpr double kMostTableParameters = 1e17;  // so that their number stays within 64 bits
constexpr Range kWidths = {1, kMostWidth};

/// The output widths of an MLP's layers.
template <std::vector<std::int64_t> Dlrm::*Widths>
void read_mlp(const Field<Dlrm>& own, Reader& in, Dlrm& model) {
  constexpr std::size_t most_layers = 1000;
  const auto is_width = [](const Value& item) {
    return item.kind == Value::Kind::number && item.is_integer && item.integer >= 1 &&
           item.integer <= kMostWidth;
  };
  const Value* list = in.raw(own.key);
  if (list == nullptr || list->kind != Value::Kind::array || list->items.empty() ||
      list->items.size() > most_layers || !std::ranges::all_of(list->items, is_width)) {
    in.fail(
        own.key,
        fmt::format("expected the layers' widths: a list of integers from 1 to {}", kMostWidth));
    return;
  }
  for (const Value& item : list->items) {
    (model.*Widths).push_back(item.integer);
  }
}
Value widths_schema() { return schema::list_of(schema::integer(kWidths)); }

/// A table as often as its count says.
struct WrittenTable : EmbeddingTable {
  std::int64_t count = 1;
};
void read_parts(const Field<WrittenTable>& own, Reader& in, WrittenTable& table) {
  if (table.placement == TablePlacement::column_wise) {
    table.parts = in.integer(own.key, 1, kMostWidth);
  } else if (in.maybe_integer(own.key, 1, kMostWidth)) {
    in.fail(own.key, "expected none: only a \"column-wise\" table has parts");
  }
}
constexpr std::array kTableFields = {
    fields::integer<&WrittenTable::rows, WrittenTable>("rows", {1, kMostRows}, "of the table")
        .needed(),
    fields::integer<&WrittenTable::count>("count", {1, kMostTables}, "tables that are alike"),
    fields::number<&WrittenTable::pooling, WrittenTable>(
        "pooling", {0.001, 1e6}, "rows that a sample looks up and adds up, on average"),
    fields::choice<&WrittenTable::placement, kTablePlacements, WrittenTable>(
        "placement", "how it lies on the devices"),
    fields::integer<&WrittenTable::parts, WrittenTable>(
        "parts", kWidths, "columns of a `column-wise` one are cut into so many")
        .read_by(read_parts)
        .or_else("required there")};
std::span<const Field<WrittenTable>> table_fields() { return kTableFields; }

void read_table(Reader& in, Dlrm& model) {
  WrittenTable table;
  read_keys(table_fields(), in, table);
  if (table.placement == TablePlacement::column_wise && model.dim % table.parts != 0) {
    in.fail("parts", fmt::format("expected a divisor of the {} columns", model.dim));
  }
  in.finish();
  model.tables.insert(model.tables.end(), static_cast<std::size_t>(table.count), table);
}

void read_tables(const Field<Dlrm>& own, Reader& in, Dlrm& model) {
  const Value* list = in.raw(own.key);
  if (list != nullptr && list->kind == Value::Kind::array && list->items.empty()) {
    in.fail(own.key, "expected a table at least");
  }
  for (Reader& table : in.objects(own.key)) {
    read_table(table, model);
    if (model.tables.size() > static_cast<std::size_t>(kMostTables)) {
      in.fail(own.key, fmt::format("expected at most {} tables", kMostTables));
      model.tables.resize(1);
      return;
    }
  }
  double parameters = 0;
  for (const EmbeddingTable& table : model.tables) {
    parameters += static_cast<double>(table.rows) * static_cast<double>(model.dim);
  }
  if (parameters > kMostTableParameters) {
    in.fail(own.key, fmt::format("expected at most {:g} parameters", kMostTableParameters));
  }
}
Value tables_schema() { return schema::list_of(schema_of(table_fields())); }

constexpr std::array kDlrmFields = {
    fields::integer<&Dlrm::dense_features>(
        "dense_features", kWidths, "numbers of a sample that the bottom MLP reads")
        .needed(),
    fields::integer<&Dlrm::dim>("dim", kWidths, "columns of every table").needed(),
    fields::of_schema<Dlrm, widths_schema>(
        "bottom", read_mlp<&Dlrm::bottom>, "widths of the bottom MLP's layers, the last is `dim`")
        .needed(),
    fields::of_schema<Dlrm, widths_schema>(
        "top", read_mlp<&Dlrm::top>, "widths of the top MLP's layers")
        .needed(),
    fields::of_schema<Dlrm, tables_schema>("tables", read_tables, "of embeddings").needed(),
    fields::choice<&Dlrm::table_type, kDataTypes>("table_type", "number format of the tables"),
    fields::flag<&Dlrm::row_wise_adagrad>(
        "row_wise_adagrad", "the tables' optimizer keeps a number in fp32 per row, else nothing")};
std::span<const Field<Dlrm>> dlrm_fields() { return kDlrmFields; }

}  // namespace

Dlrm read_dlrm(Reader& in) {
  Dlrm model;
  read_names(in, model);
  read_keys(dlrm_fields(), in, model);
  if (!model.bottom.empty() && model.bottom.back() != model.dim) {
    in.fail("bottom",
            fmt::format("expected a last width of {}, that of the tables' vectors (\"dim\")",
                        model.dim));
  }
  in.finish();
  return model;
}

Value dlrm_schema() {
  Value object = schema::object();
  add_keys<Dlrm>(kNameFields<Dlrm>, object);
  add_keys(dlrm_fields(), object);
  return object;
}

}  // namespace titer
