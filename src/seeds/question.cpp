#include "titer/seeds/question.hpp"

#include <algorithm>
#include <filesystem>

#include "question_text.hpp"
#include "titer/input/csv.hpp"
#include "titer/seeds/equations.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

template <std::size_t... I>
Question read_alternative(Reader& in,
                          const std::filesystem::path& folder,
                          std::index_sequence<I...> /*alternatives*/) {
  std::optional<Question> question;
  std::string keys;
  const auto try_one = [&]<class Kind>(std::type_identity<Kind> /*kind*/) {
    add_listed(keys, Kind::key);
    if (!question && in.has(Kind::key)) {
      question = Kind::read(in, folder);
    }
  };
  (try_one(std::type_identity<std::variant_alternative_t<I, Question>>()), ...);
  if (!question) {
    throw InputError("expected a question with one of the keys " + keys);
  }
  in.finish();
  return std::move(*question);
}

/// In SI units: a number, or a quantity of any dimension.
std::optional<double> plain_number(const Value& value) {
  if (value.kind == Value::Kind::number) {
    return value.number;
  }
  const auto as = [&]<class Q>(std::type_identity<Q> /*dimension*/) -> std::optional<double> {
    const auto quantity = parse<Q>(value.text);
    return quantity ? std::optional(quantity->si()) : std::nullopt;
  };
  std::optional<double> found = as(std::type_identity<Seconds>());
  found = found ? found : as(std::type_identity<Bytes>());
  found = found ? found : as(std::type_identity<Flops>());
  found = found ? found : as(std::type_identity<BytesPerSecond>());
  return found ? found : as(std::type_identity<FlopsPerSecond>());
}

/// The case's members over the question's; those of "set" member by member.
void put_in(Value& question, const Value& changes) {
  for (const auto& [key, value] : changes.members) {
    Value* existing = question.find(key);
    if (existing == nullptr) {
      question.add(key, value);
      question.key_origins.resize(question.members.size());
    } else if (key == "set") {
      put_in(*existing, value);
    } else {
      *existing = value;
    }
  }
}

}  // namespace

Changes read_changes(Reader& in) {
  Changes changes;
  const Value* set = in.raw("set");
  if (set == nullptr) {
    return changes;
  }
  if (set->kind != Value::Kind::object) {
    in.fail("set", "expected an object of paths and values, such as {\"plan.tensor\": 8}");
    return changes;
  }
  for (const auto& [path, value] : set->members) {
    changes.push_back({.path = path, .value = without_places(value), .source = "set"});
  }
  return changes;
}

Value without_places(Value value) {
  value.origin = {};
  for (Value& item : value.items) {
    item = without_places(std::move(item));
  }
  for (auto& [key, member] : value.members) {
    member = without_places(std::move(member));
  }
  value.key_origins.assign(value.members.size(), Origin{});
  return value;
}

EquationQuestion EquationQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  EquationQuestion question;
  question.equation = in.text("equation");
  const Value* with = in.raw("with");
  if (with == nullptr || with->kind != Value::Kind::object) {
    in.fail("with", "expected an object of the equation's letters and their values");
    return question;
  }
  for (const auto& [name, value] : with->members) {
    const auto number = plain_number(value);
    if (!number) {
      in.fail("with", name + ": expected a number or a quantity with its unit");
    }
    question.inputs.push_back({name, number.value_or(0.0)});
  }
  return question;
}

NamedNumbers EquationQuestion::answer() const { return compute_equation(equation, inputs); }

GatingQuestion GatingQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  Reader gating = in.object("gating");
  GatingQuestion question;
  question.run = {.tokens = gating.integer("tokens", 1, 10'000'000),
                  .experts = gating.integer("experts", 2, 1'000'000),
                  .capacity = gating.integer("capacity", 1),
                  .seed = static_cast<std::uint64_t>(gating.maybe_integer("seed", 0).value_or(1))};
  gating.finish();
  return question;
}

NamedNumbers GatingQuestion::answer() const {
  const GatingResult result = run_gating(run);
  const auto tokens = static_cast<double>(run.tokens);
  const auto per_token = [&](std::int64_t count) { return static_cast<double>(count) / tokens; };
  const auto [fewest, most] =
      std::minmax_element(result.dispatched.begin(), result.dispatched.end());
  return {{"second_wanted", per_token(result.second_wanted)},
          {"first_kept", per_token(result.first_kept)},
          {"second_kept", per_token(result.second_kept)},
          {"sent", per_token(result.first_kept + result.second_kept)},
          {"combined", result.combined / tokens},
          {"auxiliary_loss", result.auxiliary_loss},
          {"fewest_dispatched", static_cast<double>(*fewest)},
          {"most_dispatched", static_cast<double>(*most)}};
}

TableQuestion TableQuestion::read(Reader& in, const std::filesystem::path& folder) {
  TableQuestion question;
  question.file = folder / in.text("table");
  question.row_key = in.text("key");
  return question;
}

NamedNumbers TableQuestion::answer() const {
  const CsvTable table = CsvTable::load(file);
  NamedNumbers numbers;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string name = expression_name(table.text(row, row_key));
    for (const std::string& column : table.columns()) {
      Problems not_a_number;  // other cells are for readers
      const auto value = table.maybe_number(row, column, -1e300, 1e300, not_a_number);
      if (value && not_a_number.empty()) {
        numbers.push_back({name + "." + expression_name(column), *value});
      }
    }
  }
  return numbers;
}

Question read_question(Reader& in, const std::filesystem::path& folder) {
  return read_alternative(in, folder, std::make_index_sequence<std::variant_size_v<Question>>());
}

NamedNumbers answer(const Question& question) {
  return std::visit([](const auto& kind) { return kind.answer(); }, question);
}

std::string command(const Question& question) {
  return std::visit([](const auto& kind) { return kind.command(); }, question);
}

std::vector<std::pair<std::string, Value>> cases_of(const Value& question) {
  const Value* cases = question.find("cases");
  if (cases == nullptr) {
    return {{"", question}};
  }
  Value common = Value::make_object();
  for (const auto& [key, value] : question.members) {
    if (key != "cases") {
      common.add(key, value);
    }
  }
  common.key_origins.resize(common.members.size());
  common.origin = question.origin;
  std::vector<std::pair<std::string, Value>> list;
  for (const auto& [name, changes] : cases->members) {
    list.emplace_back(name, common);
    put_in(list.back().second, changes);
  }
  return list;
}

}  // namespace titer
