#include "titer/report/study/sweep_report.hpp"

#include <gtest/gtest.h>

#include "sweep/sweeps.hpp"
#include "temporary_folder.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Points that are ok, out of memory and invalid, the last two with a reason.
Sweep mixed_sweep() {
  return read_small_sweep(
      R"("axes": {"cluster.chip.memory.capacity": ["80 GiB", "1 GiB"], "plan.tensor": [2, 5]},
         "derived": {"half": "plan.tensor / 4", "nothing": "0 * plan.tensor"})");
}

std::string rows_of(const Sweep& sweep, RowFormat format) {
  const SweepRows rows(sweep, format);
  KeptCells kept;
  std::string text = rows.header();
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    if (worker.compute(i, point)) {
      rows.append(point, kept, text);
    }
  }
  return text;
}

TEST(SweepRows, AreTheSameWhateverRowWasBefore) {
  const Sweep sweep = mixed_sweep();
  for (const auto& [name, format] : kRowFormats) {
    const SweepRows rows(sweep, format);
    std::string text = rows.header();
    SweepWorker worker(sweep, Fidelity::closed);
    SweepPoint point;
    for (std::size_t i = 0; i < sweep.points(); ++i) {
      KeptCells fresh;
      if (worker.compute(i, point)) {
        rows.append(point, fresh, text);
      }
    }
    EXPECT_EQ(text, rows_of(sweep, format)) << name;
  }
}

TEST(SweepRowsCsv, HaveInputsStatusResultAndReason) {
  const Sweep sweep = mixed_sweep();
  const auto rows = parse_points(rows_of(sweep, RowFormat::csv));
  ASSERT_EQ(rows.size(), 1u + 4u);
  const Row columns = result_columns();
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 2 + 2 + 1 + columns.size() + 1);
  }
  EXPECT_TRUE(std::equal(columns.begin(), columns.end(), rows[0].begin() + 5));
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(worker.compute(i, point));
    const bool is_invalid = i % 2 == 1;
    Row expected = {i < 2 ? "80 GiB" : "1 GiB",
                    is_invalid ? "5" : "2",
                    is_invalid ? "1.25" : "0.5",
                    "0",
                    std::string(name(point.status))};
    const Row cells = is_invalid ? no_result_cells() : result_cells(point.result);
    expected.insert(expected.end(), cells.begin(), cells.end());
    expected.push_back(point.reason);
    EXPECT_EQ(rows[i + 1], expected);
  }
}

TEST(SweepRowsJson, HaveTheColumnsOfTheCsv) {
  const Sweep sweep = mixed_sweep();
  const auto csv = parse_points(rows_of(sweep, RowFormat::csv));
  std::string text = rows_of(sweep, RowFormat::json_lines);
  for (std::size_t i = 1; i < csv.size(); ++i) {
    const std::size_t end = text.find('\n');
    const Value row = parse_json(text.substr(0, end), "row").root;
    text.erase(0, end + 1);
    ASSERT_EQ(row.members.size(), csv[0].size());
    for (std::size_t c = 0; c < csv[0].size(); ++c) {
      const auto& [key, value] = row.members[c];
      EXPECT_EQ(key, csv[0][c]);
      const bool is_text = value.kind == Value::Kind::text;
      const bool is_null = value.kind == Value::Kind::null;
      if (value.kind == Value::Kind::number) {
        EXPECT_EQ(value.number, std::stod(csv[i][c])) << key;
      } else {
        EXPECT_EQ(is_text ? value.text : is_null ? "" : to_json(value, 0), csv[i][c]) << key;
      }
    }
    EXPECT_TRUE(row.find("plan.tensor")->is_integer);
    EXPECT_FALSE(row.find("tensor_comm_s")->is_integer) << "0.0 where it is nothing";
    EXPECT_EQ(row.find("cluster.chip.memory.capacity")->kind, Value::Kind::text);
  }
  EXPECT_EQ(text, "");
}

