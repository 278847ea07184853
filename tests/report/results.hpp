#pragma once
// A result whose every figure is a different number, so that a view that mixes two up is caught.

#include "titer/report/step/step_report.hpp"
#include "titer/view/table.hpp"

namespace titer::testing {

/// Breakdown parts 1/8 s, 2/8 s, … in their order; exact in binary.
inline StepResult distinct_result() {
  StepResult result;
  double eighths = 1.0;
  for (const BreakdownPart& part : kBreakdownParts) {
    result.breakdown.*part.value = Seconds::from_si(eighths++ / 8.0);
  }
  result.iteration_time = result.breakdown.total();
  for (const CommunicationPart& part : kCommunicationParts) {
    result.comm_total.*part.value = Seconds::from_si(100.0 + eighths++ / 8.0);
  }
  result.reference_stage = 1;
  result.devices = 64;
  result.tokens_per_s = 1001.5;
  result.tokens_per_s_per_device = 1002.5;
  result.model_flops_per_device = 140_TFLOPps;
  result.mfu = 0.51;
  result.mfu_causal = 0.52;
  result.hfu = 0.53;
  result.bubble_ratio = 0.12;
  result.bubble_overhead = 0.13;
  for (int stage = 0; stage < 2; ++stage) {
    const double s = stage;
    result.memory.push_back({.stage = stage,
                             .parameters = {.dense = 1000.0 + s},
                             .weights = (1.0 + s) * 1_GiB,
                             .gradients = (2.0 + s) * 1_GiB,
                             .optimizer = (4.0 + s) * 1_GiB,
                             .activations = (8.0 + s) * 1_GiB,
                             .working = (16.0 + s) * 1_GiB,
                             .buffers = (0.5 + s) * 1_GiB,
                             .runtime = (32.0 + s) * 1_GiB});
  }
  result.memory_peak = result.memory[1].total();
  result.memory_capacity = 80_GiB;
  result.grade = Grade::datasheet;
  return result;
}

/// As a table has them.
inline Row result_cells(const StepResult& result) {
  Row cells;
  for (const Figure& figure : result_figures(result)) {
    cells.push_back(csv_cell(figure.datum.value()));
  }
  return cells;
}

/// As many empty cells.
inline Row no_result_cells() { return Row(result_columns().size()); }

}  // namespace titer::testing
