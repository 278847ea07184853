#include "hf_command_kinds.hpp"

#include <algorithm>
#include <cctype>

#include "hf_parts.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Whether one of the words is in the name of a program, as "dpo" is in run_dpo.py.
bool names_one_of(std::string_view program, std::string_view words) {
  const std::string name = lower(file_of(program));
  return std::ranges::any_of(words_of(words), [&](std::string_view word) {
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      const auto is_letter = [&](std::size_t place) {
        return place < name.size() && std::isalpha(static_cast<unsigned char>(name[place])) != 0;
      };
      if (!(at > 0 && is_letter(at - 1)) && !is_letter(at + word.size())) {
        return true;
      }
    }
    return false;
  });
}

constexpr std::string_view kOtherTrainings =
    "dpo grpo ppo kto orpo cpo simpo rloo bco gkd xpo nash nashmd reward rewards";

}  // namespace

bool is_of_preferences(const ImportTask& task) {
  Settings& in = task.in;
  const std::string loss = in.word("loss_type").value_or("nll");
  const bool is_plain = loss == "nll" || loss == "chunked_nll" || loss == "dft";
  for (const std::string_view key : {"beta", "loss_type", "rpo_alpha", "num_generations"}) {
    if (in.has(key) && !(key == "loss_type" && is_plain)) {
      in.fail(key, kMorePasses);
      return true;
    }
  }
  for (const std::string_view key : {"config_class", "trainer_class"}) {
    if (is_class_of_preferences(in.text(key).value_or(""))) {
      in.fail(key, kMorePasses);
      return true;
    }
  }
  std::vector<std::string> programs = task.arguments.scripts;
  const std::string& program = task.arguments.program;
  programs.push_back(program.starts_with("trl ") ? program.substr(4) : "");
  for (const std::string& name : programs) {
    if (names_one_of(name, kOtherTrainings)) {
      in.fail("", name + " " + std::string(kMorePasses));
      return true;
    }
  }
  return false;
}

bool is_program(const ImportTask& task, std::string_view words) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  return std::ranges::any_of(scripts,
                             [&](const std::string& name) { return names_one_of(name, words); });
}

std::string class_of(const ImportTask& task, std::string_view key) {
  return task.in.word(key).value_or("");
}

bool is_trl(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  const bool is_script = std::ranges::any_of(scripts, [](const std::string& name) {
    return name.find("trl/") != std::string::npos && file_of(name) == "sft.py";
  });
  const bool is_gaudis = task.in.has("use_habana");
  return (is_script && !is_gaudis) || task.arguments.program == "trl sft" ||
         class_of(task, "config_class") == "sftconfig";
}

bool is_class_of_preferences(std::string_view name) {
  for (const std::string_view ending : {"Config", "Trainer"}) {
    name.remove_suffix(name.ends_with(ending) ? ending.size() : 0);
  }
  const std::string stem = lower(name);
  return std::ranges::any_of(words_of(kOtherTrainings),
                             [&](std::string_view word) { return stem.ends_with(word); });
}

bool is_on_gaudi(const ImportTask& task) {
  return task.in.has("use_habana") || is_program(task, "gaudi_spawn");
}

void take_stages(const ImportTask& task,
                 std::string_view key,
                 std::initializer_list<std::string_view> plain) {
  const auto word = task.in.word(key);
  if (word && !includes(plain, *word)) {
    task.in.fail(key,
                 "expected " + std::string(*plain.begin()) +
                     ": steps of others have more passes, which are not modelled");
  }
}

void read_gaudi(const ImportTask& task) {
  Settings& in = task.in;
  if (!is_on_gaudi(task)) {
    return;
  }
  if (in.text("gaudi_config_name") && !in.is_on("bf16")) {
    in.leave_out("gaudi_config_name", "may switch bf16 on, and is not at hand");
  }
  in.skip_known("gaudi");
}

}  // namespace titer
