// The three views of an answer tell of the same figures: what a table has stands in the tree by the
// same name and with the same value, and people read it in the text.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

struct Answer {
  std::vector<std::string> question;
  std::size_t columns = 0;                // at least so many stand in the tree by the same name
  std::vector<std::string> read_in_text;  // the columns that people read, too
};

std::string in_format(const Answer& answer, const std::string& format) {
  std::vector<std::string> arguments = answer.question;
  arguments.insert(arguments.end(), {"--format", format});
  return titer(arguments).out;
}

using ValuesByKey = std::map<std::string, std::set<std::string>>;

void collect(const Value& value, ValuesByKey& known) {
  for (const Value& item : value.items) {
    collect(item, known);
    known[item.text];  // of a list of names
  }
  for (const auto& [key, member] : value.members) {
    collect(member, known);
    known[key].insert(csv_cell(member));
    known[""].insert(csv_cell(member));
    std::string lines;
    for (const Value& item : member.items) {
      lines += (lines.empty() ? "" : "; ") + item.text;
    }
    known[key].insert(lines);  // notes
  }
}

/// Whether two cells say the same: bytes may be rounded to whole ones, and truth be in words.
bool is_same(const std::string& cell, const std::string& value) {
  if (cell == value || (cell == "yes" && value == "true") || (cell == "no" && value == "false")) {
    return true;
  }
  char* cell_end = nullptr;
  char* value_end = nullptr;
  const double a = std::strtod(cell.c_str(), &cell_end);
  const double b = std::strtod(value.c_str(), &value_end);
  return cell_end != cell.c_str() && *cell_end == '\0' && value_end != value.c_str() &&
         *value_end == '\0' && std::abs(a - b) <= 1e-10 * std::abs(a);
}

/// Whether a cell is a value by its column's name, or what the tree has a value by.
bool is_known(const std::string& cell,
              const std::set<std::string>& values,
              const ValuesByKey& known) {
  return cell.empty() || cell == "all" || known.contains(cell) ||
         std::any_of(values.begin(), values.end(), [&](const std::string& value) {
           return is_same(cell, value) || value.starts_with("{");
         });
}

/// As people read a cell of the column.
std::string words_of(const std::string& column, const std::string& cell) {
  if (column.ends_with("_s")) {
    return format(Seconds::from_si(std::stod(cell)));
  }
  return column.ends_with("bytes") ? format(Bytes::from_si(std::stod(cell))) : cell;
}

class ViewsOf : public ::testing::TestWithParam<Answer> {};

TEST_P(ViewsOf, HaveTheSameFigures) {
  const CsvRows table = parse_csv(in_format(GetParam(), "csv"));
  ValuesByKey known;
  collect(parse_json(in_format(GetParam(), "json"), "json").root, known);
  ASSERT_GE(table.size(), 2u);
  if (GetParam().columns == 0) {
    return;  // by other names
  }
  std::size_t found = 0;
  const std::vector<std::string>& header = table[0];
  const auto section =
      static_cast<std::size_t>(std::find(header.begin(), header.end(), "section") - header.begin());
  const bool has_sections = section < header.size();
  // What is in front of the sections is the question, which other tests hold.
  for (std::size_t column = has_sections ? section : 0; column < header.size(); ++column) {
    const std::string& name = header[column];
    // Which may be a key, or what was asked in words, of which the tree has the parts.
    const bool is_other = name == "name" || name == "traffic" || name == "scenario";
    const auto values = is_other ? known.end() : known.find(name);
    found += values == known.end() ? 0 : 1;
    for (std::size_t row = 1; row < table.size() && values != known.end(); ++row) {
      // The tree has it without a difference.
      const bool is_ratio = has_sections && table[row][section] == "ratio";
      const auto& by_key = has_sections ? known.at("") : values->second;
      EXPECT_TRUE(is_ratio || is_known(table[row][column], by_key, known))
          << name << ": " << table[row][column];
    }
  }
  EXPECT_GE(found, GetParam().columns);
}

