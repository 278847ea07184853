#include "titer/model/routing/routing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "titer/model/routing/expert_choices.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double share_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// What experts are asked for: the arguments of expert_load, and what follows from them at once.
struct Demand {
  double experts = 0;                // E
  double per_token = 0;              // k
  double ranks = 0;                  // R
  double tokens = 0;                 // T
  double wanted = 0;                 // mean number c of experts of a token
  double pairs = 0;                  // mean of c (c - 1)
  double second = 1;                 // P
  double own_tokens = 0;             // of one rank
  std::optional<double> capacity{};  // for these
  double groups = 1;                 // G
  double chosen = 1;                 // M
  bool random_second = false;
  bool noisy = true;
};

Demand demand_of(const Routing& routing, const std::array<std::int64_t, 4>& numbers) {
  const auto [experts, per_token, ranks, tokens] = numbers;
  Demand demand{.experts = static_cast<double>(experts),
                .per_token = static_cast<double>(per_token),
                .ranks = static_cast<double>(ranks),
                .tokens = static_cast<double>(tokens),
                .groups = static_cast<double>(routing.groups),
                .chosen = static_cast<double>(routing.groups_chosen),
                .random_second = routing.random_second,
                .noisy = routing.shape != RoutingShape::balanced};
  demand.wanted = demand.per_token;
  demand.pairs = demand.per_token * (demand.per_token - 1);
  if (routing.random_second) {
    demand.second = routing.second_probability.value_or(random_second_probability(experts));
    demand.wanted = 1 + demand.second;
    demand.pairs = 2 * demand.second;
  }
  demand.own_tokens = demand.tokens / demand.ranks;
  demand.capacity = capacity_of(routing, demand.own_tokens, experts, per_token);
  return demand;
}

/// What is left of a binomial number: its mean, and the share of its variance.
struct Clipped {
  double mean = 0;
  double variance_share = 1;
};

/// E[max(0, C - X)] for X of so many trials, term by term.
double expected_room(double trials, double probability, double capacity) {
  double term = std::pow(1 - probability, trials);  // of X = 0
  double room = 0;
  for (int x = 0; x < capacity && x <= trials; ++x) {
    room += (capacity - x) * term;
    term *= (trials - x) / (x + 1) * probability / (1 - probability);
  }
  return room;
}

/// min(X, C) for binomial X, of a rank's tokens: exact for small capacities, else as of a normal
/// number. Without noise X is its mean.
Clipped clip(const Demand& demand, double probability) {
  constexpr double exact_up_to = 64;
  const double mean = demand.own_tokens * probability;
  const double spread = demand.noisy ? std::sqrt(mean * (1 - probability)) : 0;
  const double capacity = demand.capacity.value_or(demand.own_tokens);
  if (spread <= 0) {
    return {.mean = std::min(mean, capacity), .variance_share = 0};
  }
  if (!demand.capacity) {
    return {.mean = mean};
  }
  const double z = (capacity - mean) / spread;
  const double below = share_below(z);
  const double left = z * (1 - below) - density(z);  // mean of min(Z, z), Z standard normal
  const double square = below - z * density(z) + z * z * (1 - below);
  const double kept = capacity <= exact_up_to
                          ? capacity - expected_room(demand.own_tokens, probability, capacity)
                          : mean + spread * left;
  return {.mean = kept, .variance_share = std::max(0.0, square - left * left)};
}

/// Of an expert with this share of all choices. The first choices of all tokens come first; second
/// ones take up capacity even where they are not taken.
Clipped kept_of(const Demand& demand, double share) {
  Clipped kept = clip(demand, std::min(1.0, demand.wanted * share));
  if (demand.random_second) {
    const double first = clip(demand, std::min(1.0, share)).mean;
    const double both = clip(demand, std::min(1.0, 2 * share)).mean;
    kept.mean = first + demand.second * (both - first);
  }
  return kept;
}

/// How often a pair of experts is chosen together, over how often a token has two: two given ones
/// of the same group, and of different groups. A token has one expert in each of its groups, the
/// further ones anywhere in them.
struct Together {
  double same = 0;
  double other = 0;
};

Together chosen_together(const Demand& demand) {
  const double groups = demand.groups;
  const double chosen = std::min(demand.chosen, demand.per_token);
  const double size = demand.experts / groups;
  const double further = demand.per_token - chosen;
  const double open = chosen * size - chosen;  // experts that these can be
  const double two = demand.per_token * (demand.per_token - 1);
  Together together;
  if (further > 0) {
    const double both_further =
        further > 1 ? (further - 1) * (1 - 2 / size) / (open - 1) : 0;  // than the group's one
    together.same = chosen / groups * further / open * (2 / size + both_further) / two;
  }
  if (groups > 1 && two > 0) {
    together.other = (1 - demand.experts * (size - 1) * together.same) /
                     (demand.experts * (demand.experts - size));
  }
  return together;
}

