#include "search_reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/input/schema.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostDevicesAsked = 10'000'000;
constexpr std::size_t kMostNumbers = 10'000;

void add_numbers(Reader& in,
                 std::string_view key,
                 std::int64_t each,
                 std::vector<std::int64_t>& numbers) {
  const Value* written = in.raw(key);
  for (const Value& value : written == nullptr ? std::vector<Value>() : values_in(*written)) {
    if (!value.is_integer || value.integer < 1 || value.integer > kMostDevicesAsked / each) {
      in.fail(key, "expected a whole number of at least 1, or a list of them");
      return;
    }
    numbers.push_back(value.integer * each);
  }
  if (numbers.empty()) {
    in.fail(key, "expected at least one number");
  }
}

/// {"nodes": 8}, {"nodes": [8, 16]}; {"least": 8, "most": 4096}: powers of two, with "every": 8
/// its multiples.
void read_range_of_devices(Reader in, std::int64_t per_node, std::vector<std::int64_t>& numbers) {
  if (in.has("nodes")) {
    add_numbers(in, "nodes", per_node, numbers);
    in.finish();
    return;
  }
  const std::int64_t most = in.integer("most", 1, kMostDevicesAsked);
  const auto every = in.maybe_integer("every", 1, kMostDevicesAsked);
  const std::int64_t least =
      in.maybe_integer("least", 1, kMostDevicesAsked).value_or(every.value_or(per_node));
  in.finish();
  for (std::int64_t number = least; number <= most && numbers.size() <= kMostNumbers;) {
    numbers.push_back(number);
    number = every ? number + *every : 2 * number;
  }
  if (numbers.empty() || numbers.size() > kMostNumbers) {
    in.fail("most",
            fmt::format("expected 1 to {} numbers of devices, from least to most", kMostNumbers));
  }
}

/// Whether a document says what is to be run, not what is to be searched for.
bool describes_run(const Document& document) {
  return document.root.find("scenario") == nullptr && document.root.find("model") != nullptr &&
         document.root.find("training") != nullptr;
}

Document around_run(std::string_view name_or_file) {
  Document document{.root = Value::make_object(), .sources = {}};
  document.root.add("scenario", Value(name_or_file));
  return document;
}

/// What they need besides the scenario.
void check_objectives(const Search& search, Problems& problems) {
  if (search.robust && search.objectives != std::vector{Objective::time}) {
    problems.add("robust: expected the objective time alone, whose spread it is about");
  }
  for (const Objective objective : search.objectives) {
    const bool pays = objective == Objective::cost || objective == Objective::energy ||
                      objective == Objective::tokens_per_dollar;
    if (pays && !search.economy) {
      problems.add(fmt::format("objective: {}: expected \"economy\" too: what devices cost",
                               name(objective)));
    }
    if (objective == Objective::goodput && !search.reliability) {
      problems.add("objective: goodput: expected \"reliability\" too: what fails how often");
    }
  }
}

}  // namespace

std::vector<Value> values_in(const Value& value) {
  return value.kind == Value::Kind::array ? value.items : std::vector<Value>{value};
}

Document search_document(std::string_view name_or_file) {
  if (!is_shipped(kSearchData, name_or_file) && is_shipped(kRunData, name_or_file)) {
    return around_run(name_or_file);
  }
  Document document = load_data(kSearchData, name_or_file);
  return describes_run(document) ? around_run(name_or_file) : document;
}

Search nothing_searched() {
  return {.title = {},
          .source = ScenarioSource(Document()),
          .scenario = {},
          .space = {},
          .devices = {}};
}

std::vector<std::int64_t> read_device_numbers(Reader& in, std::int64_t per_node) {
  std::vector<std::int64_t> numbers;
  const Value* written = in.raw("devices");
  if (written != nullptr && written->kind == Value::Kind::object) {
    read_range_of_devices(in.object("devices"), per_node, numbers);
  } else {
    add_numbers(in, "devices", 1, numbers);
  }
  std::ranges::sort(numbers);
  return numbers;
}

Value device_numbers_schema() {
  const Value number = schema::integer({1, kMostDevicesAsked});
  Value range = schema::object();
  schema::add_key(range,
                  {.key = "nodes",
                   .about = "a number or a list of numbers of nodes; nothing beside it",
                   .written = schema::either({number, schema::list_of(number)})});
  schema::add_key(
      range, {.key = "most", .about = "doubling up to this, but for `every`", .written = number});
  schema::add_key(range,
                  {.key = "least",
                   .about = "the first of them",
                   .otherwise = "`every`, or those of a node",
                   .written = number});
  schema::add_key(
      range,
      {.key = "every", .about = "with `most`: its multiples from `least` on", .written = number});
  return schema::either({number, schema::list_of(number), std::move(range)});
}

void demand_sequence(const Search& search) {
  if (const auto longest = assumed_sequence(search.source, search.scenario)) {
    throw InputError(missing_sequence(search.source, *longest, "--sequence N"));
  }
}

void check_search(const Search& search) {
  const Scenario& scenario = search.scenario;
  Problems problems;
  if (scenario.formula != Formula::titer) {
    problems.add("formula: e7: expected the formula titer in a search");
  }
  for (const std::int64_t devices : search.devices) {
    if (const std::string why = no_slice_text(scenario.cluster, devices); !why.empty()) {
      problems.add(fmt::format("devices: {}: {}", devices, why));
    }
  }
  check_objectives(search, problems);
  problems.raise();
  if (search.economy) {  // a figure that is missing is missing for all plans
    static_cast<void>(bill(*search.economy, scenario.cluster.chip, 1, Seconds::from_si(1), 1));
  }
}

}  // namespace titer
