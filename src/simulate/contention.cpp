#include "contention.hpp"

namespace titer {
namespace {

/// The resources of a device, as they are added.
enum class Part : std::uint32_t { sms, node_out, node_in, network_out, network_in };
constexpr std::uint32_t kParts = 5;

LoadResource resource(std::size_t rank, Part part) {
  return static_cast<LoadResource>(rank * kParts) + static_cast<LoadResource>(part);
}
Part out(bool network) { return network ? Part::network_out : Part::node_out; }
Part in(bool network) { return network ? Part::network_in : Part::node_in; }

}  // namespace

Contention::Contention(const Scenario& scenario, const World& world) {
  const double slowdown = scenario.stack.overlap_slowdown;
  if (slowdown <= 1) {
    return;
  }
  // A transfer cannot take more than all SMs.
  const double share = std::min(1.0, slowdown - 1.0);
  const Crossings crossings(scenario);
  for (std::size_t i = 0; i < world.ranks().size() * kParts; ++i) {
    loads_.add_resource();
  }
  for (std::size_t rank = 0; rank < world.ranks().size(); ++rank) {
    const int stage = world.ranks()[rank].stage;
    const auto add = [&](std::initializer_list<LoadShare> shares) {
      return loads_.add(std::span(shares.begin(), shares.size()));
    };
    const auto send = [&](std::size_t to, bool network) {
      return add({{resource(rank, Part::sms), share},
                  {resource(rank, out(network)), 1.0},
                  {resource(to, in(network)), 1.0}});
    };
    std::array<LoadId, kAffected>& loads = of_rank_.emplace_back();
    loads.fill(kNoLoad);
    const auto set = [&](Affected affected, LoadId load) {
      loads[static_cast<std::size_t>(affected)] = load;
    };
    set(Affected::compute, add({{resource(rank, Part::sms), 1.0}}));
    // Of a pass's transfers the costs say what they do to its compute.
    for (const Meeting meeting : kAllMeetings) {
      const LoadShare out_share{resource(rank, out(crossings.of(meeting))), 1.0};
      const LoadShare in_share{resource(rank, in(crossings.of(meeting))), 1.0};
      const bool in_pass = comm_of(affected_by(meeting)).has_value();
      set(affected_by(meeting),
          in_pass ? add({out_share, in_share})
                  : add({{resource(rank, Part::sms), share}, out_share, in_share}));
    }
    if (world.stages() > 1) {
      set(Affected::to_next, send(world.neighbour(rank, true), crossings.after(stage)));
      set(Affected::to_previous,
          send(world.neighbour(rank, false), crossings.after(world.before(stage))));
      const bool network = crossings.after(world.stages() - 1);
      set(Affected::ends,
          add({{resource(rank, out(network)), 1.0}, {resource(rank, in(network)), 1.0}}));
    }
  }
}

std::vector<LoadShare> Contention::shares(std::size_t rank, Affected affected) const {
  const LoadId id = exists() ? load(rank, affected) : kNoLoad;
  std::vector<LoadShare> shares;
  if (id != kNoLoad) {
    for (const Loads::Part& part : loads_.parts(id)) {
      shares.push_back({part.resource, static_cast<double>(part.units) / Loads::unit});
    }
  }
  return shares;
}

}  // namespace titer
