#include <algorithm>
#include <filesystem>

#include "import/formats/files_read.hpp"
#include "import/formats/formats.hpp"
#include "import/formats/overrides.hpp"
#include "import/hf/hf_parts.hpp"
#include "import_parts.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "titer/script/foreign_text.hpp"
#include "titer/script/sourced_files.hpp"

namespace titer {
namespace {

/// Reads a model as a run would: what no run takes is a contradiction of the file.
void check_model(const Transformer& model, const std::string& file) {
  const Document document{.root = transformer_document(model), .sources = {file}};
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(read_transformer(in));
  problems.raise();
}

std::string model_name(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  return name.empty() ? "imported" : name;
}

/// The file itself, or what a folder in the Hub's layout has of a model.
std::filesystem::path file_of(const std::filesystem::path& given) {
  std::error_code ignored;
  return std::filesystem::is_directory(given, ignored) ? given / "config.json" : given;
}

/// What only harmless flags depend on need not be told.
void refuse_choices(const std::vector<ArgumentChoice>& choices) {
  Problems problems;
  for (const ArgumentChoice& choice : choices) {
    const bool matters = std::ranges::any_of(choice.flags, [](const std::string& flag) {
      const std::string name = Settings::normalised(flag);
      return !is_harmless(name, "megatron") && !is_harmless(name, "any");
    });
    if (matters) {
      problems.add(choice.line);
    }
  }
  problems.raise();
}

void import_settings(const Foreign& foreign,
                     const std::string& file,
                     const ImportOptions& options,
                     const FileSet& others,
                     ImportedRun& into) {
  Problems problems;
  const bool in_section = foreign.document.root.find("MODEL_ARGS") != nullptr;
  Settings in(foreign.document, in_section ? "MODEL_ARGS" : "", options, problems);
  refuse_choices(foreign.arguments.choices);
  foreign.format->import({in, options, into, foreign.arguments, file, others});
  problems.raise();
  std::string of_launcher;
  for (const std::string& flag : foreign.arguments.of_launcher) {
    of_launcher += (of_launcher.empty() ? "" : " ") + Settings::normalised(flag);
  }
  in.skip("how processes are launched", of_launcher);
  in.skip_known("any");
  const std::vector<std::string>& guessed = foreign.arguments.assumed;
  into.assumed.insert(into.assumed.begin(), guessed.begin(), guessed.end());
  add_outcome(in, into);
  if (into.model) {
    if (into.model->name.empty()) {
      into.model->name = options.base ? options.base->name + "-changed" : model_name(file);
      into.model->title = into.model->name;
    }
    into.model->source = foreign.format->name + ", " + file;
    check_model(*into.model, file);
  }
}

bool is_left_open(const Value& value) {
  return value.kind == Value::Kind::text && value.text == kLeftOpen;
}

/// Moves what one file tells to what the others told.
void merge(Value& whole, const Value& part, const std::string& file) {
  for (const auto& [key, value] : part.members) {
    Value* const there = whole.find(key);
    if (there == nullptr) {
      whole.add(key, value);
    } else if (is_left_open(*there)) {
      *there = value;
    } else if (is_left_open(value)) {
      continue;
    } else if (to_json(*there, 0) != to_json(value, 0)) {
      std::string line = file;
      line.append(": expected the same ").append(key).append(" as in the files before it, ");
      throw InputError(line.append(to_json(*there, 0)).append(", not ").append(to_json(value, 0)));
    }
  }
}

void merge(ImportedRun& whole, ImportedRun part, const std::string& file) {
  const bool tells_model = part.model || !part.shipped.empty();
  if (tells_model && (whole.model || !whole.shipped.empty())) {
    throw InputError(file + ": expected one model: the files before it describe one already");
  }
  if (tells_model) {
    whole.model = std::move(part.model);
    whole.shipped = std::move(part.shipped);
  }
  whole.format += (whole.format.empty() ? "" : " and ") + part.format;
  whole.stack = part.stack.empty() ? whole.stack : part.stack;
  merge(whole.plan, part.plan, file);
  merge(whole.training, part.training, file);
  const auto append = [](std::vector<std::string>& to, std::vector<std::string> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(whole.used, std::move(part.used));
  append(whole.harmless, std::move(part.harmless));
  append(whole.unread, std::move(part.unread));
  append(whole.open, std::move(part.open));
  append(whole.assumed, std::move(part.assumed));
}

/// What a plan needs and no default may stand for is left open: a number of devices, or the length
/// of a sequence, is nobody's to guess.
void leave_open(ImportedRun& run, bool tells_devices) {
  if (run.plan.members.empty()) {
    return;
  }
  const auto open = [&](Value& object, const std::string& key, const std::string& why) {
    if (object.find(key) == nullptr) {
      object.add(key, Value(kLeftOpen));
      run.open.push_back(why);
    }
  };
  open(run.plan,
       "data",
       tells_devices ? "plan.data: is what the degrees that are left open leave of the devices"
                     : "plan.data: no number of devices is told; --devices N tells it");
  open(run.training, "sequence", "training.sequence: no length of a sequence is told");
  open(run.training, "global_batch", "training.global_batch: no batch of all ranks is told");
  const Value* const sharding = run.plan.find("sharding");
  if (sharding != nullptr && is_left_open(*sharding)) {
    run.open.emplace_back(
        "plan.sharding: DeepSpeed's configuration tells it; --with ds_config.json");
  }
}

void refuse_unread(const ImportedRun& run) {
  Problems problems;
  for (const std::string& line : run.unread) {
    problems.add(line + ": is not read, and may change the result");
  }
  if (!run.unread.empty()) {
    problems.add("--accept-unknown leaves " + std::string(run.unread.size() == 1 ? "it" : "these") +
                 " out");
  }
  problems.raise();
}

}  // namespace

namespace {

ImportedRun import_foreign(const Foreign& foreign,
                           const std::string& file,
                           const ImportOptions& options,
                           const FileSet& others) {
  ImportedRun imported;
  imported.format = foreign.format->name;
  if (foreign.format->is_model) {
    import_huggingface(foreign, file, imported);
  } else {
    import_settings(foreign, file, options, others, imported);
  }
  return imported;
}

/// All devices, which accelerate's file tells for the others.
std::optional<std::int64_t> devices_of(const std::vector<Foreign>& files) {
  for (const Foreign& file : files) {
    const Value* const processes = file.document.at("num_processes");
    if (file.format->name == kAccelerate && processes != nullptr && processes->is_integer) {
      return processes->integer;
    }
  }
  return std::nullopt;
}

}  // namespace

std::pair<std::string, std::string> named_value(std::string_view option,
                                                const std::string& text,
                                                std::string_view form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(std::string(option) + " " + text + ": expected " + std::string(form));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_define(const std::string& text, Defines& defines) {
  const auto [name, value] = named_value("--define", text, "NAME=VALUE, such as TP=8");
  defines[name] = value;
}

ImportedRun import_text(std::string_view text,
                        const std::string& file,
                        const ImportOptions& options) {
  std::vector<Foreign> parsed = {parse_foreign(text, file, options)};
  std::vector<std::string> names = {file};
  apply_changes(parsed, names, options);
  return import_foreign(parsed.front(), file, options, {});
}

namespace {

FileSet told_by(std::span<const Foreign> parsed) {
  FileSet others;
  for (const Foreign& file : parsed) {
    others.has_trainer = others.has_trainer || file.format->is_trainer;
    others.has_launcher = others.has_launcher || file.format->name == kAccelerate;
    others.has_model = others.has_model || file.format->is_model;
  }
  return others;
}

void refuse_without_model(const ImportedRun& run, const std::string& file) {
  if (run.model || !run.shipped.empty()) {
    return;
  }
  Problems problems;
  problems.add(file + ": " + run.format +
               " has no model; give its config.json too, or --model NAME");
  for (const std::string& line : run.open) {
    problems.add(line + ": is told elsewhere; --define NAME=VALUE tells it");
  }
  problems.raise();
}

}  // namespace

ImportedRun import_files(std::span<const std::filesystem::path> files,
                         const ImportOptions& options) {
  SourcedFiles sourced(files);
  FilesRead files_read(options, sourced);
  for (const std::filesystem::path& given : files) {
    if (sourced.was_read(given)) {
      continue;
    }
    const std::string name = file_of(given).string();
    files_read.add(read_small_text(name), name);
  }
  std::vector<Foreign>& parsed = files_read.parsed();
  std::vector<std::string>& names = files_read.names();
  apply_changes(parsed, names, options);
  const FileSet others = told_by(parsed);
  ImportOptions told = options;
  told.devices = options.devices ? options.devices : devices_of(parsed);
  std::vector<ImportedRun> parts;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    parts.push_back(import_foreign(parsed[i], names[i], told, others));
    const auto folder = std::ranges::find_if(
        files, [&](const auto& given) { return given != names[i] && file_of(given) == names[i]; });
    if (folder != files.end()) {
      compare_with_index(*folder, parts.back());
    }
  }
  settle_precision(parts);
  ImportedRun whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    merge(whole, std::move(parts[i]), names[i]);
  }
  drop_shared_base(whole, names.front());
  if (!whole.model && whole.shipped.empty()) {
    whole.model = options.base;
  }
  refuse_without_model(whole, files.front().string());
  if (!options.accept_unknown) {
    refuse_unread(whole);
  }
  leave_open(whole, options.devices.has_value());
  if (whole.model) {
    check_adapters(whole, *whole.model);
  }
  return whole;
}

namespace {

/// What a reader of the run should know of where it comes from.
Value notes_of(const ImportedRun& imported) {
  Value notes = Value::make_array();
  const auto add = [&](const std::vector<std::string>& lines, const std::string& what) {
    for (const std::string& line : lines) {
      notes.push(Value(what + line));
    }
  };
  add(imported.open, "left open: ");
  add(imported.unread, "not read, and may change the result: ");
  add(imported.assumed, "assumed: ");
  return notes;
}

}  // namespace

Value run_document(const ImportedRun& imported, const std::string& cluster) {
  Value run = Value::make_object();
  if (Value notes = notes_of(imported); !notes.items.empty()) {
    run.add("notes", std::move(notes));
  }
  run.add("model",
          imported.model ? transformer_document(*imported.model) : Value(imported.shipped));
  if (!cluster.empty()) {
    run.add("cluster", Value(cluster));
  }
  if (!imported.stack.empty()) {
    run.add("stack", Value(imported.stack));
  }
  if (!imported.plan.members.empty()) {
    run.add("plan", imported.plan);
  }
  if (!imported.training.members.empty()) {
    run.add("training", imported.training);
  }
  return run;
}

}  // namespace titer
