#include "overrides.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// A word typed as YAML types it.
Value typed(const std::string& text) {
  try {
    return parse_yaml(text, "").root;
  } catch (const InputError&) {
    return Value(text);
  }
}

/// The path less the signs for what is added; a key that is taken away is null.
void change(Document& document, const ArgumentOverride& told, int source) {
  Origin at = told.at;
  at.source = source;
  const std::size_t begin = std::min(told.path.find_first_not_of("+~"), told.path.size());
  Value value = told.path.starts_with('~') ? Value() : typed(told.value);
  value.origin = at;
  put_at(document.root, std::string_view(told.path).substr(begin), std::move(value), at);
}

constexpr std::string_view kLitGptProgram = "litgpt ";

/// "litgpt finetune_lora NAME": what it does, and to which model.
void add_litgpt_command(const ArgumentText& arguments, std::vector<ArgumentOverride>& changes) {
  const std::string action = arguments.program.substr(kLitGptProgram.size());
  const bool begins = action.starts_with("pretrain");
  const Origin at{.source = 0, .line = 1, .column = 1};
  changes.push_back({.path = "litgpt", .value = action, .at = at});
  if (!arguments.subject.empty()) {
    changes.push_back(
        {.path = begins ? "model_name" : "checkpoint_dir", .value = arguments.subject, .at = at});
  }
}

/// "--training.steps" of torchtitan is a change, too, and all flags of LitGPT.
std::vector<ArgumentOverride> changes_of(const Foreign& script) {
  std::vector<ArgumentOverride> changes = script.arguments.overrides;
  const Value& flags = script.document.root;
  const bool is_litgpt = script.arguments.program.starts_with(kLitGptProgram);
  if (is_litgpt) {
    add_litgpt_command(script.arguments, changes);
  }
  if (const Value* const config = named_configuration(script)) {
    changes.push_back({.path = "config", .value = config->text, .at = {}});
  }
  for (std::size_t i = 0; i < flags.members.size(); ++i) {
    const auto& [flag, value] = flags.members[i];
    const bool is_path = (is_litgpt || flag.find('.') != std::string::npos) &&
                         flag.starts_with("--") && flag != "--config" && flag != "--num_processes";
    if (is_path && value.kind != Value::Kind::array && !flag.ends_with("config_file")) {
      changes.push_back({.path = flag.substr(2),
                         .value = value.kind == Value::Kind::text ? value.text : "true",
                         .at = flags.key_origins[i]});
    }
  }
  return changes;
}

/// Of a program that starts its own processes Slurm's job tells nodes, and devices of each.
void take_job(Foreign& into, const Foreign& script, int source) {
  constexpr std::array<std::array<std::string_view, 2>, 3> told = {
      {{"--nodes", "num_nodes"}, {"--gpus-per-node", "num_gpus"}, {"--gres", "num_gpus"}}};
  for (const auto& [flag, name] : told) {
    const Value* const value = script.document.root.find(flag);
    if (value == nullptr || into.document.root.find(name) != nullptr) {
      continue;
    }
    Value count(value->text.substr(value->text.rfind(':') + 1));
    count.origin = value->origin;
    count.origin.source = source;
    const Origin at = count.origin;
    put_at(into.document.root, name, std::move(count), at);
    into.arguments.of_launcher.emplace_back(name);
  }
}

/// What launches the program tells of devices.
void take_launcher(Foreign& into, const Foreign& script, int source) {
  constexpr std::array<std::string_view, 6> told = {
      "nnodes", "nproc_per_node", "num_nodes", "num_gpus", "num_processes", "num_machines"};
  bool is_launched = false;
  for (const auto& [flag, value] : script.document.root.members) {
    const std::string name = Settings::normalised(flag);
    const bool is_told = includes(told, name);
    is_launched = is_launched || is_told;
    if (is_told && into.document.root.find(name) == nullptr) {
      Origin at = value.origin;
      at.source = source;
      put_at(into.document.root, name, value, at);
      into.arguments.of_launcher.push_back(flag);
    }
  }
  if (!is_launched) {
    take_job(into, script, source);
  }
}

std::string listed_files(const Foreign& script) {
  return listed(configurations_of(script),
                [](const std::string& name) { return name.substr(name.rfind('/') + 1); });
}

/// Other flags of a program that is started with a configuration: nothing reads them, which is to
/// be said.
void keep_flags(Foreign& into, const Foreign& script, int source) {
  const std::vector<std::string>& launcher = script.arguments.of_launcher;
  const std::vector<std::string> files = configurations_of(script);
  const Value& flags = script.document.root;
  for (std::size_t i = 0; i < flags.members.size(); ++i) {
    const auto& [flag, value] = flags.members[i];
    const std::string& word = value.text;
    const bool names_file =
        !word.empty() &&
        std::ranges::any_of(files, [&](const std::string& file) { return file.ends_with(word); });
    const bool is_launchers = includes(launcher, flag);
    if (!names_file && !is_launchers && into.document.root.find(flag) == nullptr) {
      Origin at = flags.key_origins[i];
      at.source = source;
      into.document.root.add(flag, value);
      into.document.root.key_origins.back() = at;
    }
  }
}

