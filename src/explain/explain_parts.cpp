#include "explain_parts.hpp"

#include <fmt/format.h>

#include "titer/collectives/algorithm/torus.hpp"
#include "titer/collectives/catalogue.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// "8 (4 hops apart: 4 a, B / 4) x 32": what of the formula changes along that axis.
std::string shape_text(const TorusShape& torus) {
  std::string text;
  for (std::size_t axis = 0; axis < torus.axes; ++axis) {
    text += fmt::format("{}{}{}",
                        axis == 0 ? "" : " x ",
                        torus.length[axis],
                        is_two_way(torus, axis) ? "" : " (open)");
    if (torus.hops[axis] > 1) {
      text +=
          fmt::format(" ({0} hops apart: {0} a, B / {1})", torus.hops[axis], torus.sharing[axis]);
    }
  }
  return text;
}

std::string group_text(Group group) {
  if (is_torus(group)) {
    return fmt::format("{} chips, {}", group.ranks(), shape_text(group.torus));
  }
  return group.nodes == 1
             ? fmt::format("{} ranks in a node", group.ranks())
             : fmt::format(
                   "{} ranks, {} on each of {} nodes", group.ranks(), group.per_node, group.nodes);
}

/// "13.2 us start-up, a = 0.57 us, B = 112.2 GB/s or …": what a channel's protocols offer.
std::string channel_text(const Channel& channel) {
  const auto words = [](const Link& link) {
    return fmt::format(
        "{}a = {}, B = {}{}{}",
        link.startup > Seconds{} ? format(link.startup) + " start-up, " : "",
        format(link.latency),
        format(link.bandwidth),
        link.own_share > 0.0 ? fmt::format(", own share x {}", link.own_share) : "",
        link.exchange_share < 1.0 ? fmt::format(", of all-to-alls x {}", link.exchange_share) : "");
  };
  return listed(channel.links(), words, " or ");
}

std::string fabric_text(Group group, const Fabric& fabric) {
  std::string text;
  if (is_torus(group)) {
    return "; a wire: " + channel_text(fabric.wire);
  }
  if (group.per_node > 1) {
    text += "; node: " + channel_text(fabric.node);
  }
  if (group.per_node > 1 && fabric.node_switch.exists()) {
    text += "; its switch: " + channel_text(fabric.node_switch);
  }
  if (group.nodes > 1) {
    text += "; network: " + channel_text(fabric.network);
  }
  return text;
}

class BlockTerms {
 public:
  BlockTerms(const Scenario& scenario, std::string title)
      : scenario_(scenario),
        clock_(block_clock(scenario)),
        section_{.title = std::move(title), .terms = {}} {}

  Section run(const OperationList& operations, const Repeats& repeats) {
    transfer("recompute: gather of the input", repeats.input);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& op = operations[i];
      const std::string name(op.name);
      const bool meets_aside = !op.aside && i + 1 < operations.size() && operations[i + 1].aside;
      const std::string_view aside = meets_aside ? " (beside the shared experts)" : "";
      kernel(name + ": forward", op.forward);
      transfer(
          fmt::format(
              "{}: forward transfer{}{}", name, in_tiles(op.forward, op.forward_transfer), aside),
          op.forward_transfer);
      kernel(name + ": input gradient", op.input_gradient);
      kernel(name + ": weight gradient", op.weight_gradient);
      transfer(name + ": re-gather of the input" + beside(op, "input") +
                   in_tiles(op.weight_gradient, op.regather_transfer),
               op.regather_transfer);
      transfer(fmt::format("{}: backward transfer{}{}{}",
                           name,
                           beside(op, "weight"),
                           in_tiles(op.input_gradient, op.backward_transfer),
                           aside),
               op.backward_transfer);
      has_aside_ = has_aside_ || meets_aside;
    }
    const BlockCost cost = block_cost(operations, repeats, clock_);
    total("forward", cost.forward);
    total("backward", cost.backward);
    total("recompute", cost.recompute);
    return std::move(section_);
  }

 private:
  void kernel(std::string name, const Kernel& kernel) {
    if (kernel.exists()) {
      section_.terms.push_back(kernel_term(std::move(name), kernel, clock_));
    }
  }
  void transfer(std::string name, const Transfer& transfer) {
    if (transfer.exists()) {
      section_.terms.push_back(transfer_term(
          std::move(name), transfer, clock_.group(transfer.group), clock_.fabric(transfer.group)));
    }
  }
  [[nodiscard]] std::string beside(const Operation& op, std::string_view gradient) const {
    return clock_.hides(op) ? fmt::format(" (beside the {} gradient)", gradient) : "";
  }
  /// With ring overlap, the transfer next to a product.
  [[nodiscard]] std::string in_tiles(const Kernel& product, const Transfer& transfer) const {
    return clock_.tiles(product, transfer) ? fmt::format(" ({} tiles beside the product)",
                                                         clock_.group(LayerGroup::tensor).ranks())
                                           : "";
  }
  [[nodiscard]] std::string_view total_formula() const {
    if (has_aside_) {
      return "kernels + (slowdown - 1) min(kernels, transfers beside them) + idle for launches + "
             "exposed transfers; of an exchange what the shared experts beside it leave";
    }
    switch (clock_.overlap) {
      case TensorOverlap::none:
        break;
      case TensorOverlap::bulk:
        if (clock_.slowdown == 1.0) {
          break;
        }
        return "kernels + (slowdown - 1) min(kernel, transfer beside it) + idle for launches + "
               "exposed transfers";
      case TensorOverlap::ring:
        return "kernels and tiles + idle for launches + (t-1) max(0, tile sent - tile computed) of "
               "each product + other transfers";
    }
    return "kernels + idle for launches + exposed transfers";
  }
  void total(std::string_view pass, const PassCost& cost) {
    if (cost.compute > Seconds{}) {
      section_.terms.push_back(
          {fmt::format("= {}", pass),
           std::string(total_formula()),
           fmt::format("{} + {} (transfers in all: {}; launches by the host: {})",
                       format(cost.compute),
                       format(cost.comm()),
                       format(cost.comm_total()),
                       format(cost.host)),
           format(cost.busy()),
           "dispatch: stack " + scenario_.stack.name});
    }
  }

  const Scenario& scenario_;
  BlockClock clock_;
  bool has_aside_ = false;
  Section section_;
};

