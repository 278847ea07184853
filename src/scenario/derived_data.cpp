#include "derived_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "titer/hardware/figure_sources.hpp"
#include "titer/input/file.hpp"
#include "titer/input/questions_of_runs.hpp"
#include "titer/model/hub/hub_models.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/scenario/followed_figures.hpp"
#include "titer/topology/import/imports.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kBase = "base";
constexpr std::string_view kSameSilicon = "same_silicon";
constexpr std::array kKindsWithBase = {kChipData, kClusterData, kNetworkData, kStackData};
// What a file says of itself alone.
constexpr std::array<std::string_view, 4> kOwnKeys = {"name", "title", "notes", "calibration"};

/// A topology may also be a file in which a machine or program wrote it down.
Document load_document(const DataKind& kind, const std::filesystem::path& path) {
  std::error_code ignored;
  if (kind.name == kTopologyData.name && std::filesystem::is_regular_file(path, ignored)) {
    if (auto machine = machine_document(path)) {
      return std::move(*machine);
    }
  }
  return load_json(path);
}

/// Puts the base's figure, scaled, under "value" in the place of "times".
void scale(const Value& base, Value& change, const Document& document) {
  const Value* inner = base.find("value");
  const Value* times = change.find("times");
  const bool is_factor = times->kind == Value::Kind::number && times->number > 0.0;
  std::optional<Value> value;
  if (is_factor) {
    value = scaled(inner == nullptr ? base : *inner, times->number);
  }
  if (!value) {
    refuse(document,
           *times,
           is_factor ? "times: expected where the base has a figure"
                     : "times: expected a factor above 0 of the base's figure");
  }
  value->origin = times->origin;
  for (auto& [key, member] : change.members) {
    if (key == "times") {
      key = "value";
      member = *value;
    }
  }
}

bool is_reference(std::string_view key) {
  return key == kChipData.name || key == kTopologyData.name || key == kNetworkData.name;
}

/// The sources that are named below the value, and the keys and texts that heirs have of them.
class Heritage {
 public:
  Heritage(const std::string& base, bool same_silicon) : base_(base), same_(same_silicon) {}

  [[nodiscard]] std::string key(const std::string& source) const {
    return same_ ? source + "_of_" + base_ : "as_" + base_ + "_" + source;
  }
  [[nodiscard]] std::string text(const std::string& source) const {
    return fmt::format("as {}{}: {}", base_, same_ ? ", the same silicon" : "", source);
  }
  void rename(Value& root) const {
    each_source(root, [&](std::string& source) { source = key(source); });
    if (Value* sources = root.find("sources"); sources != nullptr) {
      for (auto& [name, member] : sources->members) {
        name = key(name);
        member.text = text(member.text);
      }
    }
  }

 private:
  const std::string& base_;
  bool same_;
};

class BaseResolver {
 public:
  explicit BaseResolver(const DataKind& kind) : kind_(kind) {}

  void resolve(Document& document, Value& value, const std::filesystem::path& folder) {
    const Value base = *value.find(kBase);
    if (base.kind != Value::Kind::text) {
      refuse(
          document, base, fmt::format("{}: expected the name or file of a {}", kBase, kind_.name));
    }
    Value whole = adopt(document, load(document, base, kBase, folder));
    const Value* own_name = whole.find("name");
    const std::string name = own_name == nullptr ? base.text : own_name->text;
    const Value* same = value.find(kSameSilicon);
    if (same != nullptr && same->kind != Value::Kind::boolean) {
      refuse(document, *same, fmt::format("{}: expected true or false", kSameSilicon));
    }
    Heritage(name, same != nullptr && same->boolean).rename(whole);
    std::set<std::string> inherited;
    if (const Value* sources = whole.find("sources"); sources != nullptr) {
      for (const auto& [source, text] : sources->members) {
        inherited.insert(source);
      }
    }
    std::ranges::for_each(kOwnKeys, [&](auto key) { whole.erase(key); });
    value.erase(kBase);
    value.erase(kSameSilicon);
    whole.origin = value.origin;
    merge(whole, std::move(value), document);
    drop_unnamed_sources(whole, inherited);
    forget_values(whole);  // the base's: what they follow in it, they follow in this one
    value = std::move(whole);
  }

  /// Gives values to the figures that follow others.
  void follow(const Document& document, Value& value) {
    follow_figures(document, value, [&](const Value& of) -> Value& {
      if (of.kind != Value::Kind::text) {
        refuse(document, of, fmt::format("of: expected the name or file of a {}", kind_.name));
      }
      std::pair named(folder_of(document, of.origin), of.text);
      const auto known = others_.find(named);
      if (known != others_.end()) {
        return known->second.root;
      }
      Document other = load(document, of, "of", named.first);
      return others_.emplace(std::move(named), std::move(other)).first->second.root;
    });
  }

  /// A file and those that it starts from or follows, which it still says of its figures. REQUIRES
  /// a path that is not yet on the way.
  Document load(const std::filesystem::path& path) {
    on_the_way_.push_back(path);
    Document document = load_document(kind_, path);
    if (may_refer_to_others(kind_)) {
      Value root = std::move(document.root);
      refuse_both(document, root);
      if (has_base(root, kind_)) {
        resolve(document, root, path.parent_path());
      }
      follow(document, root);
      document.root = std::move(root);
    }
    on_the_way_.pop_back();
    return document;
  }

 private:
  Document load(const Document& document,
                const Value& name,
                std::string_view key,
                const std::filesystem::path& folder) {
    std::filesystem::path path;
    try {
      path = data_file(kind_, name.text, folder);
    } catch (const InputError& error) {
      refuse(document, name, fmt::format("{}: {}", key, error.lines.front()));
    }
    std::error_code ignored;
    for (const std::filesystem::path& known : on_the_way_) {
      if (known == path || std::filesystem::equivalent(known, path, ignored)) {
        refuse(document,
               name,
               fmt::format("{}: {}: it {} itself; expected another {}",
                           key,
                           name.text,
                           key == kBase ? "starts from" : "leads back to",
                           kind_.name));
      }
    }
    return load(path);
  }

