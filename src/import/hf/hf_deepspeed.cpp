// The DeepSpeed configuration that a trainer's settings name, with what they say where it has
// "auto".

#include <algorithm>
#include <array>

#include "hf_parts.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

/// One of the configurations that come with LLaMA-Factory (examples/deepspeed) and axolotl
/// (deepspeed_configs), as far as a plan follows from it. Others have files of axolotl's names,
/// too, and offload nothing in them.
std::optional<Document> known_file(const ImportTask& task, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const Value files = known_settings("deepspeed", "files");
  const Value* const found = files.find(name);
  if (found == nullptr || (!name.starts_with("ds_") && !task.in.has("base_model"))) {
    return std::nullopt;
  }
  return parse_json(to_json(*found), std::string(name));
}

/// The digit behind "zero", "stage" or "z" in a file's name; none: the name tells no stage, or of
/// something that is put elsewhere in part.
std::optional<std::int64_t> stage_of(std::string_view name) {
  for (const std::string_view word : {"zero", "stage", "z"}) {
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      const std::size_t digit = name.find_first_not_of("_-", at + word.size());
      if (digit != name.npos && name[digit] >= '0' && name[digit] <= '3' &&
          name.find("partial") == name.npos) {
        return name[digit] - '0';
      }
    }
  }
  return std::nullopt;
}

void read_file(const ImportTask& task, const Document& document) {
  Problems problems;
  Settings in(document, "", task.options, problems);
  in.skip_told_elsewhere("auto");
  ImportTask inside{in, task.options, task.into, task.arguments, task.file, task.others};
  deepspeed_settings(inside);
  in.skip("batches, which the trainer's settings tell",
          "train_batch_size train_micro_batch_size_per_gpu "
          "gradient_accumulation_steps comms_config.* "
          "monitor_config.*");
  problems.raise();
  add_outcome(in, task.into);
}

/// A section of accelerate's, with names of its own for the same.
bool put_section(const ImportTask& task) {
  Settings& in = task.in;
  in.rename_known("accelerate-deepspeed");
  if (!in.has("zero_optimization.stage")) {
    return false;
  }
  in.skip_known("accelerate-deepspeed");
  deepspeed_settings(task);
  return true;
}

}  // namespace

bool is_deepspeed_chat(const Settings& in) {
  return in.has("zero_stage") && in.written("deepspeed") == "true";
}

namespace {

/// What its program makes DeepSpeed's configuration of.
void put_stage_of_chat(const ImportTask& task) {
  constexpr std::array<std::string_view, 4> stages = {"none", "zero1", "zero2", "zero3"};
  Settings& in = task.in;
  static_cast<void>(in.flag("deepspeed"));
  const auto told = in.integer("zero_stage", 0, 3);
  const auto stage = static_cast<std::size_t>(told.value_or(0));
  task.into.plan.add("sharding", Value(told ? stages[stage] : kLeftOpen));
  if (in.is_on("offload")) {
    Value offload = Value::make_object();
    offload.add("optimizer", Value("host"));
    if (stage == 3) {
      offload.add("weights", Value("host"));
    }
    put_host_work(task, offload);
    task.into.plan.add("offload", std::move(offload));
  }
}

}  // namespace

bool put_named_stage(const ImportTask& task, std::string_view key, std::string_view path) {
  constexpr std::array<std::string_view, 4> stages = {"none", "zero1", "zero2", "zero3"};
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  const auto stage = stage_of(name);
  if (!stage) {
    return false;
  }
  task.into.plan.add("sharding", Value(stages[static_cast<std::size_t>(*stage)]));
  const bool is_kept = name.find("no_off") != std::string::npos ||
                       name.find("without_off") != std::string::npos ||
                       name.find("no-off") != std::string::npos;
  const bool offloads = !is_kept && name.find("offload") != std::string::npos;
  if (offloads) {
    Value offload = Value::make_object();
    offload.add("optimizer", Value("host"));
    if (*stage == 3) {
      offload.add("weights", Value("host"));
    }
    put_host_work(task, offload);
    task.into.plan.add("offload", std::move(offload));
  }
  assume(task,
         key,
         "is not beside the file, and taken for what its name says: ZeRO of stage " +
             std::to_string(*stage) + (offloads ? ", offloaded to the host" : ""));
  return true;
}

bool put_deepspeed(const ImportTask& task, std::string_view key) {
  Settings& in = task.in;
  if (is_deepspeed_chat(in)) {
    put_stage_of_chat(task);
    return true;
  }
  const std::vector<std::string> keys = in.keys();
  const std::string inside = std::string(key) + ".";
  const bool holds = std::ranges::any_of(keys, [&](const std::string& name) {
    return name.starts_with(inside) && !name.starts_with("deepspeed_config.");
  });
  if (holds) {
    constexpr std::string_view steps = "gradient_accumulation_steps";
    const std::string there = inside + std::string(steps);
    if (const Value* const told = in.raw(steps); told != nullptr && in.written(there) == "auto") {
      in.replace(there, *told);
    }
    in.rename(inside, "");
    in.skip_told_elsewhere("auto");
    deepspeed_settings(task);
    return true;
  }
  const std::optional<std::string> path = in.text(key);
  if (!path || path->empty()) {
    return put_section(task);
  }
  const std::string file = file_beside(task, *path);
  if (!file.empty()) {
    read_file(task, parse_json(read_small_text(file), file));
    return true;
  }
  const auto known = known_file(task, *path);
  if (!known) {
    if (!put_named_stage(task, key, *path)) {
      in.fail(key, "is not beside the file, and none that is known by its name; give it there");
    }
    return true;
  }
  read_file(task, *known);
  assume(task, key, "read as the one of that name that LLaMA-Factory or axolotl come with");
  return true;
}

}  // namespace titer
