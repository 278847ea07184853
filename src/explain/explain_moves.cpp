// What explain() says of parameters, gradients and copies that passes move, and of the bytes that
// data parallelism moves in all.

#include <fmt/format.h>

#include "explain_parts.hpp"
#include "titer/cost/data_volume.hpp"
#include "titer/cost/root_cost.hpp"

namespace titer {
namespace {

void add_pass(std::string_view block,
              std::string_view pass,
              const PassCost& cost,
              Section& section) {
  struct Row {
    PassComm comm;
    std::string_view what;
    std::string_view source;
  };
  constexpr std::array<Row, 2> rows = {
      {{PassComm::data, "parameters and gradients", "Rajbhandari et al. 2020; Zhao et al. 2023"},
       {PassComm::host, "copies from and to the host", "Rajbhandari et al. 2021"}}};
  for (const Row& row : rows) {
    const Seconds all = cost.transfers[row.comm];
    if (all > Seconds{}) {
      section.terms.push_back(
          {fmt::format("{}, {}: {}", block, pass, row.what),
           "what is longer than the neighbour's compute is exposed; mean of all "
           "such blocks",
           fmt::format("{} in all", format(all)),
           format(cost.exposed[row.comm]),
           std::string(row.source)});
    }
  }
}

void add_block(std::string_view block, const BlockCost& cost, Section& section) {
  add_pass(block, "forward", cost.forward, section);
  add_pass(block, "recompute", cost.recompute, section);
  add_pass(block, "backward", cost.backward, section);
}

/// Of nn.DataParallel: each of them with every micro-batch.
void add_root_terms(const Scenario& scenario, const StepCosts& costs, Section& section) {
  const RootMoves root = root_moves(scenario, costs);
  const auto add = [&](std::string_view pass, std::string_view what, const RootMove& of) {
    section.terms.push_back({fmt::format("{}: {}", pass, what),
                             "start-up + (n-1) (a + S / B), through the root's port",
                             fmt::format("n = {}, S = {}", root.ranks, format(of.size)),
                             format(of.time),
                             std::string(of.move.text->source)});
  };
  for (const RootMove& of : root.moves) {
    add(of.move.when == MoveTime::gradients ? "backward" : "forward", of.move.text->what, of);
    if (!of.move.text->back.empty()) {
      add("backward", of.move.text->back, of);
    }
  }
}

}  // namespace

Section moves_section(const Scenario& scenario, const StepCosts& costs) {
  Section section{.title = "moved with every pass beside activations", .terms = {}};
  if (scenario.plan.sharding == Sharding::data_parallel_root) {
    add_root_terms(scenario, costs, section);
    return section;
  }
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    add_block(costs.blocks.kinds[kind].name, costs.kinds[kind], section);
  }
  add_block("embedding", costs.embedding, section);
  add_block("output head", costs.head, section);
  return section;
}

Section volume_section(const Scenario& scenario, const StepCosts& costs, int rank) {
  const bool root = scenario.plan.sharding == Sharding::data_parallel_root;
  Section section{.title = fmt::format("bytes of data parallelism in an iteration, {}",
                                       root ? "through the root's port"
                                            : fmt::format("sent by a device of stage {}", rank)),
                  .terms = {}};
  Bytes sum;
  for (const DataMove& move : data_moves(scenario, costs, rank)) {
    sum += move.moved;
    section.terms.push_back({fmt::format("{}, {}", move.what, name_of(move.collective)),
                             move.formula,
                             fmt::format("n = {}, S = {}", move.ranks, format(move.size)),
                             format(move.moved),
                             root ? "seed 004, F55" : "seed equation E11"});
  }
  if (section.terms.size() > 1) {
    section.terms.push_back({"in all", "sum", "", format(sum), ""});
  }
  return section;
}

}  // namespace titer
