#include "titer/measured/run_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

// No figure of a training run is larger.
constexpr double kMost = 1e15;

constexpr std::array<std::string_view, 36> kNumbers = {"layers",
                                                       "hidden",
                                                       "heads",
                                                       "kv_heads",
                                                       "head_dim",
                                                       "ffn",
                                                       "ffn_gated",
                                                       "vocab",
                                                       "seq",
                                                       "n_experts",
                                                       "top_k",
                                                       "expert_ffn",
                                                       "n_chips",
                                                       "chips_per_node",
                                                       "p",
                                                       "t",
                                                       "d",
                                                       "ep",
                                                       "cp",
                                                       "vpp",
                                                       "micro_batch",
                                                       "global_batch",
                                                       "iter_time_s",
                                                       "iter_time_derived_s",
                                                       "tokens_per_s_per_gpu",
                                                       "mem_gb",
                                                       "grad_accum",
                                                       "fsdp_shard",
                                                       "seq_parallel",
                                                       "etp",
                                                       "shared_expert_ffn",
                                                       "dense_layers",
                                                       "flash_attn",
                                                       "tp_overlap",
                                                       "dp_overlap",
                                                       "params_b"};
// Without these no row can be read.
constexpr std::array<std::string_view, 13> kNeeded = {"case_id",
                                                      "layers",
                                                      "hidden",
                                                      "heads",
                                                      "ffn",
                                                      "seq",
                                                      "hw_key",
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

// What tables have in the cells of what a source does not say.
constexpr std::array<std::string_view, 9> kNothing = {
    "-", "?", "n/a", "na", "not stated", "not given", "not reported", "not specified", "unknown"};

/// "8192", "~8192", "131,072", "8k" as 8 x 1024, "1M" likewise, and of switches "yes" and "no".
std::optional<double> number_in(std::string text) {
  if (text == "yes" || text == "true" || text == "on") {
    return 1.0;
  }
  if (text == "no" || text == "false" || text == "off") {
    return 0.0;
  }
  if (text.starts_with('~')) {
    text.erase(0, 1);
  }
  static const std::regex in_thousands(R"(\d{1,3}(,\d{3})+)");
  if (std::regex_match(text, in_thousands)) {
    std::erase(text, ',');
  }
  double unit = 1.0;
  if (text.ends_with('k') || text.ends_with('m')) {
    unit = text.back() == 'k' ? 1024.0 : 1024.0 * 1024.0;
    text.pop_back();
  }
  const auto value = number_of_text<double>(text);
  return value && *value >= 0 && unit * *value <= kMost ? std::optional(unit * *value)
                                                        : std::nullopt;
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
  if (!table_->has(column)) {
    return {};
  }
  std::string text(table_->text(row_, column));
  if (std::ranges::find(kNothing, lower(text)) != kNothing.end()) {
    text.clear();
  }
  // Chips that the list of keys has not stand by their names alone.
  return text.empty() && column == "hw_key" ? this->text("chip") : text;
}

std::string RunRow::plain(std::string_view column) const { return plain_words(text(column)); }

bool RunRow::says(std::string_view column, std::string_view word) const {
  return lower(text(column)).find(lower(word)) != std::string::npos;
}

bool RunRow::says_word(std::string_view column, std::string_view word) const {
  return holds_word(lower(text(column)), word);
}

std::optional<double> RunRow::number(std::string_view column) const {
  const std::string text = lower(this->text(column));
  constexpr std::string_view unit = " tokens";
  if (column != "global_batch" || !text.ends_with(unit)) {
    return number_in(text);
  }
  const auto tokens = number_in(text.substr(0, text.size() - unit.size()));
  const auto sequence = number("seq");
  return tokens && sequence && *sequence > 0 ? std::optional(*tokens / *sequence) : std::nullopt;
}

std::string RunRow::unreadable() const {
  for (const std::string_view column : kNumbers) {
    if (has(column) && !number(column)) {
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

std::int64_t RunRow::chips() const {
  const auto stated = whole("n_chips");
  return stated ? *stated : whole("p", 1) * whole("t", 1) * whole("d", 1) * whole("cp", 1);
}

std::optional<Seconds> RunRow::iteration_time() const {
  for (const std::string_view column : {"iter_time_s", "iter_time_derived_s"}) {
    if (const auto time = number(column); time && *time > 0) {
      return Seconds::from_si(*time);
    }
  }
  const auto rate = number("tokens_per_s_per_gpu");
  const auto batch = number("global_batch");
  const auto sequence = number("seq");
  const auto devices = static_cast<double>(chips());
  if (!rate || !batch || !sequence || *rate <= 0 || devices <= 0) {
    return std::nullopt;
  }
  return Seconds::from_si(*batch * *sequence / (*rate * devices));
}

std::optional<Bytes> RunRow::memory() const {
  const auto value = number("mem_gb");
  if (!value || *value <= 0) {
    return std::nullopt;
  }
  const bool binary = says("mem_kind", "GiB") || says("mem_kind", "nvidia-smi");
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
  problems.raise();
}

}  // namespace titer
