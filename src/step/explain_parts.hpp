#pragma once
// The sections of explain() that go into detail: operations, synchronisation, memory, figures.

#include <vector>

#include "titer/step/cost.hpp"
#include "titer/step/explain.hpp"
#include "titer/step/result.hpp"

namespace titer {

/// One section per block (layer, embedding, head): each kernel and transfer by itself.
void add_block_sections(const Scenario& scenario, std::vector<Section>& sections);
void add_send_terms(const Scenario& scenario, const StepCosts& costs, Section& section);
[[nodiscard]] Section tail_section(const Scenario& scenario, const StepCosts& costs, int stage);
[[nodiscard]] Section memory_section(const Scenario& scenario, const StepResult& result);
/// Every figure of chip, cluster and stack that entered, and its source.
[[nodiscard]] Section figure_section(const Scenario& scenario);

}  // namespace titer
