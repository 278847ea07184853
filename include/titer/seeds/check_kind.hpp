#pragma once
// What a check of a seed is worth: derived from the numbers that its expressions mention, so that a
// file cannot claim more than it holds.

#include <array>
#include <string_view>

#include "titer/seeds/question.hpp"

namespace titer {

struct Seed;
struct SeedCheck;

enum class CheckKind {
  structure,      // an algorithm, a schedule, a law of the model, executed
  volume,         // bytes, FLOPs, parameters, memory: counted
  figure,         // something measured that a document prints, beside its prediction
  transcription,  // tables and formulas against themselves: no prediction is in it
};
inline constexpr std::array<Choice<CheckKind>, 4> kCheckKinds = {
    {{"structure", CheckKind::structure},
     {"volume", CheckKind::volume},
     {"figure", CheckKind::figure},
     {"transcription", CheckKind::transcription}}};

/// What a number of an answer is.
enum class NumberKind {
  given,     // of a table, of a formula, or read back from what was asked
  counted,   // bytes, FLOPs, parameters, memory
  modelled,  // times, rates, shares, graphs: what a room had to compute
};
[[nodiscard]] NumberKind number_kind(const Question& question, std::string_view number);

/// Throws InputError where a figure has no prediction in its value, or one in what is printed.
[[nodiscard]] CheckKind check_kind(const Seed& seed, const SeedCheck& check);

}  // namespace titer
