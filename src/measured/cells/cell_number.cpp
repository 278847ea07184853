#include "cell_number.hpp"

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

// No figure of a training run is larger.
constexpr double kMost = 1e15;

enum class CellKind {
  count,
  tokens,
  sequences,
  devices,
  degree,
  decimal,
  time,
  rate,
  printed,  // beside the time: a row is read without it
  on
};

struct NumberColumn {
  std::string_view name;
  CellKind kind;
};
constexpr std::array<NumberColumn, 42> kNumberColumns = {{{"layers", CellKind::count},
                                                          {"hidden", CellKind::count},
                                                          {"heads", CellKind::count},
                                                          {"kv_heads", CellKind::count},
                                                          {"head_dim", CellKind::count},
                                                          {"ffn", CellKind::count},
                                                          {"ffn_gated", CellKind::on},
                                                          {"vocab", CellKind::decimal},
                                                          {"seq", CellKind::tokens},
                                                          {"n_experts", CellKind::count},
                                                          {"top_k", CellKind::count},
                                                          {"expert_ffn", CellKind::count},
                                                          {"n_chips", CellKind::devices},
                                                          {"chips_per_node", CellKind::devices},
                                                          {"p", CellKind::degree},
                                                          {"t", CellKind::degree},
                                                          {"d", CellKind::degree},
                                                          {"ep", CellKind::degree},
                                                          {"cp", CellKind::degree},
                                                          {"vpp", CellKind::degree},
                                                          {"micro_batch", CellKind::sequences},
                                                          {"global_batch", CellKind::sequences},
                                                          {"iter_time_s", CellKind::time},
                                                          {"iter_time_derived_s", CellKind::time},
                                                          {"iter_time_ms", CellKind::decimal},
                                                          {"tokens_per_s", CellKind::rate},
                                                          {"samples_per_s", CellKind::rate},
                                                          {"tokens_per_s_per_gpu", CellKind::rate},
                                                          {"mem_gb", CellKind::decimal},
                                                          {"grad_accum", CellKind::count},
                                                          {"fsdp_shard", CellKind::devices},
                                                          {"seq_parallel", CellKind::on},
                                                          {"etp", CellKind::degree},
                                                          {"shared_expert_ffn", CellKind::count},
                                                          {"dense_layers", CellKind::count},
                                                          {"flash_attn", CellKind::on},
                                                          {"tp_overlap", CellKind::on},
                                                          {"dp_overlap", CellKind::on},
                                                          {"params_b", CellKind::printed},
                                                          {"tflops_per_gpu", CellKind::printed},
                                                          {"mfu_pct", CellKind::printed},
                                                          {"hfu_pct", CellKind::printed}}};

const NumberColumn* number_column(std::string_view column) {
  const auto* const known = std::ranges::find(kNumberColumns, column, &NumberColumn::name);
  return known == kNumberColumns.end() ? nullptr : known;
}

// What tables have in the cells of what a source does not say.
constexpr std::array<std::string_view, 16> kNothing = {"-",
                                                       "--",
                                                       "\u2013",
                                                       "\u2014",
                                                       "?",
                                                       "n/a",
                                                       "na",
                                                       "nan",
                                                       "n.a.",
                                                       "null",
                                                       "tbd",
                                                       "not stated",
                                                       "not given",
                                                       "not reported",
                                                       "not specified",
                                                       "unknown"};

/// Whether "none" says something of this column: that there is none.
bool can_be_none(std::string_view column) {
  constexpr std::array<std::string_view, 5> words = {
      "dp_kind", "recompute", "offload", "cuda_graph", "sched"};
  const NumberColumn* number = number_column(column);
  return std::ranges::find(words, column) != words.end() ||
         (number != nullptr && column != "etp" &&
          (number->kind == CellKind::on || number->kind == CellKind::degree));
}

bool matches(const std::string& text, const std::regex& words) {
  return std::regex_match(text, words);
}

/// What a column's switch is called where it is on, and off.
struct SwitchWords {
  std::string_view column;
  std::regex on;
  std::regex off;
};

