// Models of the HuggingFace Hub by their names: configs/hub.json.

#include "titer/model/hub/hub_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/input/shipped_data.hpp"
#include "titer/input/words.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

bool lists(const Value& words, std::string_view word) {
  return std::ranges::any_of(words.items, [&](const Value& item) { return item.text == word; });
}

std::string without(std::string text, std::string_view part, std::string_view by) {
  const std::size_t found = text.find(part);
  return found == std::string::npos ? text : text.replace(found, part.size(), by);
}

/// Of a folder of the Hub's cache, models--Qwen--Qwen3-8B/snapshots/…, the model's name.
std::string_view name_in_cache(std::string_view path) {
  constexpr std::string_view begin = "models--";
  const std::size_t at = path.find(begin);
  if (at == path.npos) {
    return path;
  }
  path.remove_prefix(at + begin.size());
  path = path.substr(0, path.find('/'));
  const std::size_t dashes = path.rfind("--");
  return dashes == path.npos ? path : path.substr(dashes + 2);
}

/// Of "meta-llama/Meta-Llama-3.1-8B-Instruct" meta, llama, 3.1 and 8b: without what such a model
/// was tuned for, and how it is stored.
std::vector<std::string> words_of_shape(std::string_view name, const Value& not_of_shape) {
  const std::string small = lower_name(name_in_cache(name));
  std::vector<std::string> words;
  for (const std::string_view word : divided(small, "-_ ")) {
    if (!lists(not_of_shape, word)) {
      words.emplace_back(word);
    }
  }
  return words;
}

/// "7b", "1.5b", "360m", "8x7b" and, of what a token passes through, "a3b".
bool is_size(std::string_view word) {
  const std::size_t digits = word.find_first_not_of("0123456789.x", word.starts_with('a') ? 1 : 0);
  return word.size() > 1 && digits == word.size() - 1 && digits > 0 &&
         (word.back() == 'b' || word.back() == 'm');
}

/// Without what follows the size, as those call their models who tune them; none where there is no
/// size, or what follows it is of another shape.
std::vector<std::string> words_to_size(std::vector<std::string> words, const Value& others) {
  const auto last = std::find_if(words.rbegin(), words.rend(), is_size);
  const bool is_other = std::any_of(
      words.rbegin(), last, [&](const std::string& word) { return lists(others, word); });
  words.erase(is_other || last == words.rend() ? words.begin() : last.base(), words.end());
  return words;
}

/// "meta-llama/Meta-Llama-3.1-8B-Instruct" and "llama3_1_8b" are "llama318b".
std::string bare_name(const std::vector<std::string>& words) {
  std::string made;
  for (const std::string& word : words) {
    made += word;
  }
  made.erase(std::remove(made.begin(), made.end(), '.'), made.end());
  made = without(std::move(made), "bloomz", "bloom");
  return without(without(std::move(made), "metallama", "llama"), "llama3herd", "llama3");
}

/// By the first of the tables that has it: the keys of all its models, and those in whose values
/// they differ. These are written nowhere that a message could name.
std::optional<HubModel> model_in(const Hub& hub, std::string_view list, std::string_view name) {
  for (const Value& table : hub.list(list).items) {
    const Value* const row = hub.object("models", &table).find(name);
    if (row == nullptr) {
      continue;
    }
    HubModel made{.config = Value::make_object(), .sees = table.find("sees") != nullptr};
    const auto add = [&](const std::string& key, Value value) {
      value.origin = {};
      made.config.add(key, std::move(value));
    };
    for (const auto& [key, value] : hub.object("all", &table).members) {
      add(key, value);
    }
    const std::vector<Value>& keys = hub.list("keys", &table).items;
    if (keys.size() != row->items.size()) {
      hub.refuse(*row, fmt::format("{}: expected {} values, one for each key", name, keys.size()));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      add(keys[i].text, row->items[i]);
    }
    return made;
  }
  return std::nullopt;
}

std::optional<HubModel> model_called(const Hub& hub, std::string bare) {
  const Value& shipped = hub.object("shipped");
  const std::size_t version = bare.rfind('v');
  const bool is_known = model_in(hub, "models", bare) || shipped.find(bare) != nullptr;
  if (!is_known && version != std::string::npos && version > 0 &&
      bare.find_first_not_of("0123456789", version + 1) == std::string::npos) {
    bare.resize(version);  // v0.1
  }
  if (const Value* like = hub.object("like").find(bare)) {
    bare = like->text;
  }
  if (const Value* name = shipped.find(bare)) {
    return HubModel{.shipped = name->text, .config = {}};
  }
  return model_in(hub, "models", bare);
}

}  // namespace

Hub::Hub() : document_(load_json(data_root() / "configs/hub.json")) {}

const Value& Hub::list(std::string_view key, const Value* of) const {
  return member(key, of == nullptr ? document_.root : *of, Value::Kind::array, "a list");
}

const Value& Hub::object(std::string_view key, const Value* of) const {
  return member(key, of == nullptr ? document_.root : *of, Value::Kind::object, "an object");
}

void Hub::refuse(const Value& value, const std::string& why) const {
  throw InputError(document_.where(value.origin) + ": " + why);
}

const Value& Hub::member(std::string_view key,
                         const Value& of,
                         Value::Kind kind,
                         std::string_view expected) const {
  const Value* const found = of.find(key);
  if (found == nullptr || found->kind != kind) {
    refuse(found == nullptr ? of : *found, fmt::format("{}: expected {}", key, expected));
  }
  return *found;
}

std::optional<HubModel> hub_model(std::string_view name) {
  const Hub hub;
  const std::vector<std::string> words = words_of_shape(name, hub.list("not_of_shape"));
  auto found = model_called(hub, bare_name(words));
  if (const std::vector<std::string> begin = words_to_size(words, hub.list("of_other_shape"));
      !found && !begin.empty() && begin.size() < words.size()) {
    found = model_called(hub, bare_name(begin));
    if (found) {
      found->tuned = true;
    }
  }
  return found;
}

std::optional<Value> config_in_hub(std::string_view list, std::string_view name) {
  const auto found = model_in(Hub(), list, name);
  return found ? std::optional(found->config) : std::nullopt;
}

std::string lower_name(std::string_view name) {
  const std::string_view all = name.substr(0, name.find_last_not_of('/') + 1);
  return lower(all.substr(all.rfind('/') + 1));
}

Transformer transformer_of(const HubModel& known, std::string_view name) {
  Transformer model = read_document({.root = known.config, .sources = {}}, [&](Reader& in) {
    return read_huggingface(in, lower_name(name)).model;
  });
  model.title = name.substr(name.rfind('/') + 1);
  return model;
}

Value hub_model_document(const HubModel& known, std::string_view name) {
  Transformer model = transformer_of(known, name);
  model.title += known.sees ? ", its language model alone" : "";
  model.source = "the config.json of that name on the HuggingFace Hub";
  return transformer_document(model);
}

}  // namespace titer
