#include "titer/input/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "titer/input/words.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, 2> kFreeKeys = {"$schema", "notes"};
constexpr std::string_view kVersionKey = "format_version";
constexpr double kReadVersion = 1;  // of files: raised when older programs would misread them
constexpr std::size_t kLongestShown = 60;  // bytes of a value in a message

bool is_free(std::string_view key) { return includes(kFreeKeys, key); }

bool is_read(const Value& version) {
  return version.kind == Value::Kind::number && version.number == kReadVersion;
}

bool is_object(const Value& value) { return value.kind == Value::Kind::object; }

/// What a reader of a missing object reads: it is no object, so that nothing more is reported.
const Value& nothing() {
  static const Value value;
  return value;
}

std::string shown(const Value& value) { return shortened(to_json(value, 0), kLongestShown); }

}  // namespace

/// Texts of the user's are part of the lines: what they would do to a terminal is shown, not done.
void Problems::raise() const {
  if (!lines_.empty()) {
    throw InputError(lines_);
  }
}

Reader::Reader(const Document& document, Problems& problems)
    : Reader(document, document.root, "", problems) {
  if (!is_object(document.root)) {
    refuse(path_, document.root, "expected an object");
  }
}

Reader::Reader(const Document& document, const Value& value, std::string path, Problems& problems)
    : document_(&document), value_(&value), path_(std::move(path)), problems_(&problems) {}

bool Reader::has(std::string_view key) const {
  const Value* value = value_->find(key);
  return value != nullptr && value->kind != Value::Kind::null;
}

std::string Reader::text(std::string_view key) {
  require(key, "a text in quotes");
  return maybe_text(key).value_or("");
}

std::optional<std::string> Reader::maybe_text(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != Value::Kind::text) {
    refuse(path_to(key), *value, "expected a text in quotes");
    return std::nullopt;
  }
  if (std::ranges::any_of(value->text, is_control)) {
    refuse(path_to(key), *value, "expected a text without control characters");
    return std::nullopt;
  }
  return value->text;
}

std::string Reader::file(std::string_view key) {
  const std::filesystem::path named = text(key);
  const Value* value = value_->find(key);
  if (value == nullptr || value->origin.source < 0) {
    return named.string();
  }
  const auto source = static_cast<std::size_t>(value->origin.source);
  const std::filesystem::path beside =
      std::filesystem::path(document_->sources[source]).parent_path() / named;
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside.string() : named.string();
}

bool Reader::flag(std::string_view key, bool otherwise) {
  return maybe_flag(key).value_or(otherwise);
}

std::optional<bool> Reader::maybe_flag(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != Value::Kind::boolean) {
    const bool is_quoted = value->text == "true" || value->text == "false";
    const std::string hint = is_quoted ? "; did you mean " + value->text + "?" : "";
    refuse(path_to(key), *value, "expected true or false" + hint);
    return std::nullopt;
  }
  return value->boolean;
}

std::size_t Reader::name(std::string_view key, const std::vector<std::string_view>& names) {
  require(key, "one of: " + listed(names));
  return maybe_name(key, names).value_or(0);
}

