#pragma once
// The documents that Titer set out to reproduce (its seeds), statement by statement: systems S,
// systems of hardware H, equations E, tables D, findings F, traps T. Each is a file of
// configs/seeds: what the document says, questions to the rooms, and checks that compare the
// answers with it. Nothing of a seed is in code but its named formulas.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/study/question.hpp"

namespace titer {

/// Which reading of a statement a check computes, where the document is wrong or garbled.
enum class Reading {
  right,    // what holds
  literal,  // as it is printed
};
inline constexpr std::array<Choice<Reading>, 2> kReadings = {
    {{"right", Reading::right}, {"literal", Reading::literal}}};

/// Values compared with one another or with what the document says, as expressions over the
/// answers: {"what": …, "value": "far.comm_s / near.comm_s", "expected": 2.19, "tolerance": 0.1,
/// "why": …}. Of the bounds some: "expected" with "tolerance" (relative) or "margin" (absolute),
/// "at_least", "at_most". "each": the name of a table; the check then holds for each of its rows,
/// whose cells are row.COLUMN.
struct SeedCheck {
  std::string what;
  std::string value;
  std::string expected;
  double tolerance = 0;
  std::optional<double> margin;
  std::string at_least;
  std::string at_most;
  std::string why;   // this tolerance
  std::string each;  // a table's name
  std::optional<Reading> reading;
};

struct AskedQuestion {
  std::string name;  // as in expressions: "far", or "sweep.t8" of a case
  Question question;
};

struct Seed {
  std::string id;  // "F33"
  std::string title;
  std::string document;  // which, and where in it
  std::string says;
  std::string note;    // what is to know about it, such as which reading is right
  std::string home;    // of an equation: its header
  std::string reason;  // why nothing is computed, where nothing is
  std::vector<AskedQuestion> questions;
  std::vector<SeedCheck> checks;
};

/// How a check came out. `deviation`: of the expected value, relative; of a bound none.
struct CheckResult {
  const SeedCheck* check = nullptr;
  std::string row;  // of a table
  double value = 0;
  std::optional<double> expected;
  std::optional<double> at_least;
  std::optional<double> at_most;
  bool holds = false;
};

enum class SeedStatus { holds, fails, noted };
[[nodiscard]] std::string_view name(SeedStatus status);

struct SeedReport {
  const Seed* seed = nullptr;
  std::vector<std::string> commands;  // that ask the same as its questions, each once
  std::vector<CheckResult> results;

  [[nodiscard]] SeedStatus status() const;
};

/// All shipped ids: S1, S2, …, H1, …, E1, …, D1, …, F1, …, T1, ….
[[nodiscard]] std::vector<std::string> seed_ids();
/// By its id, or from a file of one's own (ending in ".json"). Throws InputError with the closest
/// id, or with all that is wrong in the file.
[[nodiscard]] Seed load_seed(std::string_view id);
/// Puts its questions and computes its checks. The report points into the seed.
[[nodiscard]] SeedReport run_seed(const Seed& seed);

}  // namespace titer
