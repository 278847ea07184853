#include "formats.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "import/hf/hf_program.hpp"
#include "import/import_parts.hpp"
#include "import/recipes/python_text.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "overrides.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestKeys = 60;  // that are shown of a file of no known format

Syntax syntax_of(std::string_view text, const std::string& file) {
  constexpr std::array<std::pair<std::string_view, Syntax>, 5> extensions = {
      {{".json", Syntax::json},
       {".yaml", Syntax::yaml},
       {".yml", Syntax::yaml},
       {".toml", Syntax::toml},
       {".py", Syntax::python}}};
  const std::string extension = std::filesystem::path(file).extension().string();
  for (const auto& [name, syntax] : extensions) {
    if (extension == name) {
      return syntax;
    }
  }
  return trimmed(text).starts_with('{') ? Syntax::json : Syntax::arguments;
}

std::string_view name_of(Syntax syntax) {
  constexpr std::array<std::string_view, 5> names = {"json", "yaml", "toml", "arguments", "python"};
  return names[static_cast<std::size_t>(syntax)];
}

/// What a document holds, by the names that Settings has for it.
class Members {
 public:
  explicit Members(const Value& root) {
    for (const auto& [key, value] : root.members) {
      of_root_.emplace(key, &value);
      of_root_.emplace(Settings::normalised(key), &value);
    }
  }

  [[nodiscard]] bool has(std::string_view path) const {
    if (of_root_.contains(path)) {
      return true;  // flags have dots in their names
    }
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = of_root_.find(path.substr(0, dot));
    return found != of_root_.end() &&
           (dot == path.size() || is_below(*found->second, path.substr(dot + 1)));
  }

 private:
  static bool is_below(const Value& value, std::string_view path) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, dot);
    return std::ranges::any_of(value.members, [&](const auto& member) {
      const bool is_it = member.first == name || Settings::normalised(member.first) == name;
      return is_it && (dot == path.size() || is_below(member.second, path.substr(dot + 1)));
    });
  }

  std::map<std::string, const Value*, std::less<>> of_root_;
};

bool fits(const ForeignFormat& format, const Members& root, std::string_view syntax) {
  const auto is_there = [&](std::string_view path) { return root.has(path); };
  return includes(words_of(format.syntaxes), syntax) &&
         std::ranges::all_of(words_of(format.all), is_there) &&
         (format.any.empty() || std::ranges::any_of(words_of(format.any), is_there));
}

/// A template has names where values are to be put.
[[noreturn]] void refuse_json(const InputError& error, std::string_view text) {
  constexpr std::string_view big = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t", colon + 1), text.size());
    const std::size_t end = std::min(text.find_first_not_of(big, begin), text.size());
    if (end >= begin + 4) {
      throw InputError(error.lines.front() + "; this is a template: put a value in the place of " +
                       std::string(text.substr(begin, end - begin)));
    }
  }
  throw error;
}

Document parse(std::string_view text, const std::string& file, Syntax syntax) {
  if (syntax == Syntax::yaml) {
    return parse_yaml(text, file);
  }
  if (syntax == Syntax::toml) {
    return parse_toml(text, file);
  }
  try {
    return parse_json(text, file);
  } catch (const InputError& error) {
    refuse_json(error, text);
  }
}

std::string listed_names(const std::vector<std::string>& names) {
  return shortened(listed(names), kLongestKeys);
}

using UnreadSoftware = std::pair<std::string_view, std::string_view>;

/// What a script runs whose arguments are not read, and a program in Python is built on.
constexpr std::array<UnreadSoftware, 4> kUnreadPrograms = {{{"train_gpt2cu", "llm.c"},
                                                            {"xtuner/", "XTuner"},
                                                            {"xtuner train", "XTuner"},
                                                            {"colossalai run", "ColossalAI"}}};
constexpr std::array<UnreadSoftware, 4> kUnreadLibraries = {{{"from colossalai", "ColossalAI"},
                                                             {"import colossalai", "ColossalAI"},
                                                             {"from xtuner", "XTuner"},
                                                             {"import xtuner", "XTuner"}}};

void refuse_named(std::string_view text,
                  const std::string& file,
                  std::string_view what,
                  std::span<const UnreadSoftware> names) {
  for (const auto& [part, software] : names) {
    if (text.find(part) != std::string_view::npos) {
      throw InputError(file + ": " + std::string(what) + " " + std::string(software) +
                       ", which is not read");
    }
  }
}

[[noreturn]] void refuse_arguments(const std::string& file,
                                   const ArgumentText& arguments,
                                   bool has_flags) {
  if (!arguments.started.empty()) {
    throw InputError(file + ": starts " + listed_names(arguments.started) +
                     (has_flags ? ", whose arguments are not known here"
                                : ", and tells nothing of a model itself; import that instead"));
  }
  if (!arguments.sourced.empty()) {
    throw InputError(file + ": tells nothing of a model itself, and sources " +
                     listed_names(arguments.sourced) +
                     ", which is not beside it; --with gives such a file");
  }
  throw InputError(file +
                   ": expected arguments of Megatron-LM, such as --num-layers 24 "
                   "--hidden-size 1024, or of HuggingFace's trainer, such as "
                   "--model_name_or_path NAME --per_device_train_batch_size 4; other formats are "
                   "files that end in .json, .yaml, .toml or .py");
}

