#include "lists.hpp"

#include "titer/units/text.hpp"

namespace titer {
namespace {

const Value* list_at(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  return value != nullptr && value->kind == Value::Kind::array ? value : nullptr;
}

bool has_length(Reader& in, std::string_view key, const Value& list, std::size_t count) {
  if (list.items.size() == count) {
    return true;
  }
  in.fail(key,
          "expected one value for all, or a list of " + std::to_string(count) + ", not of " +
              std::to_string(list.items.size()));
  return false;
}

}  // namespace

std::vector<int> maybe_counts(Reader& in, std::string_view key, std::int64_t most) {
  if (!in.has(key)) {
    static_cast<void>(in.raw(key));
    return {};
  }
  const std::string wanted = "expected a list of integers in 1 .. " + std::to_string(most);
  const Value* list = list_at(in, key);
  if (list == nullptr || list->items.empty()) {
    in.fail(key, wanted);
    return {};
  }
  std::vector<int> counts;
  for (const Value& item : list->items) {
    const bool is_integer = item.kind == Value::Kind::number && item.is_integer;
    if (!is_integer || item.integer < 1 || item.integer > most) {
      in.fail(key, wanted + ", not " + to_json(item, 0));
      return {};
    }
    counts.push_back(static_cast<int>(item.integer));
  }
  return counts;
}

std::vector<int> read_counts(Reader& in, std::string_view key, std::int64_t most) {
  if (!in.has(key)) {
    in.fail(key, "missing; expected a list of integers in 1 .. " + std::to_string(most));
  }
  return maybe_counts(in, key, most);
}

std::vector<BytesPerSecond> read_bandwidths(Reader& in, std::string_view key, std::size_t count) {
  const Value* list = list_at(in, key);
  if (list == nullptr) {
    return std::vector<BytesPerSecond>(count, in.quantity<BytesPerSecond>(key));
  }
  std::vector<BytesPerSecond> bandwidths(count, 1_GBps);  // stand-ins after a problem
  if (!has_length(in, key, *list, count)) {
    return bandwidths;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Value& item = list->items[i];
    const auto value = item.kind == Value::Kind::text ? parse<BytesPerSecond>(item.text)
                                                      : std::optional<BytesPerSecond>();
    if (!value || *value <= BytesPerSecond{}) {
      in.fail(key,
              "entry " + std::to_string(i) + ", " + to_json(item, 0) + ": expected " +
                  std::string(example<BytesPerSecond>()) + ", above zero");
      return bandwidths;
    }
    bandwidths[i] = *value;
  }
  return bandwidths;
}

std::vector<bool> read_flags(Reader& in, std::string_view key, std::size_t count) {
  std::vector<bool> flags(count, true);
  const Value* value = in.raw(key);
  if (value == nullptr) {
    return flags;
  }
  if (value->kind == Value::Kind::boolean) {
    return std::vector<bool>(count, value->boolean);
  }
  if (value->kind != Value::Kind::array) {
    in.fail(key, "expected true, false, or a list of them, one per dimension");
    return flags;
  }
  if (!has_length(in, key, *value, count)) {
    return flags;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (value->items[i].kind != Value::Kind::boolean) {
      in.fail(key, "expected true, false, or a list of them, one per dimension");
      return flags;
    }
    flags[i] = value->items[i].boolean;
  }
  return flags;
}

std::vector<double> maybe_ratios(Reader& in, std::string_view key, std::size_t count) {
  const Value* list = list_at(in, key);
  if (list == nullptr) {
    const auto ratio = in.maybe_number(key, 0.01, 1e6);
    return ratio ? std::vector<double>(count, *ratio) : std::vector<double>();
  }
  if (!has_length(in, key, *list, count)) {
    return {};
  }
  std::vector<double> ratios;
  for (const Value& item : list->items) {
    if (item.kind != Value::Kind::number || item.number < 0.01 || item.number > 1e6) {
      in.fail(key, "expected ratios above zero, down over up, not " + to_json(item, 0));
      return {};
    }
    ratios.push_back(item.number);
  }
  return ratios;
}

namespace {

Value one_or_list(const Value& one) { return schema::either({one, schema::list_of(one)}); }

}  // namespace

Value bandwidths_schema() {
  const Value one = schema::quantity<BytesPerSecond>();
  return schema::either({schema::figure(one), schema::list_of(one)});
}
Value flags_schema() { return one_or_list(schema::flag()); }
Value ratios_schema() { return one_or_list(schema::number({0.01, 1e6})); }

bool product_within(const std::vector<int>& counts, std::int64_t most) {
  std::int64_t product = 1;
  for (const int count : counts) {
    product *= count;
    if (product > most) {
      return false;
    }
  }
  return true;
}

}  // namespace titer
