#include "files_read.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "overrides.hpp"

namespace titer {
namespace {

bool is_configuration(const std::string& name) {
  return name.ends_with(".yml") || name.ends_with(".yaml") || name.ends_with(".json");
}

/// What is written under that name, or moved there, the only one with the file's name; null for
/// nothing.
const std::string* written_as(const std::map<std::string, std::string>& written,
                              const std::string& called) {
  if (const auto document = written.find(called); document != written.end()) {
    return &document->second;
  }
  const auto is_named = [&](const auto& document) {
    return std::filesystem::path(document.first).filename() ==
           std::filesystem::path(called).filename();
  };
  const auto found = std::ranges::find_if(written, is_named);
  const bool is_only = std::ranges::count_if(written, is_named) == 1;
  return is_only ? &found->second : nullptr;
}

}  // namespace

void FilesRead::add(const std::string& text, const std::string& name) {
  if (!parsed_.empty() && parsed_.back().format && parsed_.back().format->comes_in_parts &&
      is_configuration(name)) {
    add_part(parsed_.back(), text, name);
    return;
  }
  ImportOptions told = options_;
  if (const std::string recipe = started_recipe(); !recipe.empty()) {
    told.defines.emplace("recipe", recipe);
  }
  parsed_.push_back(parse_foreign(
      text, name, told, [&](std::string_view called) { return sourced_.find(called); }));
  names_.push_back(name);
  const std::string changed = changed_configuration(parsed_.back());
  const auto settings = changed.empty() ? std::nullopt : sourced_.find(changed);
  if (settings) {
    add_settings(parsed_.back(), settings->text, settings->name);
  }
  // What the script itself writes goes before a file that lies beside it.
  const std::map<std::string, std::string> written = parsed_.back().arguments.documents;
  std::set<const std::string*> taken;
  for (const std::string& called : configurations_of(parsed_.back())) {
    if (const std::string* const document = written_as(written, called)) {
      if (taken.insert(document).second) {
        add(*document, called);
      }
    } else if (const auto found = sourced_.find(called)) {
      add(found->text, found->name);
    }
  }
}

std::string FilesRead::started_recipe() const {
  for (const Foreign& file : parsed_) {
    const Value* const config = named_configuration(file);
    if (file.syntax == Syntax::arguments && config != nullptr) {
      return config->text;
    }
  }
  return "";
}

}  // namespace titer
