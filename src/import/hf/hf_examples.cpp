// What commands of HuggingFace's trainer leave to their program and to a file that they name.

#include <algorithm>

#include "hf_parts.hpp"

namespace titer {

void suppose_block(const ImportTask& task) {
  constexpr std::string_view key = "block_size";
  constexpr std::int64_t usual = 1024;
  const std::vector<std::string>& scripts = task.arguments.scripts;
  const bool is_clm = std::ranges::any_of(scripts, [](const std::string& name) {
    const std::string_view file = std::string_view(name).substr(name.rfind('/') + 1);
    return file == "run_clm.py" || file == "run_clm_no_trainer.py";
  });
  if (!is_clm || task.in.has(key) || task.into.training.find("sequence") != nullptr) {
    return;
  }
  const std::int64_t longest = task.into.model ? task.into.model->max_sequence : usual;
  const std::int64_t length = std::min(usual, std::max<std::int64_t>(1, longest));
  task.into.training.add("sequence", Value(length));
  assume(task, key, "taken as " + std::to_string(length) + ", as run_clm.py has it at most");
}

void miss_configuration(const ImportTask& task) {
  constexpr std::string_view why = "is not beside it, and may tell more; --with gives such a file";
  const auto is_yaml = [](std::string_view name) {
    return name.ends_with(".yaml") || name.ends_with(".yml");
  };
  if (is_yaml(task.in.written("config"))) {
    static_cast<void>(task.in.raw("config"));
    task.in.leave_out("config", why);
  }
  const std::vector<std::string> keys = task.in.keys();
  for (const std::string& started : task.arguments.started) {
    const bool is_flags = std::ranges::any_of(
        keys, [&](const std::string& key) { return task.in.written(key) == started; });
    if (is_yaml(started) && !started.starts_with('-') && !is_flags) {
      task.into.unread.push_back(task.file + ": " + started + ": " + std::string(why));
    }
  }
}

}  // namespace titer
