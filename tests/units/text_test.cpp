#include "titer/units/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kGi = 1024.0 * 1024.0 * 1024.0;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(", ", from), list.size());
    names.push_back(list.substr(from, comma - from));
    from = comma + 2;
  }
  return names;
}

std::string_view between_quotes(std::string_view text) {
  const auto first = text.find('"') + 1;
  return text.substr(first, text.rfind('"') - first);
}

TEST(ParseSeconds, KnowsEveryUnit) {
  EXPECT_EQ(parse<Seconds>("3 ps"), Seconds::from_si(3 * 1e-12));
  EXPECT_EQ(parse<Seconds>("250 ns"), 250_ns);
  EXPECT_EQ(parse<Seconds>("12.5 us"), 12.5_us);
  EXPECT_EQ(parse<Seconds>("12.5 \u00b5s"), 12.5_us) << "the micro sign";
  EXPECT_EQ(parse<Seconds>("12.5 \u03bcs"), 12.5_us) << "the Greek mu";
  EXPECT_EQ(parse<Seconds>("8 ms"), 8_ms);
  EXPECT_EQ(parse<Seconds>("8 s"), 8_s);
  EXPECT_EQ(parse<Seconds>("2 min"), 2 * 60_s);
  EXPECT_EQ(parse<Seconds>("1.5 h"), 1.5 * 3600_s);
}

TEST(ParseSeconds, KnowsTheUnitsOfDeadlines) {
  const Seconds day = 24 * 3600_s;
  for (const char* text : {"60d", "60 d", "60 days", "60day", "2 months", "2month"}) {
    EXPECT_EQ(parse<Seconds>(text), 60 * day) << text;
  }
  for (const char* text : {"8w", "8 week", "8 weeks", "56 d"}) {
    EXPECT_EQ(parse<Seconds>(text), 8 * 7 * day) << text;
  }
  EXPECT_EQ(parse<Seconds>("1 year"), 365 * day);
  EXPECT_EQ(parse<Seconds>("1.5 years"), 1.5 * 365 * day);
  EXPECT_FALSE(parse<Seconds>("8 m")) << "minutes, months or metres";
  EXPECT_FALSE(parse<Seconds>("8 W")) << "a power";
}

TEST(ParseBytes, KeepsDecimalAndBinaryPrefixesApart) {
  EXPECT_EQ(parse<Bytes>("7 B"), 7_B);
  EXPECT_EQ(parse<Bytes>("1 kB"), 1000_B);
  EXPECT_EQ(parse<Bytes>("1 KiB"), 1024_B);
  EXPECT_EQ(parse<Bytes>("1 MB"), 1_MB);
  EXPECT_EQ(parse<Bytes>("1 MiB"), 1_MiB);
  EXPECT_EQ(parse<Bytes>("80 GB"), Bytes::from_si(80e9));
  EXPECT_EQ(parse<Bytes>("80 GiB"), Bytes::from_si(80 * kGi));
  EXPECT_EQ(parse<Bytes>("2 TB"), Bytes::from_si(2e12));
  EXPECT_EQ(parse<Bytes>("2 TiB"), Bytes::from_si(2 * 1024 * kGi));
  EXPECT_EQ(parse<Bytes>("1 PB"), Bytes::from_si(1e15));
  EXPECT_EQ(parse<Bytes>("1 PiB"), Bytes::from_si(1024 * 1024 * kGi));
}

