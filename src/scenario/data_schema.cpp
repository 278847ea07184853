#include "titer/scenario/data_schema.hpp"

#include "titer/hardware/chip_schema.hpp"
#include "titer/input/schema.hpp"
#include "titer/plan/file_schemas.hpp"

namespace titer {
namespace {

/// In place of a value, see scenario/followed_figures.hpp.
void add_links(Value& figure_keys) {
  figure_keys.add("figure", schema::text())
      .add("of", schema::text())
      .add("times", schema::number({}))
      .add("in_proportion_to", schema::list_of(schema::text()));
}

/// Lets figures follow others, and every key be left to a base: what a whole needs is only told.
void loosen(Value& schema) {
  Value* keys = schema.find("properties");
  if (keys != nullptr && keys->find("value") != nullptr && keys->find("source") != nullptr) {
    add_links(*keys);
    schema.erase("required");
    return;
  }
  if (const Value* required = schema.find("required")) {
    const Value needed = *required;
    schema.erase("required");
    schema.add("x-required", needed);
  }
  for (Value* inner : {keys, schema.find("anyOf")}) {
    if (inner != nullptr) {
      for (auto& [key, member] : inner->members) {
        loosen(member);
      }
      for (Value& item : inner->items) {
        loosen(item);
      }
    }
  }
  if (Value* items = schema.find("items")) {
    loosen(*items);
  }
  if (Value* parts = schema.find("additionalProperties"); parts != nullptr && parts->find("type")) {
    loosen(*parts);
    Value* type = parts->find("type");
    *type = Value::make_array().push(*type).push("null");  // takes away what a base has
  }
}

/// Of a whole, or of a base and changes to it.
Value with_base(Value schema) {
  const Value needed = *schema.find("required");
  loosen(schema);
  schema::add_key(schema,
                  {.key = "base",
                   .about = "name or file of another that this one starts from",
                   .written = schema::text()});
  schema::add_key(schema,
                  {.key = "same_silicon",
                   .about = "with `base`: it is the same part, whose measured figures hold",
                   .written = schema::flag(),
                   .usual = false});
  Value has_base = Value::make_object();
  has_base.add("required", Value::make_array().push("base"));
  schema.add("anyOf",
             Value::make_array()
                 .push(std::move(has_base))
                 .push(Value::make_object().add("required", needed)));
  return schema;
}

}  // namespace

Value chip_file_schema() { return with_base(chip_schema()); }
Value cluster_file_schema() { return with_base(cluster_schema()); }
Value network_file_schema() { return with_base(network_schema()); }
Value stack_file_schema() { return with_base(stack_schema()); }

}  // namespace titer
