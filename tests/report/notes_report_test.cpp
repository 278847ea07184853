#include "titer/report/notes_report.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

TEST(NotesReport, HasAColumnForAllRowsAlsoOfCellsWithLines) {
  const std::vector<std::string> notes = {"one, two", "three"};
  EXPECT_EQ(csv_with_notes("a,b\n1,\"x\ny\"\n2,\"\"\"\"\n", notes),
            "a,b,notes\n1,\"x\ny\",\"one, two; three\"\n2,\"\"\"\",\"one, two; three\"\n");
  EXPECT_EQ(csv_with_notes("a\n1\n", {}), "a\n1\n");
}

TEST(NotesReport, SaysNothingWhereThereIsNothing) {
  Value json = Value::make_object();
  add_notes({}, json);
  EXPECT_TRUE(json.members.empty());
  EXPECT_EQ(notes_text({}), "");
  const std::vector<std::string> notes = {"one", "two"};
  add_notes(notes, json);
  EXPECT_EQ(to_json(json, 0), R"({"notes":["one","two"]})");
  EXPECT_EQ(notes_text(notes), "note: one\nnote: two\n");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
