#include <gtest/gtest.h>

#include <limits>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The problems that `read` finds in {"x": <value>}, whose value stands in column 7.
template <class Read>
Lines problems_with(std::string_view value, Read read) {
  const Document document = parse_json("{\"x\": " + std::string(value) + "}", "c.json");
  Problems problems;
  Reader in(document, problems);
  read(in);
  in.finish();
  try {
    problems.raise();
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

std::int64_t integer_read(std::string_view value) {
  std::int64_t found = -1;
  EXPECT_EQ(problems_with(value, [&](Reader& in) { found = in.integer("x", 0); }), Lines());
  return found;
}

std::string integer_error(std::string_view value, std::int64_t least, std::int64_t most) {
  const auto lines = problems_with(value, [&](Reader& in) {
    EXPECT_EQ(in.integer("x", least, most), least) << "the stand-in";
    EXPECT_EQ(in.maybe_integer("x", least, most), std::nullopt);
  });
  EXPECT_EQ(lines.size(), 2U) << value;
  return lines.empty() ? "" : lines.front();
}

template <class Q>
std::string quantity_error(std::string_view value) {
  const auto lines = problems_with(value, [&](Reader& in) {
    EXPECT_EQ(in.quantity<Q>("x"), Q::from_si(1.0)) << "the stand-in";
    EXPECT_EQ(in.maybe_quantity<Q>("x"), std::nullopt);
  });
  EXPECT_EQ(lines.size(), 2U) << value;
  return lines.empty() ? "" : lines.front();
}

TEST(ReaderInteger, AcceptsWhatIsExactlyWhole) {
  EXPECT_EQ(integer_read("2"), 2);
  EXPECT_EQ(integer_read("2.0"), 2);
  EXPECT_EQ(integer_read("1e3"), 1000);
  EXPECT_EQ(integer_read("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer_read("9007199254740993"), (std::int64_t{1} << 53) + 1);
}

TEST(ReaderInteger, RefusesFractionsAndOtherKinds) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(integer_error("1.9", 1, most), "c.json:1:7: x: 1.9: expected an integer of at least 1");
  EXPECT_EQ(integer_error("\"8\"", 1, most),
            "c.json:1:7: x: \"8\": expected an integer of at least 1; did you mean 8?");
  EXPECT_EQ(integer_error("\"0\"", 1, most),
            "c.json:1:7: x: \"0\": expected an integer of at least 1");
  EXPECT_EQ(integer_error("\"eight\"", 1, most),
            "c.json:1:7: x: \"eight\": expected an integer of at least 1");
  EXPECT_EQ(integer_error("true", 1, most),
            "c.json:1:7: x: true: expected an integer of at least 1");
  EXPECT_EQ(integer_error("9223372036854775808", 1, most),
            "c.json:1:7: x: 9.223372036854776e+18: expected an integer of at least 1");
}

TEST(ReaderInteger, NamesItsRange) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(integer_error("9", 1, 8), "c.json:1:7: x: 9: expected an integer from 1 to 8");
  EXPECT_EQ(integer_error("0", 1, 8), "c.json:1:7: x: 0: expected an integer from 1 to 8");
  EXPECT_EQ(integer_error("9", Limits::min(), 8),
            "c.json:1:7: x: 9: expected an integer of at most 8");
  EXPECT_EQ(integer_error("[]", Limits::min(), Limits::max()),
            "c.json:1:7: x: []: expected an integer");
}

TEST(ReaderNumber, AcceptsIntegersAndFractions) {
  const auto lines = problems_with("0.83", [](Reader& in) {
    EXPECT_EQ(in.number("x", 0, 1), 0.83);
    EXPECT_EQ(in.maybe_number("x", 0, 1), 0.83);
    EXPECT_EQ(in.maybe_number("y", 0, 1), std::nullopt);
  });
  EXPECT_EQ(lines, Lines());
  EXPECT_EQ(problems_with("1", [](Reader& in) { EXPECT_EQ(in.number("x", 0, 1), 1.0); }), Lines());
}

TEST(ReaderNumber, NamesItsRange) {
  const auto error = [](std::string_view value, double least, double most) {
    const auto lines = problems_with(
        value, [&](Reader& in) { EXPECT_EQ(in.number("x", least, most), least) << "stand-in"; });
    return lines.empty() ? "" : lines.front();
  };
  EXPECT_EQ(error("1.5", 0, 1), "c.json:1:7: x: 1.5: expected a number from 0 to 1");
  EXPECT_EQ(error("-0.1", 0, 0.5), "c.json:1:7: x: -0.1: expected a number from 0 to 0.5");
  EXPECT_EQ(error("-1", 0, kInfinity), "c.json:1:7: x: -1: expected a number of at least 0");
  EXPECT_EQ(error("2", -kInfinity, 1), "c.json:1:7: x: 2: expected a number of at most 1");
  EXPECT_EQ(error("{}", 0, 1), "c.json:1:7: x.value: missing; expected a number from 0 to 1");
  EXPECT_EQ(error("\"0.5\"", 0, 1),
            "c.json:1:7: x: \"0.5\": expected a number from 0 to 1; did you mean 0.5?");
  EXPECT_EQ(error("\"2\"", 0, 1), "c.json:1:7: x: \"2\": expected a number from 0 to 1");
  EXPECT_EQ(error("false", -kInfinity, kInfinity), "c.json:1:7: x: false: expected a number");
}

TEST(ReaderQuantity, ReadsEveryDimension) {
  const auto read = [](std::string_view value, auto expected) {
    using Q = decltype(expected);
    EXPECT_EQ(problems_with(value,
                            [&](Reader& in) {
                              EXPECT_EQ(in.quantity<Q>("x"), expected);
                              EXPECT_EQ(in.maybe_quantity<Q>("x"), expected);
                              EXPECT_EQ(in.maybe_quantity<Q>("y"), std::nullopt);
                            }),
              Lines());
  };
  read("\"12.5 us\"", 12.5_us);
  read("\"0 us\"", 0_s);
  read("\"80 GiB\"", 80_GiB);
  read("\"2 TFLOP\"", 2_TFLOP);
  read("\"1 kJ\"", Joules::from_si(1e3));
  read("\"400 Gbps\"", 50_GBps);
  read("\"312 TFLOP/s\"", 312_TFLOPps);
  read("\"400 W\"", 400_W);
}

TEST(ReaderQuantity, SuggestsAUnitForABareNumber) {
  EXPECT_EQ(quantity_error<BytesPerSecond>("400"),
            "c.json:1:7: x: 400: expected a bandwidth with its unit, such as \"25 GB/s\"; "
            "did you mean \"400 GB/s\" or \"400 Gbps\"?");
  EXPECT_EQ(quantity_error<Seconds>("2.5"),
            "c.json:1:7: x: 2.5: expected a time with its unit, such as \"12.5 us\"; "
            "did you mean \"2.5 us\"?");
  EXPECT_EQ(quantity_error<Bytes>("\"80\""),
            "c.json:1:7: x: \"80\": expected a size with its unit, such as \"80 GiB\"; "
            "did you mean \"80 GiB\"?");
  EXPECT_EQ(quantity_error<Bytes>("-80"),
            "c.json:1:7: x: -80: expected a size with its unit, such as \"80 GiB\"")
      << "a negative size is not to be suggested";
}

TEST(ReaderQuantity, ListsTheUnitsForAWrongOne) {
  EXPECT_EQ(quantity_error<BytesPerSecond>("\"25 GBps\""),
            "c.json:1:7: x: \"25 GBps\": expected a bandwidth with its unit, such as \"25 GB/s\"; "
            "known units: " +
                unit_names<BytesPerSecond>());
  EXPECT_EQ(quantity_error<Watts>("\"400 V\""),
            "c.json:1:7: x: \"400 V\": expected a power with its unit, such as \"400 W\"; "
            "known units: W, kW, MW");
  EXPECT_EQ(quantity_error<Watts>("[]"),
            "c.json:1:7: x: []: expected a power with its unit, such as \"400 W\"");
}

TEST(ReaderQuantity, IsPositiveAndATimeMayBeZero) {
  EXPECT_EQ(quantity_error<BytesPerSecond>("\"-25 GB/s\""),
            "c.json:1:7: x: \"-25 GB/s\": expected more than zero");
  EXPECT_EQ(quantity_error<Bytes>("\"0 B\""), "c.json:1:7: x: \"0 B\": expected more than zero");
  EXPECT_EQ(quantity_error<Seconds>("\"-1 us\""),
            "c.json:1:7: x: \"-1 us\": expected zero or more");
}

TEST(ReaderQuantity, SaysWhatIsMissing) {
  EXPECT_EQ(problems_with("1",
                          [](Reader& in) {
                            static_cast<void>(in.raw("x"));
                            EXPECT_EQ(in.quantity<FlopsPerSecond>("y"), FlopsPerSecond::from_si(1));
                          }),
            Lines{"c.json:1:1: y: missing; expected a rate of work with its unit, such as "
                  "\"312 TFLOP/s\""});
}

TEST(ReaderSourced, FiguresTellWhereTheyComeFrom) {
  const auto lines = problems_with(
      R"({"value": "25 GB/s", "source": "datasheet", "notes": "per direction"})", [](Reader& in) {
        EXPECT_EQ(in.quantity<BytesPerSecond>("x"), 25_GBps);
        EXPECT_EQ(in.source_of("x"), "datasheet");
        EXPECT_EQ(in.source_of("y"), "");
      });
  EXPECT_EQ(lines, Lines());
  EXPECT_EQ(problems_with(R"({"value": 0.5, "source": "fitted"})",
                          [](Reader& in) { EXPECT_EQ(in.number("x", 0, 1), 0.5); }),
            Lines());
  EXPECT_EQ(problems_with(R"({"value": 12, "source": "counted"})",
                          [](Reader& in) { EXPECT_EQ(in.integer("x", 0), 12); }),
            Lines());
  EXPECT_EQ(problems_with("3",
                          [](Reader& in) {
                            EXPECT_EQ(in.integer("x", 0), 3);
                            EXPECT_EQ(in.source_of("x"), "") << "a bare figure has no source";
                          }),
            Lines());
}

TEST(ReaderSourced, FiguresAreCheckedInside) {
  const auto read = [](Reader& in) {
    EXPECT_EQ(in.quantity<BytesPerSecond>("x"), BytesPerSecond::from_si(1));
  };
  EXPECT_EQ(problems_with(R"({"value": 400, "source": "datasheet"})", read),
            Lines{"c.json:1:17: x.value: 400: expected a bandwidth with its unit, such as "
                  "\"25 GB/s\"; did you mean \"400 GB/s\" or \"400 Gbps\"?"});
  EXPECT_EQ(problems_with(R"({"source": "datasheet"})", read),
            Lines{"c.json:1:7: x.value: missing; expected a bandwidth with its unit, such as "
                  "\"25 GB/s\""});
}

TEST(ReaderSourced, FiguresRefuseOtherKeys) {
  const auto read = [](Reader& in) { EXPECT_EQ(in.quantity<Bytes>("x"), 1_GB); };
  EXPECT_EQ(problems_with(R"({"value": "1 GB", "sorce": "datasheet", "error": 1})", read),
            (Lines{"c.json:1:25: x.sorce: unknown key; did you mean \"source\"?",
                   "c.json:1:47: x.error: unknown key; known keys: value, source"}));
  EXPECT_EQ(problems_with(R"({"value": "1 GB", "source": 7})", read),
            Lines{"c.json:1:35: x.source: 7: expected a text in quotes"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
