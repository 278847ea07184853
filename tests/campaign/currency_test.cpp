#include "titer/campaign/currency.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "temporary_folder.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Of {"c": …}.
std::optional<Currency> currency_of(const std::string& written) {
  return read_document(parse_json(R"({"c": )" + written + "}", "c.json"), [](Reader& in) {
    const auto currency = read_currency("c", in);
    in.finish();
    return currency;
  });
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A file of prices; `rest` beside what it has to have.
std::string prices(const std::string& rest) {
  return R"({"name": "p", "date": "2026-10", "grid": "france",
"power": {"idle": 0.1, "busy": 1, "host": "350 W", "pue": 1.1}, )" +
         rest + "}";
}

TEST(Currency, IsReadAsObjectAndAsText) {
  const auto object = currency_of(R"({"name": "EUR", "dollars": 1.25, "date": "2026-10"})");
  const auto text = currency_of(R"("EUR=1.25@2026-10")");
  for (const auto& currency : {object, text}) {
    ASSERT_TRUE(currency);
    EXPECT_EQ(currency->name, "EUR");
    EXPECT_EQ(currency->dollars, 1.25);
    EXPECT_EQ(currency->date, "2026-10");
    EXPECT_EQ(currency->amount_of(100), 100 / 1.25);
    EXPECT_EQ(rate_words(*currency), "EUR, each 1.25 dollars (2026-10)");
  }
  EXPECT_EQ(Currency{}.words(), "dollars");
}

TEST(Currency, IsRefusedWithoutRateAndDate) {
  for (const char* wrong : {R"("EUR")",
                            R"("EUR=1.25")",
                            R"("EUR=@2026")",
                            R"("EUR=-1@2026")",
                            R"("EUR=1.25x@2026")",
                            R"("euro=1.25@2026")",
                            R"("EUR=1.25@soon")",
                            R"("USD=2@2026")",
                            R"("@=")",
                            R"(1.25)",
                            R"({"name": "EUR"})",
                            R"({"name": "EURO", "dollars": 1.25, "date": "2026"})",
                            R"({"name": "EUR", "dollars": 1.25, "date": "soon"})"}) {
    EXPECT_NE(refusal([&] { static_cast<void>(currency_of(wrong)); }), "") << wrong;
  }
}

TEST(Currency, OfAPriceFileIsComputedInDollars) {
  const testing::TemporaryFolder folder;
  const std::string grid =
      folder.file("grid.json",
                  R"({"name": "g", "date": "2026", "currency": "EUR=1.25@2026-10",
"grams_co2e_per_kwh": 100, "price_per_kwh": 0.2})");
  const Economy economy = load_economy(folder.file("p.json", prices(R"("currency":
{"name": "EUR", "dollars": 1.25, "date": "2026-10"},
"devices": {"a": {"rent_per_hour": 2}, "b": {"dollars_per_hour": 2}, "c": {"purchase": 8760, "years": 2}}
)")),
                                       grid);
  EXPECT_EQ(economy.devices[0].dollars_per_hour, 2 * 1.25);
  EXPECT_EQ(economy.devices[1].dollars_per_hour, 2);
  EXPECT_EQ(economy.devices[2].dollars_per_hour, 1.25 * 8760 / (2 * 8760));
  EXPECT_EQ(economy.devices[2].purchase->dollars, 1.25 * 8760);
  EXPECT_EQ(*economy.grid.dollars_per_kwh, 0.2 * 1.25);
  const std::string other =
      folder.file("other.json", R"({"name": "g", "date": "2026", "currency": "EUR=1.5@2026-01",
"grams_co2e_per_kwh": 100, "price_per_kwh": 0.2})");
  EXPECT_EQ(
      refusal([&] { static_cast<void>(load_economy((folder.path() / "p.json").string(), other)); }),
      "g: EUR, each 1.5 dollars (2026-01): expected the rate of the other prices, EUR, each "
      "1.25 dollars (2026-10)");
  const auto both = folder.file(
      "both.json", prices(R"("devices": {"a": {"rent_per_hour": 2, "dollars_per_hour": 2}})"));
  EXPECT_NE(refusal([&] { static_cast<void>(load_economy(both)); }), "");
}

/// A shipped run that takes 256 devices, at these changes.
CapacityQuestion question_of(std::vector<Assignment> changes) {
  const std::vector<Assignment> usual = {{"tokens", Value("1T"), "t"},
                                         {"devices", Value(256), "t"}};
  changes.insert(changes.end(), usual.begin(), usual.end());
  return load_capacity("llama3-70b-64xh100", changes);
}

/// Amounts of the question are in the currency of the answer, `dollars_per_hour` are dollars.
TEST(Currency, OfAnAnswerIsThatOfItsAmounts) {
  const std::vector<Assignment> changes = {{"prices", Value("gpu-clouds-2026"), "t"},
                                           {"currency", Value("EUR=1.25@2026-10"), "t"},
                                           {"budget", Value("2M"), "t"},
                                           {"costs.staff", Value(1000), "t"},
                                           {"dollars_per_hour", Value(3), "t"}};
  const CapacityQuestion question = question_of(changes);
  EXPECT_EQ(question.currency.name, "EUR");
  EXPECT_EQ(*question.budget, 2e6 * 1.25);
  EXPECT_EQ(question.side_costs->staff, 1000 * 1.25);
  EXPECT_EQ(device_price(*question.economy, question.scenario.cluster.chip).dollars_per_hour, 3);
  EXPECT_NE(refusal([&] {
              static_cast<void>(question_of({{"currency", Value("EUR=1.25@2026-10"), "t"}}));
            }).find("expected prices too"),
            std::string::npos);
}

TEST(Currency, OfPricesIsThatOfTheAnswer) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("p.json", prices(R"("currency": "EUR=1.25@2026-10",
"devices": {"h100-sxm5-80gb": {"rent_per_hour": 2}})"));
  const CapacityQuestion question = question_of({{"prices", Value(file), "t"}});
  EXPECT_EQ(question.currency.name, "EUR");
  const CapacityResult result = find_capacity(question);
  const CapacityPoint& point = result.points.front();
  EXPECT_NEAR(question.currency.amount_of(*point.bill->dollars),
              point.device_time() / kHour * 2,
              1e-6 * *point.bill->dollars);
  EXPECT_NE(refusal([&] {
              static_cast<void>(question_of(
                  {{"prices", Value(file), "t"}, {"currency", Value("EUR=1.5@2026-01"), "t"}}));
            }).find("expected the rate of the other prices"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
