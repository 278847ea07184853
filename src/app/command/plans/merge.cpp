#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/sweep/row_merge.hpp"

namespace titer {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string out;
};

constexpr std::array kMergeOptions = {
    options::texts<&MergeOptions::files>(
        "files",
        "FILE",
        "the FILE whose shards lie beside it, FILE.shard-I-of-N; with --out the shards")
        .needed()
        .first(),
    out_option<&MergeOptions::out>("write the table to this file, whole or not at all")};

int merge_command(const MergeOptions& options) {
  std::vector<std::filesystem::path> shards(options.files.begin(), options.files.end());
  std::string out = options.out;
  if (out.empty()) {
    if (shards.size() > 1) {
      throw InputError(
          fmt::format("{} files: expected --out FILE beside shards given by name", shards.size()));
    }
    out = options.files.front();
    shards = find_shards(out);
  }
  OutputFile file(out);
  bool is_begun = false;
  const RowMerge merge = merge_shards(shards, [&](std::string_view rows) {
    if (!options.out.empty() && !rows.empty() && !std::exchange(is_begun, true)) {
      check_ending("--out", out, rows.starts_with('{') ? "jsonl" : "csv");
    }
    file.write(rows);
  });
  file.finish();
  print(fmt::format("{}: {} rows, the {} chunks of {} shards each exactly once\n",
                    out,
                    merge.tally.rows,
                    merge.tally.chunks,
                    merge.shards));
  if (merge.tally.beyond > 0) {
    fmt::print(stderr,
               "note: {}: {} of {} rows are beyond what their software can do\n",
               out,
               merge.tally.beyond,
               merge.tally.rows);
  }
  if (merge.tally.defects.count > 0) {  // as one process that made the table would end
    fmt::print(stderr,
               "{}: {} rows have no result for a defect of the program; the shards' sweeps name "
               "them\n",
               out,
               merge.tally.defects.count);
    return kDefect;
  }
  return kSuccess;
}

}  // namespace

Command add_merge(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "merge", "Put the shards of a sweep together, and prove that every row is there once");
  app->footer(
      "Examples:\n"
      "  titer merge rows.csv\n"
      "  titer merge here/rows.csv.shard-1-of-2 there/rows.csv.shard-2-of-2 --out rows.csv");
  return own_command(*app, kMergeOptions, merge_command);
}

}  // namespace titer
