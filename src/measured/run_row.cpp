#include "titer/measured/run_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "measured/cells/cell_number.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

// Without these no row can be read.
constexpr std::array<std::string_view, 12> kNeeded = {"case_id",
                                                      "layers",
                                                      "hidden",
                                                      "heads",
                                                      "ffn",
                                                      "seq",
                                                      "n_chips",
                                                      "p",
                                                      "t",
                                                      "d",
                                                      "micro_batch",
                                                      "global_batch"};

// What rows of one sweep have in common.
constexpr std::array<std::string_view, 16> kColumnsOfSweep = {"family",
                                                              "layers",
                                                              "hidden",
                                                              "heads",
                                                              "kv_heads",
                                                              "ffn",
                                                              "vocab",
                                                              "seq",
                                                              "top_k",
                                                              "hw_key",
                                                              "n_chips",
                                                              "n_experts",
                                                              "precision",
                                                              "chips_per_node",
                                                              "inter_link",
                                                              "global_batch"};
// And what may differ.
constexpr std::array<std::string_view, 20> kColumnsOfPlan = {
    "p",          "t",           "d",          "ep",           "cp",         "etp",       "vpp",
    "sched",      "micro_batch", "grad_accum", "dp_kind",      "fsdp_shard", "recompute", "offload",
    "flash_attn", "cuda_graph",  "tp_overlap", "seq_parallel", "dp_overlap", "software"};

/// "bfloat16" as "bf16", "float8" as "fp8", "FP8-MX" as "mxfp8", "FP8-CS" as "fp8currentscaling",
/// which recipes call tensorwise, too.
std::string plain_precision(std::string text) {
  const auto call = [&](std::string_view word, std::string_view name) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, word.size(), name);
    }
  };
  call("bfloat", "bf");
  call("float", "fp");
  call("fp8mx", "mxfp8");
  call("fp8(mx)", "mxfp8");
  call("fp8cs", "fp8currentscaling");
  call("tensorwise", "currentscaling");
  if (text.ends_with("current")) {
    text += "scaling";
  }
  return text;
}

/// Sequences of a batch in tokens: k and M of memory's kind where they divide it, and otherwise
/// those of a thousand, of all that a table rounds to the same the whole number of micro-batches of
/// every replica that is divided by the most twos.
double sequences_of(const TokenCount& tokens, double sequence, double of_replicas) {
  constexpr double rounded = 0.005;
  const double counted = tokens.counted / sequence;
  if (tokens.counted == tokens.decimal || std::fmod(counted, of_replicas) == 0) {
    return counted;
  }
  const double near = tokens.decimal / sequence / of_replicas;
  for (double step = std::exp2(std::floor(std::log2(near + 1))); step >= 1; step /= 2) {
    const double least = std::ceil((1 - rounded) * near / step) * step;
    if (least > 0 && least <= (1 + rounded) * near) {
      return least * of_replicas;
    }
  }
  return counted;
}

}  // namespace

bool holds_word(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) {
      return true;
    }
  }
  return false;
}

