#include "titer/scenario/followed_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "titer/scenario/data_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::string_view kFigure = "figure";
constexpr std::string_view kOf = "of";
constexpr std::string_view kTimes = "times";
constexpr std::string_view kInProportionTo = "in_proportion_to";
constexpr std::array kLinkKeys = {kFigure, kOf, kTimes, kInProportionTo};
constexpr std::string_view kValue = "value";
// No figures of the data: its words, its evidence, and files of another kind.
constexpr std::array<std::string_view, 4> kLeftOut = {
    "sources", "calibration", kChipData.name, kTopologyData.name};

bool is_left_out(std::string_view key) { return includes(kLeftOut, key); }

/// Every value below this one that may be a figure, with the object or list that holds it.
template <class AnyValue, class Do>
void each_held(AnyValue& holder, const Do& act) {
  for (auto& [key, member] : holder.members) {
    if (!is_left_out(key)) {
      act(member, holder);
      each_held(member, act);
    }
  }
  for (AnyValue& item : holder.items) {
    act(item, holder);
    each_held(item, act);
  }
}

Value* member_or_item(Value& holder, std::string_view name) {
  for (Value& item : holder.items) {
    const Value* own = item.find("name");
    if (own != nullptr && own->text == name) {
      return &item;
    }
  }
  return holder.find(name);
}

/// The number in SI units, of a plain number or a quantity of any dimension.
std::optional<double> size_of(const Value& figure) {
  if (figure.kind == Value::Kind::number) {
    return figure.number;
  }
  const auto quantity = figure.kind == Value::Kind::text ? parse_any(figure.text) : std::nullopt;
  return quantity ? std::optional(si_of(*quantity)) : std::nullopt;
}

const Value& bare(const Value& figure) {
  const Value* inner = figure.find(kValue);
  return inner == nullptr ? figure : *inner;
}

/// Leaves it a plain figure.
void forget_link(Value& figure) {
  for (const std::string_view key : kLinkKeys) {
    figure.erase(key);
  }
}

class Follower {
 public:
  Follower(const Document& document, Value& root, const NamedData& named)
      : document_(document), root_(root), named_(named) {}

  /// REQUIRES `own` to hold `figure`.
  void settle(Value& figure, Value& own) {
    if (!follows(figure) || figure.find(kValue) != nullptr) {
      return;  // the latter: by way of one that follows it
    }
    const Value path = *figure.find(kFigure);
    if (!on_the_way_.insert(&figure).second) {
      fail(path, path.text + ": it follows itself; expected another figure");
    }
    const Value* of = figure.find(kOf);
    const auto [target, theirs] = found(path, of);
    const double factor = times(figure) * proportion(figure, own, *theirs);
    std::optional<Value> value = scaled(bare(*target), factor);
    if (!value) {
      fail(path, path.text + ": expected the path of a figure, a number or a quantity");
    }
    if (factor == 1.0) {
      value = bare(*target);  // to the last digit
    }
    value->origin = path.origin;
    figure.add(std::string(kValue), std::move(*value));
    figure.key_origins.back() = path.origin;
    on_the_way_.erase(&figure);
  }

 private:
  [[noreturn]] void fail(const Value& value, const std::string& message) const {
    refuse(document_, value, fmt::format("{}: {}", kFigure, message));
  }

  /// What is at the path, and what holds it.
  std::pair<Value*, Value*> found(const Value& path, const Value* of) {
    if (path.kind != Value::Kind::text) {
      fail(path, "expected the path of a figure, such as \"matrix.bf16.plateau\"");
    }
    Value* holder = nullptr;
    Value* here = of == nullptr ? &root_ : &named_(*of);
    for (const std::string_view name : divided(path.text, ".")) {
      holder = here;
      here = here == nullptr ? nullptr : member_or_item(*here, name);
    }
    if (here == nullptr || holder == nullptr) {
      fail(path,
           fmt::format("{}: {} has no such figure",
                       path.text,
                       of == nullptr ? std::string("this file") : of->text));
    }
    settle(*here, *holder);
    return {here, holder};
  }

