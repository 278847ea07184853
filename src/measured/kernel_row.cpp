#include "kernel_row.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr double kAnyOfKernel = std::numeric_limits<double>::max();
constexpr std::string_view kForward = "forward";  // as tables name the passes
constexpr std::string_view kBackward = "backward";
constexpr std::string_view kFlash2 = "sdpa_flash";  // of PyTorch: FlashAttention 2

/// The data types of the tables, and bytes of scales beside every element that is converted.
struct TableType {
  std::string_view name;
  DataType type;
  double scales;
};
constexpr std::array<TableType, 4> kTableTypes = {{{"bf16", DataType::bf16, 0.0},
                                                   {"fp8", DataType::fp8, 0.0},
                                                   {"fp8_block", DataType::fp8, 4.0 / 128},
                                                   {"nvfp4", DataType::fp4, 1.0 / 16}}};

Bytes elements(double count, DataType type) { return count * size_of(type); }

Kernel moves(Bytes bytes) {
  return {.kind = KernelKind::memory, .flops = {}, .bytes = bytes, .shape = {}};
}

/// The columns of one row.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row, Problems& problems)
      : table_(table), row_(row), problems_(problems) {}

  [[nodiscard]] double number(std::string_view column, double least = 1) const {
    const auto value = table_.maybe_number(row_, column, least, kAnyOfKernel, problems_);
    if (!value && table_.text(row_, column).empty()) {
      problems_.add(table_.where(row_, column) + ": expected a number");
    }
    return value.value_or(1.0);
  }
  [[nodiscard]] std::string_view text(std::string_view column) const {
    return table_.text(row_, column);
  }
  /// "" also where the table has no such column.
  [[nodiscard]] std::string_view maybe_text(std::string_view column) const {
    return table_.has(column) ? text(column) : std::string_view();
  }
  [[nodiscard]] Seconds time() const { return Seconds::from_si(number("time_us", 1e-6) * 1e-6); }
  [[nodiscard]] int line() const { return static_cast<int>(row_) + 2; }

 private:
  const CsvTable& table_;
  std::size_t row_;
  Problems& problems_;
};

KernelShape extents(double rows, double columns, double inner, double count = 1) {
  return {.rows = static_cast<float>(rows),
          .columns = static_cast<float>(columns),
          .inner = static_cast<float>(inner),
          .count = static_cast<float>(count)};
}

/// From 16 bits to a narrow type, with its scales.
Kernel conversion(double count, const TableType& type) {
  return moves(elements(count, DataType::bf16) + elements(count, type.type) +
               count * type.scales * Bytes::from_si(1.0));
}

void read_gemm(const Row& row, const TableType& type, MeasuredKernel& into) {
  const double m = row.number("m");
  const double k = row.number("k");
  if (type.type != DataType::bf16) {
    into.kernels.push_back(conversion(m * k, type));
  }
  into.kernels.push_back(product_of(extents(m, row.number("n"), k), type.type));
}

/// What of a sequence its tokens attend to.
struct AttendedTokens {
  double keys = 0;  // on average
  int edges = 0;
};

AttendedTokens attended(double sequence, bool causal, double window) {
  if (!causal) {
    return {.keys = sequence};
  }
  if (window > 0 && window < sequence) {
    const double pairs = sequence * window - 0.5 * window * (window - 1.0);
    return {.keys = pairs / sequence, .edges = 2};
  }
  return {.keys = 0.5 * (sequence + 1.0), .edges = 1};
}

struct Heads {
  double queries = 0;
  double keys = 0;
  double query_width = 0;
  double value_width = 0;
};

Kernel attention_kernel(double batch,
                        double sequence,
                        const Heads& heads,
                        const AttendedTokens& attended) {
  const double widths = heads.query_width + heads.value_width;
  const double count = batch * heads.queries;
  KernelShape shape = extents(sequence, attended.keys, widths / 2.0, count);
  shape.group = static_cast<float>(heads.queries / heads.keys);
  shape.edges = static_cast<std::uint8_t>(attended.edges);
  const double kept = batch * sequence * widths * (heads.queries + heads.keys);
  return {.kind = KernelKind::attention,
          .flops = Flops::from_si(2.0 * count * sequence * attended.keys * widths),
          .bytes = elements(kept, DataType::bf16),
          .shape = shape};
}

/// Heads whose queries and values are of one width, or of two.
Heads heads_of(const Row& row) {
  const bool alike = row.maybe_text("qk_head_dim").empty();
  return {.queries = row.number("heads"),
          .keys = row.number("kv_heads"),
          .query_width = row.number(alike ? "head_dim" : "qk_head_dim"),
          .value_width = row.number(alike ? "head_dim" : "v_head_dim")};
}

/// The gradients of what a forward kernel made: it repeats the scores, and reads and writes twice
/// as much, as in the layers of models.
Kernel backward_of(Kernel kernel, const Heads& heads) {
  const double products = 3.0 * heads.query_width + 2.0 * heads.value_width;
  kernel.flops = products / (heads.query_width + heads.value_width) * kernel.flops;
  kernel.bytes = 2.0 * kernel.bytes;
  kernel.shape.backward = true;
  return kernel;
}

