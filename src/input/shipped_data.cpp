#include "titer/input/shipped_data.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>

#include "titer/input/input_error.hpp"
#include "titer/input/questions_of_runs.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

namespace fs = std::filesystem;

bool is_data_root(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path / kModelData.folder, ignored) &&
         fs::is_directory(path / kChipData.folder, ignored);
}

std::string plural(std::string_view name) {
  const bool changes = name.ends_with("y");
  const bool hisses = name.ends_with("ch");
  return std::string(changes ? name.substr(0, name.size() - 1) : name) +
         (changes ? "ies" : (hisses ? "es" : "s"));
}

/// PREFIX/share/titer where this code is PREFIX/lib/pythonX.Y/site-packages/titer….so, a module
/// that Python has loaded; otherwise nothing.
std::optional<fs::path> data_beside_module() {
  static constexpr char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || fs::path(info.dli_fname).extension() != ".so") {
    return std::nullopt;
  }
  std::error_code ignored;
  const fs::path folder = fs::absolute(info.dli_fname, ignored).parent_path();
  return folder.parent_path().parent_path().parent_path() / "share/titer";
}

/// Where names are looked up, in turn: the folders of $TITER_PATH, then what is shipped.
std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  const char* const own = std::getenv("TITER_PATH");
  for (const std::string_view part : divided(own == nullptr ? "" : own, ":")) {
    const fs::path folder = part;
    std::error_code ignored;
    if (!folder.empty() && !fs::is_directory(folder, ignored)) {
      throw InputError("TITER_PATH: " + folder.string() +
                       ": expected folders of data of your own, with colons between them");
    }
    if (!folder.empty()) {
      folders.push_back(folder);
    }
  }
  folders.push_back(data_root());
  return folders;
}

/// Nothing where no folder has it.
std::optional<fs::path> shipped_file(const DataKind& kind, std::string_view name) {
  for (const fs::path& folder : data_folders()) {
    fs::path file = folder / kind.folder / (std::string(name) + ".json");
    std::error_code missing;
    if (fs::is_regular_file(file, missing)) {
      return file;
    }
  }
  return std::nullopt;
}

/// Up to six of the names that have a part in them, for who gave no more: "dgx-h100, h100-pcie-8".
std::string names_with(std::string_view part, std::vector<std::string> names) {
  constexpr std::size_t most = 6;
  std::erase_if(names, [&](const std::string& name) {
    return part.empty() || name.find(lower(part)) == std::string::npos;
  });
  const std::size_t shown = std::min(most, names.size());
  return listed(std::span(names).first(shown)) + (names.size() > most ? " …" : "");
}

}  // namespace

fs::path data_root() {
  if (const char* chosen = std::getenv("TITER_DATA"); chosen != nullptr) {
    if (!is_data_root(chosen)) {
      throw InputError(std::string("TITER_DATA: ") + chosen +
                       ": expected a folder that holds models and configs");
    }
    return chosen;
  }
  std::error_code no_link;
  const fs::path program = fs::read_symlink("/proc/self/exe", no_link);
  const fs::path beside_program = program.parent_path().parent_path() / "share/titer";
  const std::array<fs::path, 3> candidates = {data_beside_module().value_or(beside_program),
                                              fs::path(TITER_SOURCE_DATA),
                                              fs::path(TITER_INSTALLED_DATA)};
  for (const fs::path& candidate : candidates) {
    if (is_data_root(candidate)) {
      return candidate;
    }
  }
  throw InputError(
      "the shipped data was not found; set TITER_DATA to the folder that holds models and configs");
}

std::vector<std::string> shipped_names(const DataKind& kind) {
  std::vector<std::string> names;
  for (const fs::path& folder : data_folders()) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder / kind.folder, missing)) {
      if (entry.path().extension() == ".json") {
        names.push_back(entry.path().stem().string());
      }
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_shipped(const DataKind& kind, std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos &&
         shipped_file(kind, name).has_value();
}

bool looks_like_file(std::string_view name_or_file) {
  return name_or_file.find('/') != std::string_view::npos || name_or_file.ends_with(".json");
}

Value written_or_named(std::string_view text, const std::string& source) {
  return is_written_out(text) ? parse_json(text, source).root : Value(text);
}

std::optional<std::string> smallest_question(const DataKind& kind, std::string_view run) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> rests = {
      {{"sweep", R"("axes": {"plan.micro_batch": [1, 2, 4]})"},
       {"course", R"("phases": [{"name": "all", "time": "2 h"}])"}}};
  for (const auto& [name, rest] : rests) {
    if (kind.name == name) {
      const std::string scenario = run.empty() ? "{…}" : "\"" + std::string(run) + "\"";
      return R"({"scenario": )" + scenario + ", " + std::string(rest) + "}";
    }
  }
  return std::nullopt;
}

std::string expected_of_run(const DataKind& kind, std::string_view run) {
  const auto example = smallest_question(kind, run);
  return "expected what asks of it, " + (example ? "such as " + *example + ", " : "") +
         "as `titer schema " + std::string(kind.name) + "` says";
}

std::string suggested_name(std::string_view word,
                           const std::vector<std::string>& names,
                           std::string_view otherwise) {
  const std::string longer = names_with(word, names);
  const std::vector<std::string_view> all(names.begin(), names.end());
  const bool is_part =
      !longer.empty() && closest(word, all).find(lower(word)) == std::string_view::npos;
  return is_part ? "; names with it: " + longer : suggestion(word, all, otherwise);
}

fs::path data_file(const DataKind& kind, std::string_view name_or_file, const fs::path& folder) {
  if (looks_like_file(name_or_file)) {
    std::error_code ignored;
    fs::path beside = folder / name_or_file;
    return fs::exists(beside, ignored) ? beside : fs::path(name_or_file);
  }
  if (auto file = shipped_file(kind, name_or_file); file && !name_or_file.empty()) {
    return *std::move(file);
  }
  const std::vector<std::string> names = shipped_names(kind);
  std::string message =
      std::string(name_or_file) + ": no shipped " + std::string(kind.name) + " has this name";
  if (kind.name != kRunData.name && is_shipped(kRunData, name_or_file)) {
    message += ", a run has; " + expected_of_run(kind, name_or_file);
  }
  for (const NoRun& other : kNoRuns) {
    if (kind.name == kRunData.name && other.kind != nullptr &&
        is_shipped(*other.kind, name_or_file)) {
      message += ", " + std::string(other.what) + " has: `" + std::string(other.command) + " " +
                 std::string(name_or_file) + "` takes it";
    }
  }
  const std::string others = kind.name == kSettingsData.name  // which no command lists
                                 ? ""
                                 : "; `titer list " + plural(kind.name) + "` shows them";
  throw InputError(message + suggested_name(name_or_file, names, others) +
                   " (a file is given by a path with a slash or ending in .json)");
}

}  // namespace titer
