#include "titer/plan/stack.hpp"

#include "titer/input/reader.hpp"

namespace titer {

Stack read_stack(Reader& in) {
  Stack stack;
  stack.name = in.text("name");
  stack.title = in.maybe_text("title").value_or(stack.name);
  stack.evidence.read_sources(in);
  stack.dispatch = in.quantity<Seconds>("dispatch");
  stack.evidence.note(in, "dispatch", "dispatch");
  stack.tensor_overlap = in.choice<TensorOverlap>("tensor_overlap", kTensorOverlaps);
  stack.pipeline_scatter_gather = in.flag("pipeline_scatter_gather", false);
  Reader gradients = in.object("gradient_precision");
  for (const Choice<DataType>& type : kDataTypes) {
    stack.gradient[static_cast<std::size_t>(type.value)] =
        gradients.maybe_choice<DataType>(type.name, kDataTypes).value_or(DataType::fp32);
  }
  gradients.finish();
  stack.runtime_memory = in.quantity<Bytes>("runtime_memory");
  stack.evidence.note(in, "runtime_memory", "runtime_memory");
  in.finish();
  return stack;
}

}  // namespace titer