const SwitchWords* switch_words(std::string_view column) {
  static const std::array<SwitchWords, 3> known = {
      {{"flash_attn",
        std::regex(
            R"((?:te |cudnn |pytorch |torch )?(?:flash|fused|splash|fa[ -]?[234]|cudnn|sdpa|)"
            R"(xformers|triton|memory[ -]efficient)\b.*|flash.*|v[23])"),
        std::regex(
            R"((?:no|without|non)[ -](?:flash|fused).*|(?:unfused|eager|native|math|vanilla|)"
            R"(standard|naive|materiali[sz]ed)(?: attention)?)")},
       {"ffn_gated",
        std::regex(R"((?:swi|ge|re)?glu|gated(?: \w+)?|\w+[ -]gated)"),
        std::regex(R"((?:un|non?[ -]?|not )gated|gelu|(?:squared[ -])?relu(?:2|\^2)?)")},
       {"seq_parallel",
        std::regex(R"((?:megatron[ -])?(?:sp|sequence[ -]parallel(?:ism)?))"),
        std::regex(R"((?:no|without) (?:sp|sequence[ -]parallel(?:ism)?))")}}};
  const auto* const found = std::ranges::find(known, column, &SwitchWords::column);
  return found == known.end() ? nullptr : found;
}

std::optional<double> switch_in(std::string_view column, const std::string& text) {
  static const std::regex on("y|yes|true|on|enabled|used|\u2713|\u2714");
  static const std::regex off("n|no|none|false|off|disabled|unused|not used|without|\u2717|\u2718");
  const SwitchWords* own = switch_words(column);
  if (matches(text, on) || (own != nullptr && matches(text, own->on))) {
    return 1.0;
  }
  return matches(text, off) || (own != nullptr && matches(text, own->off)) ? std::optional(0.0)
                                                                           : std::nullopt;
}

/// Words behind a number, and how much of the column's own unit one is.
struct UnitWords {
  CellKind kind;
  std::string_view column;  // "": all of the kind
  std::regex words;
  double size = 1.0;
};

std::optional<double> unit_in(const NumberColumn& column, const std::string& text) {
  static const std::array<UnitWords, 11> known = {
      {{CellKind::tokens, "", std::regex("tok(?:en)?s?")},
       {CellKind::sequences, "", std::regex("(?:seq(?:uence)?|sample|example|image)s?")},
       {CellKind::devices, "", std::regex("(?:gpu|tpu|npu|chip|device|accelerator|rank)s?")},
       {CellKind::degree, "", std::regex("x|-?way|(?:gpu|chip|device|rank|stage)s?")},
       {CellKind::time,
        "",
        std::regex("s(?:ec(?:ond)?s?)?(?:(?: ?/ ?| per )(?:step|it|iter|iteration|batch))?")},
       {CellKind::time,
        "",
        std::regex(
            "(?:ms|msecs?|milliseconds?)(?:(?: ?/ ?| per )(?:step|it|iter|iteration|batch))?"),
        1e-3},
       {CellKind::time, "", std::regex("min(?:ute)?s?"), 60},
       {CellKind::rate,
        "tokens_per_s_per_gpu",
        std::regex("(?:tok(?:en)?s?(?: ?/ ?| per )s(?:ec(?:ond)?)?|tps|tgs)"
                   "(?:(?: ?/ ?| per )(?:gpu|tpu|chip|device|accelerator))?")},
       {CellKind::printed,
        "tflops_per_gpu",
        std::regex("tflops?(?:/s)?(?:(?:/| per )(?:gpu|chip|device))?")},
       {CellKind::decimal, "mem_gb", std::regex("gi?b")},
       {CellKind::printed, "", std::regex("%")}}};
  if (text.empty()) {
    return 1.0;
  }
  const auto* const found = std::ranges::find_if(known, [&](const UnitWords& unit) {
    return unit.kind == column.kind && (unit.column.empty() || unit.column == column.name) &&
           matches(text, unit.words);
  });
  return found == known.end() ? std::nullopt : std::optional(found->size);
}

/// Takes a k or M from the front of what stands behind a number.
double take_thousands(double step, std::string& rest) {
  static const std::regex prefix("(k|m)i?(?: .*|)");
  static const std::regex before_unit("(k|m)(?:tok|tps|tgs).*");
  std::smatch match;
  if (!std::regex_match(rest, match, prefix) && !std::regex_match(rest, match, before_unit)) {
    return 1.0;
  }
  const double size = match[1] == "k" ? step : step * step;
  rest.erase(0, rest.starts_with("ki") || rest.starts_with("mi") ? 2 : 1);
  rest = std::string(trimmed(rest));
  return size;
}

