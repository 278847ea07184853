// Reading a question of capacity.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "course_document.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostDevices = 100'000'000;
constexpr double kMostTrainedTokens = 1e24;
constexpr double kMostBudget = 1e15;
constexpr double kMostRent = 1e9;  // dollars for an hour of a device
constexpr std::string_view kLongest = "1000 years";

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

/// A number above zero, up to `most`; `expected` and that limit are named where it is none.
std::optional<double> read_count(Reader& in,
                                 std::string_view key,
                                 double most,
                                 std::string_view expected,
                                 std::string_view sample) {
  const Value* written = in.raw(key);
  if (written == nullptr) {
    return std::nullopt;
  }
  const auto count = written->kind == Value::Kind::text     ? parse_count(written->text)
                     : written->kind == Value::Kind::number ? std::optional(written->number)
                                                            : std::nullopt;
  if (!count || *count <= 0 || *count > most) {
    in.fail(key,
            fmt::format("expected {} above zero, up to {:g}, such as {}", expected, most, sample));
    return std::nullopt;
  }
  return count;
}

/// Whether a text is a number with a unit of time, however large.
bool is_time(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("0123456789.eE+-"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return parse<Seconds>("1 " + std::string(text)).has_value();
}

std::optional<Seconds> read_deadline(Reader& in) {
  const Value* written = in.raw("deadline");
  if (written == nullptr) {
    return std::nullopt;
  }
  const Seconds longest = *parse<Seconds>(kLongest);
  const auto time = written->kind == Value::Kind::text && is_time(written->text)
                        ? parse<Seconds>(written->text).value_or(2 * longest)
                        : in.maybe_quantity<Seconds>("deadline");
  if (time && (*time <= Seconds{} || *time > longest)) {
    in.fail("deadline",
            fmt::format("expected a time above zero, up to {}, such as \"60 days\"", kLongest));
    return std::nullopt;
  }
  return time;
}

/// "1024,2048" as --devices gives it.
std::vector<std::int64_t> listed_counts(std::string_view text) {
  std::vector<std::int64_t> counts;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), count);
    if (error != std::errc() || end != one.data() + one.size()) {
      return {};
    }
    counts.push_back(count);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return counts;
}

