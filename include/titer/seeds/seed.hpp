#pragma once
// The documents that Titer set out to reproduce (its seeds), statement by statement: systems S,
// systems of hardware H, equations E, tables D, findings F, traps T. Each is a file of
// configs/seeds: what the document says, questions to the rooms, and checks that compare the
// answers with it. Nothing of a seed is in code but its named formulas.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/seeds/check_kind.hpp"
#include "titer/seeds/question.hpp"

namespace titer {

/// Which reading of a statement a check computes, where the document is wrong or garbled.
enum class Reading {
  right,    // what holds
  literal,  // as it is printed
};
inline constexpr std::array<Choice<Reading>, 2> kReadings = {
    {{"right", Reading::right}, {"literal", Reading::literal}}};

/// How near a prediction is to what is printed, as (predicted - printed) / printed: a figure counts
/// as within the first of these that it does not exceed, and is met within kMet.
inline constexpr std::array<double, 3> kFigureBands = {0.05, 0.10, 0.25};
inline constexpr double kMet = kFigureBands[1];

/// Values compared with one another or with what the document says, as expressions over the
/// answers. Either a law: {"what": …, "value": "far.comm_s / near.comm_s", "expected": 2,
/// "tolerance": 0.1, "why": …}, of the bounds some: "expected" with "tolerance" (relative) or
/// "margin" (absolute), "at_least", "at_most". Or a figure that was measured: "printed", or
/// "printed_from" and "printed_to" where a range is printed; "over": the same prediction by other
/// choices of what the document leaves open; "ratio": predicted over printed when it was written
/// down, and "why" where that is unmet. "each": the name of a table; the check then holds for each
/// of its rows, whose cells are row.COLUMN.
struct SeedCheck {
  std::string what;
  std::string value;
  std::string expected;
  double tolerance = 0;
  std::optional<double> margin;
  std::string at_least;
  std::string at_most;
  std::string printed_from;
  std::string printed_to;  // the same where one number is printed
  std::vector<std::string> over;
  std::optional<double> ratio;
  std::string why;          // this tolerance; not met
  std::string each;         // a table's name
  bool reads_back = false;  // what it compares stands in the data as it does in the document
  std::optional<Reading> reading;
  CheckKind kind = CheckKind::structure;

  [[nodiscard]] bool is_figure() const { return !printed_from.empty() || !printed_to.empty(); }
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

enum class CheckStatus {
  holds,  // what is no figure
  fails,
  met,    // a figure within kMet
  open,   // within it or not by what the document does not say
  unmet,  // not within it, whatever is chosen
};
[[nodiscard]] std::string_view name(CheckStatus status);

/// How a check came out.
struct CheckResult {
  const SeedCheck* check = nullptr;
  std::string row;  // of a table
  double value = 0;
  std::optional<double> expected;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<double> printed_from;
  std::optional<double> printed_to;
  double least = 0;  // predictions by all choices that a document leaves
  double most = 0;
  double ratio = 1;  // of `value` to what is printed, the nearer end of a range; 1 within it
  CheckStatus status = CheckStatus::holds;

  /// Where it is one number.
  [[nodiscard]] std::optional<double> printed() const {
    return printed_from == printed_to ? printed_from : std::nullopt;
  }
  /// Above what is printed by so much of it, or below.
  [[nodiscard]] double deviation() const { return ratio > 1 ? ratio - 1 : 1 - ratio; }
};

/// What its worst check is; of a statement without any but transcriptions, that.
enum class SeedStatus { holds, fails, noted, unmet, open, transcribed };
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
