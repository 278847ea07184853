// What explain() says of parameters, gradients and copies that passes move.

#include <fmt/format.h>

#include "explain_parts.hpp"

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

}  // namespace

Section moves_section(const StepCosts& costs) {
  Section section{.title = "moved with every pass beside activations", .terms = {}};
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    add_block(costs.blocks.kinds[kind].name, costs.kinds[kind], section);
  }
  add_block("embedding", costs.embedding, section);
  add_block("output head", costs.head, section);
  return section;
}

}  // namespace titer
