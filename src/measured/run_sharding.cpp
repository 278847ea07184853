// What the data-parallel ranks of a measured run share.

#include <algorithm>
#include <array>
#include <regex>

#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// As RunRow::plain() has them.
struct ShardingWord {
  std::string_view text;
  Sharding sharding;
};
constexpr std::array<ShardingWord, 40> kShardingWords = {
    {{"none", Sharding::none},
     {"zero0", Sharding::none},
     {"ddp", Sharding::none},
     {"distributeddataparallel", Sharding::none},
     {"dataparallel", Sharding::none},
     {"replicated", Sharding::none},
     {"allreduce", Sharding::none},
     {"horovod", Sharding::none},
     {"deepspeed3d", Sharding::none},
     {"auto", Sharding::none},
     {"noshard", Sharding::none},
     {"nozero", Sharding::none},
     {"zero1", Sharding::zero1},
     {"z1", Sharding::zero1},
     {"zerostage1", Sharding::zero1},
     {"stage1", Sharding::zero1},
     {"distributedoptimizer", Sharding::zero1},
     {"distopt", Sharding::zero1},
     {"optimizersharding", Sharding::zero1},
     {"optimizerstate", Sharding::zero1},
     {"shardedoptimizer", Sharding::zero1},
     {"distributedfusedadam", Sharding::zero1},
     {"distributedlamb", Sharding::zero1},
     {"zero2", Sharding::zero2},
     {"z2", Sharding::zero2},
     {"zerostage2", Sharding::zero2},
     {"stage2", Sharding::zero2},
     {"shardgradop", Sharding::zero2},
     {"zero3", Sharding::zero3},
     {"z3", Sharding::zero3},
     {"zerostage3", Sharding::zero3},
     {"stage3", Sharding::zero3},
     {"fsdp", Sharding::zero3},
     {"hsdp", Sharding::zero3},
     {"fullshard", Sharding::zero3},
     {"fullyshard", Sharding::zero3},
     {"shardeddataparallel", Sharding::zero3},
     {"hybridshard", Sharding::zero3},
     {"mics", Sharding::zero3},
     {"gemini", Sharding::zero3}}};  // [ColossalAI: chunks of parameters, gradients and moments]

/// By the first word of a text, and of those that begin there the longest: of "fsdp shard_grad_op"
/// the strategy, which says more. "plain DP" is none, and so is "no".
std::optional<Sharding> first_sharding(std::string_view text) {
  static const std::regex nothing("(?:plain|pure|vanilla|standard)?dp(?:only)?|no|off|false");
  if (std::regex_match(text.begin(), text.end(), nothing)) {
    return Sharding::none;
  }
  for (const std::string_view strategy : {"shardgradop", "noshard"}) {
    if (const std::size_t at = text.find(strategy); at != std::string_view::npos) {
      text = text.substr(at);
    }
  }
  const ShardingWord* first = nullptr;
  std::size_t place = std::string_view::npos;
  for (const ShardingWord& word : kShardingWords) {
    const std::size_t at = text.find(word.text);
    if (at < place || (at == place && first != nullptr && word.text.size() > first->text.size())) {
      first = &word;
      place = at;
    }
  }
  return first == nullptr ? std::nullopt : std::optional(first->sharding);
}

/// "fsdp-grad-op(zero2)": in brackets is how much is shared. "ddp + zero1": both hold.
std::optional<Sharding> sharding_of(std::string_view text) {
  if (const std::size_t bracket = text.find('('); bracket != std::string_view::npos) {
    if (const auto inside = first_sharding(text.substr(bracket + 1))) {
      return inside;
    }
    text = text.substr(0, bracket);
  }
  std::optional<Sharding> most;
  for (std::size_t plus = 0; plus != std::string_view::npos;) {
    plus = text.find('+');
    const auto part = first_sharding(text.substr(0, plus));
    most = part && (!most || *part > *most) ? part : most;
    text = plus == std::string_view::npos ? "" : text.substr(plus + 1);
  }
  return most;
}

/// "zero_stage=1" as "zerostage1".
std::string kind_of(const RunRow& row) {
  std::string kind = row.plain("dp_kind");
  std::erase_if(kind, [](char c) { return c == '=' || c == ':'; });
  return kind;
}

/// Ranks that split among them, where these are not all.
std::optional<std::int64_t> shard_of(const RunRow& row, const std::string& chip, const Plan& plan) {
  const std::string kind = row.plain("dp_kind");
  const auto is = [&](std::string_view word) { return kind.find(word) != std::string::npos; };
  const bool is_hybrid = is("hsdp") || is("hybrid") || is("mics");
  const auto stated = row.whole("fsdp_shard");
  if (!stated) {
    return is_hybrid ? std::optional(std::min(plan.data, row.whole("chips_per_node", 8)))
                     : std::nullopt;
  }
  // Along which axis of its slice a TPU's shards lie, rows do not tell.
  const bool is_smaller =
      plan.sharding == Sharding::zero3 && *stated < plan.data && !chip.starts_with("tpu");
  const bool is_group = is_hybrid || is("withingroups") || is("insideslice") || is_smaller;
  return is_group && plan.shards() && *stated > 0 && *stated < plan.replicas() ? stated
                                                                               : std::nullopt;
}

}  // namespace

void read_sharding(const RunRow& row,
                   const RunHabits& habits,
                   std::optional<Sharding> open,
                   Plan& plan) {
  if (plan.data == 1 && plan.context == 1) {
    return;
  }
  const std::string kind = kind_of(row);
  for (const std::string_view other : {"zero++", "qwz", "qgz", "hpz"}) {
    if (kind.find(other) != std::string::npos) {
      throw InputError("dp_kind \"" + row.text("dp_kind") + "\" is not modelled");
    }
  }
  std::optional<Sharding> sharding = sharding_of(kind);
  if (!sharding && !kind.empty()) {
    throw InputError("dp_kind \"" + row.text("dp_kind") + "\" is not modelled");
  }
  if (!sharding) {
    sharding = open ? open : habits.sharding;
  }
  if (!sharding && plan.data == 1) {
    sharding = Sharding::none;
  }
  if (!sharding) {
    throw InputError("what data-parallel ranks share is not stated");
  }
  // Software with stages reduces gradients behind the last micro-batch of a chunk, whatever it
  // calls that (MegaScale, NSDI 2024, section 3.1); DeepSpeed refuses stages with zero2.
  plan.sharding = *sharding == Sharding::zero2 && plan.pipeline > 1 ? Sharding::zero1 : *sharding;
  plan.shard = shard_of(row, habits.chip, plan);
}

}  // namespace titer
