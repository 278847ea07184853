#include "capacity_costs.hpp"

#include <fmt/format.h>

namespace titer {
namespace {

/// Throws InputError where these are no prices of the chip.
void demand_price(const Economy& economy,
                  const Chip& chip,
                  std::string_view key,
                  std::string_view otherwise) {
  for (const BillGap& gap : bill_gaps(economy, chip)) {
    if (gap.figure == BillGap::Figure::price) {
      throw InputError(fmt::format("{}: {}{}", key, gap.reason, otherwise));
    }
  }
}

void load_against(const WrittenCosts& written, CapacityQuestion& question) {
  if (!written.prices_against.empty()) {
    question.against = load_economy(written.prices_against, written.grid);
    demand_one_rate(question.currency, "against", question.against->currency);
    demand_price(*question.against, question.scenario.cluster.chip, "against", "");
  }
}

/// Of amounts that the question states itself.
void to_dollars(const WrittenCosts& written, CapacityQuestion& question) {
  const Economy& economy = *question.economy;
  question.currency = written.asked_currency.value_or(economy.currency);
  demand_one_rate(question.currency, "prices", economy.currency);
  demand_one_rate(question.currency, "grid", economy.grid.currency);
  const double rate = question.currency.dollars;
  if (question.budget) {
    *question.budget *= rate;
  }
  if (question.side_costs) {
    question.side_costs = question.side_costs->times(rate);
  }
}

}  // namespace

void load_costs(const WrittenCosts& written, CapacityQuestion& question) {
  Chip& chip = question.scenario.cluster.chip;
  chip.power = written.power ? written.power : chip.power;
  if (!written.prices.empty()) {
    question.economy = load_economy(written.prices, written.grid);
  }
  if (written.dollars_per_hour) {
    if (!question.economy) {
      question.economy = Economy{.name = "given"};
    }
    set_rent(*question.economy, chip, *written.dollars_per_hour);
  }
  if (question.economy) {
    to_dollars(written, question);
  }
  load_against(written, question);
  if (!question.budget) {
    return;
  }
  if (!question.economy) {
    throw InputError(
        "budget: expected prices too (--prices NAME; `titer list prices` shows them), or "
        "--dollars-per-hour");
  }
  demand_price(*question.economy, chip, "budget", "; or give a price by --dollars-per-hour");
}

void add_spot(CapacityQuestion& question) {
  const DevicePrice* price =
      question.economy ? known_price(*question.economy, question.scenario.cluster.chip) : nullptr;
  if (price == nullptr || !price->spot) {
    return;
  }
  if (!question.reliability) {
    throw InputError(fmt::format(
        "prices: {} are spot: expected a record of failures too (--reliability NAME; `titer list "
        "reliabilities` shows them), which says what an interruption costs",
        question.economy->name));
  }
  Reliability& reliability = *question.reliability;
  const auto of_host = [&] {
    return failure_rates(reliability, devices_per_host(question.scenario.cluster), 1).hardware;
  };
  const Frequency broken = of_host();
  reliability.components.push_back({.name = "spot servers that are taken back",
                                    .per = FailureUnit::node,
                                    .failure = Failure::hardware,
                                    .mtbf = price->spot->lifetime});
  const double broken_share = broken / of_host();
  reliability.spares.repair =
      broken_share * reliability.spares.repair + (1 - broken_share) * price->spot->replacement;
}

}  // namespace titer
