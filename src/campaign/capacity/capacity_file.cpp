// Reading a question of capacity.

#include <fmt/format.h>

#include <algorithm>

#include "campaign/course_document.hpp"
#include "capacity_costs.hpp"
#include "capacity_counts.hpp"
#include "capacity_devices.hpp"
#include "capacity_other_runs.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/file_schemas.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kLongest = "1000 years";

constexpr CountLimit kBudget = {1e15, "an amount", "\"10M\""};
constexpr CountLimit kRent = {1e9, "dollars", "2.5"};  // for an hour of a device

/// A question as its file has it. What comes from other files is there by their names.
struct WrittenQuestion : CapacityQuestion, WrittenCosts {
  const Value* scenario_written = nullptr;
  std::vector<WrittenOtherRuns> others{};
  const Document* document = nullptr;
  std::string record{};
};
using Q = WrittenQuestion;

/// A run as the scenario of a question.
Document as_question(Document run) {
  Value root = Value::make_object();
  root.origin = run.root.origin;
  root.add("scenario", std::move(run.root));
  root.key_origins.back() = root.origin;
  return {.root = std::move(root), .sources = std::move(run.sources)};
}

bool is_run(const Document& document) {
  return document.root.kind == Value::Kind::object && document.root.find("scenario") == nullptr;
}

