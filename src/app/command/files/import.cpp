#include <CLI/CLI.hpp>
#include <filesystem>

#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/read_document.hpp"
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
constexpr Range kCounts = {1, 1'000'000'000};
constexpr std::array kImportOptions = {
    options::texts<&ImportCommand::files>("files", "FILE", "what describes the run")
        .needed()
        .first(),
    options::texts<&ImportCommand::more_files>("with", "FILE", "more files of the same run"),
    options::texts<&ImportCommand::defines>(
        "define", "NAME=VALUE", "what ${NAME} stands for in the files; repeatable"),
    options::texts<&ImportCommand::overrides>(
        "override", "KEY=VALUE", "another value for a key of the configuration; repeatable"),
    options::integer<&ImportCommand::devices>(
        "devices", "N", "all of them, to tell the data-parallel degree")
        .within(kCounts),
    options::integer<&ImportCommand::vocabulary>("vocabulary", "ROWS", "rows of the token table")
        .within(kCounts),
    options::text<&ImportCommand::model>(
        "model", "NAME", "the model where files have none or change it"),
    options::text<&ImportCommand::cluster>("cluster", "NAME", "the cluster to name in the run"),
    options::flag<&ImportCommand::accept_unknown>(
        "accept_unknown",
        "leave out what is not read and may change the result; otherwise it is refused"),
    options::text<&ImportCommand::format>(
        "format",
        "NAME",
        "text (a summary) or json (a run); what became of every setting goes to stderr")
        .or_else("text; json with --out"),
    out_option<&ImportCommand::out>()};

enum class ImportFormat { text, json };
constexpr std::array<Choice<ImportFormat>, 2> kImportFormats = {
    {{"text", ImportFormat::text}, {"json", ImportFormat::json}}};

Transformer load_model(const std::string& name) {
  return read_document(load_data(kModelData, name), read_transformer);
}

ImportOptions import_options(const ImportCommand& command) {
  ImportOptions options;
  for (const std::string& define : command.defines) {
    add_define(define, options.defines);
  }
  for (const std::string& told : command.overrides) {
    auto [path, value] =
        named_value("--override", told, "KEY=VALUE, such as training.seq_len=4096");
    options.overrides.push_back({.path = std::move(path), .value = std::move(value)});
  }
  options.accept_unknown = command.accept_unknown;
  options.devices = command.devices;
  options.vocabulary = command.vocabulary;
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
  OutputFile file("--out", command.out, format == ImportFormat::json ? "json" : "text");
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
      "nanoGPT, "
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
  return own_command(*app, kImportOptions, import_command);
}

}  // namespace titer