/// It is in a program's code: torchtitan's, or axlearn's, whose modules have paths.
void refuse_named_configuration(const Foreign& script, const std::string& file) {
  const Value* const config = named_configuration(script);
  if (config == nullptr) {
    return;
  }
  const std::string& module = script.document.root.find("--module")->text;
  const bool is_axlearn = module.find('.') != std::string::npos;
  throw InputError(file + ": starts " +
                   (is_axlearn ? "axlearn with " + config->text + ", which is not read"
                               : "torchtitan with " + config->text +
                                     " of a config_registry.py; --with gives that file"));
}

void put_all(Foreign& into, const Foreign& script, const std::string& file) {
  into.document.sources.push_back(file);
  const int source = static_cast<int>(into.document.sources.size()) - 1;
  for (const ArgumentOverride& told : changes_of(script)) {
    change(into.document, told, source);
  }
  take_launcher(into, script, source);
  if (changes_of(script).empty()) {
    keep_flags(into, script, source);
  }
}

}  // namespace

std::vector<std::string> configurations_of(const Foreign& script) {
  constexpr std::array<std::string_view, 4> endings = {".yaml", ".yml", ".json", ".toml"};
  std::vector<std::string> files;
  for (const std::string& name : script.arguments.started) {
    const bool is_file = name.find('=') == std::string::npos &&
                         std::ranges::any_of(endings, [&](std::string_view ending) {
                           return name.ends_with(ending);
                         });
    if (is_file && script.syntax == Syntax::arguments && !script.format) {
      files.push_back(name);
    }
  }
  return files;
}

std::string changed_configuration(const Foreign& script) {
  const auto is_yaml = [](std::string_view name) {
    return name.ends_with(".yaml") || name.ends_with(".yml");
  };
  if (script.syntax != Syntax::arguments || !script.format ||
      script.format->import != import_hf_trainer) {
    return "";
  }
  const Value* const config = script.document.root.find("--config");
  if (config != nullptr && is_yaml(config->text)) {
    return config->text;
  }
  const std::vector<std::string>& started = script.arguments.started;
  const auto& flags = script.document.root.members;
  const auto found = std::ranges::find_if(started, [&](const std::string& name) {
    return is_yaml(name) && !name.starts_with('-') &&
           std::ranges::none_of(flags, [&](const auto& flag) { return flag.second.text == name; });
  });
  return found == started.end() ? "" : *found;
}

const Value* named_configuration(const Foreign& script) {
  const Value& flags = script.document.root;
  return flags.find("--module") == nullptr ? nullptr : flags.find("--config");
}

bool only_changes(const Foreign& script) {
  return script.syntax == Syntax::arguments && !script.format &&
         (!changes_of(script).empty() || !configurations_of(script).empty());
}

Foreign alone(const Foreign& script, const std::string& file) {
  Foreign made;
  made.document.root = Value::make_object();
  put_all(made, script, file);
  made.syntax = Syntax::yaml;
  made.format = format_of(made.document.root, Syntax::yaml);
  const std::string named = listed_files(script);
  if (!made.format || made.format->import == nullptr) {
    refuse_named_configuration(script, file);
    const std::string what = named.empty() ? "a configuration" : shortened(named, 60);
    throw InputError(
        file + (changes_of(script).empty()
                    ? ": starts a program with " + what +
                          ", which is not beside it; --with gives such a file"
                    : ": changes " + what + " by key=value; import that, and this --with it"));
  }
  // MaxText has a file for each of its models.
  const std::string stem = std::filesystem::path(named).stem().string();
  if (!stem.empty() && stem != "base" && made.format->import == import_maxtext) {
    if (made.document.root.find("model_name") == nullptr) {
      made.document.root.add("model_name", Value(stem));
    }
    put_at(made.document.root, "config_file", Value(named), {.source = 0, .line = 1, .column = 1});
  }
  return made;
}

void apply_changes(std::vector<Foreign>& files,
                   std::vector<std::string>& names,
                   const ImportOptions& options) {
  const auto target = std::ranges::find_if(files, [](const Foreign& file) {
    return file.syntax != Syntax::arguments && file.format && file.format->import != nullptr;
  });
  if (!options.overrides.empty() && target == files.end()) {
    throw InputError("--override: expected a configuration among the files, whose keys it changes");
  }
  for (const ArgumentOverride& told : options.overrides) {
    change(target->document, told, 0);
  }
  for (std::size_t i = files.size(); i-- > 0;) {
    if (!only_changes(files[i])) {
      continue;
    }
    if (target == files.end()) {
      files[i] = alone(files[i], names[i]);
    } else {
      put_all(*target, files[i], names[i]);
    }
  }
  for (std::size_t i = files.size(); i-- > 0;) {
    if (only_changes(files[i])) {
      files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace titer