/// Tables that name the pass timed the kernels of training alone; of others, which serve, causal
/// rows write keys and values to a cache first, and replays start with each row.
void read_attention(const Row& row, MeasuredKernel& into) {
  const double batch = row.number("batch");
  const double sequence = row.number("seq");
  const bool causal = row.number("causal", 0) > 0;
  const Heads heads = heads_of(row);
  into.is_flash_2 = row.maybe_text("kernel").substr(0, kFlash2.size()) == kFlash2;
  const Kernel forward =
      attention_kernel(batch, sequence, heads, attended(sequence, causal, row.number("window", 0)));
  if (const std::string_view pass = row.maybe_text("pass"); !pass.empty()) {
    into.kernels.push_back(pass == kBackward ? backward_of(forward, heads) : forward);
    return;
  }
  if (causal) {
    const double cached = batch * sequence * heads.keys * (heads.query_width + heads.value_width);
    into.kernels.push_back(moves(2.0 * elements(cached, DataType::bf16)));
  }
  into.kernels.push_back(forward);
  into.starts_graph = true;
}

/// Queries and keys get their rotary part first.
void read_mla(const Row& row, MeasuredKernel& into) {
  const double heads = row.number("heads");
  const double sequence = row.number("seq");
  const double rotary = row.number("qk_head_dim") - row.number("v_head_dim");
  const double turned = 2.0 * row.number("batch") * sequence * heads * rotary;
  into.kernels.push_back(moves(2.0 * elements(turned, DataType::bf16)));
  const Heads widths = {heads, heads, row.number("qk_head_dim"), row.number("v_head_dim")};
  into.kernels.push_back(attention_kernel(
      row.number("batch"), sequence, widths, attended(sequence, row.number("causal", 0) > 0, 0)));
  into.starts_graph = true;
}

/// Choice of experts, copies in their order, products, activation, products, weighted sum. Rows
/// with less than one copy for every expert leave some without work.
void read_moe(const Row& row, const TableType& type, MeasuredKernel& into) {
  const double tokens = row.number("tokens");
  const double hidden = row.number("hidden");
  const double width = row.number("inter") / row.number("tp");
  const double ranks = row.number("ep");
  const double experts = row.number("experts") / ranks;
  const double copies = tokens * row.number("topk") / ranks;
  const double gates = row.number("mats", 2) - 1.0;
  const double busy = std::clamp(copies, 1.0, experts);
  const bool narrow = type.type != DataType::bf16;
  const auto bytes = [](double count) { return elements(count, DataType::bf16); };
  into.kernels.push_back(moves(elements(tokens * experts * ranks, DataType::fp32)));
  into.kernels.push_back(moves(bytes((tokens + copies) * hidden)));
  if (narrow) {
    into.kernels.push_back(conversion(copies * hidden, type));
  }
  KernelShape up = extents(std::max(1.0, copies / busy), gates * width, hidden, busy);
  up.grouped = true;
  KernelShape down = extents(up.rows, hidden, width, busy);
  down.grouped = true;
  into.kernels.push_back(product_of(up, type.type));
  into.kernels.push_back(moves(bytes((gates + 1.0) * copies * width)));
  if (narrow) {
    into.kernels.push_back(conversion(copies * width, type));
  }
  into.kernels.push_back(product_of(down, type.type));
  into.kernels.push_back(moves(bytes((tokens + copies) * hidden)));
  into.starts_graph = true;
}

/// Why a row is not predicted; "" when it is.
std::string reason_to_skip(const Row& row, KernelTableKind kind, const TableType* type) {
  if (type == nullptr) {
    return "data type \"" + std::string(row.text("dtype")) + "\" is not modelled";
  }
  if (kind == KernelTableKind::attention && type->type != DataType::bf16) {
    return "fused attention in " + std::string(row.text("dtype")) + " is not modelled";
  }
  const std::string_view pass = row.maybe_text("pass");
  if (!pass.empty() && pass != kForward && pass != kBackward) {
    return "pass \"" + std::string(pass) + "\" is neither forward nor backward";
  }
  if (row.maybe_text("deterministic") == "1") {
    return "attention that is added up in a fixed order is not modelled";
  }
  if (kind == KernelTableKind::moe && row.text("distribution") != "balanced" &&
      row.text("ep") != "1") {
    return "the load of its busiest rank is not recorded";
  }
  return {};
}

}  // namespace

void read_kernel_row(const CsvTable& rows,
                     std::size_t number,
                     KernelTable& table,
                     Problems& problems) {
  const Row row(rows, number, problems);
  const std::string_view name = row.text("dtype");
  const TableType* known = first_with(kTableTypes, name, &TableType::name);
  if (std::string reason = reason_to_skip(row, table.kind, known); !reason.empty()) {
    table.skipped.push_back({row.line(), std::move(reason)});
    return;
  }
  MeasuredKernel measured{.product = known->type, .time = row.time(), .line = row.line()};
  switch (table.kind) {
    case KernelTableKind::gemm:
      read_gemm(row, *known, measured);
      break;
    case KernelTableKind::attention:
      read_attention(row, measured);
      break;
    case KernelTableKind::mla:
      read_mla(row, measured);
      break;
    case KernelTableKind::moe:
      read_moe(row, *known, measured);
      break;
  }
  table.rows.push_back(std::move(measured));
}

}  // namespace titer
