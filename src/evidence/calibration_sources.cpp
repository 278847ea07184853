#include "calibration_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

void remove_member(Value& object, std::size_t index) {
  object.members.erase(object.members.begin() + static_cast<std::ptrdiff_t>(index));
  object.key_origins.erase(object.key_origins.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Whether any figure named it, but for some, and for the errors that every fit writes anew.
bool rename_source(Value& value,
                   std::string_view from,
                   const std::string& to,
                   const std::set<const Value*>& spared) {
  if (spared.contains(&value)) {
    return false;
  }
  bool any = false;
  if (Value* source = value.find("source"); source != nullptr && source->text == from) {
    source->text = to;
    any = true;
  }
  for (auto& [key, member] : value.members) {
    any = (key != "error_bars" && rename_source(member, from, to, spared)) || any;
  }
  for (Value& item : value.items) {
    any = rename_source(item, from, to, spared) || any;
  }
  return any;
}

}  // namespace

Value& value_at(Value& root, std::string_view path) {
  Value* here = &root;
  while (here != nullptr && !path.empty()) {
    const std::string key(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    here = here->kind == Value::Kind::array ? &here->items.at(std::stoul(key)) : here->find(key);
  }
  ensure(here != nullptr, "a fitted figure is in its document");
  return *here;
}

void set_member(Value& object, std::string_view key, Value value) {
  if (Value* member = object.find(key); member != nullptr) {
    *member = std::move(value);
  } else {
    object.add(std::string(key), std::move(value));
  }
}

void list_sources(const Value& value, std::set<std::string>& names) {
  if (const Value* source = value.find("source");
      source != nullptr && source->kind == Value::Kind::text) {
    names.insert(source->text);
  }
  for (const auto& [key, member] : value.members) {
    list_sources(member, names);
  }
  for (const Value& item : value.items) {
    list_sources(item, names);
  }
}

void keep_earlier(Value& root, std::string_view source, const std::vector<FittedFigure>& figures) {
  Value* const sources = root.find("sources");
  Value* const text = sources == nullptr ? nullptr : sources->find(source);
  if (text == nullptr) {
    return;
  }
  std::set<const Value*> fitted;
  for (const FittedFigure& figure : figures) {
    fitted.insert(&value_at(root, figure.path));
    for (const std::string& path : figure.same) {
      fitted.insert(&value_at(root, path));
    }
  }
  std::string earlier;
  for (int number = 2; earlier.empty() || sources->find(earlier) != nullptr; ++number) {
    earlier = fmt::format("{}_{}", source, number);
  }
  if (rename_source(root, source, earlier, fitted)) {
    sources->add(earlier, *text);
  }
}

void drop_sources(Value& root, const std::set<std::string>& before) {
  std::set<std::string> now;
  list_sources(root, now);
  Value* sources = root.find("sources");
  for (std::size_t i = sources->members.size(); i-- > 0;) {
    const std::string& name = sources->members[i].first;
    if (before.count(name) > 0 && now.count(name) == 0) {
      remove_member(*sources, i);
    }
  }
}

}  // namespace titer
