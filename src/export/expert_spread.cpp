#include "expert_spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "titer/scenario/draws.hpp"

namespace titer {
namespace {

constexpr std::uint8_t kExpertChoiceDraw = 0x80;

/// Successes of so many trials, from one uniform number: exact where few are expected, else as of a
/// normal number.
double binomial(double trials, double probability, double uniform) {
  constexpr double exact_up_to = 64;
  if (trials <= 0 || probability <= 0 || probability >= 1) {
    return probability >= 1 ? trials : 0;
  }
  if (probability > 0.5) {
    return trials - binomial(trials, 1 - probability, uniform);
  }
  const double mean = trials * probability;
  if (mean > exact_up_to) {
    const double spread = std::sqrt(mean * (1 - probability));
    return std::clamp(std::round(mean + spread * normal_quantile_above(uniform)), 0.0, trials);
  }
  double term = std::exp(trials * std::log1p(-probability));  // of no success
  double below = term;
  double successes = 0;
  while (below < uniform && successes < trials && term > 0) {
    term *= (trials - successes) / (successes + 1) * probability / (1 - probability);
    below += term;
    ++successes;
  }
  return successes;
}

/// Adjacent experts lie on the same rank.
std::vector<double> by_rank(const std::vector<double>& of_expert, std::size_t ranks) {
  std::vector<double> sums(ranks);
  for (std::size_t e = 0; e < of_expert.size(); ++e) {
    sums[e * ranks / of_expert.size()] += of_expert[e];
  }
  return sums;
}

}  // namespace

ExpertSpread::ExpertSpread(const Scenario& scenario, const TrafficOptions& options)
    : ranks_(static_cast<std::size_t>(scenario.plan.expert)),
      draw_(options.draw.value_or(ExpertDraw{})) {
  const Transformer* transformer = scenario.model.if_transformer();
  if (transformer == nullptr || !transformer->experts) {
    choices_.sent.assign(ranks_, 1.0 / static_cast<double>(ranks_));
    return;
  }
  const Experts& experts = *transformer->experts;
  const Plan& plan = scenario.plan;
  const Routing& routing = options.routing.value_or(experts.routing);
  const std::int64_t own = std::max<std::int64_t>(
      1, plan.micro_batch * scenario.training.sequence / plan.context / plan.tensor);
  choices_ =
      expert_choices(routing, experts.count, experts.per_token, plan.expert, own * plan.expert);
  tokens_ = static_cast<double>(own);
  capacity_ = choices_.capacity;
  wanted_over_busiest_ =
      choices_.per_token / static_cast<double>(experts.per_token) / scenario.slice().expert_load;
  random_ = options.draw && !routing.padded && routing.shape != RoutingShape::balanced;
}

double ExpertSpread::sent() const {
  return std::accumulate(choices_.sent.begin(), choices_.sent.end(), 0.0);
}

double ExpertSpread::draws(double layers) const {
  return random_ ? static_cast<double>(choices_.wanted.size()) * (capacity_ ? layers : 1.0) : 0.0;
}

std::vector<double> ExpertSpread::shares(int rank, double layers) const {
  return by_rank(random_ ? drawn(rank, layers) : choices_.sent, ranks_);
}

/// Multinomial numbers, one expert after the other: each is binomial among what the others left.
/// Layers are drawn together but where each has a capacity of its own.
std::vector<double> ExpertSpread::drawn(int rank, double layers) const {
  const double rounds = capacity_ ? std::round(layers) : 1.0;
  const double trials = std::round(tokens_ * choices_.per_token * (capacity_ ? 1.0 : layers));
  std::vector<double> sums(choices_.wanted.size());
  DrawName name{.seed = draw_.seed,
                .sample = draw_.iteration,
                .device = static_cast<std::uint64_t>(rank),
                .purpose = kExpertChoiceDraw};
  for (double round = 0; round < rounds; ++round) {
    double left = trials;
    double share_left = 1;
    for (std::size_t e = 0; e < sums.size(); ++e, ++name.number) {
      const double share = choices_.wanted[e];
      const double of_left = share < share_left ? share / share_left : 1.0;
      const double chosen = share > 0 ? binomial(left, of_left, uniform_pair(name).first) : 0.0;
      left -= chosen;
      share_left -= share;
      sums[e] += std::min(chosen, capacity_.value_or(chosen));
    }
  }
  for (double& sum : sums) {
    sum /= std::max(1.0, trials * rounds);
  }
  return sums;
}

}  // namespace titer
