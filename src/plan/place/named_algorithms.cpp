#include "titer/plan/place/named_algorithms.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "titer/collectives/catalogue.hpp"

namespace titer {

AlgorithmNumbers read_algorithms(Reader& in, std::string_view key) {
  AlgorithmNumbers numbers{};
  auto named = in.maybe_object(key);
  if (!named) {
    return numbers;
  }
  for (const Collective collective : kCollectives) {
    std::vector<Choice<std::uint8_t>> choices;
    for (const AlgorithmEntry& entry : algorithm_catalogue()) {
      if (entry.collective == collective) {
        choices.push_back({entry.name, static_cast<std::uint8_t>(choices.size() + 1)});
      }
    }
    std::string word(name_of(collective));
    std::replace(word.begin(), word.end(), '-', '_');
    numbers[static_cast<std::size_t>(collective)] =
        named->maybe_choice<std::uint8_t>(word, choices).value_or(0);
  }
  named->finish();
  return numbers;
}

}  // namespace titer
