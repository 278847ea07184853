#pragma once
// What an imported model and plan come to: parameters, FLOPs, and the memory that weights,
// gradients and the optimizer's state need, before anything is simulated.

#include <cstdint>

#include "titer/hardware/data_type.hpp"
#include "titer/import/imported.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

struct ImportFigures {
  std::int64_t parameters = 0;
  std::int64_t active = 0;    // that a token goes through
  std::int64_t sequence = 0;  // tokens, of the FLOPs below
  Flops forward_full;         // of one sequence, every pair of tokens counted
  Flops forward_causal;       // only the causal half
  DataType precision = DataType::bf16;
  DataType gradient = DataType::fp32;
  std::int64_t rank = 0;  // of the pipeline, with the most parameters on a device
  double on_device = 0;   // these, before data-parallel ranks split anything
  Bytes weights;          // of that device, as far as they stay on it
  Bytes gradients;
  Bytes optimizer;
};

/// `model` is the one imported, or the shipped one that it names. Degrees that are left open count
/// as 1.
[[nodiscard]] ImportFigures import_figures(const Transformer& model, const ImportedRun& imported);

}  // namespace titer
