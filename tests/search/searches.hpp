#pragma once
// Searches for tests.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/search/search.hpp"

namespace titer::testing {

inline Search search_of(std::string_view text, std::span<const std::string> changes = {}) {
  return read_search(parse_json(text, "search.json"), parse_assignments(changes));
}

/// All that identifies a plan that was found, and how good it is.
inline std::string line_of(const FoundPlan& found) {
  std::string text = std::to_string(found.devices) + ":";
  for (const double score : found.scores) {
    text += " " + to_json(Value(score), 0);
  }
  text += "; data " + std::to_string(found.plan.data);
  for (const SearchKey& key : search_keys()) {
    text += ", " + std::string(key.name) + " " + to_json(key.value(found.plan), 0);
  }
  text += "; alike " + std::to_string(found.alike_count);
  for (const Plan& plan : found.alike) {
    for (const SearchKey& key : search_keys()) {
      text += " " + to_json(key.value(plan), 0);
    }
  }
  return text;
}
inline std::vector<std::string> lines_of(const SearchAnswer& answer) {
  std::vector<std::string> lines;
  for (const FoundPlan& found : answer.plans) {
    lines.push_back(line_of(found));
  }
  return lines;
}

/// A dense model on one node, of which most plans do not fit.
inline constexpr std::string_view kDenseSearch = R"({
  "scenario": {"model": "megatron-7.5b", "cluster": "dgx-a100-80gb",
               "training": {"global_batch": 16, "sequence": 2048, "precision": "bf16"}},
  "devices": 16, "any_software": true, "constraints": {"memory_margin": 0},
  "space": {"tensor": [1, 2, 8], "pipeline": [1, 2, 4], "context": [1, 2], "micro_batch": [1, 2],
            "recompute": ["none", "full"], "sequence_parallel": true, "tensor_overlap": "bulk",
            "rank_order": ["tp-cp-dp-pp", "dp-cp-tp-pp"], "schedule": ["1f1b", "zb-h1", "hanayo"],
            "virtual_stages": [1, 2], "sharding": ["none", "zero1", "zero3"],
            "overlap_param_gather": false},
  "top": 7, "best_of": "plan"})";

/// Experts, every schedule.
inline constexpr std::string_view kExpertSearch = R"({
  "scenario": {"model": "mixtral-8x7b", "cluster": "dgx-h100", "stack": "megatron-core",
               "training": {"global_batch": 32, "sequence": 4096, "precision": "bf16"}},
  "devices": 32, "any_software": true, "constraints": {"memory_margin": 0},
  "space": {"tensor": [1, 4], "pipeline": 4, "context": 1, "micro_batch": 1,
            "recompute": ["none", "selective"], "sequence_parallel": true,
            "tensor_overlap": "bulk", "rank_order": "tp-cp-dp-pp", "expert": [1, 8],
            "virtual_stages": [1, 2], "sharding": ["zero1", "zero2"],
            "expert_dispatch": ["all-to-all", "deduplicated"], "overlap_param_gather": false},
  "top": 5, "best_of": "plan"})";

}  // namespace titer::testing