TEST_P(ViewsOf, SayInTextWhatTheTableHas) {
  const CsvRows table = parse_csv(in_format(GetParam(), "csv"));
  const std::string text = in_format(GetParam(), "text");
  for (const std::string& column : GetParam().read_in_text) {
    const auto at = std::find(table[0].begin(), table[0].end(), column);
    ASSERT_NE(at, table[0].end()) << column;
    for (std::size_t row = 1; row < table.size(); ++row) {
      const std::string& cell = table[row][static_cast<std::size_t>(at - table[0].begin())];
      EXPECT_TRUE(cell.empty() || contains(text, words_of(column, cell)))
          << column << ": " << cell << " in\n"
          << text;
    }
  }
}

std::string data_file(const char* name) { return (root() / "tests/data" / name).string(); }

INSTANTIATE_TEST_SUITE_P(
    EveryAnswer,
    ViewsOf,
    ::testing::Values(
        Answer{{"run", "gpt3-175b-64xa100"}, 35, {"iteration_time_s", "forward_s", "bubble_s"}},
        Answer{{"run", "mixtral-8x7b-64xh100", "--fidelity", "event"}, 30, {"iteration_time_s"}},
        Answer{{"explain", "gpt3-175b-64xa100"}, 4, {"section", "term", "formula", "value"}},
        Answer{{"course", "elastic-2-then-6"}, 20, {"phase", "iteration_s", "time_s", "change_s"}},
        Answer{{"course", "two-jobs"}, 12, {"job", "iteration_shared_s", "memory_bytes"}},
        Answer{{"course", "federated"}, 12, {"part_of_a_round", "time_s", "total_s"}},
        Answer{{"course", "serving"}, 9, {"interval", "time_s"}},
        Answer{{"diff", "gpt3-175b-64xa100", "gpt3-175b-64xa100", "--set-b", "plan.micro_batch=2"},
               3,
               {}},
        Answer{{"sensitivity", "gpt3-175b-64xa100", "--reach", "12s"}, 6, {}},
        Answer{{"search", "gpt3-175b-64xa100", "--set", "top=3"},
               25,
               {"rank", "iteration_time_s", "memory_peak_bytes", "virtual_stages"}},
        Answer{{"capacity", "gpt3-175b"}, 40, {"devices", "iteration_time_s"}},
        Answer{{"collective",
                "--cluster",
                "dgx-a100-80gb",
                "--op",
                "all_reduce",
                "--ranks",
                "0-15",
                "--bytes",
                "64MiB",
                "--fidelity",
                "flow"},
               11,
               {"bytes", "time_s", "closed_time_s", "algorithm", "busiest_link"}},
        Answer{{"collective",
                "--cluster",
                "dgx-a100-80gb",
                "--op",
                "all_reduce",
                "--ranks",
                "0-15",
                "--bytes",
                "1MiB",
                "--to",
                "64MiB",
                "--library",
                "nccl"},
               5,
               {"bytes", "time_s", "algorithm", "protocol", "channels"}},
        Answer{{"topology", "dgx1-v100"}, 6, {"from", "to", "links"}},
        Answer{{"topology", "dgx1-v100", "--all-to-all", "64MiB"}, 4, {}},
        Answer{{"topology", "dgx1-v100", "--from", "0", "--to", "6"}, 2, {"from", "to"}},
        Answer{{"traffic", "gpt3-175b-64xa100"}, 4, {}},
        Answer{{"traffic", "mixtral-8x7b-64xh100", "--iterations", "3"}, 6, {"bytes", "pairs"}},
        Answer{{"trace", data_file("traces/kineto.json"), "--scenario", "gpt3-175b-64xa100"},
               0,
               {"measured_s", "predicted_s"}},
        Answer{
            {"trace", data_file("traces/megatron.log"), "--scenario", "gpt3-175b-64xa100"}, 7, {}},
        Answer{{"seeds", "F33", "T11"}, 10, {"id", "what", "row"}},
        Answer{{"support", "--scenario", "gpt3-175b-64xa100"}, 7, {"model", "runs"}},
        Answer{
            {"validate", data_file("measured/training.csv"), "--family", "vtrain_multi", "--rows"},
            16,
            {"case_id", "measured_s", "predicted_s", "memory_measured_bytes"}},
        Answer{
            {"timeline", "--schedule", "1f1b", "--pipeline", "4", "--micro-batches", "8"}, 7, {}}));

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
