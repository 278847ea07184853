#include "titer/script/python/python_imports.hpp"

#include <algorithm>
#include <optional>

#include "titer/script/python/python_branches.hpp"

namespace titer {
namespace {

constexpr int kDeepestImport = 4;

struct ImportedName {
  std::string_view name;
  std::string_view as;
};

/// "a, b as c" in brackets or without.
std::vector<ImportedName> names_in(std::string_view text) {
  text = without_spaces(text);
  if (text.starts_with('(') && text.ends_with(')')) {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<ImportedName> names;
  for (const std::string_view part : parts_of(text, ',')) {
    const std::size_t as = part.find(" as ");
    const bool has_as = as != part.npos;
    names.push_back({.name = without_spaces(part.substr(0, as)),
                     .as = without_spaces(has_as ? part.substr(as + 4) : part)});
  }
  return names;
}

/// "src/config.py" of src.config and .config.
std::string path_of(std::string_view module) {
  module.remove_prefix(std::min(module.find_first_not_of('.'), module.size()));
  std::string path(module);
  std::ranges::replace(path, '.', '/');
  return path.empty() ? path : path + ".py";
}

}  // namespace

std::optional<SourcedFile> PythonImports::find(std::string_view module) const {
  const std::string path = path_of(module);
  return path.empty() || !find_sourced_ ? std::nullopt : find_sourced_(path);
}

PythonNames PythonImports::constants_of(const SourcedFile& file) {
  PythonNames made(defines_);
  if (depth_ == kDeepestImport) {
    return made;
  }
  ++depth_;
  PythonBranches branches;
  for (const Statement& statement : python_statements(file.text, file.name)) {
    const bool is_import =
        statement.text.starts_with("from ") || statement.text.starts_with("import ");
    if (is_import) {
      static_cast<void>(add(statement.text, made));
    } else if (branches.follows(statement, made.constants()) &&
               !statement.text.starts_with("def ")) {
      made.add(statement);
    }
  }
  --depth_;
  return made;
}

/// The name itself, and what has it as its owner: members of a class.
void PythonImports::take(const PythonNames& from,
                         std::string_view name,
                         const std::string& as,
                         PythonNames& into) const {
  for (const auto& [known, value] : from.constants()) {
    if (known == "__name__") {
      continue;
    }
    if (name == "*") {
      into.define(known, value);
    } else if (name.empty()) {
      std::string member = as;
      into.define(member.append(".").append(known), value);
    } else if (known == name) {
      into.define(as, value);
    } else if (known.starts_with(name) && known[name.size()] == '.') {
      into.define(as + known.substr(name.size()), value);
    }
  }
}

std::vector<std::string> PythonImports::add(std::string_view statement, PythonNames& into) {
  constexpr std::string_view from = "from ";
  constexpr std::string_view import = "import ";
  std::vector<std::string> read;
  const auto take_whole = [&](std::string_view module, std::string_view as) {
    if (const auto file = find(module)) {
      take(constants_of(*file), "", std::string(as), into);
      read.push_back(file->name);
    }
  };
  if (statement.starts_with(import)) {
    for (const ImportedName& module : names_in(statement.substr(import.size()))) {
      take_whole(module.name, module.as);
    }
    return read;
  }
  const std::size_t word = statement.find(" import ");
  if (word == statement.npos) {
    return read;
  }
  const std::string_view module = without_spaces(statement.substr(from.size(), word - from.size()));
  const std::vector<ImportedName> names = names_in(statement.substr(word + 8));
  if (const auto file = find(module)) {
    const PythonNames known = constants_of(*file);
    for (const ImportedName& name : names) {
      take(known, name.name, std::string(name.as), into);
    }
    read.push_back(file->name);
    return read;
  }
  for (const ImportedName& name : names) {
    take_whole(std::string(module) + "." + std::string(name.name), name.as);
  }
  return read;
}

}  // namespace titer