std::vector<std::int64_t> read_devices(Reader& in) {
  const Value* written = in.raw("devices");
  if (written == nullptr) {
    return {};
  }
  std::vector<std::int64_t> counts;
  if (written->kind == Value::Kind::text) {
    counts = listed_counts(written->text);
  } else if (written->is_integer) {
    counts = {written->integer};
  }
  for (const Value& item : written->items) {
    counts.push_back(item.is_integer ? item.integer : 0);
  }
  const auto wrong = [](std::int64_t count) { return count < 1 || count > kMostDevices; };
  if (counts.empty() || std::any_of(counts.begin(), counts.end(), wrong)) {
    in.fail("devices",
            fmt::format("expected numbers of devices from 1 to {}, such as [1024, 2048]",
                        kMostDevices));
    return {};
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::optional<CapacityGrowth> read_growth(Reader& in) {
  auto written = in.maybe_object("growth");
  if (!written) {
    return std::nullopt;
  }
  CapacityGrowth growth;
  growth.years = static_cast<int>(written->integer("years", 1, 50));
  growth.demand = written->number("demand", 1e-3, 1e3);
  growth.performance = written->maybe_number("performance", 1e-3, 1e3).value_or(1);
  written->finish();
  return growth;
}

/// What comes from other files, by their names, and what stands in place of figures of theirs.
struct CapacityNames {
  std::string prices;
  std::string grid;
  std::string reliability;
  std::optional<double> dollars_per_hour;
  std::optional<Watts> power;
};

CapacityNames read_names(Reader& in) {
  CapacityNames names{
      .prices = in.maybe_text("prices").value_or(""),
      .grid = in.maybe_text("grid").value_or(""),
      .reliability = in.maybe_text("reliability").value_or(""),
      .dollars_per_hour = read_count(in, "dollars_per_hour", kMostRent, "dollars", "2.5"),
      .power = in.maybe_quantity<Watts>("power")};
  if (!names.grid.empty() && names.prices.empty()) {
    in.fail("grid", "expected prices too: they say what power the devices draw");
  }
  return names;
}

CapacityQuestion read_question_of_capacity(Reader& in) {
  CapacityQuestion question;
  static_cast<void>(in.maybe_text("title"));  // of the file as it is, not of what is computed
  question.tokens = read_count(in, "tokens", kMostTrainedTokens, "a number of tokens", "\"15T\"");
  question.deadline = read_deadline(in);
  question.budget = read_count(in, "budget", kMostBudget, "dollars", "\"10M\"");
  question.devices = read_devices(in);
  question.batch = in.maybe_choice<BatchRule>("batch", kBatchRules).value_or(BatchRule::fixed);
  question.growth = read_growth(in);
  question.samples =
      static_cast<std::uint32_t>(in.maybe_integer("samples", 1, 100'000).value_or(200));
  question.seed = static_cast<std::uint64_t>(in.maybe_integer("seed", 0).value_or(1));
  return question;
}

/// What does not go together.
void check(Reader& in) {
  if (!in.has("tokens") && !in.has("deadline") && !in.has("budget")) {
    in.fail("",
            "expected tokens, a deadline or a budget (--tokens 15T, --deadline \"60 days\", "
            "--budget 10M)");
  }
  if (in.has("growth") && !(in.has("tokens") && in.has("deadline"))) {
    in.fail("growth", "expected tokens and a deadline: of these the devices of every year follow");
  }
}

/// Those that share the batch out evenly; with a batch that grows, the plan's times or over powers
/// of two.
std::vector<std::int64_t> replica_counts(const CapacityQuestion& question) {
  constexpr int most_doublings = 6;
  constexpr std::int64_t most_replicas = 1 << 20;
  const std::int64_t data = question.scenario.plan.data;
  const std::int64_t batch = question.scenario.training.global_batch;
  std::vector<std::int64_t> counts;
  if (question.batch == BatchRule::fixed) {
    for (std::int64_t replicas = 1; replicas <= std::min(batch, most_replicas); ++replicas) {
      if (batch % replicas == 0) {
        counts.push_back(replicas);
      }
    }
    return counts;
  }
  std::int64_t smallest = data;
  for (int k = 0; k < most_doublings && smallest % 2 == 0; ++k) {
    smallest /= 2;
  }
  for (std::int64_t factor = data / smallest << most_doublings; factor > 0; factor /= 2) {
    counts.insert(counts.begin(), counted_product(smallest, factor));
  }
  return counts;
}

/// Of these replicas, the devices of those that fill whole nodes, or an even part of one.
std::vector<std::int64_t> default_devices(const CapacityQuestion& question) {
  const Plan& plan = question.scenario.plan;
  const std::int64_t of_replica =
      counted_product(counted_product(plan.tensor, plan.context), plan.pipeline);
  const std::int64_t per_node = question.scenario.cluster.devices_per_node;
  std::vector<std::int64_t> counts;
  for (const std::int64_t replicas : replica_counts(question)) {
    const std::int64_t devices = counted_product(replicas, of_replica);
    const bool fills = devices < per_node ? per_node % devices == 0 : devices % per_node == 0;
    if (fills && devices <= kMostDevices) {
      counts.push_back(devices);
    }
  }
  return counts;
}

bool replaces_cluster(const CourseDocument& file) {
  return std::any_of(file.for_scenarios.begin(),
                     file.for_scenarios.end(),
                     [](const Assignment& change) { return change.path == "cluster"; });
}

/// Prices and powers, before anything is computed with them.
void load_costs(const CapacityNames& names, CapacityQuestion& question) {
  Chip& chip = question.scenario.cluster.chip;
  chip.power = names.power ? names.power : chip.power;
  if (!names.prices.empty()) {
    question.economy = load_economy(names.prices, names.grid);
  }
  if (names.dollars_per_hour) {
    if (!question.economy) {
      question.economy = Economy{.name = "given"};
    }
    set_rent(*question.economy, chip, *names.dollars_per_hour);
  }
  if (!question.budget) {
    return;
  }
  if (!question.economy) {
    throw InputError(
        "budget: expected prices too (--prices NAME; `titer list prices` shows them), or "
        "--dollars-per-hour");
  }
  for (const BillGap& gap : bill_gaps(*question.economy, chip)) {
    if (gap.figure == BillGap::Figure::price) {
      throw InputError("budget: " + gap.reason + "; or give a price by --dollars-per-hour");
    }
  }
}

}  // namespace

std::optional<double> parse_count(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 5> sizes = {
      {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}}};
  double count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || !std::isfinite(count) || count <= 0) {
    return std::nullopt;
  }
  if (rest == end) {
    return count;
  }
  const char letter = *rest;
  const auto* size = std::find_if(
      sizes.begin(), sizes.end(), [=](const auto& known) { return known.first == letter; });
  return rest + 1 == end && size != sizes.end() ? std::optional(count * size->second)
                                                : std::nullopt;
}

CapacityQuestion read_capacity(Document document, std::span<const Assignment> changes) {
  const CourseDocument file(
      is_run(document) ? as_question(std::move(document)) : std::move(document), changes);
  Problems problems;
  Reader in(file.document, problems);
  problems.raise();
  static_cast<void>(in.maybe_text("name"));
  const Value* scenario = scenario_value(in);
  CapacityQuestion question = read_question_of_capacity(in);
  const CapacityNames names = read_names(in);
  in.finish();
  check(in);
  problems.raise();
  ScenarioSource source = file.source(*scenario);
  if (question.batch == BatchRule::fixed && replaces_cluster(file)) {
    source.assign({"cluster.nodes", Value(), "devices"});  // however many the run has
  }
  source.read_unchecked(question.scenario);
  question.abilities = software_abilities(source);
  question.sequence_note = sequence_note(source, question.scenario);
  check_fidelity(question.scenario, Fidelity::closed);
  load_costs(names, question);
  if (!names.reliability.empty()) {
    question.reliability = load_reliability(names.reliability);
  }
  if (question.devices.empty()) {
    question.devices = default_devices(question);
  }
  if (question.devices.empty()) {
    throw InputError(
        "devices: expected some: no number of replicas shares out the batch and fills whole nodes");
  }
  return question;
}

CapacityQuestion load_capacity(std::string_view name_or_file, std::span<const Assignment> changes) {
  const std::vector<std::string> runs = shipped_names(kRunData);
  const bool is_run = std::binary_search(runs.begin(), runs.end(), name_or_file);
  return read_capacity(load_data(is_run ? kRunData : kCapacityData, name_or_file), changes);
}

}  // namespace titer
