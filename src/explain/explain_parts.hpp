#pragma once
// The sections of explain() that go into detail: operations, synchronisation, memory, figures.

#include <string>
#include <vector>

#include "titer/collectives/catalogue.hpp"
#include "titer/cost/cost.hpp"
#include "titer/estimate/result.hpp"
#include "titer/explain/explain.hpp"

namespace titer {

/// A kernel: what bounds it, at its pace.
[[nodiscard]] Term kernel_term(std::string name, const Kernel& kernel, const BlockClock& clock);
/// A collective: its algorithm's formula and what it takes.
[[nodiscard]] Term transfer_term(std::string name,
                                 const Transfer& transfer,
                                 Group group,
                                 const Fabric& fabric);
/// The catalogue's entry of the algorithm chosen for a transfer.
[[nodiscard]] AlgorithmEntry algorithm_of(Collective kind, std::string_view chosen);
/// One section per block (layer, embedding, head): each kernel and transfer by itself.
void add_block_sections(const Scenario& scenario, std::vector<Section>& sections);
void add_send_terms(const Scenario& scenario, const StepCosts& costs, Section& section);
/// The bubble by the schedule's formula; where none holds, what it is all the same.
void add_bubble_terms(const Scenario& scenario,
                      const StepCosts& costs,
                      const StepResult& result,
                      Section& section);
/// Of zero2, zero3, offloading and data-parallel-root; no terms without.
[[nodiscard]] Section moves_section(const Scenario& scenario, const StepCosts& costs);
/// The bytes that data parallelism moves, of a rank of the pipeline; no terms where it moves none.
[[nodiscard]] Section volume_section(const Scenario& scenario, const StepCosts& costs, int rank);
/// Of the rank that the result is seen from.
[[nodiscard]] Section tail_section(const Scenario& scenario,
                                   const StepCosts& costs,
                                   const StepResult& result);
[[nodiscard]] Section memory_section(const Scenario& scenario, const StepResult& result);
/// The terms of the seeds' own closed form.
[[nodiscard]] Section e7_section(const Scenario& scenario);
/// Every figure of chip, cluster and stack that entered, and its source.
[[nodiscard]] Section figure_section(const Scenario& scenario);

}  // namespace titer
