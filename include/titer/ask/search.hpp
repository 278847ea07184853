#pragma once
// The best plans for a model, a cluster and a batch.

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

struct SearchRequest {
  Asked search;            // of a run: the search around it; "": of `model`, and what changes say
  std::string model = {};  // a name or a file
  std::optional<Fidelity> refine = {};     // evaluate what was found at this fidelity, too
  bool exhaustive = false;                 // no bounds
  std::vector<std::string> measured = {};  // tables of runs to learn figures from
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  // set: what was found until then is the answer
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};
[[nodiscard]] std::span<const Option<SearchRequest>> search_options();

/// Good: a plan was found.
struct SearchOutcome : Answer {
  bool complete = true;               // false: stopped before
  std::optional<Document> best = {};  // the scenario with the best plan, to run
};
/// Throws InputError.
[[nodiscard]] SearchOutcome ask(const SearchRequest& request);

}  // namespace titer
