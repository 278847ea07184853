#pragma once
// A measured run made up for tests.

#include <map>
#include <string>

#include "titer/input/csv.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer::testing {

using Cells = std::map<std::string, std::string>;

/// A GPT of 1.3 billion parameters on 16 A100 with Megatron-LM, but for some cells.
inline CsvTable table(const Cells& changed) {
  Cells cells = {{"case_id", "made-1"},
                 {"family", "megatron_sc21"},
                 {"grade", "A"},
                 {"model_name", "GPT 1.3B"},
                 {"layers", "24"},
                 {"hidden", "2048"},
                 {"heads", "16"},
                 {"kv_heads", "16"},
                 {"head_dim", "128"},
                 {"ffn", "8192"},
                 {"ffn_gated", "0"},
                 {"vocab", "51200"},
                 {"seq", "2048"},
                 {"hw_key", "A100-SXM4-80GB"},
                 {"n_chips", "16"},
                 {"chips_per_node", "8"},
                 {"inter_link", "8x HDR200 IB per node"},
                 {"p", "2"},
                 {"t", "4"},
                 {"d", "2"},
                 {"micro_batch", "2"},
                 {"global_batch", "32"},
                 {"dp_kind", "ddp"},
                 {"recompute", "full"},
                 {"precision", "bf16"},
                 {"iter_time_s", "2.5"},
                 {"iter_time_derived_s", ""},
                 {"tokens_per_s_per_gpu", ""},
                 {"source", "made for this test"},
                 {"notes", ""}};
  for (const auto& [column, text] : changed) {
    cells[column] = text;
  }
  std::string header;
  std::string line;
  for (const auto& [column, text] : cells) {
    header += (header.empty() ? "" : ",") + column;
    line += (line.empty() ? "" : ",") + ("\"" + text + "\"");
  }
  return CsvTable::parse(header + "\n" + line + "\n", "made.csv");
}

/// Cells of a row that leaves the dimensions to its model's name, each device with all of it.
inline Cells named_only(Cells cells) {
  cells.merge(Cells{{"layers", ""},
                    {"hidden", ""},
                    {"heads", ""},
                    {"ffn", ""},
                    {"p", "1"},
                    {"t", "1"},
                    {"d", "16"}});
  return cells;
}

/// By one reader of all rows, as a table has: it reads each shipped cluster once.
inline RunReadings readings(const Cells& changed) {
  static RunReader reader;
  const CsvTable made = table(changed);
  return reader.read(RunRow(made, 0));
}

}  // namespace titer::testing
