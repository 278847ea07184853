#include "placed_steps.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {

namespace {

/// The vertex of a rank or helper.
int vertex_of(const PlacedSteps& placed, std::int32_t member) {
  const int ranks = placed.steps->ranks();
  return member < ranks ? placed.ranks[static_cast<std::size_t>(member)]
                        : placed.helpers[static_cast<std::size_t>(member - ranks)];
}

}  // namespace

Route route_between(Router& router, int from, int to) {
  std::optional<Route> route = router.route(from, to);
  ensure(route.has_value(), "every message of an executed collective has a route");
  return std::move(*route);
}

Ends ends_of(const PlacedSteps& placed, const Message& message) {
  ensure(message.tier != Tier::host || placed.host.has_value(),
         "messages through the host have a vertex to pass");
  return {.from = vertex_of(placed, message.from),
          .to = vertex_of(placed, message.to),
          .via = message.tier == Tier::host ? placed.host : std::nullopt};
}

void check_places(std::span<const PlacedSteps> collectives) {
  for (const PlacedSteps& placed : collectives) {
    ensure(placed.ranks.size() == static_cast<std::size_t>(placed.steps->ranks()) &&
               placed.helpers.size() == static_cast<std::size_t>(placed.steps->helpers()),
           "every rank and helper of a collective has a place on the graph");
  }
}

namespace {

/// What members send one another, all messages of a pair as one; those through the host apart.
std::vector<Message> pair_sums(const Steps& steps) {
  std::map<std::tuple<bool, std::int32_t, std::int32_t>, Message> sums;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.is_join()) {
      continue;
    }
    const auto [known, is_new] =
        sums.try_emplace({message.tier == Tier::host, message.from, message.to}, message);
    known->second.size += is_new ? Bytes{} : message.size;
  }
  return each_of(sums, [](const auto& one) { return one.second; });
}

}  // namespace

std::vector<Demand> demands_of(std::span<const PlacedSteps> collectives) {
  check_places(collectives);
  std::map<std::pair<int, int>, Bytes> sums;
  const Steps* summed = nullptr;  // groups that lie alike share theirs
  std::vector<Message> messages;
  for (const PlacedSteps& placed : collectives) {
    if (placed.steps != summed) {
      summed = placed.steps;
      messages = pair_sums(*summed);
    }
    for (const Message& message : messages) {
      const Ends ends = ends_of(placed, message);
      if (ends.via) {
        sums[{ends.from, *ends.via}] += message.size;
        sums[{*ends.via, ends.to}] += message.size;
      } else {
        sums[{ends.from, ends.to}] += message.size;
      }
    }
  }
  return each_of(sums, [](const auto& one) {
    return Demand{.from = one.first.first, .to = one.first.second, .bytes = one.second};
  });
}

std::vector<std::uint32_t> rounds_of(const Steps& steps) {
  std::vector<std::uint32_t> done(steps.size(), 0);  // rounds that are over once it has arrived
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::uint32_t before : steps.after(i)) {
      done[i] = std::max(done[i], done[before]);
    }
    done[i] += steps.message(i).is_join() ? 0U : 1U;
  }
  return done;
}

std::vector<Seconds> costs_of(const Steps& steps, const Fabric& fabric) {
  std::vector<Seconds> costs(steps.size());
  std::vector<std::uint8_t> paid(steps.size(), 0);  // a bit per tier
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::uint32_t before : steps.after(i)) {
      paid[i] = static_cast<std::uint8_t>(paid[i] | paid[before]);
    }
    const Message& message = steps.message(i);
    if (message.is_join()) {
      continue;
    }
    const auto links = fabric.at(message.tier).links();
    ensure(!links.empty(), "the tier of a message has a protocol");
    const unsigned bit = 1U << static_cast<unsigned>(message.tier);
    costs[i] = message.hops * links.front().latency +
               ((paid[i] & bit) == 0 ? links.front().startup : Seconds{});
    paid[i] = static_cast<std::uint8_t>(paid[i] | bit);
  }
  return costs;
}

}  // namespace titer