[[noreturn]] void refuse_unknown(const Value& root, const std::string& file) {
  const std::string keys = listed(root.members, [](const auto& one) { return one.first; });
  throw InputError(file + ": is of no format that is known here" +
                   (keys.empty() ? "" : "; its keys are " + shortened(keys, kLongestKeys)) +
                   "; `titer import --help` names those that are read");
}

/// The first that is so.
template <class Is>
std::optional<ForeignFormat> format_with(const Is& is) {
  const std::vector<ForeignFormat> known = foreign_formats();
  const auto found = std::ranges::find_if(known, is);
  return found == known.end() ? std::nullopt : std::optional(*found);
}

/// By what a program in Python imports.
auto reader_of_program(std::string_view text) {
  return is_olmo_core(text)    ? parse_olmo_core
         : is_torchtitan(text) ? parse_torchtitan
         : is_nanogpt(text)    ? parse_nanogpt
                               : parse_recipe;
}

/// A script that only evaluates, converts or the like.
void refuse_tool(const ArgumentText& arguments, const std::string& file) {
  if (!arguments.tool.empty()) {
    throw InputError(file + ": runs " + arguments.tool +
                     ", which by its name works on checkpoints, data or answers; expected a "
                     "script that trains");
  }
}

}  // namespace

std::optional<ForeignFormat> format_of(const Value& root, Syntax syntax) {
  const Members members(root);
  return format_with(
      [&](const ForeignFormat& format) { return fits(format, members, name_of(syntax)); });
}

Foreign parse_foreign(std::string_view text,
                      const std::string& file,
                      const ImportOptions& options,
                      const FindSourced& find_sourced) {
  const Syntax syntax = syntax_of(text, file);
  Foreign made;
  if (syntax == Syntax::arguments) {
    ArgumentText arguments = parse_arguments(text, file, options.defines, find_sourced);
    refuse_tool(arguments, file);
    made.document = std::move(arguments.flags);
    made.arguments = std::move(arguments);
  } else if (syntax == Syntax::python) {
    refuse_named(text, file, "is a program of", kUnreadLibraries);
    std::vector<std::string>& assumed = made.arguments.assumed;
    made.document = is_hf_program(text)
                        ? parse_hf_program(text, file, options, assumed, find_sourced)
                        : reader_of_program(text)(text, file, options, assumed);
  } else {
    made.document = parse(text, file, syntax);
  }
  // A command may begin as only one program's does.
  made.format = format_with([&](const ForeignFormat& format) {
    return !format.program.empty() && made.arguments.program.starts_with(format.program);
  });
  if (!made.format) {
    made.format = format_of(made.document.root, syntax);
  }
  made.syntax = syntax;
  if (only_changes(made)) {
    return made;
  }
  if (!made.format && syntax == Syntax::arguments) {
    refuse_named(text, file, "starts a program of", kUnreadPrograms);
    refuse_arguments(file, made.arguments, !made.document.root.members.empty());
  }
  if (!made.format) {
    refuse_unknown(made.document.root, file);
  }
  if (made.format->import == nullptr && !made.format->is_model) {
    const std::string& instead = made.format->instead;
    throw InputError(file + ": is " + made.format->name + ", which is not read" +
                     (instead.empty() ? "" : "; " + instead));
  }
  return made;
}

namespace {

void set_source(Value& value, int source) {
  value.origin.source = source;
  for (Origin& origin : value.key_origins) {
    origin.source = source;
  }
  for (auto& [key, member] : value.members) {
    set_source(member, source);
  }
  for (Value& item : value.items) {
    set_source(item, source);
  }
}

}  // namespace

void add_part(Foreign& whole, std::string_view text, const std::string& file) {
  Document part = parse(text, file, syntax_of(text, file));
  whole.document.sources.push_back(file);
  set_source(part.root, static_cast<int>(whole.document.sources.size()) - 1);
  for (std::size_t i = 0; i < part.root.members.size(); ++i) {
    auto& [key, value] = part.root.members[i];
    put_at(whole.document.root, key, std::move(value), part.root.key_origins[i]);
  }
}

void add_settings(Foreign& command, std::string_view text, const std::string& file) {
  Document part = parse(text, file, syntax_of(text, file));
  Value& flags = command.document.root;
  command.arguments.started.clear();
  for (std::size_t i = 0; i < flags.members.size(); ++i) {
    if (flags.members[i].first == "--config") {
      const auto at = static_cast<std::ptrdiff_t>(i);
      flags.members.erase(flags.members.begin() + at);
      flags.key_origins.erase(flags.key_origins.begin() + at);
      break;
    }
  }
  const auto is_told = [&](const std::string& key) {
    return std::ranges::any_of(flags.members, [&](const auto& flag) {
      return Settings::normalised(flag.first) == Settings::normalised(key);
    });
  };
  command.document.sources.push_back(file);
  set_source(part.root, static_cast<int>(command.document.sources.size()) - 1);
  for (std::size_t i = 0; i < part.root.members.size(); ++i) {
    auto& [key, value] = part.root.members[i];
    if (!is_told(key)) {
      flags.add(key, std::move(value));
      flags.key_origins.back() = part.root.key_origins[i];
    }
  }
}

}  // namespace titer