/// Variance of the tokens that a rank gets of one token, over their mean, for uniform routing;
/// times R / (R-1), as for numbers that need not add up.
double relative_variance(const Demand& demand) {
  if (demand.ranks <= 1) {
    return 0;
  }
  const double own = demand.experts / demand.ranks;
  const double of_group = std::min(own, demand.experts / demand.groups);
  const Together together = chosen_together(demand);
  const double mean = demand.wanted / demand.ranks;
  const double both =  // ordered pairs of a token's experts that are both the rank's
      demand.pairs * own * ((of_group - 1) * together.same + (own - of_group) * together.other);
  return std::max(0.0, (mean + both - mean * mean) / mean) * demand.ranks / (demand.ranks - 1);
}

/// How likely none of a token's experts is among a rank's, which has `share` of all choices. Of its
/// groups one is a token's with the probability that drawing M of G gives; then so is an expert.
double missed(const Demand& demand, double share, double choices) {
  const double groups = demand.groups;
  const double chosen = std::min(demand.chosen, choices);
  const double own_groups = std::max(1.0, std::floor(groups / demand.ranks));
  double closed = 1;  // how likely none of its groups is a token's
  for (int i = 0; i < own_groups; ++i) {
    closed *= std::max(0.0, groups - chosen - i) / (groups - i);
  }
  const double size = demand.experts / groups;
  const double own = share * demand.experts;
  double elsewhere = demand.ranks < groups ? 0 : std::max(0.0, 1 - own / size);
  for (int i = 0; i < choices - chosen && elsewhere > 0; ++i) {
    const double open = chosen * size - chosen - i;
    elsewhere *= std::max(0.0, open - own) / open;
  }
  return closed + (1 - closed) * elsewhere;
}

/// How likely a token goes to a rank with this share of all choices.
double reached(const Demand& demand, double share) {
  if (!demand.random_second) {
    return 1 - missed(demand, share, demand.per_token);
  }
  return 1 - std::lerp(missed(demand, share, 1), missed(demand, share, 2), demand.second);
}

/// The shares of experts in all choices; those that would be chosen by more than every token get
/// that, the rest is for the others.
std::vector<double> expert_shares(const Routing& routing, const Demand& demand) {
  std::vector<double> shares = routing.histogram;
  double rest = 0;
  if (routing.shape == RoutingShape::zipf) {
    shares.resize(static_cast<std::size_t>(demand.experts));
    for (std::size_t e = 0; e < shares.size(); ++e) {
      shares[e] = std::pow(static_cast<double>(e + 1), -routing.exponent);
    }
  }
  for (const double share : shares) {
    rest += share;
  }
  double open = demand.wanted;  // choices of a token that are not settled yet
  if (routing.shape == RoutingShape::zipf) {
    for (std::size_t e = 0; e < shares.size() && open > 1 && open * shares[e] > rest; ++e) {
      rest -= shares[e];
      shares[e] = -1;
      open -= 1;
    }
  }
  for (double& share : shares) {
    share = (share < 0 ? 1 : open * share / rest) / demand.wanted;
  }
  return shares;
}

struct Normal {
  double mean = 0;
  double variance = 0;
};

/// The larger of two independent normal numbers, as if it were normal. [Clark 1961]
Normal larger(const Normal& a, const Normal& b) {
  const double spread = std::sqrt(a.variance + b.variance);
  if (spread <= 0) {
    return {.mean = std::max(a.mean, b.mean)};
  }
  const double z = (a.mean - b.mean) / spread;
  const double first = share_below(z);
  const double between = spread * density(z);
  const double mean = a.mean * first + b.mean * (1 - first) + between;
  const double square = (a.mean * a.mean + a.variance) * first +
                        (b.mean * b.mean + b.variance) * (1 - first) + (a.mean + b.mean) * between;
  return {.mean = mean, .variance = std::max(0.0, square - mean * mean)};
}

ExpertLoad load_of_equals(const Demand& demand) {
  const double mean = demand.wanted * demand.own_tokens;  // pairs that reach a rank
  const Clipped kept = kept_of(demand, 1 / demand.experts);
  const double share = kept.mean * demand.experts / mean;
  const double variance = relative_variance(demand) * kept.variance_share / mean;
  const double noise = std::sqrt(variance) * expected_maximum(std::llround(demand.ranks));
  return {.busiest = share + noise,
          .kept = share,
          .per_token = demand.wanted,
          .ranks_per_token = demand.ranks * reached(demand, 1 / demand.ranks)};
}

