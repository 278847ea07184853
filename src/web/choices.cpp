#include "choices.hpp"

#include "titer/ask/shipped.hpp"
#include "titer/input/read_document.hpp"
#include "titer/launch/launch.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

/// Name and title of all that is shipped of a kind; `more` adds what else there is to an object.
template <class More>
Value named(const DataKind& kind, const More& more) {
  Value list = Value::make_array();
  for (const std::string& name : shipped_names(kind)) {
    const Document document = load_data(kind, name);
    const Value* title = document.at("title");
    Value one = Value::make_object();
    one.add("name", name);
    one.add("title", title == nullptr ? Value(name) : Value(title->text));
    more(document, one);
    list.push(std::move(one));
  }
  return list;
}

void nothing_more(const Document&, Value&) {}

void add_title(const Document& model, Value& one) {
  *one.find("title") = read_document(model, read_model).title();
}

/// How many nodes it has, where that is fixed, and devices in each.
void add_size(const Document& cluster, Value& one) {
  for (const std::string_view key : {"nodes", "slice", "pod"}) {
    if (const Value* size = cluster.at(key)) {
      one.add(std::string(key), *size);
    }
  }
  if (const Value* devices = cluster.at("node.devices")) {
    one.add("devices_per_node", *devices);
  }
}

void add_scenario(const Document& run, Value& one) { one.add("scenario", run.root); }

Value launchers() {
  Value names = Value::make_array();
  for (const auto& format : kLaunchFormats) {
    names.push(Value(format.name));
  }
  return names;
}

}  // namespace

Value web_choices() {
  const Value run = run_schema();
  Value choices = Value::make_object();
  choices.add("version", Value(version()))
      .add("models", named(kModelData, add_title))
      .add("clusters", named(kClusterData, add_size))
      .add("stacks", named(kStackData, nothing_more))
      .add("runs", named(kRunData, add_scenario))
      .add("launchers", launchers())
      .add("plan", *run.at("properties.plan"))
      .add("training", *run.at("properties.training"))
      .add("default_stack", Value(kDefaultStack));
  return choices;
}

}  // namespace titer
