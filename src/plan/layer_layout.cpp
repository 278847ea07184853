// The layouts of pipelines that Megatron-Core takes.

#include <algorithm>

#include "titer/plan/layers.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostUnfolded = 1'000'000;  // characters, all repetitions written out
constexpr std::size_t kMostDigits = 6;

constexpr std::string_view kLayoutExpected =
    R"(expected a layout such as "Et|(tt|)*30mL": stages divided by "|"; E, the embedding, first )"
    R"(and L, the output head, last; t is a layer, m a module for a further token)";

/// Writes the repetitions out; empty where there is something wrong with them.
class Unfolding {
 public:
  explicit Unfolding(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string run() {
    std::string text;
    while (!rest_.empty()) {
      const std::string unit = take_unit();
      const std::size_t count = take_count();
      if (unit.empty() || count == 0 || text.size() + unit.size() * count > kMostUnfolded) {
        return "";
      }
      for (std::size_t i = 0; i < count; ++i) {
        text += unit;
      }
    }
    return text;
  }

 private:
  /// A letter, or what is in brackets, which do not hold others.
  std::string take_unit() {
    if (rest_.front() != '(') {
      std::string letter(1, rest_.front());
      rest_.remove_prefix(1);
      return letter;
    }
    const std::size_t end = rest_.find(')');
    const std::string_view inside = rest_.substr(1, end == rest_.npos ? 0 : end - 1);
    rest_.remove_prefix(std::min(end, rest_.size() - 1) + 1);
    return inside.find('(') == inside.npos ? Unfolding(inside).run() : "";
  }

  /// The N of "*N", 1 without.
  std::size_t take_count() {
    if (!rest_.starts_with('*')) {
      return 1;
    }
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789", 1), rest_.size());
    const std::string digits(rest_.substr(1, end - 1));
    rest_.remove_prefix(end);
    return digits.empty() || digits.size() > kMostDigits ? 0 : std::stoul(digits);
  }

  std::string_view rest_;
};

/// Without the commas, which mean nothing.
std::string without_commas(std::string_view layout) {
  std::string text(layout);
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return text;
}

}  // namespace

LayoutLayers read_layout(std::string_view layout) {
  const std::string plain = without_commas(layout);
  const std::string text = Unfolding(plain).run();
  const bool has_ends = text.size() > 1 && text.front() == 'E' && text.back() == 'L';
  if (!has_ends || text.find_first_not_of("tm|", 1) != text.size() - 1) {
    return {.problem = std::string(kLayoutExpected)};
  }
  LayoutLayers layers{.of_stages = {0}};
  for (const char letter : text) {
    if (letter == '|') {
      layers.of_stages.push_back(0);
    }
    layers.of_stages.back() += letter == 't' ? 1 : 0;
  }
  if (text.find('m') < text.find_last_of('|') && text.find('|') != text.npos) {
    return {.problem =
                "expected m beside L: the modules for further tokens are on the stage of the "
                "output head"};
  }
  return layers;
}

}  // namespace titer
