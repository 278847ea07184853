#include "titer/plan/place/named_algorithms.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "titer/collectives/catalogue.hpp"

namespace titer {
namespace {

/// What files call a collective.
std::string key_of(Collective collective) {
  std::string word(name_of(collective));
  std::ranges::replace(word, '-', '_');
  return word;
}

std::vector<Choice<std::uint8_t>> algorithms_of(Collective collective) {
  std::vector<Choice<std::uint8_t>> choices;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == collective) {
      choices.push_back({entry.name, static_cast<std::uint8_t>(choices.size() + 1)});
    }
  }
  return choices;
}

}  // namespace

AlgorithmNumbers read_algorithms(Reader& in, std::string_view key) {
  AlgorithmNumbers numbers{};
  auto named = in.maybe_object(key);
  if (!named) {
    return numbers;
  }
  for (const Collective collective : kCollectives) {
    numbers[static_cast<std::size_t>(collective)] =
        named->maybe_choice<std::uint8_t>(key_of(collective), algorithms_of(collective))
            .value_or(0);
  }
  named->finish();
  return numbers;
}

Value algorithms_schema() {
  Value schema = schema::object();
  for (const Collective collective : kCollectives) {
    Value names = schema::one_of<std::uint8_t>(algorithms_of(collective));
    names.find("enum")->push(Value());
    schema.find("patternProperties")->add("^" + key_of(collective) + "$", std::move(names));
  }
  return schema;
}

}  // namespace titer