  [[nodiscard]] double times(const Value& figure) const {
    const Value* times = figure.find(kTimes);
    if (times == nullptr) {
      return 1.0;
    }
    if (times->kind != Value::Kind::number || times->number <= 0.0) {
      refuse(document_, *times, "times: expected a factor above 0");
    }
    return times->number;
  }

  /// Of what is named beside the figure over the same beside what it follows.
  double proportion(const Value& figure, Value& own, Value& theirs) {
    const Value* names = figure.find(kInProportionTo);
    double factor = 1.0;
    if (names == nullptr) {
      return factor;
    }
    if (names->kind != Value::Kind::array) {
      refuse(document_, *names, "in_proportion_to: expected a list of keys beside the figure");
    }
    for (const Value& name : names->items) {
      factor *= beside(name, own) / beside(name, theirs);
    }
    return factor;
  }

  double beside(const Value& name, Value& holder) {
    Value* figure = holder.find(name.text);
    if (figure != nullptr) {
      settle(*figure, holder);
    }
    const auto size = figure == nullptr ? std::nullopt : size_of(bare(*figure));
    if (!size || *size <= 0.0) {
      refuse(document_,
             name,
             fmt::format("in_proportion_to: {}: expected a figure above 0 beside both",
                         bare_text(name)));
    }
    return *size;
  }

  const Document& document_;
  Value& root_;
  const NamedData& named_;
  std::set<const Value*> on_the_way_;
};

}  // namespace

bool follows(const Value& value) { return value.find(kFigure) != nullptr; }

bool any_follows(const Value& root) {
  const auto any = [](const Value& value) { return follows(value) || any_follows(value); };
  return std::ranges::any_of(root.items, any) ||
         std::ranges::any_of(root.members, [&](const auto& member) {
           return !is_left_out(member.first) && any(member.second);
         });
}

void follow_figures(const Document& document, Value& root, const NamedData& named) {
  Follower follower(document, root, named);
  each_held(root, [&](Value& value, Value& holder) { follower.settle(value, holder); });
}

void refuse_both(const Document& document, const Value& root) {
  each_held(root, [&](const Value& value, const Value& /*holder*/) {
    if (follows(value) && value.find(kValue) != nullptr) {
      refuse(document, *value.find(kValue), "value: expected none beside a figure to follow");
    }
  });
}

void keep_values(Value& root) {
  each_held(root, [](Value& value, Value& /*holder*/) {
    if (follows(value)) {
      forget_link(value);
    }
  });
}

void forget_values(Value& root) {
  each_held(root, [](Value& value, Value& /*holder*/) {
    if (!follows(value) || value.find(kValue) == nullptr) {
      return;
    }
    const Value* of = value.find(kOf);
    if (of != nullptr && looks_like_file(of->text)) {
      forget_link(value);
    } else {
      value.erase(kValue);
    }
  });
}

void restore_followed(Value& written, const Value& open) {
  const Value* source = open.find("source");
  const Value* own = written.find("source");
  if (follows(open)) {
    if (source != nullptr && own != nullptr && own->text == source->text) {
      written = open;
    }
    return;
  }
  for (const auto& [key, member] : open.members) {
    if (Value* same = written.find(key); same != nullptr && !is_left_out(key)) {
      restore_followed(*same, member);
    }
  }
  for (std::size_t i = 0; i < std::min(open.items.size(), written.items.size()); ++i) {
    restore_followed(written.items[i], open.items[i]);
  }
}

std::optional<Value> scaled(const Value& figure, double factor) {
  if (figure.kind == Value::Kind::number) {
    return parse_json(fmt::format("{:.6g}", figure.number * factor), "").root;
  }
  std::string_view unit = figure.text;
  const auto number = take_number<double>(unit);
  if (figure.kind != Value::Kind::text || !number) {
    return std::nullopt;
  }
  return Value(fmt::format("{:.6g}{}", *number * factor, unit));
}

}  // namespace titer
