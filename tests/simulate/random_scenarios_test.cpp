// Whatever is asked, the answer is one, or says what of the question is not right.
//
// More of them, or one again by its number:
//   TITER_RANDOM_SCENARIOS=100000 TITER_FIRST_SCENARIO=0 titer_tests --gtest_filter='RandomScen*'

#include "simulate/random_scenarios.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "estimate/sound_result.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::uint64_t kUsually = 1500;
constexpr int kMostShown = 20;

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

enum class Outcome { answered, refused, failed };

/// `wrong` takes what is not as it must be.
Outcome outcome_of(const Scenario& scenario,
                   Fidelity fidelity,
                   Estimator& estimator,
                   std::string& wrong) {
  try {
    if (!validate(scenario).empty()) {
      return Outcome::refused;
    }
    StepResult result;
    evaluate(scenario, fidelity, estimator, result);
    wrong = unsound(result);
    return wrong.empty() ? Outcome::answered : Outcome::failed;
  } catch (const InputError&) {
    return Outcome::refused;
  } catch (const std::exception& error) {
    wrong = error.what();
    return Outcome::failed;
  }
}

TEST(RandomScenarios, AreAnsweredOrRefused) {
  const std::uint64_t first = number_in("TITER_FIRST_SCENARIO", 0);
  const std::uint64_t count = number_in("TITER_RANDOM_SCENARIOS", kUsually);
  scenarios::Numbered numbered;
  Scenario scenario;
  Estimator estimator;
  std::array<std::uint64_t, 3> outcomes{};
  for (std::uint64_t number = first; number < first + count; ++number) {
    scenarios::Question question;
    std::string wrong;
    Outcome outcome = Outcome::refused;
    try {
      question = numbered.question(number, scenario);
      outcome = outcome_of(scenario, question.fidelity, estimator, wrong);
    } catch (const InputError&) {
      // Refused while it was read.
    }
    ++outcomes[static_cast<std::size_t>(outcome)];
    if (outcome == Outcome::failed && outcomes[2] <= kMostShown) {
      ADD_FAILURE() << "scenario " << number << ": " << wrong << "\n" << question.text();
    }
  }
  RecordProperty("answered", static_cast<int>(outcomes[0]));
  RecordProperty("refused", static_cast<int>(outcomes[1]));
  EXPECT_EQ(outcomes[2], 0U);
  if (count >= kUsually) {
    EXPECT_GT(outcomes[0], count / 5) << "answers of " << count;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
