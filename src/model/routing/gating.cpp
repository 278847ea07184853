#include "titer/model/routing/gating.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Evenly spread numbers, the same on every machine. [Steele, Lea & Flood 2014, SplitMix64]
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1), both ends excluded.
  double uniform() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    bits ^= bits >> 31U;
    return (static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52;
  }
  double normal() {  // [Box & Muller 1958], of whose two numbers one is left out
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

/// A token's choices.
struct TopTwo {
  std::size_t e1 = 0;
  std::size_t e2 = 0;
  double g1 = 0;  // normalised: g1 + g2 = 1
  double g2 = 0;
};

/// g = softmax(logits) of one token, added to the sums of all; lines 2, 5, 6 and 16.
TopTwo draw_gates(SplitMix& random, std::vector<double>& gates, std::vector<double>& sums) {
  double total = 0;
  for (double& gate : gates) {
    gate = std::exp(random.normal());
    total += gate;
  }
  TopTwo top{.e1 = 0, .e2 = 1};
  if (gates[1] > gates[0]) {
    top = {.e1 = 1, .e2 = 0};
  }
  for (std::size_t e = 0; e < gates.size(); ++e) {
    sums[e] += gates[e] / total;
    if (e < 2) {
      continue;
    }
    if (gates[e] > gates[top.e1]) {
      top = {.e1 = e, .e2 = top.e1};
    } else if (gates[e] > gates[top.e2]) {
      top.e2 = e;
    }
  }
  top.g1 = gates[top.e1] / (gates[top.e1] + gates[top.e2]);
  top.g2 = 1 - top.g1;
  return top;
}

/// Lines 4 to 12.
void dispatch_first(const GatingRun& run, const std::vector<TopTwo>& tokens, GatingResult& result) {
  for (const TopTwo& token : tokens) {
    std::int64_t& count = result.first[token.e1];
    if (count < run.capacity) {
      ++result.dispatched[token.e1];
      ++result.first_kept;
      result.combined += token.g1;
    }
    ++count;
  }
}

/// Lines 14 to 24.
void dispatch_second(const GatingRun& run,
                     const std::vector<TopTwo>& tokens,
                     SplitMix& random,
                     GatingResult& result) {
  for (const TopTwo& token : tokens) {
    const std::int64_t count = result.first[token.e2] + result.second[token.e2];
    const bool wanted = 2 * token.g2 > random.uniform();
    result.second_wanted += wanted ? 1 : 0;
    if (wanted && count < run.capacity) {
      ++result.dispatched[token.e2];
      ++result.second_kept;
      result.combined += token.g2;
    }
    ++result.second[token.e2];
  }
}

}  // namespace

GatingResult run_gating(const GatingRun& run) {
  ensure(run.experts >= 2 && run.tokens >= 1 && run.capacity >= 0,
         "top-2 gating has tokens, and two experts to choose from");
  const auto experts = static_cast<std::size_t>(run.experts);
  SplitMix random(run.seed);
  std::vector<double> gates(experts);
  std::vector<double> sums(experts);
  std::vector<TopTwo> tokens(static_cast<std::size_t>(run.tokens));
  for (TopTwo& token : tokens) {
    token = draw_gates(random, gates, sums);
  }
  GatingResult result;
  result.first.resize(experts);
  result.second.resize(experts);
  result.dispatched.resize(experts);
  dispatch_first(run, tokens, result);
  const auto count = static_cast<double>(run.tokens);
  for (std::size_t e = 0; e < experts; ++e) {
    result.auxiliary_loss += static_cast<double>(result.first[e]) / count * (sums[e] / count);
  }
  result.auxiliary_loss /= static_cast<double>(run.experts);
  dispatch_second(run, tokens, random, result);
  return result;
}

}  // namespace titer
