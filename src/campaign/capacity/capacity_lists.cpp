#include "capacity_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "campaign/course_document.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

// Lists of what is shipped by names, or written out.
constexpr std::array<std::string_view, 4> kOfData = {"models", "clusters", "stacks", "prices"};

/// The texts of a list, or of a text with commas between them.
std::vector<Value> take_texts(Document& document, std::string_view key) {
  const Value* written = document.root.find(key);
  std::vector<Value> texts;
  if (written == nullptr) {
    return texts;
  }
  if (written->kind == Value::Kind::text) {
    for (const std::string_view one : divided(written->text, ",")) {
      texts.emplace_back(one);
      texts.back().origin = written->origin;
    }
  } else {
    texts = written->items;
  }
  if (written->kind == Value::Kind::number || written->kind == Value::Kind::object) {
    texts = {*written};
  }
  const auto is_data = [&](const Value& one) {
    return includes(kOfData, key) && one.kind == Value::Kind::object;
  };
  const bool is_right = !texts.empty() && std::ranges::all_of(texts, [&](const Value& one) {
    return one.kind == Value::Kind::number || is_data(one) ||
           (one.kind == Value::Kind::text && !one.text.empty());
  });
  if (!is_right) {
    refuse(document, *written, fmt::format("{}: expected texts, such as [\"A\", \"B\"]", key));
  }
  document.root.erase(key);
  return texts;
}

/// That all of these are there; what is wrong with their values is their combinations' problem.
void check_names(const DataKind& kind, const std::vector<Value>& names, Problems& problems) {
  for (const Value& name : names) {
    if (name.kind == Value::Kind::object) {
      continue;
    }
    try {
      static_cast<void>(load_data(kind, name.text));
    } catch (const InputError& error) {
      std::ranges::for_each(error.lines, [&](const std::string& line) { problems.add(line); });
    }
  }
}

/// What belongs to all combinations alike.
void check(const TableLists& lists) {
  const Value& root = lists.rest.root;
  Problems problems;
  check_names(kModelData, lists.models, problems);
  check_names(kClusterData, lists.clusters, problems);
  check_names(kStackData, lists.stacks, problems);
  const Value* scenario = root.find("scenario");
  const auto lacks = [&](const std::vector<Value>& list, std::string_view key) {
    return list.empty() &&
           (scenario == nullptr || (scenario->kind == Value::Kind::object && !scenario->find(key)));
  };
  if (lacks(lists.models, "model") || lacks(lists.clusters, "cluster")) {
    problems.add(
        "expected models and clusters (--model A,B --cluster X,Y), or a run that has them");
  }
  if (root.find("tokens") == nullptr) {
    problems.add("expected tokens (--tokens 10T)");
  }
  if (root.find("deadline") != nullptr) {
    problems.add("deadline: expected \"deadlines\" in a comparison, a list");
  }
  if (lists.deadlines.empty() && root.find("devices") == nullptr) {
    problems.add("expected a deadline (--deadline 60d), or devices (--devices 1024,2048)");
  }
  const auto check_size = [&](std::string_view key, const std::vector<Value>& list) {
    if (list.size() > 1 && list.size() != lists.clusters.size()) {
      problems.add(
          fmt::format("{}: expected one for all, or one for each of the {} clusters, got {}",
                      key,
                      lists.clusters.size(),
                      list.size()));
    }
  };
  check_size("stacks", lists.stacks);
  check_size("prices", lists.prices);
  check_size("dollars_per_hour", lists.rents);
  check_size("power", lists.powers);
  problems.raise();
}

}  // namespace

TableLists table_lists(const Document& document, std::span<const Assignment> changes) {
  CourseDocument file(document, changes);
  TableLists lists{.rest = std::move(file.document), .changes = std::move(file.for_scenarios)};
  lists.models = take_texts(lists.rest, "models");
  lists.clusters = take_texts(lists.rest, "clusters");
  lists.stacks = take_texts(lists.rest, "stacks");
  lists.prices = take_texts(lists.rest, "prices");
  lists.rents = take_texts(lists.rest, "dollars_per_hour");
  lists.powers = take_texts(lists.rest, "power");
  lists.deadlines = take_texts(lists.rest, "deadlines");
  check(lists);
  return lists;
}

}  // namespace titer