TEST(SweepRowsOf, DerivedNumbersThatAreNoneHaveAReason) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [2]}, "derived": {"x": "1 / (plan.tensor - 2) + 0"})");
  const auto csv = parse_points(rows_of(sweep, RowFormat::csv));
  EXPECT_EQ(csv[1][1], "");
  EXPECT_EQ(csv[1][2], "invalid");
  EXPECT_EQ(csv[1].back(), "derived x: 1 / (plan.tensor - 2) + 0: expected a finite value");
  const Value row = parse_json(rows_of(sweep, RowFormat::json_lines), "row").root;
  EXPECT_EQ(row.find("x")->kind, Value::Kind::null);
  EXPECT_EQ(row.find("iteration_time_s")->kind, Value::Kind::null);
}

TEST(SweepRowsOf, DefectsHaveTheColumnsOfAllOthers) {
  const Sweep sweep = read_small_sweep(R"("axes": {"plan.tensor": [2]})");
  const SweepPoint point = {.index = 0,
                            .status = PointStatus::defect,
                            .reason = "a defect of the program: choice.hpp:42: \"some\" algorithm",
                            .result = {},
                            .at = {0}};
  for (const auto& [name, format] : kRowFormats) {
    const SweepRows rows(sweep, format);
    KeptCells kept;
    std::string text = rows.header();
    rows.append(point, kept, text);
    if (format == RowFormat::csv) {
      const auto csv = parse_points(text);
      ASSERT_EQ(csv[1].size(), csv[0].size());
      EXPECT_EQ(csv[1][1], "defect");
      EXPECT_EQ(csv[1][2], "");
      EXPECT_EQ(csv[1].back(), point.reason);
    } else {
      const Value row = parse_json(text, "row").root;
      EXPECT_EQ(row.members.size(), 1 + 1 + result_columns().size() + 1);
      EXPECT_EQ(row.find("status")->text, "defect");
      EXPECT_EQ(row.find("mfu")->kind, Value::Kind::null);
      EXPECT_EQ(row.find("reason")->text, point.reason);
    }
  }
}

TEST(SweepRowsOf, DefectsAreFoundAgainInTheTable) {
  const Sweep sweep = read_small_sweep(R"("axes": {"plan.tensor": ["two\nlines, \"quoted\""]})");
  const std::vector<std::pair<PointStatus, std::string>> points = {
      {PointStatus::invalid, "no defect,\nbut a mistake"},
      {PointStatus::defect, "why\n\"so\""},
      {PointStatus::invalid, ""},
      {PointStatus::defect, "another"}};
  const TemporaryFolder folder;
  for (const auto& [name, format] : kRowFormats) {
    const SweepRows rows(sweep, format);
    KeptCells kept;
    std::string text = rows.header();
    for (const auto& [status, reason] : points) {
      rows.append(
          {.index = 0, .status = status, .reason = reason, .result = {}, .at = {0}}, kept, text);
    }
    const WrittenDefects found = written_defects(folder.file("rows", text), format);
    EXPECT_EQ(found.rows, 4u) << name;
    EXPECT_EQ(found.count, 2u) << name;
    EXPECT_EQ(found.first, 2u) << name;
    EXPECT_EQ(found.reason, points[1].second) << name;
  }
}

TEST(SweepRowsJson, QuoteWhatNeedsIt) {
  const Sweep sweep = read_small_sweep(R"("axes": {"plan.tensor": ["\"\\\u00e9\n", 1]})");
  const std::string text = rows_of(sweep, RowFormat::json_lines);
  const Value row = parse_json(text.substr(0, text.find('\n')), "row").root;
  EXPECT_EQ(row.find("plan.tensor")->text, "\"\\\u00e9\n");
  EXPECT_EQ(row.find("status")->text, "invalid");
}

TEST(SweepLeftOut, IsALineForEachConstraintThatDidSo) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2, 4]},
         "where": ["plan.tensor > 1", "plan.tensor > 0", "mfu > 2"])");
  const std::vector<std::uint64_t> counts = {1, 0, 2};
  const std::vector<std::string> lines = left_out_lines(sweep, counts);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].ends_with("where.0: plan.tensor > 1: leaves out 1 of 3 points"));
  EXPECT_TRUE(lines[1].ends_with("where.2: mfu > 2: leaves out 2 of 3 points"));
  try {
    refuse_empty(sweep, counts);
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 2u);
    EXPECT_EQ(error.lines[1], lines[1] + "; expected constraints that some point satisfies");
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
