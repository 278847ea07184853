// Adapters as PEFT, LLaMA-Factory, axolotl and torchtune name them.

#include <algorithm>

#include "hf_parts.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

void add_target(std::string_view names, std::vector<std::string>& targets) {
  for (const std::string_view name : words_of(names)) {
    if (!includes(targets, name)) {
      targets.emplace_back(name);
    }
  }
}

Value targets_of(const ImportTask& task, const AdapterKeys& keys) {
  const std::string_view key = keys.targets;
  std::vector<std::string> words = listed_words(task, key);
  if (words.empty()) {
    if (!keys.tells_targets) {
      assume(task, key, "taken as " + std::string(keys.usual_targets));
    }
    words = {std::string(keys.usual_targets)};
  }
  // Products of layers by their modules' names; several of ours where they are one of theirs.
  const Value modules = known_settings("peft-adapter", "targets");
  std::vector<std::string> targets;
  for (const std::string& word : words) {
    if (word == "all" || word == "all-linear") {
      return Value("all-linear");
    }
    if (const Value* const known = modules.find(word)) {
      add_target(known->text, targets);
    } else if (word.find(' ') != std::string::npos) {
      add_target(word, targets);
    } else {
      task.in.leave_out(key, "of " + word + " no adapter is modelled");
    }
  }
  Value list = Value::make_array();
  for (std::string& target : targets) {
    list.push(Value(std::move(target)));
  }
  return list;
}

constexpr std::string_view kSharedBase =
    " bits that ranks share out (ZeRO-3, FSDP) or fetch are not modelled, and are taken as of 16; "
    "with ZeRO-2 or without sharding, whole on each rank, they are";

/// Whether every rank has all weights of its layers on the device.
bool is_held_whole(const Value& plan) {
  const Value* const sharding = plan.find("sharding");
  const Value* const offload = plan.find("offload");
  return (sharding == nullptr || sharding->text != "zero3") &&
         (offload == nullptr || offload->find("weights") == nullptr);
}

/// Whether one of the modules holds several matrices, beside which is one adapter.
bool names_fused(const ImportTask& task, const AdapterKeys& keys) {
  const std::vector<std::string> words = listed_words(task, keys.targets);
  const Value modules = known_settings("peft-adapter", "targets");
  return std::ranges::any_of(words, [&](const std::string& word) {
    const Value* const known = modules.find(word);
    return known != nullptr && known->text.find(' ') != std::string::npos;
  });
}

}  // namespace

BaseBits bits_of(const ImportTask& task) {
  BaseBits base;
  const std::int64_t bits = task.in.integer("bits", 2, 32).value_or(0);
  if (bits == 4 || bits == 8) {
    base = {.bits = bits, .key = "bits"};
  }
  for (const BaseBits& one : {BaseBits{8, "use_8bit_quantization"},
                              BaseBits{8, "load_in_8bit"},
                              BaseBits{4, "q_lora"},
                              BaseBits{4, "use_qlora"},
                              BaseBits{4, "use_4bit_quantization"},
                              BaseBits{4, "load_in_4bit"}}) {
    base = task.in.is_on(one.key) ? one : base;
  }
  return base;
}

void put_adapters(const ImportTask& task, const AdapterKeys& keys, const BaseBits& base) {
  Settings& in = task.in;
  const auto rank = in.integer(keys.rank, 1, 1'000'000);
  if (!rank) {
    assume(task, keys.rank, "taken as " + std::to_string(keys.usual_rank));
  }
  for (const std::string_view whole :
       {"lora_modules_to_save", "modules_to_save", "additional_target"}) {
    if (in.has(whole)) {
      assume(task, whole, "what is trained whole beside the adapters is not counted");
      static_cast<void>(in.raw(whole));
    }
  }
  Value adapters = Value::make_object();
  adapters.add("rank", Value(rank.value_or(keys.usual_rank)));
  adapters.add("targets", targets_of(task, keys));
  if (keys.is_fused || names_fused(task, keys)) {
    adapters.add("fused", Value(true));
  }
  if (base.bits > 0 && is_held_whole(task.into.plan)) {
    adapters.add("base", Value(base.bits == 4 ? "nf4" : "int8"));
  } else if (base.bits > 0) {
    in.leave_out(base.key, "weights of " + std::to_string(base.bits) + std::string(kSharedBase));
  }
  if (task.into.training.find("adapters") == nullptr) {
    task.into.training.add("adapters", std::move(adapters));
  }
}

void drop_shared_base(ImportedRun& whole, const std::string& file) {
  Value* const adapters = whole.training.find("adapters");
  const Value* const base = adapters == nullptr ? nullptr : adapters->find("base");
  const bool is_quantised = base != nullptr && (base->text == "nf4" || base->text == "int8");
  if (is_quantised && !is_held_whole(whole.plan)) {
    whole.unread.push_back(file + ": training.adapters.base: " + base->text + ": weights of " +
                           (base->text == "nf4" ? "4" : "8") + std::string(kSharedBase));
    adapters->erase("base");
  }
}

void check_adapters(const ImportedRun& imported, const Transformer& model) {
  const Value* const adapters = imported.training.find("adapters");
  const Value* const targets = adapters == nullptr ? nullptr : adapters->find("targets");
  if (!model.experts || targets == nullptr) {
    return;
  }
  const bool is_beside_mlp =
      targets->text == "all-linear" || std::ranges::any_of(targets->items, [](const Value& target) {
        return target.text == "up" || target.text == "gate" || target.text == "down";
      });
  if (is_beside_mlp) {
    throw InputError("training.adapters.targets: " + to_json(*targets, 0) + " of " + model.name +
                     ": adapters of experts are not modelled; of query, key, value and output they "
                     "are");
  }
}

void import_adapter(const ImportTask& task) {
  Settings& in = task.in;
  if (in.word("peft_type").value_or("lora") != "lora") {
    in.fail("peft_type", "expected LORA: other adapters are not modelled");
    return;
  }
  put_adapters(
      task,
      {.rank = "r", .targets = "target_modules", .usual_rank = 8, .usual_targets = "query value"},
      {});
  in.skip_known("peft-adapter");
}

}  // namespace titer
