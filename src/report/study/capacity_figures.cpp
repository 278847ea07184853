#include "capacity_figures.hpp"

#include <fmt/format.h>

#include <tuple>

namespace titer {
namespace {

constexpr Joules kMegawattHour = Joules::from_si(3.6e9);

/// Four digits, whole above a thousand.
std::string rounded(double number) {
  return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

Figures lost_figures(const LostTime& lost) {
  return {{"checkpoints", lost.checkpoints},
          {"rework", lost.rework},
          {"restarts", lost.restarts},
          {"slow_devices", lost.slow_devices},
          {"too_few_nodes", lost.too_few_nodes}};
}

/// "1040 (+1.6 %)" where it is not the one that was asked for.
Figures batch_figures(const CapacityQuestion& question, const Scenario& scenario) {
  const std::int64_t batch = scenario.training.global_batch;
  const double change =
      static_cast<double>(batch) / static_cast<double>(question.scenario.training.global_batch) - 1;
  const bool has_moved = question.batch == BatchRule::fixed && change != 0;
  const Datum words =
      has_moved ? Datum(fmt::format("{} ({:+.1f} %)", batch, 100 * change)) : Datum();
  return {{"global_batch", batch}, {"batch_change", change}, if_any({"", words, "batch"})};
}

Figures plan_columns(const CapacityQuestion& question, const CapacityPoint& point) {
  const Scenario& scenario = *point.planned.scenario;
  const Plan& plan = scenario.plan;
  return joined({{"nodes", point.nodes},
                 {"spare_devices", point.spare_devices, question.reliability ? "spare" : ""},
                 {"tensor", plan.tensor},
                 {"pipeline", plan.pipeline},
                 {"data", plan.data},
                 {"context", plan.context},
                 {"expert", plan.expert},
                 {"virtual_stages", plan.virtual_stages},
                 {"micro_batch", plan.micro_batch},
                 {"schedule", name(plan.schedule)},
                 {"recompute", recompute_name(plan)},
                 {"sharding", name(plan.sharding)},
                 {"", short_plan(plan), "plan"}},
                batch_figures(question, scenario));
}

/// How long the training takes, and what it gets done.
Figures time_figures(const CapacityQuestion& question, const CapacityPoint& point) {
  const StepResult& step = point.planned.step;
  const std::string tokens = question.tokens ? "" : "tokens";
  Figures figures = {
      {"iteration_time_s", step.iteration_time, "iteration"},
      {"tokens_per_s", step.tokens_per_s},
      {"mfu", step.mfu},
      {"grade", name(step.grade)},
      {"goodput", Datum(point.goodput.fraction, kPercent), question.reliability ? "goodput" : ""},
      {"tokens", Datum(point.tokens, short_count(point.tokens)), tokens},
      {"time_s", Datum(point.time, days(point.time)), "days"},
      if_any({"possible_tokens", point.possible})};
  Datum range;
  Datum chance;
  if (point.spread) {
    figures.push_back({"time_low_s", point.spread->low});
    figures.push_back({"time_high_s", point.spread->high});
    range = days_range(*point.spread);
    chance = Datum(point.spread->in_time, kWholePercent);
  }
  figures.push_back(if_any({"", question.tokens ? range : Datum(), "10-90 %"}));
  figures.push_back(if_any({"chance_in_time", chance, question.tokens ? "in time" : ""}));
  return figures;
}

/// What other runs take before it.
Figures other_time(const CapacityQuestion& question, const CapacityPoint& point) {
  return question.other_runs.empty()
             ? Figures()
             : Figures{{"other_runs_time_s", Datum(point.others, days(point.others)), "before it"}};
}

Figures against_figures(const CapacityQuestion& question, const CapacityPoint& point) {
  if (!point.against) {
    return {};
  }
  Figures figures = {
      if_known({"dollars_against", money_datum(question, point.against->dollars), "against"})};
  if (const auto& choice = point.against->rent_or_buy) {
    figures.push_back({"purchase_dollars", choice->purchase});
    figures.push_back({"buying_pays_after_s", choice->use});
    figures.push_back({"buying_pays_after_share", choice->share()});
  }
  return figures;
}

Figures cost_figures(const CapacityQuestion& question, const CapacityPoint& point) {
  const double device_hours = point.device_time() / kHour;
  Figures figures = {
      {"device_hours", Datum(device_hours, short_count(device_hours)), "device-hours"}};
  if (!point.bill) {
    return figures;
  }
  const auto& [dollars, energy, carbon] =
      std::tie(point.bill->dollars, point.bill->energy, point.bill->kilograms_co2e);
  if (point.dollars_low) {
    figures.push_back({"dollars_low", *point.dollars_low});
    figures.push_back({"dollars_high", *point.dollars_high});
  }
  const auto add = [&](std::string key, const auto& known, const auto& words, std::string label) {
    const Datum datum = known ? Datum(*known, words(*known)) : Datum(Value(), "");
    figures.push_back(if_known({std::move(key), datum, std::move(label)}));
  };
  const Datum paid = dollars ? money_datum(question, dollars) : Datum(Value(), "");
  figures.push_back(if_known({"dollars", paid, question.currency.words()}));
  add(
      "energy_j", energy, [](Joules j) { return rounded(j / kMegawattHour); }, "MWh");
  add(
      "kilograms_co2e", carbon, [](double kg) { return rounded(kg / 1000); }, "t CO2e");
  if (point.side_dollars > 0) {
    figures.push_back({"side_dollars", point.side_dollars});
  }
  if (point.unused_dollars > 0) {
    figures.push_back(
        {"unused_dollars", money_datum(question, point.unused_dollars), "of it unused"});
  }
  return joined(figures, against_figures(question, point));
}

}  // namespace

Datum money_datum(const CapacityQuestion& question, const std::optional<double>& dollars) {
  return dollars ? Datum(*dollars, money_count(question, *dollars)) : Datum();
}

std::string recompute_name(const Plan& plan) {
  const bool is_mlp = plan.recompute == Recompute::modules && plan.recomputed == bit(Module::mlp);
  return std::string(is_mlp ? "mlp" : name(plan.recompute));
}

std::string short_plan(const Plan& plan) {
  std::string text = fmt::format("t{} p{} d{}", plan.tensor, plan.pipeline, plan.data);
  if (plan.context > 1) {
    text += fmt::format(" cp{}", plan.context);
  }
  if (plan.expert > 1) {
    text += fmt::format(" ep{}", plan.expert);
  }
  if (plan.virtual_stages > 1) {
    text += fmt::format(" v{}", plan.virtual_stages);
  }
  return text + fmt::format(" b{} {}", plan.micro_batch, recompute_name(plan));
}

std::string capacity_columns(const CapacityQuestion& question) {
  std::string columns(kCapacityColumns);
  columns += question.other_runs.empty() ? "" : " other_runs_time_s";
  columns += question.side_costs ? " side_dollars" : "";
  const DevicePrice* price =
      question.economy ? known_price(*question.economy, question.scenario.cluster.chip) : nullptr;
  columns += price != nullptr && price->commitment > Seconds{} ? " unused_dollars" : "";
  columns += question.against ? " dollars_against purchase_dollars buying_pays_after_s "
                                "buying_pays_after_share"
                              : "";
  return columns;
}

double memory_margin(const CapacityResult& result) {
  return result.points.front().planned.memory_margin;
}

Figures question_figures(const CapacityQuestion& question) {
  const Scenario& scenario = question.scenario;
  const Chip& chip = scenario.cluster.chip;
  Datum dollars;
  Datum grid;
  Datum prices;
  Datum date;
  if (const auto& economy = question.economy) {
    const DevicePrice* const price = known_price(*economy, chip);
    dollars = price == nullptr ? Datum() : Datum(price->dollars_per_hour);
    grid = economy->draw ? Datum(economy->grid.name) : Datum();
    prices = economy->name;
    date = economy->date;
  }
  return {{"model", scenario.model.name()},
          {"cluster", scenario.cluster.name},
          {"chip", chip.name},
          {"stack", scenario.stack.name},
          {"sequence", scenario.training.sequence},
          {"precision", scenario.training.precision_name(chip)},
          {"global_batch", scenario.training.global_batch},
          {"reliability", question.reliability ? Datum(question.reliability->name) : Datum()},
          if_any({"deadline_s", question.deadline}),
          if_any({"chance_asked_for", question.chance}),
          if_any({"budget", question.budget}),
          if_any({"dollars_per_device_hour", dollars}),
          if_any({"grid", grid}),
          if_any({"device_power_w", chip.power}),
          {"prices", prices},
          {"prices_date", date},
          {"currency", question.currency.name},
          {"dollars_per_currency", question.currency.dollars}};
}

Figures point_figures(const CapacityQuestion& question, const CapacityPoint& point) {
  Figures figures = {{"devices", point.devices, "devices"},
                     {"status", point.has_plan() ? "ok" : "no plan"}};
  if (!point.has_plan()) {
    return joined(figures, {{"problem", point.planned.problem}});
  }
  figures = joined(figures, plan_columns(question, point));
  figures = joined(joined(figures, time_figures(question, point)), other_time(question, point));
  figures = joined(figures, cost_figures(question, point));
  if (question.reliability) {
    figures = joined(figures,
                     {{"mtbf_s", point.goodput.job.rates.mtbf()},
                      {"checkpoint_interval_s", point.goodput.checkpoint_interval},
                      {"lost", lost_figures(point.goodput.lost)}});
  }
  return figures;
}

Figures year_figures(const CapacityQuestion& question,
                     const CapacityResult& result,
                     const CapacityYear& year) {
  Datum devices(Value(), "more");
  Datum time;
  if (year.point) {
    devices = result.points[*year.point].devices;
    time = Datum(year.time, days(year.time));
  }
  return {{"year", year.year, "year"},
          {"tokens", Datum(year.tokens, short_count(year.tokens)), "tokens"},
          if_known({"devices", devices, "devices"}),
          if_known({"time_s", time, "days"}),
          if_known({"dollars", money_datum(question, year.dollars), question.currency.words()})};
}

Figures answer_figures(const CapacityResult& result) {
  const auto devices = [&](const std::optional<std::size_t>& point) {
    return point ? Datum(result.points[*point].devices) : Datum();
  };
  return {{"fewest", devices(result.fewest)},
          {"certain", devices(result.certain)},
          {"cheapest", devices(result.cheapest)},
          {"fastest", devices(result.fastest)},
          {"most_tokens", devices(result.most)},
          {"fewest_a_week_later", devices(result.later)},
          {"next_more", devices(result.more)},
          if_any({"faster_network_time_s", result.faster_network})};
}

}  // namespace titer
