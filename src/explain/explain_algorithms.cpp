// What explain() says of the algorithms that the links chose.

#include <fmt/format.h>

#include "explain_parts.hpp"
#include "titer/collectives/catalogue.hpp"
#include "titer/units/text.hpp"

namespace titer {

Section algorithms_section(const StepResult& result) {
  Section section{.title = "algorithms on the links of the network", .terms = {}};
  for (const TakenAlgorithm& at : result.algorithms) {
    const AlgorithmEntry info = algorithm_of(at.collective, at.taken);
    section.terms.push_back({fmt::format("{} {}", at.group, name_of(at.collective)),
                             fmt::format("taken: {}: {}", at.taken, info.formula),
                             fmt::format("S = {}; the closed form would take {}, {} here",
                                         format(at.size),
                                         at.by_closed_form,
                                         format(at.closed_form_time)),
                             format(at.time),
                             std::string(info.source)});
  }
  if (section.terms.empty()) {
    section.terms.push_back({"algorithms", "", "", "those of the closed form", ""});
  }
  return section;
}

}  // namespace titer