ExpertLoad load_of_unequals(const Routing& routing, const Demand& demand) {
  const std::vector<double> shares = expert_shares(routing, demand);
  const auto per_rank = static_cast<std::size_t>(std::llround(demand.experts / demand.ranks));
  const double mean = demand.wanted * demand.own_tokens;  // pairs that reach a rank
  const double variance = relative_variance(demand) / mean;
  ExpertLoad load{.busiest = 0, .kept = 0, .per_token = demand.wanted, .ranks_per_token = 0};
  Demand ungrouped = demand;
  ungrouped.groups = ungrouped.chosen = 1;
  Normal busiest;
  for (std::size_t first = 0; first < shares.size(); first += per_rank) {
    Normal rank;
    double rank_share = 0;
    for (std::size_t e = first; e < first + per_rank; ++e) {
      const Clipped kept = kept_of(demand, shares[e]);
      rank.mean += kept.mean * demand.ranks / mean;
      rank.variance += variance * shares[e] * demand.ranks * kept.variance_share;
      rank_share += shares[e];
    }
    load.kept += rank.mean / demand.ranks;
    load.ranks_per_token += reached(ungrouped, rank_share);
    busiest = first == 0 ? rank : larger(busiest, rank);
  }
  load.busiest = busiest.mean;
  load.ranks_per_token =
      std::min(load.ranks_per_token, demand.ranks * reached(demand, 1 / demand.ranks));
  return load;
}

}  // namespace

std::optional<double> capacity_of(const Routing& routing,
                                  double tokens,
                                  std::int64_t experts,
                                  std::int64_t per_token) {
  if (!routing.capacity_factor) {
    return std::nullopt;
  }
  // Groups of tokens have places of their own.
  const auto group = static_cast<double>(routing.dense_group.value_or(0));
  const double together = group > 0 ? std::min(tokens, group) : tokens;
  const auto multiple = static_cast<double>(routing.capacity_multiple);
  const double mean = together * static_cast<double>(per_token) / static_cast<double>(experts);
  return tokens / together * multiple *
         std::ceil(std::ceil(*routing.capacity_factor * mean) / multiple);
}

ExpertLoad expert_load(const Routing& routing,
                       std::int64_t experts,
                       std::int64_t per_token,
                       std::int64_t expert_ranks,
                       std::int64_t tokens) {
  ensure(experts >= 1 && per_token >= 1 && per_token <= experts && expert_ranks >= 1 &&
             experts % expert_ranks == 0 && tokens >= 1,
         "tokens go to some of the experts, of which every rank has as many");
  const Demand demand = demand_of(routing, {experts, per_token, expert_ranks, tokens});
  const bool equal =
      routing.shape == RoutingShape::uniform || routing.shape == RoutingShape::balanced;
  ensure(routing.shape != RoutingShape::measured ||
             routing.histogram.size() == static_cast<std::size_t>(experts),
         "a histogram has a number for every expert");
  ExpertLoad load = equal ? load_of_equals(demand) : load_of_unequals(routing, demand);
  // No expert is given more than every token, or by any rank more than its capacity.
  const double mean = demand.wanted * demand.own_tokens;
  const double most = demand.tokens * std::min(demand.experts / demand.ranks, demand.per_token);
  load.busiest = std::min(load.busiest, most / mean);
  if (demand.capacity) {
    const double room = demand.experts * *demand.capacity;  // of its experts, for all ranks
    load.busiest = routing.padded ? room / mean : std::min(load.busiest, room / mean);
  }
  return load;
}

ExpertChoices expert_choices(const Routing& routing,
                             std::int64_t experts,
                             std::int64_t per_token,
                             std::int64_t expert_ranks,
                             std::int64_t tokens) {
  const Demand demand = demand_of(routing, {experts, per_token, expert_ranks, tokens});
  const bool equal =
      routing.shape == RoutingShape::uniform || routing.shape == RoutingShape::balanced;
  ExpertChoices choices{.per_token = demand.wanted, .wanted = {}, .sent = {}};
  choices.wanted = equal
                       ? std::vector<double>(static_cast<std::size_t>(experts), 1 / demand.experts)
                       : expert_shares(routing, demand);
  choices.capacity = demand.capacity;
  for (const double share : choices.wanted) {
    const double sent = routing.padded ? *demand.capacity : kept_of(demand, share).mean;
    choices.sent.push_back(sent / (demand.wanted * demand.own_tokens));
  }
  return choices;
}

}  // namespace titer
