#pragma once
// A run to begin with: the fastest plan of a model on so many devices, as a file that people edit.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

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