TEST(ParseBandwidth, CountsBitsByTheEight) {
  EXPECT_EQ(parse<BytesPerSecond>("400 Gbps"), 50_GBps);
  EXPECT_EQ(parse<BytesPerSecond>("400 Gbit/s"), 50_GBps);
  EXPECT_EQ(parse<BytesPerSecond>("100 Mbps"), BytesPerSecond::from_si(100e6 / 8));
  EXPECT_EQ(parse<BytesPerSecond>("100 Mbit/s"), BytesPerSecond::from_si(100e6 / 8));
  EXPECT_EQ(parse<BytesPerSecond>("64 kbps"), BytesPerSecond::from_si(64e3 / 8));
  EXPECT_EQ(parse<BytesPerSecond>("64 kbit/s"), BytesPerSecond::from_si(64e3 / 8));
  EXPECT_EQ(parse<BytesPerSecond>("8 bps"), BytesPerSecond::from_si(1));
  EXPECT_EQ(parse<BytesPerSecond>("8 bit/s"), BytesPerSecond::from_si(1));
  EXPECT_EQ(parse<BytesPerSecond>("1.6 Tbps"), BytesPerSecond::from_si(1.6 * 1e12 / 8));
  EXPECT_EQ(parse<BytesPerSecond>("1.6 Tbit/s"), BytesPerSecond::from_si(1.6 * 1e12 / 8));
}

TEST(ParseBandwidth, KnowsDecimalAndBinaryBytes) {
  EXPECT_EQ(parse<BytesPerSecond>("5 B/s"), BytesPerSecond::from_si(5));
  EXPECT_EQ(parse<BytesPerSecond>("5 kB/s"), BytesPerSecond::from_si(5e3));
  EXPECT_EQ(parse<BytesPerSecond>("5 MB/s"), BytesPerSecond::from_si(5e6));
  EXPECT_EQ(parse<BytesPerSecond>("25 GB/s"), 25_GBps);
  EXPECT_EQ(parse<BytesPerSecond>("3.35 TB/s"), 3.35_TBps);
  EXPECT_EQ(parse<BytesPerSecond>("1 PB/s"), BytesPerSecond::from_si(1e15));
  EXPECT_EQ(parse<BytesPerSecond>("1 KiB/s"), BytesPerSecond::from_si(1024));
  EXPECT_EQ(parse<BytesPerSecond>("1 MiB/s"), BytesPerSecond::from_si(1024 * 1024));
  EXPECT_EQ(parse<BytesPerSecond>("25 GiB/s"), BytesPerSecond::from_si(25 * kGi));
  EXPECT_EQ(parse<BytesPerSecond>("1 TiB/s"), BytesPerSecond::from_si(1024 * kGi));
}

TEST(ParseFlops, KnowsWorkAndRates) {
  EXPECT_EQ(parse<Flops>("5 FLOP"), 5_FLOP);
  EXPECT_EQ(parse<Flops>("1 GFLOP"), 1_GFLOP);
  EXPECT_EQ(parse<Flops>("2 TFLOP"), 2_TFLOP);
  EXPECT_EQ(parse<Flops>("314 ZFLOP"), Flops::from_si(314 * 1e21));
  EXPECT_EQ(parse<FlopsPerSecond>("312 TFLOP/s"), 312_TFLOPps);
  EXPECT_EQ(parse<FlopsPerSecond>("312 TFLOPS"), 312_TFLOPps);
  EXPECT_EQ(parse<FlopsPerSecond>("9 GFLOPS"), FlopsPerSecond::from_si(9e9));
  EXPECT_EQ(parse<FlopsPerSecond>("2 PFLOP/s"), FlopsPerSecond::from_si(2e15));
  EXPECT_EQ(parse<FlopsPerSecond>("1.1 EFLOP/s"), FlopsPerSecond::from_si(1.1 * 1e18));
  EXPECT_FALSE(parse<Flops>("2 TFLOPS")) << "a rate is not work";
  EXPECT_FALSE(parse<FlopsPerSecond>("2 TFLOP")) << "work is not a rate";
}

TEST(ParseEnergy, KnowsJoulesAndWatts) {
  EXPECT_EQ(parse<Joules>("5 J"), Joules::from_si(5));
  EXPECT_EQ(parse<Joules>("5 kJ"), Joules::from_si(5e3));
  EXPECT_EQ(parse<Joules>("1 kWh"), Joules::from_si(1000.0 * 3600));
  EXPECT_EQ(parse<Joules>("1 MWh"), Joules::from_si(1e6 * 3600));
  EXPECT_EQ(parse<Watts>("400 W"), 400_W);
  EXPECT_EQ(parse<Watts>("10.2 kW"), Watts::from_si(10.2 * 1e3));
  EXPECT_EQ(parse<Watts>("30 MW"), Watts::from_si(30e6));
}

