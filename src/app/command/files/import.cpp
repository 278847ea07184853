#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "titer/import/imported.hpp"
#include "titer/report/evidence/import_report.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

struct ImportCommand {
  std::vector<std::string> files;
  std::vector<std::string> more_files;
  std::vector<std::string> defines;
  std::vector<std::string> overrides;
  std::optional<std::int64_t> devices;
  std::optional<std::int64_t> vocabulary;
  std::string model;
  std::string cluster;
  std::string format;
  std::string out;
  bool accept_unknown = false;
};

enum class ImportFormat { text, json };
constexpr std::array<Choice<ImportFormat>, 2> kImportFormats = {
    {{"text", ImportFormat::text}, {"json", ImportFormat::json}}};

Transformer load_model(const std::string& name) {
  const Document document = load_data(kModelData, name);
  Problems problems;
  Reader in(document, problems);
  Transformer model = read_transformer(in);
  problems.raise();
  return model;
}

ImportOptions import_options(const ImportCommand& command) {
  constexpr std::int64_t most = 1'000'000'000;
  ImportOptions options;
  for (const std::string& define : command.defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--define " + define + ": expected NAME=VALUE, such as TP=8");
    }
    options.defines[define.substr(0, equals)] = define.substr(equals + 1);
  }
  for (const std::string& told : command.overrides) {
    const std::size_t equals = told.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--override " + told +
                       ": expected KEY=VALUE, such as training.seq_len=4096");
    }
    options.overrides.push_back({.path = told.substr(0, equals), .value = told.substr(equals + 1)});
  }
  const auto check = [&](std::string_view option, std::optional<std::int64_t> number) {
    if (number && (*number < 1 || *number > most)) {
      throw InputError(std::string(option) + " " + std::to_string(*number) +
                       ": expected a number from 1 to " + std::to_string(most));
    }
    return number;
  };
  options.accept_unknown = command.accept_unknown;
  options.devices = check("--devices", command.devices);
  options.vocabulary = check("--vocabulary", command.vocabulary);
  if (!command.model.empty()) {
    options.base = load_model(command.model);
  }
  if (!command.cluster.empty()) {
    static_cast<void>(load_data(kClusterData, command.cluster));
  }
  return options;
}

int import_command(const ImportCommand& command) {
  const std::string_view usual = command.out.empty() ? "text" : "json";
  const ImportFormat format =
      chosen("--format", command.format.empty() ? usual : command.format, kImportFormats);
  std::vector<std::filesystem::path> files(command.files.begin(), command.files.end());
  files.insert(files.end(), command.more_files.begin(), command.more_files.end());
  const ImportedRun imported = import_files(files, import_options(command));
  const Transformer model = imported.model ? *imported.model : load_model(imported.shipped);
  check_adapters(imported, model);
  const std::string text = format == ImportFormat::json
                               ? to_json(run_document(imported, command.cluster)) + "\n"
                               : import_summary(model, imported);
  std::fputs(import_remarks(imported).c_str(), stderr);
  OutputFile file(command.out);
  file.write(text);
  file.finish();
  return kSuccess;
}

}  // namespace

Command add_import(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "import", "Read models and plans from the files of other programs, as a run of this one");
  app->footer(
      "Files: a model's config.json or its folder; settings and programs of HuggingFace's trainer, "
      "TRL and\nUnsloth; accelerate, axolotl, LLaMA-Factory, torchtune, DeepSpeed, LitGPT, "
      "PaddleNLP; arguments of\nMegatron-LM and MindSpeed (a script, or YAML with MODEL_ARGS), "
      "ms-swift, OpenRLHF, verl, optimum-habana,\ndiffusers; JSON of picotron; YAML of NeMo, "
      "Megatron-Bridge, GPT-NeoX, Primus, nanotron, llm-foundry,\nOLMo, MaxText, Levanter, NeuronX "
      "Distributed Training; commands of EasyLM; recipes in Python, programs of OLMo-core;\n"
      "TOML and Python of torchtitan; and what a command changes of one of these (key.of=value), "
      "beside it.\n"
      "Examples:\n"
      "  titer import config.json\n"
      "  titer import config.json --with ds_config.json --devices 64 --out run.json\n"
      "  titer import pretrain.sh --define TP=8 --cluster dgx-h100 --format json");
  const auto command = std::make_shared<ImportCommand>();
  app->add_option("files", command->files, "what describes the run")->required()->type_name("FILE");
  app->add_option("--with", command->more_files, "more files of the same run")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_option("--define", command->defines, "what ${NAME} stands for in the files; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app->add_option("--override",
                  command->overrides,
                  "another value for a key of the configuration; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app->add_option("--devices", command->devices, "all of them, to tell the data-parallel degree")
      ->type_name("N");
  app->add_option("--vocabulary", command->vocabulary, "rows of the token table")
      ->type_name("ROWS");
  app->add_option("--model", command->model, "the model where files have none or change it")
      ->type_name("NAME");
  app->add_option("--cluster", command->cluster, "the cluster to name in the run")
      ->type_name("NAME");
  app->add_flag("--accept-unknown",
                command->accept_unknown,
                "leave out what is not read and may change the result; otherwise it is refused");
  app->add_option("--format",
                  command->format,
                  "text (a summary) or json (a run); what became of every setting goes to stderr")
      ->default_str("text; json with --out")
      ->type_name("NAME");
  app->add_option("--out", command->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  return {app, [command] { return import_command(*command); }};
}

}  // namespace titer
