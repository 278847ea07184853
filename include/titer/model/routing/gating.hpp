#pragma once
// Top-2 gating as GShard writes it, Algorithm 1, executed on random gates.
// [seed equation E3; Lepikhin et al. 2020, "GShard"]

#include <cstdint>
#include <vector>

namespace titer {

/// A group of tokens before a router whose logits are standard normal.
struct GatingRun {
  std::int64_t tokens = 0;    // S
  std::int64_t experts = 0;   // E, at least two
  std::int64_t capacity = 0;  // C: of an expert, for this group
  std::uint64_t seed = 0;
};

/// What Algorithm 1 makes of it. By expert, where it is a list.
struct GatingResult {
  std::vector<std::int64_t> first;       // tokens whose first choice it is: c_e in line 13
  std::vector<std::int64_t> second;      // likewise the second, whether then taken or not
  std::vector<std::int64_t> dispatched;  // tokens that it computes
  std::int64_t second_wanted = 0;        // tokens with 2 g2 > rnd
  std::int64_t first_kept = 0;           // first choices within capacity
  std::int64_t second_kept = 0;          // wanted second choices within capacity
  double combined = 0;                   // sum of all combine weights, at most one per token
  double auxiliary_loss = 0;             // 1/E sum of c_e/S m_e, m_e the mean gate: line 13
};

/// Algorithm 1: first choices in the order of tokens, then second ones, each while its expert's
/// counter is below C; a counter grows by every choice, also by a second one that is not taken
/// (line 22). REQUIRES two experts at least.
[[nodiscard]] GatingResult run_gating(const GatingRun& run);

}  // namespace titer
