#pragma once
// How a router spreads tokens over experts: the load of the busiest, what is dropped, how many
// ranks a token goes to.
//
// A token wants k different experts (with a random second one: 1 + P on average). Expert e gets a
// token with probability w_e, all w_e adding up to the experts wanted; what it gets of T tokens is
// T w_e and the noise of T draws. Tokens are independent of one another.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/field_table.hpp"

namespace titer {

enum class RoutingShape {
  uniform,   // every choice of experts is as likely: random gates, or well-trained ones
  zipf,      // expert i is chosen in proportion to 1 / i^exponent, at most by every token
  measured,  // in proportion to a histogram of tokens per expert
  balanced,  // every expert gets exactly as many, without noise
};
inline constexpr std::array<Choice<RoutingShape>, 4> kRoutingShapes = {
    {{"uniform", RoutingShape::uniform},
     {"zipf", RoutingShape::zipf},
     {"measured", RoutingShape::measured},
     {"balanced", RoutingShape::balanced}}};
[[nodiscard]] constexpr std::string_view name(RoutingShape shape) {
  return kRoutingShapes[static_cast<std::size_t>(shape)].name;
}

struct Routing {
  RoutingShape shape = RoutingShape::uniform;
  double exponent = 1.0;                    // of zipf
  std::vector<double> histogram{};          // measured: tokens of each expert
  std::optional<double> capacity_factor{};  // tokens beyond capacity are dropped; none: dropless
  std::int64_t capacity_multiple = 1;       // capacity is rounded up to one of this
  // Top-2 gating where the second expert is taken with probability 2 g2. [GShard 2020, Algorithm 1]
  bool random_second = false;
  std::int64_t groups = 1;         // experts are in so many groups, of which a token
  std::int64_t groups_chosen = 1;  // goes to these at the most
  bool padded = false;  // experts compute all of their capacity, as far as it is empty on zeros
  std::optional<double> second_probability{};  // of a random second expert, where it is known
  // Tokens go to their places at experts and back by products with masks of all places of all
  // experts, for so many tokens at a time.  [GShard 2020, Algorithm 2]
  std::optional<std::int64_t> dense_group{};
  friend bool operator==(const Routing&, const Routing&) = default;
};

/// What a router makes of a batch.
struct ExpertLoad {
  // Tokens that the busiest rank's experts compute (none dropped, all padding), over those that
  // each rank's would if all got as many and none were dropped: tokens x per_token / ranks.
  double busiest = 1.0;
  double kept = 1.0;       // share of the wanted (token, expert) pairs that is not dropped
  double per_token = 1.0;  // experts that a token wants, on average
  // Ranks with an expert that a token wants, on average: what is sent where a token goes to a rank
  // once, however many of its experts are there.
  double ranks_per_token = 1.0;
};

/// Of all ranks with different experts (expert_ranks of them, experts in their order, as many each)
/// for `tokens` tokens of all these ranks together, the same number from each. A capacity is that
/// of an expert for the tokens of one rank: ceil(factor x tokens of a rank x per_token / experts).
/// [GShard 2020; Megatron-LM] Costs no allocation where the shape is uniform or balanced.
///
/// The busiest: with variance v of a rank's tokens the loads of R alike ranks are normal and add up
/// to a constant, so that the largest is  mean + sqrt(v R / (R-1)) E[max of R standard normals];
/// of unlike ranks the maximum is taken two by two.  [Clark 1961] Both are asymptotic: good to
/// some percent of the noise from some twenty tokens per rank (a quarter too much of it where a
/// random second expert meets a tight capacity).
/// Groups are as likely as one another, and a token has an expert in each that it chose: where they
/// are chosen by their best experts that holds but for 1.5 % of the ranks of a token with
/// DeepSeek-V3's 8 groups of 32 experts, and for 6 % with groups of 8.
/// Where shapes are not uniform, a random second expert is taken to be spread as the first; the
/// ranks of a token follow from the ranks' shares alone, and are no more than groups leave.
///
/// REQUIRES no refusal.
[[nodiscard]] ExpertLoad expert_load(const Routing& routing,
                                     std::int64_t experts,
                                     std::int64_t per_token,
                                     std::int64_t expert_ranks,
                                     std::int64_t tokens);

/// Places at an expert for so many tokens; none where no token is dropped.
[[nodiscard]] std::optional<double> capacity_of(const Routing& routing,
                                                double tokens,
                                                std::int64_t experts,
                                                std::int64_t per_token);

/// Why such experts cannot be routed to so, if they cannot.
[[nodiscard]] std::optional<std::string> refusal(const Routing& routing,
                                                 std::int64_t experts,
                                                 std::int64_t per_token,
                                                 std::int64_t expert_ranks);

/// {"shape": "zipf", "exponent": 0.5, "capacity_factor": 1.25, …}; what is left out is as in
/// Routing{}: uniform, dropless.
[[nodiscard]] std::span<const Field<Routing>> routing_fields();

/// How likely a random second expert is taken: the mean of min(1, 2 g2), g2 = the second gate over
/// the sum of the two largest, for softmax gates of standard normal logits (a router as it is
/// initialised). Gates whose logarithms have exponential tails would give 2 (1 - ln 2) = 0.61.
[[nodiscard]] double random_second_probability(std::int64_t experts);

/// The mean of the largest of so many independent standard normal numbers.
[[nodiscard]] double expected_maximum(std::int64_t numbers);

}  // namespace titer