void add_evidence(const EvidenceList& evidence, std::string_view file, Section& section) {
  for (const Evidence& figure : evidence.figures()) {
    section.terms.push_back({fmt::format("{}: {}", file, figure.key),
                             "",
                             "",
                             figure.value,
                             fmt::format("[{}] {}", name(figure.grade), figure.source)});
  }
}

}  // namespace

AlgorithmEntry algorithm_of(Collective kind, std::string_view chosen) {
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == kind && entry.name == chosen) {
      return entry;
    }
  }
  AlgorithmEntry none;
  none.name = chosen;
  return none;
}

Term transfer_term(std::string name, const Transfer& transfer, Group group, const Fabric& fabric) {
  if (transfer.kind == Collective::send_recv) {
    const Channel& wires = neighbour_channel(group, fabric);
    return {std::move(name),
            "send-recv with the neighbours: start-up + a + S / B",
            fmt::format("S = {}, {}", format(transfer.size), channel_text(wires)),
            format(neighbour_time(transfer.size, group, fabric)),
            "alpha-beta; all ranks at once"};
  }
  const CollectiveTime chosen = collective_time(transfer.kind, transfer.size, group, fabric);
  const AlgorithmEntry info = algorithm_of(transfer.kind, chosen.algorithm);
  const AlgorithmEntry* named = named_algorithm(transfer.kind, group, fabric);
  const std::string in_vain =
      named != nullptr && named->name != chosen.algorithm
          ? fmt::format(" ({}, which is named, needs {})", named->name, named->needs)
          : "";
  return {std::move(name),
          fmt::format("{}, {}: start-up + {}{}",
                      name_of(transfer.kind),
                      chosen.algorithm,
                      info.formula,
                      in_vain),
          fmt::format(
              "S = {}, {}{}", format(transfer.size), group_text(group), fabric_text(group, fabric)),
          format(chosen.time),
          std::string(info.source)};
}

void add_block_sections(const Scenario& scenario, std::vector<Section>& sections) {
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  for (const Block& kind : blocks.kinds) {
    const std::string title = blocks.kinds.size() == 1
                                  ? std::string("one layer, one micro-batch, one rank")
                                  : fmt::format("a layer of the kind \"{}\"", kind.name);
    sections.push_back(
        BlockTerms(scenario, title).run(kind.operations, repeats_of(scenario, kind)));
  }
  if (!blocks.embedding.operations.empty()) {
    sections.push_back(
        BlockTerms(scenario, "embedding, on the first stage").run(blocks.embedding.operations, {}));
  }
  if (!blocks.head.operations.empty()) {
    sections.push_back(
        BlockTerms(scenario, "output head, on the last stage").run(blocks.head.operations, {}));
  }
}

namespace {

std::string way_text(const StageWay& way) {
  if (is_torus(way.pair)) {
    const WireLoad load = neighbour_load(way.pair.torus);
    return fmt::format("{} hops, each wire for {} messages, {}",
                       load.messages,
                       load.share,
                       channel_text(way.channel));
  }
  return way.pair.nodes > 1 ? "through the network: " + channel_text(way.channel)
                            : std::string("inside the node");
}

}  // namespace

void add_send_terms(const Scenario& scenario, const StepCosts& costs, Section& section) {
  for (int stage = 0; stage + 1 < costs.shape.stages; ++stage) {
    const Seconds time = costs.send[static_cast<std::size_t>(stage)];
    if (stage > 0 && time == costs.send[static_cast<std::size_t>(stage - 1)]) {
      continue;  // like the boundary before
    }
    section.terms.push_back(
        {fmt::format("send from stage {} to {}", stage, stage + 1),
         "a + (2 b s h, or its share of 1/t) / B, and a gather over t where it was shared out",
         fmt::format("2 b s h = {}, {}",
                     format(boundary_bytes(costs.blocks)),
                     way_text(stage_way(scenario, stage, boundary_bytes(costs.blocks)))),
         format(time),
         "E7b; Narayanan et al. 2021, section 4.1 (scatter/gather)"});
  }
}

Section figure_section(const Scenario& scenario) {
  Section section{.title = "figures", .terms = {}};
  add_evidence(scenario.cluster.chip.evidence, scenario.cluster.chip.name, section);
  add_evidence(scenario.cluster.evidence, scenario.cluster.name, section);
  add_evidence(scenario.stack.evidence, scenario.stack.name, section);
  return section;
}

}  // namespace titer
