#pragma once
// "measured": the user's own runs, of which figures are learned before anything is asked.

#include <optional>
#include <string>
#include <vector>

#include "titer/ask/option.hpp"
#include "titer/calibrate/posterior.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// Of a question: what runs like it tell is worth most where its plan is known beforehand.
enum class PlanIs { given, sought };

/// What measured runs told: what to say of it, and the figures that they moved; nothing where there
/// are none.
struct Learned {
  std::vector<std::string> notes{};
  std::optional<Posterior> figures{};
};

/// Puts what measured runs tell of the scenario behind `changes`, whose own values it keeps. Throws
/// InputError.
[[nodiscard]] Learned learn_from(const std::vector<std::string>& tables,
                                 const ScenarioSource& source,
                                 std::vector<Assignment>& changes,
                                 PlanIs plan = PlanIs::given);
/// The same of a question about the scenario that it names or holds, or is.
[[nodiscard]] Learned learn_from(const std::vector<std::string>& tables,
                                 const DataKind& study,
                                 Asked& asked);

namespace options {

template <auto Member>
[[nodiscard]] constexpr auto measured() {
  return texts<Member>(
             "measured",
             "RUNS.csv",
             "tables of runs that you measured (run, a file or a shipped run, iter_time_s; or "
             "the columns of `titer validate`): even one tells figures of its software, chip "
             "and links, and how sure the answer is; or of products of the chip (dtype, m, n, k, "
             "time_us), which are taken as measured; may be repeated")
      .file();
}

}  // namespace options
}  // namespace titer
