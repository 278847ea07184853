// The DeepSpeed configuration that a trainer's settings name, with what they say where it has
// "auto".

#include <algorithm>
#include <array>

#include "hf_parts.hpp"

namespace titer {
namespace {

/// Configurations that come with LLaMA-Factory (examples/deepspeed) and axolotl
/// (deepspeed_configs), as far as a plan follows from them.
struct KnownFile {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<KnownFile, 14> kKnownFiles = {
    {{"ds_z0_config.json", R"({"zero_optimization": {"stage": 0}})"},
     {"ds_z2_config.json", R"({"zero_optimization": {"stage": 2, "overlap_comm": false}})"},
     {"ds_z2_offload_config.json",
      R"({"zero_optimization": {"stage": 2, "overlap_comm": false,
         "offload_optimizer": {"device": "cpu"}}})"},
     {"ds_z3_config.json", R"({"zero_optimization": {"stage": 3, "overlap_comm": false}})"},
     {"ds_z3_offload_config.json",
      R"({"zero_optimization": {"stage": 3, "overlap_comm": false,
         "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}})"},
     {"ds_z3_fp8_config.json",
      R"({"zero_optimization": {"stage": 3, "overlap_comm": false,
         "offload_optimizer": {"device": "cpu"}}})"},
     {"zero1.json", R"({"zero_optimization": {"stage": 1, "overlap_comm": true}})"},
     {"zero1_torch_compile.json", R"({"zero_optimization": {"stage": 1, "overlap_comm": true}})"},
     {"zero2.json",
      R"({"zero_optimization": {"stage": 2, "overlap_comm": true,
         "offload_optimizer": {"device": "cpu"}}})"},
     {"zero2_torch_compile.json",
      R"({"zero_optimization": {"stage": 2, "overlap_comm": true,
         "offload_optimizer": {"device": "cpu"}}})"},
     {"zero3.json", R"({"zero_optimization": {"stage": 3, "overlap_comm": true}})"},
     {"zero3_bf16.json", R"({"zero_optimization": {"stage": 3, "overlap_comm": true}})"},
     {"zero3_bf16_cpuoffload_params.json",
      R"({"zero_optimization": {"stage": 3, "overlap_comm": true,
         "offload_param": {"device": "cpu"}}})"},
     {"zero3_bf16_cpuoffload_all.json",
      R"({"zero_optimization": {"stage": 3, "overlap_comm": true,
         "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}})"}}};

const KnownFile* known_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto* const found = std::find_if(kKnownFiles.begin(),
                                         kKnownFiles.end(),
                                         [&](const KnownFile& file) { return file.name == name; });
  return found == kKnownFiles.end() ? nullptr : found;
}

void read_file(const ImportTask& task, const Document& document) {
  Problems problems;
  Settings in(document, "", task.options, problems);
  in.skip_told_elsewhere("auto");
  ImportTask inside{in, task.options, task.into, task.arguments, task.file, task.others};
  deepspeed_settings(inside);
  in.skip({.what = "batches, which the trainer's settings tell",
           .patterns = "train_batch_size train_micro_batch_size_per_gpu "
                       "gradient_accumulation_steps communication_data_type comms_config.* "
                       "monitor_config.*"});
  problems.raise();
  add_outcome(in, task.into);
}

/// A section of accelerate's, with names of its own for the same.
bool put_section(const ImportTask& task) {
  Settings& in = task.in;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names = {
      {{"deepspeed_config.zero_stage", "zero_optimization.stage"},
       {"deepspeed_config.offload_optimizer_device", "zero_optimization.offload_optimizer.device"},
       {"deepspeed_config.offload_param_device", "zero_optimization.offload_param.device"}}};
  for (const auto& [theirs, ours] : names) {
    in.rename(theirs, ours);
  }
  if (!in.has("zero_optimization.stage")) {
    return false;
  }
  in.skip({.what = "how DeepSpeed starts and stores",
           .patterns = "deepspeed_config.zero3_* deepspeed_config.deepspeed_multinode_launcher "
                       "deepspeed_config.gradient_clipping deepspeed_config.offload_*_nvme_path "
                       "deepspeed_config.gradient_accumulation_steps "
                       "deepspeed_config.deepspeed_hostfile"});
  deepspeed_settings(task);
  return true;
}

}  // namespace

bool put_deepspeed(const ImportTask& task, std::string_view key) {
  Settings& in = task.in;
  const std::vector<std::string> keys = in.keys();
  const std::string inside = std::string(key) + ".";
  const bool holds = std::any_of(keys.begin(), keys.end(), [&](const std::string& name) {
    return name.starts_with(inside) && !name.starts_with("deepspeed_config.");
  });
  if (holds) {
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
  const KnownFile* const known = known_file(*path);
  if (known == nullptr) {
    in.fail(key, "is not beside the file, and none that is known by its name; give it there");
    return true;
  }
  read_file(task, parse_json(known->text, std::string(known->name)));
  assume(task, key, "read as the one of that name that LLaMA-Factory or axolotl come with");
  return true;
}

}  // namespace titer
