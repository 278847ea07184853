// What software a family of measured runs is, and its habits.

#include <array>
#include <string_view>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

using MaybeFlash = std::optional<bool>;

struct Known {
  std::string_view word;
  std::string_view stack;
  MaybeFlash flash{};
  std::optional<Recompute> recompute{};
  std::optional<Sharding> sharding{};
};

/// Families by the beginnings of their names, the longer before the shorter.
constexpr std::array<Known, 28> kFamilies = {
    {{"megatron_2020", "megatron-lm", false, Recompute::full, Sharding::none},
     {"megatron_bridge", "megatron-bridge", true, Recompute::none, Sharding::zero1},
     {"megatron_sc21", "megatron-lm", false, Recompute::full, Sharding::none},
     {"sc21", "megatron-lm", false, Recompute::full, Sharding::none},
     {"korthikanti", "megatron-lm", false, {}, Sharding::none},
     {"vtrain", "deepspeed", false, {}, Sharding::none},
     {"zero_bubble", "megatron-lm", false, Recompute::none, Sharding::none},
     {"simumax", "megatron-core", true},
     {"dgxc", "nemo", true, Recompute::none, Sharding::zero1},
     {"nemo", "nemo", true, {}, Sharding::zero1},
     {"mlperf", "nemo", true, {}, Sharding::zero1},
     {"amd_primus", "megatron-core", true, {}, Sharding::zero1},
     {"bigscience", "deepspeed", false},
     {"mt_nlg", "deepspeed", false},
     {"libai", "megatron-lm", false},
     {"bmtrain", "bmtrain", false, {}, Sharding::zero3},
     {"internevo", "internevo", true},
     {"internlm", "internevo", true},
     {"llm_foundry", "llm-foundry", true, {}, Sharding::zero3},
     {"torchtitan", "torchtitan", true, {}, Sharding::zero3},
     {"opt_175b", "fsdp", false, {}, Sharding::zero3},
     {"colossalai", "deepspeed", true},
     {"alpa", "paxml", false, {}, Sharding::none},
     {"pax", "paxml", true},
     {"maxtext", "maxtext", true, {}, Sharding::zero3},
     {"tpu_recipes", "maxtext", true, {}, Sharding::zero3},
     {"levanter", "maxtext", {}, {}, Sharding::zero3},
     {"flashattn", "megatron-lm"}}};

/// Words of a source for families that are not known, the more telling before the others.
constexpr std::array<Known, 22> kFrameworks = {{{"megatron-bridge", "megatron-bridge", true},
                                                {"dgxc", "nemo", true},
                                                {"nemo", "nemo", true},
                                                {"megatron-deepspeed", "deepspeed"},
                                                {"mt-nlg", "deepspeed"},
                                                {"gpt-neox", "deepspeed"},
                                                {"torchtitan", "torchtitan", true},
                                                {"llm-foundry", "llm-foundry", true},
                                                {"composer", "llm-foundry", true},
                                                {"mosaicml", "llm-foundry", true},
                                                {"maxtext", "maxtext", true},
                                                {"tpu-recipes", "maxtext", true},
                                                {"paxml", "paxml", true},
                                                {"jax", "paxml", true},
                                                {"levanter", "maxtext"},
                                                {"internevo", "internevo", true},
                                                {"megatron-core", "megatron-core", true},
                                                {"mcore", "megatron-core", true},
                                                {"primus", "megatron-core", true},
                                                {"megatron", "megatron-lm"},
                                                {"deepspeed", "deepspeed"},
                                                {"fsdp", "fsdp", true}}};

RunHabits habits(const Known& known) {
  return {.stack = std::string(known.stack),
          .flash = known.flash,
          .recompute = known.recompute,
          .sharding = known.sharding};
}

std::optional<RunHabits> named_habits(const RunRow& row) {
  const std::string family = lower(row.text("family"));
  for (const Known& known : kFamilies) {
    if (family.starts_with(known.word)) {
      return habits(known);
    }
  }
  for (const std::string_view column : {"source", "notes", "family", "dp_kind"}) {
    for (const Known& known : kFrameworks) {
      if (row.says(column, known.word)) {
        return habits(known);
      }
    }
  }
  return std::nullopt;
}

/// Where one family's rows ran software of several kinds, or one set in several ways.
void refine(const RunRow& row, RunHabits& habits) {
  const std::string family = lower(row.text("family"));
  const auto is = [&](std::string_view word) { return family.starts_with(word); };
  if (is("libai") && row.says("notes", "LiBai;")) {
    habits.stack = "libai";
  } else if (is("megatron_2020")) {
    // Printed rates are those of 1024 tokens, 51200 rows and full recomputation.
    habits.sequence = 1024;
    habits.vocabulary = 51200;
  } else if (is("zero_bubble")) {
    // The printed sizes are those of 32000 rows.
    habits.vocabulary = 32000;
    habits.tensor_overlap = TensorOverlap::none;
  } else if (is("simumax")) {
    habits.tensor_overlap = TensorOverlap::none;
  }
  if (habits.stack == "llm-foundry" && row.says("notes", "MP mode DEFAULT")) {
    habits.gradient = DataType::fp32;
  }
  if (habits.stack == "nemo" && row.says("model_name", "Nemotron-4 15B")) {
    habits.gradient = DataType::fp32;
  }
}

}  // namespace

std::optional<RunHabits> habits_of(const RunRow& row) {
  std::optional<RunHabits> habits = named_habits(row);
  if (habits) {
    refine(row, *habits);
  }
  return habits;
}

}  // namespace titer
