#include "titer/plan/stack.hpp"

#include "titer/input/reader.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/plan/place/named_algorithms.hpp"

namespace titer {
namespace {

constexpr double kMostParameters = 1e15;
constexpr double kMostSlowdown = 10;

/// A figure with its source; nothing where the stack says nothing of it.
std::optional<double> read_number(
    Reader& in, Stack& stack, std::string_view key, double least, double most) {
  const auto number = in.maybe_number(key, least, most);
  if (number) {
    stack.evidence.note(in, key, std::string(key));
  }
  return number;
}

/// What runs beside what.
void read_overlap(Reader& in, Stack& stack) {
  stack.tensor_overlap = in.choice<TensorOverlap>("tensor_overlap", kTensorOverlaps);
  stack.pipeline_send = in.maybe_choice<PipelineSend>("pipeline_send", kPipelineSends)
                            .value_or(PipelineSend::blocking);
  stack.interleaved_send = in.maybe_choice<PipelineSend>("interleaved_send", kPipelineSends);
  stack.overlap_grad_reduce = in.flag("overlap_grad_reduce", false);
  stack.overlap_param_gather = in.flag("overlap_param_gather", false);
}

void read_overlap_figures(Reader& in, Stack& stack) {
  stack.bucket_parameters =
      read_number(in, stack, "bucket_parameters", 1, kMostParameters).value_or(0);
  stack.bucket_parameters_per_rank =
      read_number(in, stack, "bucket_parameters_per_rank", 0, kMostParameters).value_or(0);
  stack.overlap_slowdown = read_number(in, stack, "overlap_slowdown", 1, kMostSlowdown).value_or(1);
}

std::optional<Bytes> read_bytes(Reader& in, Stack& stack, std::string_view key) {
  const auto bytes = in.maybe_quantity<Bytes>(key);
  if (bytes) {
    stack.evidence.note(in, key, std::string(key));
  }
  return bytes;
}

/// What there is besides states and activations.
void read_memory(Reader& in, Stack& stack) {
  stack.runtime_memory = in.quantity<Bytes>("runtime_memory");
  stack.evidence.note(in, "runtime_memory", "runtime_memory");
  StackMemory& memory = stack.memory;
  memory.context = read_bytes(in, stack, "context_memory").value_or(Bytes{});
  memory.communicator = read_bytes(in, stack, "communicator_memory").value_or(Bytes{});
  memory.sends = read_bytes(in, stack, "send_memory").value_or(Bytes{});
  memory.allocator_overhead = read_number(in, stack, "allocator_overhead", 0, 1).value_or(0);
  memory.weight_gradient_dummies = in.flag("weight_gradient_dummies", false);
  memory.flat_gradients = in.flag("flat_gradients", false);
}

void read_kernels(Reader& in, Stack& stack) {
  StackKernels& kernels = stack.kernels;
  kernels.memory_traffic = read_number(in, stack, "memory_traffic", 1, kMostSlowdown).value_or(1);
  kernels.attention_slowdown =
      read_number(in, stack, "attention_slowdown", 0.5, kMostSlowdown).value_or(1);
  kernels.straggling = read_number(in, stack, "straggling", 0, 1).value_or(0);
}

void read_errors(Reader& in, Stack& stack) {
  auto errors = in.maybe_object("error_bars");
  if (!errors) {
    return;
  }
  static_cast<void>(errors->maybe_text("source"));
  for (const Grade grade : {Grade::fitted, Grade::datasheet, Grade::extrapolated}) {
    if (auto shares = errors->maybe_object(name(grade))) {
      stack.errors[static_cast<std::size_t>(grade)] = {
          .low = shares->maybe_number("low", 0.01, 1).value_or(1),
          .high = shares->maybe_number("high", 1, 100).value_or(1)};
      shares->finish();
    }
  }
  errors->finish();
}

}  // namespace

Stack read_stack(Reader& in) {
  Stack stack;
  stack.name = in.text("name");
  stack.title = in.maybe_text("title").value_or(stack.name);
  stack.evidence.read_sources(in);
  stack.dispatch = in.quantity<Seconds>("dispatch");
  stack.evidence.note(in, "dispatch", "dispatch");
  read_overlap(in, stack);
  read_overlap_figures(in, stack);
  stack.pipeline_scatter_gather = in.flag("pipeline_scatter_gather", false);
  stack.collectives = read_algorithms(in, "collectives");
  Reader gradients = in.object("gradient_precision");
  for (const Choice<DataType>& type : kDataTypes) {
    stack.gradient[static_cast<std::size_t>(type.value)] =
        gradients.maybe_choice<DataType>(type.name, kDataTypes).value_or(DataType::fp32);
  }
  gradients.finish();
  read_memory(in, stack);
  read_kernels(in, stack);
  read_errors(in, stack);
  (void)in.raw("calibration");  // how its figures were fitted
  (void)read_abilities(in);     // no prediction depends on them
  in.finish();
  return stack;
}

}  // namespace titer
