// A capacity question and its answer in words.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "capacity_figures.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

std::string gap_words(const CapacityQuestion& question, const BillGap& gap) {
  if (gap.figure == BillGap::Figure::price) {
    return question.currency.words() + ": " + gap.reason +
           "; --dollars-per-hour X or --prices FILE gives it";
  }
  return "energy and carbon: " + gap.reason +
         (question.economy->draw ? "; --watts X gives it" : "; --prices NAME does");
}

/// Of the simulated runs, where a deadline lies between their 10 and 90 %.
std::string chance_text(const CapacityQuestion& question, const CapacityPoint& point) {
  const bool straddles = question.deadline && point.spread && point.spread->in_time &&
                         point.spread->low <= *question.deadline &&
                         point.spread->high > *question.deadline;
  return straddles
             ? fmt::format(", only {} of the runs in time", percent_text(*point.spread->in_time))
             : "";
}

/// Of files whose prices are not in the answer's currency, each once: "; prices in EUR, each 1.08
/// dollars (2026-10)"; and of the answer's own rate.
std::string currencies_words(const CapacityQuestion& question) {
  std::string text;
  std::vector<std::string> seen = {"USD"};
  const auto add = [&](const Currency& currency, std::string_view what) {
    if (!includes(seen, currency.name)) {
      seen.push_back(currency.name);
      text += fmt::format("; {} in {}", what, rate_words(currency));
    }
  };
  add(question.currency, "amounts");
  add(question.economy->currency, "prices");
  add(question.economy->grid.currency, "electricity");
  if (question.against) {
    add(question.against->currency, "other prices");
  }
  return text;
}

void add_side_costs(const CapacityQuestion& question, std::vector<std::string>& words) {
  const SideCosts& costs = *question.side_costs;
  const Bytes checkpoint = model_state(question.scenario).total();
  const auto amount = [&](double dollars) { return money_count(question, dollars); };
  words.push_back(fmt::format(
      "beside devices: {} a month for staff, {} for the network, {} for storage of {}; {} once",
      money(question, costs.staff),
      amount(costs.network),
      amount(costs.stored_in_a_month(checkpoint)),
      format(costs.stored + static_cast<double>(costs.checkpoints) * checkpoint),
      amount(costs.once)));
  if (costs.egress > 0) {
    const Bytes monthly = costs.out_in_a_month(checkpoint);
    const Bytes once = costs.out_once(checkpoint);
    words.push_back(
        fmt::format("out of the site, for {:.4g} {} a GB: {} a month ({}), {} once ({})",
                    question.currency.amount_of(costs.egress),
                    question.currency.words(),
                    format(monthly),
                    amount(costs.egress_of(monthly)),
                    format(once),
                    amount(costs.egress_of(once))));
  }
}

std::string escalation_words(const Escalation& escalation) {
  return fmt::format(
      "prices a year after their date: rent {:+.4g} %, electricity {:+.4g} %, what is paid by the "
      "month {:+.4g} %; the first run begins {}",
      100 * escalation.rent,
      100 * escalation.electricity,
      100 * escalation.costs,
      escalation.begins > Seconds{} ? days(escalation.begins) + " days after it" : "on it");
}

}  // namespace

std::string capacity_title(const CapacityQuestion& question) {
  const Cluster& cluster = question.scenario.cluster;
  return fmt::format("devices for {} on {} ({})",
                     question.scenario.model.title(),
                     cluster.chip.title,
                     cluster.name);
}

std::string short_count(double count) {
  constexpr std::array<std::pair<std::string_view, double>, 4> sizes = {
      {{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"k", 1e3}}};
  for (const auto& [name, size] : sizes) {
    if (count >= 0.99995 * size) {
      return fmt::format("{:.4g}{}", count / size, name);
    }
  }
  return fmt::format("{:.4g}", count);
}

std::string days(Seconds time) {
  const double number = time / kDay;
  return number == 0 || number >= 0.05 ? fmt::format("{:.1f}", number)
                                       : fmt::format("{:.2g}", number);
}

std::string day_words(Seconds time) {
  return time < 0.05 * kDay ? format(time) : days(time) + " days";
}

std::string days_range(const TrainingTime& time) { return days(time.low) + "-" + days(time.high); }

std::string money_count(const CapacityQuestion& question, double dollars) {
  return short_count(question.currency.amount_of(dollars));
}

std::string money(const CapacityQuestion& question, double dollars) {
  return money_count(question, dollars) + " " + question.currency.words();
}

