#include "titer/input/csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

CsvTable parse(const std::string& text) { return CsvTable::parse(text, "t.csv"); }

std::vector<std::string> complaints(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(CsvTable, ReadsCellsByColumn) {
  const CsvTable table = parse("size, time\n8,1.5\r\n16 , 2\n");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"size", "time"}));
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "time"), "1.5");
  EXPECT_EQ(table.text(1, "size"), "16");
  EXPECT_TRUE(table.has("size"));
  EXPECT_FALSE(table.has("speed"));
}

TEST(CsvTable, ReadsQuotedFields) {
  const CsvTable table = parse("a,b\n\"one, two\",\"he said \"\"no\"\"\"\n\"two\nlines\",x\ny,z\n");
  EXPECT_EQ(table.text(0, "a"), "one, two");
  EXPECT_EQ(table.text(0, "b"), "he said \"no\"");
  EXPECT_EQ(table.text(1, "a"), "two\nlines");
  EXPECT_EQ(table.where(2, "b"), "t.csv:5: b");  // the record before holds a line end
}

TEST(CsvTable, TakesMarksBlankLinesAndAMissingLineEnd) {
  const CsvTable table = parse(
      "\xef\xbb\xbf"
      "a,b\n\n1,2\n\r\n3,");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "a"), "1");
  EXPECT_EQ(table.text(1, "b"), "");
}

TEST(CsvTable, TakesWhatSpreadsheetsWriteBetweenFields) {
  for (const std::string text : {"a;b\n1,5;2\n", "a\tb\n1,5\t2\n", "a|b\n\"1,5\"|2\n"}) {
    const CsvTable table = parse(text);
    EXPECT_EQ(table.text(0, "a"), "1,5") << text;
    EXPECT_EQ(table.text(0, "b"), "2") << text;
  }
}

TEST(CsvTable, LeavesOutLinesThatAreComments) {
  const CsvTable table = parse("# of our cluster\n#n,b\n1,2\n# slow, as the, network was\n3,4\n");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"#n", "b"}));
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(1, "b"), "4");
}

TEST(CsvTable, TakesNumbersFromTheLeastToTheMost) {
  const CsvTable table = CsvTable::parse("x\n2\n5\n1.9\n5.1\n", "t.csv");
  Problems problems;
  EXPECT_EQ(table.maybe_number(0, "x", 2, 5, problems), 2);
  EXPECT_EQ(table.maybe_number(1, "x", 2, 5, problems), 5);
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(table.maybe_number(2, "x", 2, 5, problems));
  EXPECT_FALSE(problems.empty());
  Problems above;
  EXPECT_FALSE(table.maybe_number(3, "x", 2, 5, above));
  EXPECT_FALSE(above.empty());
}

TEST(CsvTable, ReadsNumbersInARange) {
  const CsvTable table = parse("x,y\n1e3,\n,\nabc,\n1.5x,\n-2,\nnan,\n");
  Problems problems;
  EXPECT_EQ(table.maybe_number(0, "x", 0, 1e6, problems), 1000.0);
  EXPECT_FALSE(table.maybe_number(1, "x", 0, 1e6, problems).has_value());
  EXPECT_TRUE(problems.empty());
  for (std::size_t row = 2; row < 6; ++row) {
    EXPECT_FALSE(table.maybe_number(row, "x", 0, 1e6, problems).has_value()) << row;
  }
  try {
    problems.raise();
    FAIL() << "no complaint";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines,
              (std::vector<std::string>{"t.csv:4: x: abc: expected a number",
                                        "t.csv:5: x: 1.5x: expected a number",
                                        "t.csv:6: x: -2: out of range",
                                        "t.csv:7: x: nan: expected a number"}));
  }
}

TEST(CsvTable, RefusesRowsOfOtherLengths) {
  EXPECT_EQ(complaints("a,b\n1\n1,2\n1,2,3\n"),
            (std::vector<std::string>{"t.csv:2: 1 fields, but the header has 2",
                                      "t.csv:4: 3 fields, but the header has 2"}));
}

TEST(CsvTable, RefusesBadHeadersAndQuotes) {
  EXPECT_EQ(complaints(""),
            std::vector<std::string>{"t.csv: expected a header row, found nothing"});
  EXPECT_EQ(complaints("a,a\n"),
            std::vector<std::string>{"t.csv:1: a: a column of this name was there already"});
  EXPECT_EQ(complaints("a,\n"), std::vector<std::string>{"t.csv:1: a column without a name"});
  EXPECT_EQ(complaints("a\n\"open\n"), std::vector<std::string>{"t.csv:2: a quote is not closed"});
  EXPECT_EQ(complaints("a,b\n\"x\"y,1\n"),
            std::vector<std::string>{
                "t.csv:2: y: expected a comma or the end of the line after a quoted field"});
}

TEST(CsvTable, SuggestsTheColumnThatWasMeant) {
  const CsvTable table = parse("size_bytes,time_us\n1,2\n");
  try {
    (void)table.text(0, "size_byte");
    FAIL() << "no complaint";
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("is it \"size_bytes\"?"), std::string::npos)
        << error.lines.front();
  }
  EXPECT_THROW((void)table.text(1, "time_us"), Defect);
}

TEST(CsvTable, RefusesAFileThatCannotBeRead) {
  EXPECT_THROW((void)CsvTable::load("/no/such/file.csv"), InputError);
  EXPECT_THROW((void)CsvTable::load("/tmp"), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
