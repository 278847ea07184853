#pragma once
// The options of questions about one scenario.

#include <algorithm>
#include <array>
#include <cstddef>

#include "titer/ask/option.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer::options {

// Paths that options have other names for.
inline constexpr std::string_view kBatch = "training.global_batch";
inline constexpr std::string_view kSequence = "training.sequence";
inline constexpr std::string_view kPrecision = "training.precision";

template <auto Member>
[[nodiscard]] constexpr auto fidelity() {
  return choice<Member, kFidelities>(
      "fidelity",
      "NAME",
      "closed (closed form), event (event engine) or network (events whose transfers share the "
      "links of the cluster)");
}

/// Before a question's own options those of the scenario that it is about, the changes to it, and
/// the formula that predicts it.
template <auto Member, std::size_t N, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr std::array<Option<R>, N + 3> with_scenario(
    const std::array<Option<R>, N>& others) {
  std::array<Option<R>, N + 3> all = {
      asked<Member>(
          "scenario", "SCENARIO", "a run file, or the name of a shipped run (titer list runs)")
          .needed()
          .first()
          .file(kOnly<kRunData>),
      changes<Member>("put a value at a path of the scenario, such as plan.tensor=4 or "
                      "cluster.chip.memory.bandwidth=\"3 TB/s\"; may be repeated"),
      Option<R>{
          .words = {.key = "formula",
                    .type = "NAME",
                    .about = "titer, or e7: the seeds' own closed form"},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            if (const auto name = read_text(own, in)) {
              (request.*Member).changes.push_back({"formula.name", *name, "--formula " + *name});
            }
          }}};
  std::ranges::copy(others, all.begin() + 3);
  return all;
}

}  // namespace titer::options
