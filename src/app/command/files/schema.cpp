#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command/page/report_questions.hpp"
#include "app/output/output_folder.hpp"
#include "app/question_command.hpp"
#include "titer/campaign/file_schemas.hpp"
#include "titer/input/schema.hpp"
#include "titer/model/model_schema.hpp"
#include "titer/scenario/data_schema.hpp"
#include "titer/scenario/source.hpp"
#include "titer/search/search_schema.hpp"
#include "titer/sweep/sweep_schema.hpp"
#include "titer/topology/families.hpp"
#include "titer/view/table.hpp"
#include "titer/web/answer.hpp"

namespace titer {
namespace {

/// Of a kind of file what it is, and what may stand in it.
struct FileSchema {
  std::string_view title;
  Value (*schema)();
};
using FileKind = Choice<FileSchema>;
constexpr std::array<FileKind, 16> kFileKinds = {
    {{"run", {"a scenario: model, cluster, stack, plan, training, conditions", run_schema}},
     {"sweep", {"a scenario, varied along axes", sweep_schema}},
     {"search", {"a scenario whose plan is searched for", search_schema}},
     {"capacity", {"how many devices for tokens, deadline and budget", capacity_schema}},
     {"course", {"training over time", course_schema}},
     {"report", {"questions that are answered in one page", report_schema}},
     {"question", {"what `titer ask` answers", question_schema}},
     {"model", {"a transformer, layers of operations, or a recommendation model", model_schema}},
     {"chip", {"an accelerator and its kernels", chip_file_schema}},
     {"cluster", {"nodes, their devices and the network between them", cluster_file_schema}},
     {"network", {"what joins nodes", network_file_schema}},
     {"topology", {"devices, switches and wires, by family", topology_schema}},
     {"stack", {"training software", stack_file_schema}},
     {"reliability", {"what fails how often, checkpoints and restarts", reliability_schema}},
     {"price", {"what devices cost and draw", price_schema}},
     {"grid", {"electricity where the devices are", grid_schema}}}};

enum class SchemaFormat { json, text, csv, markdown };
constexpr std::array<Choice<SchemaFormat>, 4> kSchemaFormats = {
    {{"json", SchemaFormat::json},
     {"text", SchemaFormat::text},
     {"csv", SchemaFormat::csv},
     {"markdown", SchemaFormat::markdown}}};

struct SchemaOptions {
  std::string kind;
  std::string path;
  SchemaFormat format = SchemaFormat::json;
  std::string out;
};
constexpr std::array kSchemaOptions = {
    options::text<&SchemaOptions::kind>("kind", "KIND", "of files; nothing: which kinds there are")
        .first(),
    options::text<&SchemaOptions::path>("path", "PATH", "only what stands below this key").first(),
    format_option<&SchemaOptions::format, kSchemaFormats>(
        "json (JSON schema), text, csv or markdown", "json"),
    options::text<&SchemaOptions::out>(
        "out", "FOLDER", "write the JSON schemas of all kinds to a new folder")};

std::string document_of(const FileKind& kind) {
  Value document = Value::make_object();
  document.add("$schema", "https://json-schema.org/draft/2020-12/schema");
  document.add("title", kind.value.title);
  Value schema = kind.value.schema();
  document.members.insert(document.members.end(), schema.members.begin(), schema.members.end());
  return to_json(document) + "\n";
}

std::string text_of(const std::vector<schema::Row>& rows) {
  std::string text;
  for (const schema::Row& row : rows) {
    text += fmt::format("{}: {}\n    {}{}{}\n",
                        row.path,
                        row.about,
                        row.value,
                        row.value.empty() ? "" : "; if left out: ",
                        row.otherwise);
  }
  return text;
}

std::string csv_of(const std::vector<schema::Row>& rows) {
  std::string text = csv_line({"key", "what", "value", "if left out"});
  for (const schema::Row& row : rows) {
    text += csv_line({row.path, row.about, row.value, row.otherwise});
  }
  return text;
}

std::string markdown_of(const std::vector<schema::Row>& rows) {
  std::string text = "| key | what | value | if left out |\n|---|---|---|---|\n";
  for (const schema::Row& row : rows) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.path, row.about, row.value, row.otherwise);
  }
  return text;
}

std::string view(const FileKind& kind, const std::string& path, SchemaFormat format) {
  const Value whole = kind.value.schema();
  const Value* inner = schema::at(whole, path);
  if (inner == nullptr) {
    std::vector<std::string> paths;
    for (schema::Row& row : schema::rows(whole)) {
      paths.push_back(std::move(row.path));
    }
    throw InputError(
        fmt::format("{}: no key of a {} file{}", path, kind.name, suggestion(path, paths)));
  }
  const std::vector<schema::Row> rows = schema::rows(*inner, path);
  switch (format) {
    case SchemaFormat::text:
      return text_of(rows);
    case SchemaFormat::csv:
      return csv_of(rows);
    case SchemaFormat::markdown:
      return markdown_of(rows);
    case SchemaFormat::json:
      break;
  }
  return path.empty() ? document_of(kind) : to_json(*inner) + "\n";
}

int schema_command(const SchemaOptions& options) {
  if (!options.out.empty()) {
    OutputFolder folder(options.out);
    for (const FileKind& kind : kFileKinds) {
      folder.write(std::string(kind.name) + ".json", document_of(kind));
    }
    folder.finish();
    return kSuccess;
  }
  if (options.kind.empty()) {
    std::vector<Row> rows = {{"kind", "what"}};
    for (const FileKind& kind : kFileKinds) {
      rows.push_back({std::string(kind.name), std::string(kind.value.title)});
    }
    print(text_table(rows, "ll", ""));
    return kSuccess;
  }
  const FileSchema file = chosen("schema", options.kind, kFileKinds);
  print(view({options.kind, file}, options.path, options.format));
  return kSuccess;
}

}  // namespace

Command add_schema(CLI::App& program) {
  CLI::App* app = program.add_subcommand("schema", "Show what files may hold: every key");
  app->footer(
      "Examples:\n"
      "  titer schema run\n"
      "  titer schema run plan.offload --format text\n"
      "  titer schema --out schemas");
  return own_command(*app, kSchemaOptions, schema_command);
}

}  // namespace titer