TEST(ParseQuantity, ReadsNumbersAsJsonDoes) {
  EXPECT_EQ(parse<Seconds>("1.5e3 us"), Seconds::from_si(1.5e3 * 1e-6));
  EXPECT_EQ(parse<Seconds>("1.5E-3 s"), Seconds::from_si(1.5e-3));
  EXPECT_EQ(parse<Bytes>("80GiB"), 80_GiB) << "the blank may be left out";
  EXPECT_EQ(parse<Bytes>("80  GiB"), 80_GiB);
  EXPECT_EQ(parse<Bytes>("2EB"), std::nullopt) << "an E without digits is no exponent";
  EXPECT_EQ(parse<Seconds>("-5 us"), -(5_us)) << "the range is the reader's business";
  EXPECT_EQ(parse<Seconds>("0 us"), 0_s);
}

TEST(ParseQuantity, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"",        " ",     "GB",     "25",      "25 ",      " 25 GB", "25 gb",
                           "25 Gb",   "25 gB", "25 GB ", "25 GB x", "25 GB/s",  "25\tGB", "25,5 GB",
                           "0x10 GB", "+5 GB", "--5 GB", "1e GB",   "25 GB GB", "25 s"}) {
    EXPECT_FALSE(parse<Bytes>(text)) << '"' << text << '"';
  }
  for (const char* text : {"25 GB", "25 Gb/s", "25 GBps", "25 gbps", "25 Gbps/s", "25 GB/S"}) {
    EXPECT_FALSE(parse<BytesPerSecond>(text)) << '"' << text << '"';
  }
  EXPECT_FALSE(parse<Watts>("5 mW")) << "not to be taken for MW";
  EXPECT_FALSE(parse<Bytes>(std::string_view("5 B\0", 4)));
}

TEST(ParseQuantity, RefusesWhatIsNotFinite) {
  for (const char* text : {"inf s", "-inf s", "nan s", "infinity s", "1e999 s", "1e308 h"}) {
    EXPECT_FALSE(parse<Seconds>(text)) << text;
  }
}

template <class Q>
class UnitTable : public ::testing::Test {};
using Dimensions =
    ::testing::Types<Seconds, Bytes, Flops, Joules, BytesPerSecond, FlopsPerSecond, Watts>;
TYPED_TEST_SUITE(UnitTable, Dimensions);

TYPED_TEST(UnitTable, ListsUnitsThatParseSmallestFirst) {
  auto last = TypeParam();
  for (const std::string& name : split(unit_names<TypeParam>())) {
    const auto one = parse<TypeParam>("1 " + name);
    ASSERT_TRUE(one) << name;
    EXPECT_GT(*one, last) << name;
    last = *one;
  }
}

TYPED_TEST(UnitTable, HasAnExampleThatParses) {
  EXPECT_TRUE(parse<TypeParam>(between_quotes(example<TypeParam>()))) << example<TypeParam>();
  EXPECT_NE(example<TypeParam>().find("with its unit, such as"), std::string_view::npos);
}

TYPED_TEST(UnitTable, HasAUsualUnitAmongItsNames) {
  const auto names = split(unit_names<TypeParam>());
  EXPECT_NE(std::find(names.begin(), names.end(), usual_unit<TypeParam>()), names.end());
}

TYPED_TEST(UnitTable, ParsesWhatItFormatsToFourDigits) {
  for (int exponent = -9; exponent <= 21; ++exponent) {
    const double si = 1.2345678 * std::pow(9.7, exponent);
    const auto written = format(TypeParam::from_si(si));
    const auto read = parse<TypeParam>(written);
    ASSERT_TRUE(read) << written;
    EXPECT_NEAR(read->si(), si, 0.5e-3 * si) << written;
    EXPECT_EQ(format(*read), written) << "formatting again changes nothing";
    EXPECT_EQ(format(TypeParam::from_si(-si)), "-" + written);
  }
}

