#include "titer/view/view.hpp"

#include <gtest/gtest.h>

namespace titer::testing {
namespace TITER_TEST_FILE {

View some_view() {
  return {.text = TextView("title\n"),
          .figures = {{"a", 1}},
          .rows = {{{"a", "x\ny"}}, {{"a", "\""}}},
          .columns = {}};
}

TEST(View, IsWrittenThreeTimes) {
  const View view = some_view();
  EXPECT_EQ(view.as_text(), "title\n");
  EXPECT_EQ(view.as_csv(), "a\n\"x\ny\"\n\"\"\"\"\n");
  EXPECT_EQ(to_json(view.as_json(), 0), R"({"format_version":1,"a":1})");
}

TEST(ViewNotes, AreInEachOfThem) {
  View view = some_view();
  add_notes({"one, two", "three"}, view);
  EXPECT_EQ(view.as_text(), "note: one, two\nnote: three\n\ntitle\n");
  EXPECT_EQ(view.as_csv(), "a,notes\n\"x\ny\",\"one, two; three\"\n\"\"\"\",\"one, two; three\"\n");
  EXPECT_EQ(to_json(view.as_json(), 0),
            R"({"format_version":1,"a":1,"notes":["one, two","three"]})");
  view = some_view();
  view.rows.push_back({{"b", 1}});
  add_notes({"one"}, view);
  EXPECT_EQ(view.as_csv(), "a,b,notes\n\"x\ny\",,one\n\"\"\"\",,one\n,1,one\n")
      << "the last column";
  view = some_view();
  view.columns = "a b";
  add_notes({"one"}, view);
  EXPECT_EQ(view.as_csv(), "a,b,notes\n\"x\ny\",,one\n\"\"\"\",,one\n");
}

TEST(ViewNotes, GoBehindThoseThatAreThere) {
  View view = some_view();
  add_notes({"one"}, view);
  add_notes({"two", "three"}, view);
  EXPECT_EQ(view.as_csv(), "a,notes\n\"x\ny\",one; two; three\n\"\"\"\",one; two; three\n");
  EXPECT_EQ(to_json(view.as_json(), 0),
            R"({"format_version":1,"a":1,"notes":["one","two","three"]})");
}

TEST(ViewNotes, AreNowhereWhereThereAreNone) {
  View view = some_view();
  add_notes({}, view);
  EXPECT_EQ(view.as_text(), some_view().as_text());
  EXPECT_EQ(view.as_csv(), some_view().as_csv());
  EXPECT_EQ(to_json(view.as_json(), 0), to_json(some_view().as_json(), 0));
  Value json = Value::make_object();
  add_notes({}, json);
  EXPECT_TRUE(json.members.empty());
  add_notes({"one", "two"}, json);
  EXPECT_EQ(to_json(json, 0), R"({"notes":["one","two"]})");
  EXPECT_EQ(csv_of({{{"a", 1}, notes_column({})}}), "a\n1\n");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