/// Whether a text is a number with a unit of time, however large.
bool is_time(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("0123456789.eE+-"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return parse<Seconds>("1 " + std::string(text)).has_value();
}

void read_deadline(const Field<Q>& own, Reader& in, Q& question) {
  const Value* written = in.raw(own.key);
  if (written == nullptr) {
    return;
  }
  const Seconds longest = *parse<Seconds>(kLongest);
  const auto time = written->kind == Value::Kind::text && is_time(written->text)
                        ? parse<Seconds>(written->text).value_or(2 * longest)
                        : in.maybe_quantity<Seconds>(own.key);
  if (time && (*time <= Seconds{} || *time > longest)) {
    in.fail(own.key,
            fmt::format("expected a time above zero, up to {}, such as \"60 days\"", kLongest));
    return;
  }
  question.deadline = time;
}

/// "1024,2048" as --devices gives it.
std::vector<std::int64_t> listed_counts(std::string_view text) {
  std::vector<std::int64_t> counts;
  for (const std::string_view one : divided(text, ",")) {
    const auto count = number_of_text<std::int64_t>(one);
    if (!count) {
      return {};
    }
    counts.push_back(*count);
  }
  return counts;
}

void read_devices(const Field<Q>& own, Reader& in, Q& question) {
  const Value* written = in.raw(own.key);
  if (written == nullptr) {
    return;
  }
  std::vector<std::int64_t>& counts = question.devices;
  if (written->kind == Value::Kind::text) {
    counts = listed_counts(written->text);
  } else if (written->is_integer) {
    counts = {written->integer};
  }
  for (const Value& item : written->items) {
    counts.push_back(item.is_integer ? item.integer : 0);
  }
  const auto wrong = [](std::int64_t count) { return count < 1 || count > kMostAskedDevices; };
  if (counts.empty() || std::ranges::any_of(counts, wrong)) {
    in.fail(own.key,
            fmt::format("expected numbers of devices from 1 to {}, such as [1024, 2048]",
                        kMostAskedDevices));
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
}

Value devices_schema(const Field<Q>& /*own*/) {
  const Value number = schema::integer({1, static_cast<double>(kMostAskedDevices)});
  return schema::either({number, schema::list_of(number), schema::text_like("^[0-9]+(,[0-9]+)*$")});
}

constexpr ShareLimit kSlack = {{0, kMostBatchSlack}, "0 to 50%, such as \"5%\""};
constexpr ShareLimit kChance = {{0.01, 0.99}, "1 to 99%, such as \"90%\""};

using G = CapacityGrowth;
constexpr Range kTimes = {1e-3, 1e3};
constexpr std::array kGrowthFields = {
    fields::integer<&G::years>("years", {1, 50}, "how many").needed(),
    fields::number<&G::demand>("demand", kTimes, "every year so many times the tokens").needed(),
    fields::number<&G::performance>(
        "performance", kTimes, "likewise of a device's work for the same money and power")};

std::span<const Field<G>> growth_fields() { return kGrowthFields; }

constexpr std::array kQuestionFields = {
    fields::label<Q>("name", "of the question"),
    fields::of_schema<Q, schema::named_data>(
        "scenario",
        [](const Field<Q>& /*own*/, Reader& in, Q& question) {
          question.scenario_written = scenario_value(in);
        },
        "a run's name or file, or a scenario; its plan is that of one size, "
        "replicas are added or taken away")
        .needed(),
    fields::label<Q>("title", "the same for people"),
    count<Q, &Q::tokens, kTrainedTokens>("tokens", "to train on, such as `15T` or `300B`")
        .or_else("what the deadline or the budget allow"),
    fields::of_schema<Q, schema::text>(
        "deadline",
        read_deadline,
        "such as `60d`, `8w`, `2 months` (of 30 days) or `1 year` (of 365)")
        .or_else("any"),
    share<Q, &Q::chance, kChance>("chance",
                                  "of keeping the deadline that is asked for, such as `90%`")
        .or_else("that it is kept on average"),
    count<Q, &Q::budget, kBudget>("budget",
                                  "in the currency of the answer, such as `10M`; needs prices")
        .or_else("any"),
    fields::special<Q>(
        "devices", {read_devices, devices_schema, nullptr}, "to try, such as `[1024, 2048]`")
        .or_else("all that share the batch out evenly and fill whole nodes, an even part of one, "
                 "or a slice"),
    fields::choice<&Q::batch, kBatchRules, Q>("batch", "`scaled`: it grows with the replicas")
        .or_else("`fixed`"),
    share<Q, &Q::batch_slack, kSlack>(
        "batch_slack",
        "by how much a fixed batch may be another where devices do not share it out evenly, such "
        "as `5%`")
        .or_else("0"),
    fields::special<Q>("other_runs",
                       {[](const Field<Q>& own, Reader& in, Q& question) {
                          question.others = read_other_runs(own.key, in, *question.document);
                        },
                        [](const Field<Q>& /*own*/) { return other_runs_schema(); },
                        nullptr},
                       "ablations and other runs on the same devices, which take their time before "
                       "this one and count in its budget"),
    fields::object<&Q::side_costs, side_cost_fields, Q>("costs",
                                                        "what is paid beside devices; needs prices")
        .or_else("nothing"),
    fields::object<&Q::escalation, escalation_fields, Q>(
        "escalation", "how prices change from their date on; needs prices")
        .or_else("they stay"),
    fields::object<&Q::growth, growth_fields, Q>("growth",
                                                 "year by year; needs tokens and a deadline"),
    fields::integer<&Q::samples, Q>(
        "samples", {1, 1e5}, "runs that are followed from failure to failure")
        .or_else("200"),
    fields::integer<&Q::seed, Q>("seed", {}, "of these").or_else("1"),
    fields::text<&Q::prices, Q>("prices", "one of `titer list prices`, or a file")
        .or_else("no dollars"),
    fields::text<&Q::prices_against, Q>(
        "against",
        "other prices of the same devices, one of `titer list prices` or a file: what they would "
        "cost, and from how much use on buying is cheaper than renting")
        .or_else("none"),
    fields::of_schema<Q, currency_schema>(
        "currency",
        [](const Field<Q>& own, Reader& in, Q& question) {
          question.asked_currency = read_currency(own.key, in);
        },
        "of the answer, with its rate to the dollar and the date of that: an object, or as in "
        "`EUR=1.08@2026-10`; needs prices")
        .or_else("that of the prices"),
    fields::text<&Q::grid, Q>("grid", "one of `titer list grids`, or a file; needs prices")
        .or_else("the prices' own"),
    fields::text<&Q::record>("reliability", "one of `titer list reliabilities`, or a file")
        .or_else("nothing fails"),
    count<Q, &Q::dollars_per_hour, kRent>("dollars_per_hour",
                                          "rent of a device, whatever the currency of the answer")
        .or_else("the prices'"),
    fields::quantity<&Q::power, Q>("power", "rated, of a device").or_else("the chip's")};

/// What does not go together.
void check(const Q& question, Reader& in) {
  if (!question.grid.empty() && question.prices.empty()) {
    in.fail("grid", "expected prices too: they say what power the devices draw");
  }
  if (!in.has("tokens") && !in.has("deadline") && !in.has("budget")) {
    in.fail("",
            "expected tokens, a deadline or a budget (--tokens 15T, --deadline \"60 days\", "
            "--budget 10M)");
  }
  const bool has_prices = !question.prices.empty() || question.dollars_per_hour;
  for (const std::string_view key : {"against", "costs", "currency", "escalation"}) {
    if (in.has(key) && !has_prices) {
      in.fail(key, "expected prices too (--prices NAME), or --dollars-per-hour");
    }
  }
  if (in.has("chance") && !in.has("deadline")) {
    in.fail("chance", "expected a deadline too");
  }
  if (in.has("growth") && !(in.has("tokens") && in.has("deadline"))) {
    in.fail("growth", "expected tokens and a deadline: of these the devices of every year follow");
  }
}

bool replaces_cluster(const CourseDocument& file) {
  return includes(file.for_scenarios, "cluster", &Assignment::path);
}

}  // namespace

Value capacity_schema() { return schema_of<WrittenQuestion>(kQuestionFields); }

CapacityQuestion read_capacity(Document document, std::span<const Assignment> changes) {
  const CourseDocument file(
      is_run(document) ? as_question(std::move(document)) : std::move(document), changes);
  Problems problems;
  Reader in(file.document, problems);
  problems.raise();
  WrittenQuestion question;
  question.document = &file.document;
  read_fields<WrittenQuestion>(kQuestionFields, in, question);
  check(question, in);
  problems.raise();
  ScenarioSource source = file.source(*question.scenario_written);
  if (question.batch == BatchRule::fixed && replaces_cluster(file)) {
    source.assign({"cluster.nodes", Value(), "devices"});  // however many the run has
  }
  source.read_unchecked(question.scenario);
  question.abilities = software_abilities(source);
  question.sequence_note = sequence_note(source, question.scenario);
  question.source_notes = source_notes(source);
  check_fidelity(question.scenario, usual_fidelity(question.scenario));
  load_costs(question, question);
  if (!question.record.empty()) {
    question.reliability = load_reliability(question.record);
  }
  add_spot(question);
  for (const WrittenOtherRuns& runs : question.others) {
    question.other_runs.push_back(load_other_runs(runs, question));
  }
  if (question.devices.empty()) {
    question.devices = default_devices(question);
  }
  if (question.devices.empty()) {
    throw InputError(
        "devices: expected some: no number of replicas shares out the batch and fills whole nodes");
  }
  return static_cast<CapacityQuestion&&>(question);
}

CapacityQuestion load_capacity(std::string_view name_or_file, std::span<const Assignment> changes) {
  const bool is_run = is_shipped(kRunData, name_or_file);
  return read_capacity(load_data(is_run ? kRunData : kCapacityData, name_or_file), changes);
}

}  // namespace titer
