#pragma once
// What a scenario asks for, in words that the heads of several views share.

#include <string>

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// "device 13 speed 0.95, compute_jitter 2 %", by the keys of their file; empty where all is as the
/// cluster says.
[[nodiscard]] std::string condition_words(const Conditions& conditions);
/// "batch 128 x 8192 tokens, bf16, gradients fp32, adam; stack megatron-lm"
[[nodiscard]] std::string training_words(const Scenario& scenario);
/// "keeps 7 % of memory free, the error of predicted memory": what plans must leave of a device's.
[[nodiscard]] std::string memory_margin_words(double margin);
/// "+2.3 s", "-2.3 s", "0 s".
[[nodiscard]] std::string signed_text(Seconds time);
/// "four of five between 15.18 s and 23.72 s" between these; nothing where nobody knows how far off
/// the time may be.
[[nodiscard]] std::string bar_words(std::string_view before,
                                    const std::optional<ErrorBar>& bar,
                                    std::string_view after = "");
/// "four of five are expected between 15.18 s and 23.72 s: this is one of them"
[[nodiscard]] std::string expected_words(const ErrorBar& bar, Seconds measured);
/// "extrapolated figures; four of five between 15.18 s and 23.72 s": what a step's time rests on.
[[nodiscard]] std::string evidence_words(const StepResult& step);
/// "18.98 s (four of five between 15.18 s and 23.72 s)"
[[nodiscard]] std::string time_words(const StepResult& step);

}  // namespace titer