TEST(Format, SuitsTheUnitToTheSize) {
  EXPECT_EQ(format(46.8_GiB), "46.8 GiB");
  EXPECT_EQ(format(1.64_us), "1.64 us");
  EXPECT_EQ(format(312_TFLOPps), "312 TFLOP/s");
  EXPECT_EQ(format(50_GBps), "50 GB/s");
  EXPECT_EQ(format(400_Gbps), "50 GB/s") << "bandwidths are written in bytes";
  EXPECT_EQ(format(1_GB), "953.7 MiB") << "sizes are written in binary units";
  EXPECT_EQ(format(137.4_s), "137.4 s") << "iteration times stay in seconds";
  EXPECT_EQ(format(7200_s), "2 h");
  EXPECT_EQ(format(0.5_ns), "500 ps");
  EXPECT_EQ(format(314e9 * 1_TFLOP), "314 ZFLOP");
  EXPECT_EQ(format(Joules::from_si(1500)), "1.5 kJ");
  EXPECT_EQ(format(10200_W), "10.2 kW");
}

TEST(Format, WritesFourDigitsAndNoTrailingZeros) {
  EXPECT_EQ(format(1.23456_s), "1.235 s");
  EXPECT_EQ(format(1.5_s), "1.5 s");
  EXPECT_EQ(format(123.456_s), "123.5 s");
  EXPECT_EQ(format(23456 * 3600_s), "23460 h") << "no exponent beyond the largest unit";
  EXPECT_EQ(format(0.25_B), "0.25 B");
}

TEST(Format, RoundsBeforeItChoosesTheUnit) {
  EXPECT_EQ(format(999.96_us), "1 ms");
  EXPECT_EQ(format(999.94_us), "999.9 us");
  EXPECT_EQ(format(1023.98_KiB), "1 MiB");
  EXPECT_EQ(format(1023_KiB), "1023 KiB");
}

TEST(Format, WritesWhatIsNegativeAsItsOppositeWithASign) {
  for (const double seconds : {2.5e-12, 3e-6, 0.8, 1.0, 59.0, 7200.0, 1e9}) {
    EXPECT_EQ(format(Seconds::from_si(-seconds)), "-" + format(Seconds::from_si(seconds)));
  }
  EXPECT_EQ(format(-(3_GiB)), "-3 GiB");
}

TEST(Format, WritesZeroInTheBaseUnit) {
  EXPECT_EQ(format(0_s), "0 s");
  EXPECT_EQ(format(-(0_s)), "0 s");
  EXPECT_EQ(format(0_B), "0 B");
  EXPECT_EQ(format(0_GBps), "0 B/s");
}

TEST(ParseAny, TakesTheDimensionOfTheUnit) {
  const auto is = [](std::string_view text, const AnyQuantity& quantity) {
    const auto found = parse_any(text);
    return found && *found == quantity;
  };
  EXPECT_TRUE(is("12.5 us", Seconds::from_si(12.5 * 1e-6)));
  EXPECT_TRUE(is("80 GiB", Bytes::from_si(80 * 1073741824.0)));
  EXPECT_TRUE(is("2 TFLOP", Flops::from_si(2e12)));
  EXPECT_TRUE(is("1.5 kWh", Joules::from_si(1.5 * 3.6e6)));
  EXPECT_TRUE(is("400 Gbps", BytesPerSecond::from_si(400e9 / 8)));
  EXPECT_TRUE(is("312 TFLOP/s", FlopsPerSecond::from_si(312e12)));
  EXPECT_TRUE(is("0.4 kW", Watts::from_si(400)));
  EXPECT_FALSE(parse_any("12").has_value());
  EXPECT_FALSE(parse_any("12 apples").has_value());
  EXPECT_EQ(si_of(*parse_any("3 ms")), 3e-3);
}

TEST(ExactText, RoundsNothing) {
  const double odd = 123456789.0625;
  EXPECT_EQ(exact_text(BytesPerSecond::from_si(odd)), "123456789.0625 B/s");
  EXPECT_EQ(parse<Joules>(exact_text(Joules::from_si(1.0 / 3)))->si(), 1.0 / 3);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
