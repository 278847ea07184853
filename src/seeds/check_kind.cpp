#include "titer/seeds/check_kind.hpp"

#include <algorithm>

#include "titer/seeds/equations.hpp"
#include "titer/seeds/seed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view number, const std::array<std::string_view, N>& names) {
  return includes(names, number);
}

/// The last part of a name: "iteration_time_s" of a phase's "first.iteration_time_s".
std::string_view last_part(std::string_view number) {
  return number.substr(number.rfind('.') + 1);  // all of it where there is no dot
}

/// Whether a run is computed by the documents' own formula instead of Titer's model.
bool is_by_formula(const RunReference& reference) {
  const Value* formula = reference.document.root.find("formula");
  for (const Assignment& change : reference.changes) {
    if (change.path == "formula" || change.path == "formula.name") {
      formula = &change.value;
    }
  }
  if (formula != nullptr && formula->kind == Value::Kind::object) {
    formula = formula->find("name");
  }
  return formula != nullptr &&
         formula->text != kFormulas[static_cast<std::size_t>(Formula::titer)].name;
}

/// What stands in the data or in the plan is read back, not computed.
bool is_read_back(std::string_view number) {
  constexpr std::array<std::string_view, 3> names = {"devices", "micro_batches", "capacity_bytes"};
  return is_one_of(last_part(number), names);
}

bool is_count(std::string_view number) {
  constexpr std::array<std::string_view, 2> names = {"parameters", "fits"};
  return number.starts_with("memory.") || number.starts_with("bytes.") ||
         number.starts_with("pair.") || number.ends_with("_bytes") || number.ends_with("_flops") ||
         is_one_of(last_part(number), names);
}

NumberKind usual_kind(std::string_view number) {
  if (is_read_back(number)) {
    return NumberKind::given;
  }
  return is_count(number) ? NumberKind::counted : NumberKind::modelled;
}

struct KindOfNumber {
  std::string_view number;

  NumberKind operator()(const TableQuestion& /*table*/) const { return NumberKind::given; }
  /// A file that was written for the seeds from what a document prints.
  NumberKind operator()(const ProfileQuestion& /*profile*/) const { return NumberKind::given; }
  NumberKind operator()(const EquationQuestion& question) const {
    return is_executed(question.equation, number) ? NumberKind::modelled : NumberKind::given;
  }
  NumberKind operator()(const ModelQuestion& /*model*/) const { return NumberKind::counted; }
  /// What a formula puts together, its parameters included, is the formula itself.
  NumberKind operator()(const RunQuestion& question) const {
    const bool formula = !number.starts_with("memory.") && is_by_formula(question.reference);
    return formula && number != "fits" ? NumberKind::given : usual_kind(number);
  }
  NumberKind operator()(const CollectiveQuestion& /*collective*/) const {
    return number == "ranks" ? NumberKind::given : usual_kind(number);
  }
  NumberKind operator()(const TrafficQuestion& /*traffic*/) const {
    return number == "ranks" ? NumberKind::given : usual_kind(number);
  }
  NumberKind operator()(const auto& /*other*/) const { return usual_kind(number); }
};

/// What is most of what the names in some expressions are.
NumberKind most_of(const Seed& seed, const SeedCheck& check, std::span<const std::string> texts) {
  NumberKind most = NumberKind::given;
  for (const std::string& text : texts) {
    if (text.empty()) {
      continue;
    }
    for (const std::string& used : names_in(text, seed.id + ": " + check.what)) {
      for (const AskedQuestion& asked : seed.questions) {
        if (used.starts_with(asked.name + ".")) {
          most = std::max(
              most,
              number_kind(asked.question, std::string_view(used).substr(asked.name.size() + 1)));
        }
      }
    }
  }
  return most;
}

}  // namespace

NumberKind number_kind(const Question& question, std::string_view number) {
  return std::visit(KindOfNumber{number}, question);
}

CheckKind check_kind(const Seed& seed, const SeedCheck& check) {
  const auto of = [&](std::initializer_list<std::string> texts) {
    return most_of(seed, check, std::vector<std::string>(texts));
  };
  const std::string where = seed.id + ": " + check.what + ": ";
  if (check.is_figure()) {
    if (of({check.value}) == NumberKind::given) {
      throw InputError(where + check.value + ": expected a prediction, found no model in it");
    }
    if (of({check.printed_from, check.printed_to}) != NumberKind::given) {
      throw InputError(where + check.printed_from + ": expected what a document prints alone");
    }
    return CheckKind::figure;
  }
  if (check.reads_back) {
    return CheckKind::transcription;
  }
  switch (of({check.value, check.expected, check.at_least, check.at_most})) {
    case NumberKind::given:
      return CheckKind::transcription;
    case NumberKind::counted:
      return CheckKind::volume;
    case NumberKind::modelled:
      return CheckKind::structure;
  }
  return CheckKind::transcription;
}

}  // namespace titer