  const DataKind& kind_;
  std::vector<std::filesystem::path> on_the_way_;
  // By what "of" says and the folder that it is said in: there a path leads to a file of its own.
  std::map<std::pair<std::filesystem::path, std::string>, Document> others_;
};

}  // namespace

void merge(Value& base, Value changes, const Document& document) {
  if (changes.find("times") != nullptr && !follows(changes)) {
    scale(base, changes, document);
  }
  const bool is_figure = changes.find("value") != nullptr || follows(changes);
  if (base.kind != Value::Kind::object || changes.kind != Value::Kind::object || is_figure) {
    base = std::move(changes);
    return;
  }
  for (std::size_t i = 0; i < changes.members.size(); ++i) {
    auto& [key, value] = changes.members[i];
    Value* const existing = base.find(key);
    if (existing == nullptr) {
      base.add(key, std::move(value));
      base.key_origins.back() = changes.key_origins[i];
      continue;
    }
    if (value.kind == Value::Kind::null) {
      base.erase(key);
      continue;
    }
    if (is_reference(key) && existing->kind == Value::Kind::text &&
        value.kind == Value::Kind::object && value.find("name") == nullptr) {
      value.add("name", *existing);  // changes to what the base names
      value.key_origins.back() = changes.key_origins[i];
    }
    merge(*existing, std::move(value), document);
  }
}

bool may_refer_to_others(const DataKind& kind) {
  return includes(kKindsWithBase, kind.name, &DataKind::name);
}

bool has_base(const Value& value, const DataKind& kind) {
  return value.find(kBase) != nullptr && may_refer_to_others(kind);
}

std::filesystem::path folder_of(const Document& document, Origin origin) {
  return origin.source < 0
             ? std::filesystem::path()
             : std::filesystem::path(document.sources[static_cast<std::size_t>(origin.source)])
                   .parent_path();
}

void resolve_base(Document& document,
                  Value& value,
                  const DataKind& kind,
                  const std::filesystem::path& folder) {
  BaseResolver(kind).resolve(document, value, folder);
}

void give_values(const Document& document, Value& value, const DataKind& kind) {
  if (any_follows(value)) {
    refuse_both(document, value);
    BaseResolver(kind).follow(document, value);
    keep_values(value);
  }
}

Document load_whole(const DataKind& kind, const std::filesystem::path& path) {
  Document document = BaseResolver(kind).load(path);
  if (may_refer_to_others(kind)) {
    keep_values(document.root);
  }
  return document;
}

Document load_open(const DataKind& kind, std::string_view name_or_file) {
  Document document = BaseResolver(kind).load(data_file(kind, name_or_file));
  forget_values(document.root);
  return document;
}

void refuse(const Document& document, const Value& value, std::string_view message) {
  const std::string where = document.where(value.origin);
  throw InputError((where.empty() ? "" : where + ": ") + std::string(message));
}

namespace {

/// A configuration of HuggingFace's that does not say whose it is is of its file's name, or of its
/// folder's where it is called config.json there.
void name_configuration(const std::filesystem::path& file, Document& document) {
  Problems none;
  Value& root = document.root;
  const Value* told = root.find("_name_or_path");
  if (!is_huggingface(Reader(document, none)) || (told != nullptr && !told->text.empty())) {
    return;
  }
  root.erase("_name_or_path");
  const std::filesystem::path name = file.stem() == "config"
                                         ? std::filesystem::absolute(file).parent_path().filename()
                                         : file.stem();
  root.add("_name_or_path", Value(name.string()));
}

/// A model by its name on the Hub, unless a file has that name.
std::optional<Document> model_named_on_hub(const DataKind& kind,
                                           std::string_view name,
                                           const std::filesystem::path& folder) {
  if (kind.name != kModelData.name) {
    return std::nullopt;
  }
  std::error_code ignored;
  const bool has_file = looks_like_file(name)
                            ? std::filesystem::exists(data_file(kind, name, folder), ignored)
                            : is_shipped(kind, name);
  const std::optional<HubModel> known = has_file ? std::nullopt : hub_model(name);
  if (!known || known->tuned) {
    return std::nullopt;
  }
  return known->shipped.empty() ? Document{.root = hub_model_document(*known, name), .sources = {}}
                                : load_data(kind, known->shipped);
}

}  // namespace

bool is_known(const DataKind& kind, std::string_view name) {
  return is_shipped(kind, name) ||
         (!name.empty() && !looks_like_file(name) && model_named_on_hub(kind, name, {}));
}

void expect_no_run(const DataKind& kind,
                   const Document& document,
                   std::string_view source,
                   std::string_view run) {
  const auto has = [&](std::string_view key) { return document.root.find(key) != nullptr; };
  if (smallest_question(kind, run) && std::ranges::all_of(kRunData.essential, has)) {
    throw InputError(fmt::format("{}: this is a run; {}", source, expected_of_run(kind, run)));
  }
}

Document load_data(const DataKind& kind,
                   std::string_view name_or_file,
                   const std::filesystem::path& folder) {
  if (auto model = model_named_on_hub(kind, name_or_file, folder)) {
    return *std::move(model);
  }
  const std::filesystem::path file = data_file(kind, name_or_file, folder);
  Document document = load_whole(kind, file);
  expect_no_run(kind, document, file.string(), name_or_file);
  if (kind.name == kModelData.name) {
    name_configuration(file, document);
  }
  return document;
}

}  // namespace titer