std::string plain_words(std::string_view text) {
  std::string small = lower(text);
  std::erase_if(small, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  return small;
}

std::string RunRow::text(std::string_view column) const {
  std::string text(table_->has(column) ? stated_cell(column, table_->text(row_, column))
                                       : std::string_view());
  if (!text.empty()) {
    return text;
  }
  // Chips that the list of keys has not stand by their names alone.
  return column == "hw_key" ? this->text("chip") : derived(column);
}

std::string RunRow::derived(std::string_view column) const {
  constexpr std::array<std::string_view, 3> degrees = {"p", "t", "d"};
  const bool is_degree = std::ranges::find(degrees, column) != degrees.end();
  if (!is_degree && column != "n_chips") {
    return {};
  }
  const auto stated = [&](std::string_view other) {
    return table_->has(other) ? cell_number(other, stated_cell(other, table_->text(row_, other)))
                              : std::nullopt;
  };
  double others = stated("cp").value_or(1);
  for (const std::string_view degree : degrees) {
    if (degree != column) {
      others *= stated(degree).value_or(0);
    }
  }
  const double all = is_degree ? stated("n_chips").value_or(0) : others;
  if (others <= 0 || all < others || std::fmod(all, others) != 0) {
    return {};
  }
  return fmt::format("{:.0f}", is_degree ? all / others : all);
}

std::string RunRow::plain(std::string_view column) const {
  const std::string words = plain_words(text(column));
  if (column == "model_name" && words.starts_with("dsv3")) {
    return "deepseek" + words.substr(2);
  }
  return column == "precision" ? plain_precision(words) : words;
}

bool RunRow::says(std::string_view column, std::string_view word) const {
  return lower(text(column)).find(lower(word)) != std::string::npos;
}

bool RunRow::says_word(std::string_view column, std::string_view word) const {
  return holds_word(lower(text(column)), word);
}

std::optional<double> RunRow::number(std::string_view column) const {
  const std::string text = this->text(column);
  if (column != "global_batch" && column != "micro_batch") {
    return text.empty() ? std::nullopt : cell_number(column, text);
  }
  const auto tokens = cell_tokens(text);
  if (!tokens) {
    return text.empty() ? std::nullopt : cell_number(column, text);
  }
  const auto sequence = number("seq");
  if (!sequence || *sequence <= 0) {
    return std::nullopt;
  }
  const double replicas =
      column == "micro_batch" ? 1.0 : number("d").value_or(1) * number("micro_batch").value_or(1);
  return sequences_of(*tokens, *sequence, std::max(replicas, 1.0));
}

std::string RunRow::unreadable() const {
  for (const std::string& column : table_->columns()) {
    if (needs_number(column) && has(column) && !number(column)) {
      return fmt::format("{} \"{}\" is no number", column, text(column));
    }
  }
  return {};
}

std::optional<std::int64_t> RunRow::whole(std::string_view column) const {
  const auto value = number(column);
  if (!value || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::int64_t RunRow::experts() const {
  const std::int64_t stated = whole("n_experts", 0);
  return stated > 1 ? stated : 0;
}

std::int64_t RunRow::chips() const {
  const auto stated = whole("n_chips");
  return stated ? *stated : whole("p", 1) * whole("t", 1) * whole("d", 1) * whole("cp", 1);
}

std::optional<Seconds> RunRow::iteration_time() const {
  constexpr std::array<std::pair<std::string_view, double>, 3> times = {
      {{"iter_time_s", 1.0}, {"iter_time_derived_s", 1.0}, {"iter_time_ms", 1e-3}}};
  for (const auto& [column, unit] : times) {
    if (const auto time = number(column); time && *time > 0) {
      return Seconds::from_si(unit * *time);
    }
  }
  const double batch = number("global_batch").value_or(0);
  const double tokens = batch * number("seq").value_or(0);
  const std::array<std::pair<std::string_view, double>, 3> works = {
      {{"tokens_per_s_per_gpu", tokens / static_cast<double>(chips())},
       {"tokens_per_s", tokens},
       {"samples_per_s", batch}}};
  for (const auto& [column, work] : works) {
    if (const auto rate = number(column); rate && *rate > 0 && work > 0) {
      return Seconds::from_si(work / *rate);
    }
  }
  return std::nullopt;
}

std::optional<Bytes> RunRow::memory() const {
  const auto value = number("mem_gb");
  if (!value || *value <= 0) {
    return std::nullopt;
  }
  const bool binary =
      says("mem_kind", "GiB") || says("mem_kind", "nvidia-smi") || says("mem_gb", "GiB");
  return *value * (binary ? 1_GiB : 1_GB);
}

MemoryCount RunRow::memory_count() const {
  if (says("mem_kind", "reserved") || says("mem_kind", "at step")) {
    return MemoryCount::reserved;
  }
  return says("mem_kind", "allocated") || says("mem_kind", "peak") ? MemoryCount::tensors
                                                                   : MemoryCount::device;
}

std::string RunRow::joined(std::span<const std::string_view> columns) const {
  std::string all;
  for (const std::string_view column : columns) {
    all += text(column) + "|";
  }
  return all;
}

std::string RunRow::sweep() const {
  if (!has("global_batch") || !has("n_chips")) {
    return {};
  }
  // One family may have run several programs, named first in its notes.
  const std::string notes = text("notes");
  return joined(kColumnsOfSweep) + notes.substr(0, notes.find(';'));
}

std::string RunRow::plan() const { return joined(kColumnsOfPlan); }

void check_run_table(const CsvTable& table) {
  Problems problems;
  for (const std::string_view column : kNeeded) {
    if (!table.has(column)) {
      problems.add(std::string(table.where(0, column)) + ": no such column in a table of runs");
    }
  }
  if (!table.has("hw_key") && !table.has("chip")) {
    problems.add(std::string(table.where(0, "hw_key")) + ": no such column in a table of runs");
  }
  problems.raise();
}

}  // namespace titer
