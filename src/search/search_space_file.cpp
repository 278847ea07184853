// What a search's file says of its space, and of the models whose spaces are searched.

#include <algorithm>

#include "search_reading.hpp"
#include "titer/plan/plan_fields.hpp"
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
      put_values(file, key, values_in(*written), search.space);
      if (written->kind == Value::Kind::array && written->items.empty()) {
        space->fail(key.name, "expected at least one value");
      }
    } else if (kept != file.kept.end()) {
      put_values(file, key, {kept->second}, search.space);
    }
    if (is_listed || kept != file.kept.end()) {
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
