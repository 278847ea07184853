#include "titer/view/figure.hpp"

#include <gtest/gtest.h>

#include "titer/units/quantity.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string json_text(const Datum& datum) { return to_json(datum.value(), 0); }

TEST(Datum, IsAValueInSiUnitsAndWordsInTheUnitThatSuits) {
  EXPECT_EQ(json_text(1500_us), "0.0015");
  EXPECT_EQ(Datum(1500_us).words(), "1.5 ms");
  EXPECT_EQ(json_text(2_GiB), "2147483648.0");
  EXPECT_EQ(Datum(2_GiB).words(), "2 GiB");
  EXPECT_EQ(Datum(312_TFLOPps).words(), "312 TFLOP/s");
  EXPECT_EQ(json_text(whole_bytes(Bytes::from_si(2.4))), "2");
  EXPECT_EQ(whole_bytes(2_GiB).words(), "2 GiB");
}

TEST(Datum, IsAnyNumberTextOrTruth) {
  EXPECT_EQ(json_text(std::size_t{7}), "7");
  EXPECT_EQ(json_text(std::int16_t{-7}), "-7");
  EXPECT_EQ(Datum(7).words(), "7");
  EXPECT_EQ(json_text(7.0), "7.0");
  EXPECT_EQ(Datum(1.0 / 3).words(), "0.3333");
  EXPECT_EQ(json_text("text"), "\"text\"");
  EXPECT_EQ(json_text(std::string("text")), "\"text\"");
  EXPECT_EQ(json_text(std::string_view("text")), "\"text\"");
  EXPECT_EQ(Datum("text").words(), "text");
  EXPECT_EQ(json_text(true), "true");
  EXPECT_EQ(Datum(true).words() + Datum(false).words(), "yesno");
  EXPECT_EQ(json_text(Value("value")), "\"value\"");
}

TEST(Datum, IsNothingWhereThereIsNone) {
  EXPECT_FALSE(Datum().exists());
  EXPECT_EQ(json_text({}), "null");
  EXPECT_EQ(Datum().words(), "-");
  EXPECT_EQ(or_blank({}).words(), "");
  EXPECT_EQ(or_blank(5).words(), "5");
  EXPECT_FALSE(Datum(std::optional<Seconds>()).exists());
  EXPECT_EQ(Datum(std::optional(3_s)).words(), "3 s");
  EXPECT_FALSE(said("").exists());
  EXPECT_EQ(said("something").words(), "something");
}

TEST(Datum, IsAListOrAnObject) {
  EXPECT_EQ(json_text(std::vector<int>{1, 2}), "[1,2]");
  EXPECT_EQ(json_text(std::vector<std::string>{"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(json_text(std::vector<Seconds>{1_s}), "[1.0]");
  EXPECT_EQ(json_text(Figures{{"a", 1}, {"b", 2_s}}), R"({"a":1,"b":2.0})");
  EXPECT_EQ(json_text(FigureRows{{{"a", 1}}, {{"a", 2}}}), R"([{"a":1},{"a":2}])");
  EXPECT_EQ(json_text(FigureRows()), "[]");
  EXPECT_EQ(json_text(Figures()), "{}");
  EXPECT_EQ(Datum(std::vector<int>{1, 2}).words(), "[1,2]");
}

TEST(Datum, IsReadInTheStyleOrTheWordsThatItIsGiven) {
  EXPECT_EQ(Datum(0.1234, kPercent).words(), "12.3 %");
  EXPECT_EQ(Datum(0.1234, kSignedPercent).words(), "+12.3 %");
  EXPECT_EQ(Datum(whole_bytes(3_GiB), kGibibytes).words(), "3.00");
  EXPECT_EQ(Datum(2_ms, NumberStyle{.format = "{:.1f} us", .scale = 1e6}).words(), "2000.0 us");
  EXPECT_EQ(Datum(std::optional(1e9), kUnitsOf<Bytes>).words(), "953.7 MiB");
  const Datum said_otherwise(2_s, "two seconds");
  EXPECT_EQ(said_otherwise.words(), "two seconds");
  EXPECT_EQ(json_text(said_otherwise), "2.0");
}

TEST(Figures, AreAnObjectByTheirKeys) {
  const Figures figures = {{"time_s", 2_s, "time"},
                           {"", 3, "for people"},
                           {"none", {}},
                           if_any({"left_out", {}, "left out"}),
                           if_any({"there", 1, "there"}),
                           if_known({"unknown", {}, "unknown"}),
                           if_known({"known", 2, "known"})};
  EXPECT_EQ(to_json(json_of(figures), 0), R"({"time_s":2.0,"none":null,"there":1,"known":2})");
  EXPECT_EQ(to_json(json_of(joined({{"a", 1}}, {{"b", 2}})), 0), R"({"a":1,"b":2})");
  EXPECT_EQ(to_json(objects_of(std::vector<int>{1, 2},
                               [](int n) {
                                 return Figures{{"n", n}};
                               }),
                    0),
            R"([{"n":1},{"n":2}])");
}

TEST(FigureRows, AreATableOfAllKeysInTheOrderInWhichTheyCome) {
  const FigureRows rows = {{{"a", 1},
                            {"list", std::vector<int>{1}},
                            if_any({"x", {}}),
                            {"", 9, "for people"},
                            {"b", {}}},
                           {{"a", "two, three"}, if_any({"x", 0.25}), {"c", true}}};
  EXPECT_EQ(csv_of(rows), "a,x,b,c\n1,,,\n\"two, three\",0.25,,true\n");
  EXPECT_EQ(csv_of({{{"a", 1}, if_any({"x", {}})}}), "a\n1\n");
}

TEST(FigureRows, AreATableOfTheColumnsThatAreAsked) {
  const FigureRows rows = {
      {{"b", 2_s}, {"a", 1}, {"link", Figures{{"name", "l0"}, {"ends", Figures{{"to", 5}}}}}},
      {{"a", 3}}};
  EXPECT_EQ(csv_of(rows, "a b link=link.name end=link.ends.to none"),
            "a,b,link,end,none\n1,2,l0,5,\n3,,,,\n");
  EXPECT_EQ(csv_of({}, "a b"), "a,b\n");
  EXPECT_EQ(csv_of({{{"a", 1}, {"a", 2}}}, "a"), "a\n1\n") << "the first of a name";
}

TEST(FigureRows, WriteNumbersThatReadBackAsTheSame) {
  const auto cells = parse_csv(csv_of({{{"a", 0.1 + 0.2}, {"b", 1e300 / 7}, {"c", 1LL << 62}}}));
  EXPECT_EQ(std::stod(cells[1][0]), 0.1 + 0.2);
  EXPECT_EQ(std::stod(cells[1][1]), 1e300 / 7);
  EXPECT_EQ(std::stoll(cells[1][2]), 1LL << 62);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
