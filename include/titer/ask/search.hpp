#pragma once
// The best plans for a model, a cluster and a batch, and a run to begin with.

#include <atomic>
#include <cstddef>
#include <cstdint>
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

/// The fastest plan of a model on so many devices, as a file that people edit.
struct NewRunRequest {
  std::string model = {};    // a shipped name or a file
  std::string cluster = {};  // likewise
  std::int64_t devices = 0;
  std::int64_t batch = 0;     // sequences of a step; 0: about four million tokens
  std::int64_t sequence = 0;  // tokens; 0: 8192, or the model's longest where that is less
  std::string precision = "bf16";
  std::string stack = {};  // otherwise software of today for the cluster's chips
  unsigned threads = 1;
};
[[nodiscard]] std::span<const Option<NewRunRequest>> new_run_options();

struct NewRunOutcome : Answer {
  Value file;        // names what is shipped, and has no key that says the usual
  std::string says;  // "Llama 3 70B on 64 x …, batch 512 x 8192 tokens: 12.3 s a step"
  std::vector<std::string> notes;  // what was taken because it was not said
};
/// Searches all plans that the software can run. Throws InputError, also where none is left.
[[nodiscard]] NewRunOutcome ask(const NewRunRequest& request);

}  // namespace titer