std::string cost_words(const CapacityQuestion& question, const CapacityPoint& point) {
  std::string text = day_words(point.whole_time());
  if (point.bill && point.bill->dollars) {
    text += ", " + money(question, *point.bill->dollars);
  }
  return text + chance_text(question, point);
}

std::string failures_words(const CapacityQuestion& question) {
  return question.reliability ? fmt::format("{} ({}), {}",
                                            question.reliability->name,
                                            question.reliability->date,
                                            question.reliability->title)
                              : "none (--reliability NAME)";
}

std::string chance_words(const CapacityQuestion& question) {
  return question.chance ? fmt::format(", kept by {:.0f} % of the runs", 100 * *question.chance)
                         : "";
}

std::string prices_words(const CapacityQuestion& question, bool with_price) {
  if (!question.economy) {
    return "none (--prices NAME)";
  }
  const Economy& economy = *question.economy;
  const bool is_file = !economy.title.empty();
  std::string text = is_file ? economy.name : "as given for an hour of a device";
  if (is_file) {
    text += fmt::format(" ({}), {}", economy.date, economy.title);
  }
  const DevicePrice* price = known_price(economy, question.scenario.cluster.chip);
  if (with_price && price != nullptr) {
    text += fmt::format("; {:.4g} {} for an hour of a device",
                        question.currency.amount_of(price->dollars_per_hour),
                        question.currency.words());
    if (price->commitment > Seconds{}) {
      text += fmt::format(", for {} days at least", days(price->commitment));
    }
    if (price->spot) {
      text += fmt::format(", spot: each server for {} days on average, another one {} later",
                          days(price->spot->lifetime),
                          format(price->spot->replacement));
    }
  }
  return text + (economy.draw ? "; electricity of " + economy.grid.name : "") +
         currencies_words(question);
}

std::vector<std::string> beside_words(const CapacityQuestion& question) {
  std::vector<std::string> words = each_of(question.other_runs, [&](const OtherRuns& runs) {
    return fmt::format("before it: {} x {} on {} devices, {} days each, {} device-hours",
                       runs.count,
                       runs.name,
                       runs.devices,
                       days(runs.time),
                       short_count(runs.device_time() / kHour));
  });
  if (question.side_costs) {
    add_side_costs(question, words);
  }
  if (question.escalation != Escalation{}) {
    words.push_back(escalation_words(question.escalation));
  }
  return words;
}

std::vector<std::string> against_words(const CapacityQuestion& question,
                                       const CapacityPoint& point) {
  std::vector<std::string> words;
  if (!point.against || !point.against->dollars || !point.bill || !point.bill->dollars) {
    return words;
  }
  const Chip& chip = question.scenario.cluster.chip;
  const auto way = [&](const Economy& economy) {
    const DevicePrice* price = known_price(economy, chip);
    return price->rented() ? std::string("rented")
                           : fmt::format(
                                 "its part of {:g} years that a purchase is written off in, "
                                 "and its electricity",
                                 price->purchase->years);
  };
  const double ours = *point.bill->dollars - point.side_dollars;
  const double theirs = *point.against->dollars;
  words.push_back(fmt::format("{} devices at {} ({}): {}; at {} ({}): {}, {} {}",
                              point.devices + point.spare_devices,
                              question.economy->name,
                              way(*question.economy),
                              money(question, ours),
                              question.against->name,
                              way(*question.against),
                              money_count(question, theirs),
                              money_count(question, std::abs(ours - theirs)),
                              theirs < ours ? "less" : "more"));
  if (const auto& choice = point.against->rent_or_buy) {
    const bool never = choice->share() > 1;
    words.push_back(
        never ? fmt::format("to buy them costs {}: never the cheaper way within their {:g} "
                            "years, after {} days of use only",
                            money(question, choice->purchase),
                            choice->years,
                            days(choice->use))
              : fmt::format("to buy them costs {}: the cheaper way from {} days of use on, "
                            "{:.0f} % of their {:g} years",
                            money(question, choice->purchase),
                            days(choice->use),
                            100 * choice->share(),
                            choice->years));
  }
  return words;
}

std::vector<std::string> missing_words(const CapacityQuestion& question) {
  std::vector<std::string> words;
  if (question.economy) {
    for (const BillGap& gap : bill_gaps(*question.economy, question.scenario.cluster.chip)) {
      words.push_back(gap_words(question, gap));
    }
  }
  return words;
}

}  // namespace titer
