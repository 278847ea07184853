#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>

#include "app/question_command.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

struct ShowOptions {
  std::string name;
  std::string kind;
};
constexpr std::array kShowOptions = {
    options::text<&ShowOptions::name>(
        "name", "NAME", "of a model, chip, cluster, run …; see titer list")
        .needed()
        .first(),
    options::text<&ShowOptions::kind>(
        "kind", "KIND", "of what, where several things have the name")};

/// The kinds that have something of this name. Throws InputError where none has.
std::vector<const DataKind*> kinds_with(const std::string& name) {
  std::vector<const DataKind*> found;
  std::vector<std::string> names;
  for (const Choice<const DataKind*>& kind : data_kinds()) {
    if (is_known(*kind.value, name)) {
      found.push_back(kind.value);
    }
    const std::vector<std::string> own = shipped_names(*kind.value);
    names.insert(names.end(), own.begin(), own.end());
  }
  if (found.empty()) {
    throw InputError(
        fmt::format("{}: nothing shipped has this name{}",
                    name,
                    suggested_name(name, names, "; `titer list` shows what there is")));
  }
  return found;
}

const DataKind& kind_of(const ShowOptions& options) {
  if (!options.kind.empty()) {
    std::vector<Choice<const DataKind*>> choices;
    for (const Choice<const DataKind*>& kind : data_kinds()) {
      choices.push_back({kind.value->name, kind.value});
    }
    return *chosen("--kind", options.kind, choices);
  }
  const std::vector<const DataKind*> found = kinds_with(options.name);
  if (found.size() > 1) {
    throw InputError(fmt::format("{}: the name of more than one thing: expected --kind {}",
                                 options.name,
                                 listed(found, &DataKind::name, " or --kind ")));
  }
  return *found.front();
}

int show_command(const ShowOptions& options) {
  const DataKind& kind = kind_of(options);
  if (!is_shipped(kind, options.name)) {
    print(to_json(load_data(kind, options.name).root) + "\n");
    fmt::print(stderr, "{} {}: by its name on the HuggingFace Hub\n", kind.name, options.name);
    return kSuccess;
  }
  const std::filesystem::path path = data_file(kind, options.name);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(fmt::format("{}: cannot be read", path.string()));
  }
  print(std::string(std::istreambuf_iterator<char>(file), {}));
  fmt::print(stderr, "{} {}: {}\n", kind.name, options.name, path.string());
  return kSuccess;
}

}  // namespace

Command add_show(CLI::App& program) {
  CLI::App* app = program.add_subcommand("show", "Print what a name stands for, as a file");
  app->footer(
      "Examples:\n"
      "  titer show llama3-70b-64xh100\n"
      "  titer show dgx-h100 --kind cluster > my-cluster.json\n"
      "Its kind and its path are said on standard error.");
  return own_command(*app, kShowOptions, show_command);
}

}  // namespace titer
