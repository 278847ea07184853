// What a search's file says of its space, and of the models whose spaces are searched.

#include <algorithm>

#include "search_reading.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/plan/schedule/schedule.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// The plan that has this value and nothing else.
Plan plan_with(const Document& document, std::string_view key, const Value& value) {
  Document one{.root = Value::make_object(), .sources = document.sources};
  one.root.add(std::string(key), value);
  one.root.key_origins.back() = value.origin;
  Problems problems;
  Reader in(one, problems);
  Plan plan = read_plan(in);
  problems.raise();
  return plan;
}

void put_values(const SearchFile& file,
                const SearchKey& key,
                const std::vector<Value>& values,
                SearchSpace& space) {
  key.clear(space);
  for (const Value& value : values) {
    try {
      key.add(plan_with(*file.document, key.name, value), space);
    } catch (const InputError& error) {
      for (const std::string& line : error.lines) {
        file.problems->add(line);
      }
    }
  }
}

/// The schedule that is called so where ranks have several chunks; null where there is none.
const ScheduleEntry* entry_of_chunks(const Value& value) {
  const auto entries = schedule_entries();
  const auto found = std::ranges::find_if(entries, [&](const ScheduleEntry* entry) {
    return value.kind == Value::Kind::text && !entry->of_chunks.empty() &&
           value.text == entry->of_chunks;
  });
  return found == entries.end() ? nullptr : *found;
}

/// "interleaved" is 1f1b with every number of chunks that the space has, but one. Those of the
/// space are there already.
std::vector<Value> take_chunks(std::vector<Value> values, Reader& space, SearchSpace& searched) {
  const auto is_of_chunks = [](const Value& value) { return entry_of_chunks(value) != nullptr; };
  if (std::ranges::none_of(values, is_of_chunks)) {
    return values;
  }
  if (!std::ranges::all_of(values, is_of_chunks)) {
    space.fail("schedule",
               "expected no other schedule beside interleaved, or 1f1b and the virtual_stages to "
               "try in its place");
    return {};
  }
  for (Value& value : values) {
    value.text = entry_of_chunks(value)->name;
  }
  std::erase_if(searched.virtual_stages, [](std::int64_t chunks) { return chunks < 2; });
  if (searched.virtual_stages.empty()) {
    space.fail("schedule", "expected space.virtual_stages above 1 beside it");
  }
  return values;
}

/// What stands at a key of the space.
void put_listed(const SearchFile& file,
                const SearchKey& key,
                const Value& written,
                Reader& space,
                SearchSpace& searched) {
  std::vector<Value> values = values_in(written);
  if (key.name == "schedule") {
    values = take_chunks(std::move(values), space, searched);
  }
  put_values(file, key, values, searched);
  if (written.kind == Value::Kind::array && written.items.empty()) {
    space.fail(key.name, "expected at least one value");
  }
}

}  // namespace

void put_space(const SearchFile& file, Reader& in, Search& search) {
  search.space = full_space(search.scenario, search.devices);
  search.narrowed.clear();
  auto space = in.maybe_object("space");
  for (const SearchKey& key : search_keys()) {
    const Value* written = space ? space->raw(key.name) : nullptr;
    const auto kept = std::find_if(
        file.kept.begin(), file.kept.end(), [&](const auto& entry) { return entry.first == &key; });
    const bool is_listed = written != nullptr && written->kind != Value::Kind::null;
    if (is_listed) {
      put_listed(file, key, *written, *space, search.space);
    } else if (kept != file.kept.end()) {
      put_values(file, key, {kept->second}, search.space);
    }
    const Field<Plan>& field = *find_field(plan_fields(), key.name);
    const bool is_told = !field.same(search.scenario.plan, Plan());  // a list of layers
    if (is_listed || kept != file.kept.end() || is_told) {
      search.narrowed.push_back(key.name);
    }
  }
  if (space) {
    space->finish();
  }
}

Value space_schema() {
  Value space = schema::object();
  for (const SearchKey& key : search_keys()) {
    const Field<Plan>& field = *find_field(plan_fields(), key.name);
    const Value one = field.schema(field);
    schema::add_key(space,
                    {.key = key.name,
                     .about = field.about,
                     .otherwise = key.usual,
                     .written = schema::either({one, schema::list_of(one)})});
  }
  return space;
}

void add_models(const SearchFile& file, Reader& in, Search& search) {
  if (file.largest == nullptr) {
    return;
  }
  for (const Value& value : values_in(*file.largest)) {
    Search of_model = search;
    std::string title = value.text;
    if (value.kind == Value::Kind::object) {
      for (const auto& [key, changed] : value.members) {
        of_model.source.assign({"model." + key, changed, "largest_model"});
        add_listed(title, key + " " + to_json(changed, 0));
      }
    } else {
      of_model.source.assign({"model", value, "largest_model"});
    }
    of_model.title = title;
    of_model.source.read_unchecked(of_model.scenario);
    put_space(file, in, of_model);
    search.models.push_back(std::move(of_model));
  }
  file.problems->raise();
  std::stable_sort(
      search.models.begin(), search.models.end(), [](const Search& a, const Search& b) {
        return parameters(a.scenario.model) > parameters(b.scenario.model);
      });
}

}  // namespace titer