/// Without "~" and "+" before it, marks between its thousands, and how far it may be off.
std::string bare_number(std::string text) {
  static const std::regex before("^(?:~|\u2248|\\+) ?");
  static const std::regex in_thousands(R"(^\d{1,3}(?:([,_' ])\d{3})(?:\1\d{3})*(?![\d,_']))");
  static const std::regex spread(" ?(?:\u00b1|\\+/?-) ?[\\d.]+");
  text = std::regex_replace(text, before, "");
  std::smatch match;
  if (std::regex_search(text, match, in_thousands)) {
    std::string whole = match.str();
    std::erase_if(whole, [](char c) { return c < '0' || c > '9'; });
    text = whole + match.suffix().str();
  }
  return std::regex_replace(text, spread, "");
}

bool counts_decimally(const NumberColumn& column) {
  return column.kind == CellKind::rate || column.kind == CellKind::printed ||
         column.kind == CellKind::decimal;
}

/// A number and what stands behind it.
std::optional<double> number_with_unit(const NumberColumn& column, const std::string& text) {
  const std::string bare = bare_number(text);
  std::string_view left = bare;
  const auto value = take_number<double>(left);
  if (!value) {
    return std::nullopt;
  }
  std::string rest(trimmed(left));
  double size = 1.0;
  if (column.kind != CellKind::time) {
    size = take_thousands(counts_decimally(column) ? 1000.0 : 1024.0, rest);
  }
  const auto unit = unit_in(column, rest);
  return unit ? std::optional(*value * size * *unit) : std::nullopt;
}

/// "8x8", "16 nodes x 8": of devices.
std::optional<double> product_in(const std::string& text) {
  static const std::regex product("(\\d{1,5})(?: nodes?| hosts?)? ?(?:x|\\*|\u00d7) ?(\\d{1,5})");
  std::smatch match;
  return std::regex_match(text, match, product)
             ? std::optional(std::stod(match[1]) * std::stod(match[2]))
             : std::nullopt;
}

std::optional<double> read_number(const NumberColumn& column, const std::string& text) {
  if (const auto plain = number_of_text<double>(text)) {
    return plain;
  }
  const auto word = switch_in(column.name, text);
  if (column.kind == CellKind::on && word) {
    return word;
  }
  if (column.kind == CellKind::degree && word == 0.0) {
    return 1.0;
  }
  if (column.kind == CellKind::devices) {
    if (const auto product = product_in(text)) {
      return product;
    }
  }
  return number_with_unit(column, text);
}

}  // namespace

std::string_view number_column_called(std::string_view letters) {
  const auto* const known = std::ranges::find_if(kNumberColumns, [&](const NumberColumn& column) {
    std::string own(column.name);
    std::erase(own, '_');
    return own == letters;
  });
  return known == kNumberColumns.end() ? "" : known->name;
}

bool needs_number(std::string_view column) {
  const NumberColumn* known = number_column(column);
  return known != nullptr && known->kind != CellKind::printed;
}

std::string_view stated_cell(std::string_view column, std::string_view cell) {
  cell = trimmed(cell);
  const std::string text = lower(cell);
  const bool is_nothing =
      std::ranges::find(kNothing, text) != kNothing.end() ||
      (text == "none" && !can_be_none(column)) ||
      (column == "fsdp_shard" && (text == "-1" || text == "full" || text == "all"));
  return is_nothing ? std::string_view() : cell;
}

std::optional<double> cell_number(std::string_view column, std::string_view cell) {
  const NumberColumn* known = number_column(column);
  const NumberColumn other{column, CellKind::count};
  const NumberColumn& of = known == nullptr ? other : *known;
  auto value = read_number(of, lower(cell));
  if (value && of.kind == CellKind::degree && *value == 0) {
    value = 1.0;  // of a kind of parallelism that there is none of
  }
  return value && *value >= 0 && *value <= kMost ? value : std::nullopt;
}

std::optional<TokenCount> cell_tokens(std::string_view cell) {
  static const std::regex tokens(
      R"((?:(\d+) ?[x*] ?)?(.*[\d.kmi]) ?tok(?:en)?s?|(.*\d ?mi?|\d{3,} ?k))");
  const std::string text = lower(cell);
  std::smatch match;
  if (!std::regex_match(text, match, tokens)) {
    return std::nullopt;
  }
  const double times = match[1].matched ? std::stod(match[1]) : 1.0;
  const std::string number = match[2].matched ? match[2] : match[3];
  const auto counted = number_with_unit({"", CellKind::count}, number);
  const auto decimal = number_with_unit({"", CellKind::decimal}, number);
  return counted && decimal && times * *counted <= kMost
             ? std::optional(TokenCount{.counted = times * *counted, .decimal = times * *decimal})
             : std::nullopt;
}

}  // namespace titer
