#pragma once
// The figures of a result that are plain numbers, by the names that JSON, CSV and expressions use.

#include <array>
#include <string_view>

#include "titer/estimate/result.hpp"

namespace titer {

struct ResultFigure {
  std::string_view name;
  double (*value)(const StepResult&);
};
inline constexpr std::array<ResultFigure, 9> kResultFigures = {{
    {"iteration_time_s", [](const StepResult& r) { return r.iteration_time.si(); }},
    {"tokens_per_s", [](const StepResult& r) { return r.tokens_per_s; }},
    {"tokens_per_s_per_device", [](const StepResult& r) { return r.tokens_per_s_per_device; }},
    {"model_tflops_per_device",
     [](const StepResult& r) { return r.model_flops_per_device / 1_TFLOPps; }},
    {"mfu", [](const StepResult& r) { return r.mfu; }},
    {"mfu_causal", [](const StepResult& r) { return r.mfu_causal; }},
    {"hfu", [](const StepResult& r) { return r.hfu; }},
    {"bubble_ratio", [](const StepResult& r) { return r.bubble_ratio; }},
    {"bubble_overhead", [](const StepResult& r) { return r.bubble_overhead; }},
}};

}  // namespace titer
