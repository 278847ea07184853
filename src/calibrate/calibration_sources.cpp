#include "calibration_sources.hpp"

#include <fmt/format.h>

#include <set>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

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
  Value* const value = root.at(path);
  ensure(value != nullptr, "a fitted figure is in its document");
  return *value;
}

void set_member(Value& object, std::string_view key, Value value) {
  if (Value* member = object.find(key); member != nullptr) {
    *member = std::move(value);
  } else {
    object.add(std::string(key), std::move(value));
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

}  // namespace titer
