#pragma once
// Many scenarios: along axes; the best plans for a model, a cluster and a batch, and a run to begin
// with.

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

struct Sweep;

/// One row for each combination, all in memory: `titer sweep` writes tables that are longer.
struct SweepRequest {
  Asked sweep;                             // as its file has it, without changes
  std::optional<Fidelity> fidelity = {};   // otherwise each point's usual one
  std::vector<std::string> columns = {};   // beside those that all rows have
  std::vector<std::string> measured = {};  // tables of runs to learn figures from
  std::optional<std::int64_t> limit = {};  // the most points that the axes may make
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  // set: there is no answer
};
[[nodiscard]] std::span<const Option<SweepRequest>> sweep_options();
/// What is to be computed, of at most so many points unless the request says otherwise; `notes` are
/// what to say of what was learned. Throws InputError.
[[nodiscard]] Sweep asked_sweep(const SweepRequest& request,
                                std::size_t most_points,
                                std::vector<std::string>& notes);
/// Good: some point fits in memory. Throws InputError, also where it was stopped.
[[nodiscard]] Answer ask(const SweepRequest& request);

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
