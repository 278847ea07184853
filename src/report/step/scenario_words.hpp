#pragma once
// What a scenario asks for, in words that the heads of several views share.

#include <string>

#include "titer/scenario/scenario.hpp"

namespace titer {

/// "batch 128 x 8192 tokens, bf16, gradients fp32, adam; stack megatron-lm"
[[nodiscard]] std::string training_words(const Scenario& scenario);
/// "keeps 7 % of memory free, the error of predicted memory": what plans must leave of a device's.
[[nodiscard]] std::string memory_margin_words(double margin);

}  // namespace titer