std::optional<std::size_t> Reader::maybe_name(std::string_view key,
                                              const std::vector<std::string_view>& names) {
  ensure(!names.empty(), "a choice has alternatives");
  const Value* value = take(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(names, value->text);
  if (value->kind == Value::Kind::text && found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  refuse(
      path_to(key), *value, "expected one of: " + listed(names) + suggestion(value->text, names));
  return std::nullopt;
}

Reader Reader::object(std::string_view key) {
  require(key, "an object");
  auto found = maybe_object(key);
  return found ? *std::move(found) : Reader(*document_, nothing(), path_to(key), *problems_);
}

std::optional<Reader> Reader::maybe_object(std::string_view key) {
  const Value* value = take(key);
  return value == nullptr ? std::nullopt : std::optional<Reader>(child(*value, path_to(key)));
}

std::vector<Reader> Reader::objects(std::string_view key) {
  require(key, "an array of objects");
  const Value* value = take(key);
  if (value != nullptr && value->kind != Value::Kind::array) {
    refuse(path_to(key), *value, "expected an array of objects");
    return {};
  }
  std::vector<Reader> readers;
  for (std::size_t i = 0; value != nullptr && i < value->items.size(); ++i) {
    readers.push_back(child(value->items[i], join_path(path_to(key), std::to_string(i))));
  }
  return readers;
}

std::vector<std::string> Reader::texts(std::string_view key) {
  const Value* value = take(key);
  if (value != nullptr && value->kind != Value::Kind::array) {
    refuse(path_to(key), *value, "expected an array of texts");
    return {};
  }
  std::vector<std::string> found;
  for (std::size_t i = 0; value != nullptr && i < value->items.size(); ++i) {
    const Value& item = value->items[i];
    if (item.kind != Value::Kind::text) {
      refuse(join_path(path_to(key), std::to_string(i)), item, "expected a text in quotes");
    }
    found.push_back(item.text);
  }
  return found;
}

const Value* Reader::raw(std::string_view key) {
  static_cast<void>(take(key));
  return value_->find(key);
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : value_->members) {
    if (!is_free(key)) {
      names.push_back(key);
    }
  }
  return names;
}

std::vector<std::string> Reader::unknown_keys() const {
  std::vector<std::string> names = keys();
  const auto is_known = [&](const std::string& key) { return !has(key) || includes(known_, key); };
  names.erase(std::remove_if(names.begin(), names.end(), is_known), names.end());
  return names;
}

void Reader::fail(std::string_view key, std::string_view message) {
  const Value* value = value_->find(key);
  if (value != nullptr) {
    refuse(path_to(key), *value, message);
  } else if (is_object(*value_)) {
    report(value_->origin, key.empty() ? path_ : path_to(key), message);
  }
}

void Reader::finish() {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (std::size_t i = 0; i < value_->members.size(); ++i) {
    const std::string& key = value_->members[i].first;
    if (is_free(key) || includes(known, key)) {
      continue;
    }
    if (path_.empty() && key == kVersionKey) {
      if (!is_read(value_->members[i].second)) {
        fail(key,
             fmt::format("expected {:g}, which is what this program reads; another version of it "
                         "reads others (CHANGELOG.md)",
                         kReadVersion));
      }
      continue;
    }
    std::string hint = suggestion(key, known);
    if (hint.empty()) {
      hint = known.empty() ? "; no keys are known here" : "; known keys: " + listed(known);
    }
    report(value_->key_origins[i], path_to(key), "unknown key" + hint);
  }
}

/// The value of `key`, which is known from now on; nullptr when it is absent or null.
const Value* Reader::take(std::string_view key) {
  if (!includes(known_, key)) {
    known_.emplace_back(key);
  }
  return has(key) ? value_->find(key) : nullptr;
}

Reader Reader::child(const Value& value, std::string path) {
  if (!is_object(value)) {
    refuse(path, value, "expected an object");
  }
  return {*document_, value, std::move(path), *problems_};
}

std::string Reader::path_to(std::string_view key) const { return join_path(path_, key); }

/// Reports that `key` is missing, unless it is there or this is the stand-in for an object.
void Reader::require(std::string_view key, std::string_view expected) {
  if (has(key) || !is_object(*value_)) {
    return;
  }
  if (const Value* null = value_->find(key)) {
    refuse(path_to(key), *null, "expected " + std::string(expected));
  } else {
    report(value_->origin, path_to(key), "missing; expected " + std::string(expected));
  }
}

void Reader::refuse(const std::string& path, const Value& value, std::string_view message) {
  report(value.origin, path, shown(value) + ": " + std::string(message));
}

void Reader::report(Origin origin, const std::string& path, std::string_view message) {
  std::string line = document_->where(origin);
  line += line.empty() ? "" : ": ";
  line += path + (path.empty() ? "" : ": ");
  problems_->add(line += message);
}

}  // namespace titer
