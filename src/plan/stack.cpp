#include "titer/plan/stack.hpp"

#include "titer/hardware/noted_fields.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/plan/file_schemas.hpp"
#include "titer/plan/place/named_algorithms.hpp"

namespace titer {
namespace {

constexpr Range kParameters = {1, 1e15};
constexpr Range kSlowdown = {1, 10};

/// What the file has beside one another.
struct WrittenStack : Stack, StackMemory, StackKernels {};
using S = WrittenStack;
using M = StackMemory;
using K = StackKernels;

void read_gradient_precision(const Field<S>& own, Reader& in, S& stack) {
  Reader gradients = in.object(own.key);
  const DataType of_bf16 =
      gradients.maybe_choice<DataType>(name(DataType::bf16), kDataTypes).value_or(DataType::fp32);
  for (const Choice<DataType>& type : kDataTypes) {
    const DataType usual =
        type.value == DataType::bf16 || is_of_products(type.value) ? of_bf16 : DataType::fp32;
    stack.gradient[static_cast<std::size_t>(type.value)] =
        gradients.maybe_choice<DataType>(type.name, kDataTypes).value_or(usual);
  }
  gradients.finish();
}

Value gradient_precision_schema(const Field<S>& /*own*/) {
  Value schema = schema::object();
  for (const Choice<DataType>& type : kDataTypes) {
    const bool is_narrow = is_of_products(type.value);
    schema::add_key(schema,
                    {.key = type.name,
                     .about = "with this training precision",
                     .otherwise = is_narrow ? "that of bf16" : "",
                     .written = schema::one_of<DataType>(kDataTypes),
                     .usual = is_narrow ? Value() : Value(name(DataType::fp32))});
  }
  return schema;
}

constexpr std::array kErrorFields = {
    fields::number<&ErrorShares::low>("low", {0.01, 1}, "of a predicted time"),
    fields::number<&ErrorShares::high>("high", {1, 100}, "likewise")};

constexpr std::array kRunErrors = {
    fields::number<&S::run_errors, S>("of_runs",
                                      {0, 1},
                                      "left of the errors of public runs of a kind, where runs of "
                                      "one's own tell more")};

constexpr std::array kErrorGrades = {Grade::fitted, Grade::datasheet, Grade::extrapolated};

void read_errors(const Field<S>& own, Reader& in, S& stack) {
  auto errors = in.maybe_object(own.key);
  if (!errors) {
    return;
  }
  static_cast<void>(errors->maybe_text("source"));
  for (const Grade grade : kErrorGrades) {
    if (auto shares = errors->maybe_object(name(grade))) {
      read_fields<ErrorShares>(
          kErrorFields, *shares, stack.errors[static_cast<std::size_t>(grade)].emplace());
    }
  }
  read_fields<S>(kRunErrors, *errors, stack);
  errors->finish();
}

Value errors_schema(const Field<S>& /*own*/) {
  Value schema = schema::object();
  schema::add_key(schema,
                  {.key = "source", .about = "one of `sources`", .written = schema::text()});
  for (const Grade grade : kErrorGrades) {
    schema::add_key(schema,
                    {.key = name(grade),
                     .about = "of results whose weakest figure is so",
                     .written = schema_of<ErrorShares>(kErrorFields)});
  }
  add_keys<S>(kRunErrors, schema);
  return schema;
}

/// No prediction depends on them.
void check_abilities(const Field<S>& /*own*/, Reader& in, S& /*stack*/) {
  static_cast<void>(read_abilities(in));
}

constexpr std::array kStackFields = {
    fields::text<&S::name, S>("name", "of the software").needed(),
    fields::text<&S::title, S>("title", "the same for people").or_else("its name"),
    fields::sources<&S::evidence, S>(),
    fields::figure<&S::dispatch, S>("dispatch", "the host's time to launch a kernel").needed(),
    fields::figure<&S::matrix_dispatch, S>("matrix_dispatch", "of a product").or_else("`dispatch`"),
    fields::figure<&S::attention_dispatch, S>("attention_dispatch", "of fused attention")
        .or_else("`dispatch`"),
    fields::figure<&S::memory_dispatch, S>("memory_dispatch", "of a kernel that moves memory")
        .or_else("`dispatch`"),
    fields::figure<&S::transfer_dispatch, S>("transfer_dispatch", "of a collective in a layer")
        .or_else("`dispatch`"),
    fields::figure<&S::loop_dispatch, S>(
        "loop_dispatch", "and for each further kernel of an operation that goes expert by expert"),
    fields::figure<&S::batch_dispatch, S>("batch_dispatch",
                                          "and before a micro-batch's first kernel: its tokens "
                                          "read and sent to the tensor group, its "
                                          "masks made"),
    fields::flag<&S::awaits_counts, S>("awaits_counts",
                                       "before experts get their tokens, the host waits for the "
                                       "device to tell how many each gets, "
                                       "unless these are padded to their capacity"),
    fields::flag<&S::awaits_offsets, S>("awaits_offsets",
                                        "before the activation of clamped gates, the host sends "
                                        "the number that is added along, which waits for the "
                                        "device"),
    fields::flag<&S::awaits_tensor_groups, S>(
        "awaits_tensor_groups",
        "behind a tensor group's transfer that nothing hides, the host is no further ahead of the "
        "device than where nothing was launched"),
    fields::choice<&S::tensor_overlap, kTensorOverlaps, S>(
        "tensor_overlap", "tensor-parallel collectives beside compute, where a plan does not say")
        .needed(),
    fields::choice<&S::pipeline_send, kPipelineSends, S>(
        "pipeline_send", "how a stage sends to the next, where a plan does not say"),
    fields::choice<&S::interleaved_send, kPipelineSends, S>("interleaved_send",
                                                            "the same with several chunks per rank")
        .or_else("`pipeline_send`"),
    fields::choice<&S::expert_dispatch, kExpertDispatches, S>(
        "expert_dispatch", "how tokens reach experts on other ranks, where a plan does not say"),
    fields::figure<&S::deduplication_slowdown, S>(
        "deduplication_slowdown",
        kSlowdown,
        "of `deduplicated` exchanges, over an all-to-all of as many bytes"),
    fields::flag<&S::overlap_grad_reduce, S>(
        "overlap_grad_reduce", "gradients beside the backward passes, where a plan does not say"),
    fields::flag<&S::overlap_param_gather, S>(
        "overlap_param_gather", "parameters beside forward passes, where a plan does not say"),
    fields::flag<&S::broadcasts_updates, S>("broadcasts_updates",
                                            "each rank broadcasts the parameters that it has "
                                            "updated of those that zero1 or zero2 shards, one rank "
                                            "after the other, where others gather them"),
    fields::figure<&S::bucket_parameters, S>(
        "bucket_parameters", kParameters, "whose gradients make a bucket")
        .or_else("no buckets"),
    fields::figure<&S::bucket_parameters_per_rank, S>(
        "bucket_parameters_per_rank",
        {0, kParameters.most},
        "no fewer than these for each data-parallel rank"),
    fields::figure<&S::overlap_slowdown, S>(
        "overlap_slowdown", kSlowdown, "of compute beside communication, and of that"),
    fields::flag<&S::pipeline_scatter_gather, S>("pipeline_scatter_gather",
                                                 "a stage sends 1/t of an activation per rank"),
    fields::algorithms<S, &S::collectives>().or_else("the cluster's"),
    fields::special<S>("gradient_precision",
                       {read_gradient_precision, gradient_precision_schema, nullptr},
                       "of gradients, by training precision")
        .needed(),
    fields::figure<&S::runtime_memory, S>("runtime_memory", "of workspaces, whatever the plan"),
    fields::figure<&M::context, S>("context_memory", "of the device's context: kernels loaded"),
    fields::figure<&M::communicator, S>("communicator_memory", "of a process group"),
    fields::figure<&M::sends, S>("send_memory", "of the messages between pipeline stages"),
    fields::figure<&M::allocator_overhead, S>(
        "allocator_overhead", {0, 1}, "reserved beyond what is allocated, over the latter"),
    fields::flag<&M::gathers_by_matrix, S>(
        "gathers_by_matrix",
        "zero3 gathers a layer's matrices one by one, and no second layer is whole"),
    fields::flag<&M::weight_gradient_dummies, S>(
        "weight_gradient_dummies", "autograd gets an empty gradient for every weight"),
    fields::flag<&M::flat_gradients, S>("flat_gradients",
                                        "gradients are copied together to be synchronised"),
    fields::choice<&M::fp8_weights, kNarrowWeights, S>(
        "fp8_weights", "what is held of weights in fp8, where a training does not say"),
    fields::choice<&M::fp4_weights, kNarrowWeights, S>("fp4_weights", "the same in fp4"),
    fields::flag<&M::keeps_wide_inputs, S>(
        "keeps_wide_inputs", "inputs of fp8 products are kept in the activations' type"),
    fields::flag<&M::keeps_narrow_results, S>(
        "keeps_narrow_results",
        "beside fp8 products inputs of activations and gradients of results are kept in fp8, and "
        "what attention returns in 12 bits"),
    fields::flag<&M::shards_master_weights, S>(
        "shards_master_weights", "zero3 shards the weights that are updated, and no copy of them"),
    fields::figure<&M::logit, S>("logit_memory", "of a logit while the loss is computed")
        .or_else("its softmax in fp32 and its gradient"),
    fields::figure<&M::step, S>("step_memory", "of a parameter while a rank updates it"),
    fields::flag<&K::fuses_casts, S>("fuses_casts",
                                     "conversions to fp8 are part of the kernels that make the "
                                     "numbers, as their scales are known "
                                     "before"),
    fields::flag<&K::concatenates_shards, S>(
        "concatenates_shards",
        "of zero3, what is gathered of a layer is copied together before it is used, and its "
        "gradients are before they are reduced"),
    fields::flag<&K::recomputes_what_is_needed, S>(
        "recomputes_what_is_needed",
        "of a repeated forward pass, what no gradient is made of is left out: the last product of "
        "a layer"),
    fields::figure<&K::memory_traffic, S>(
        "memory_traffic",
        kSlowdown,
        "time of a layer's memory-bound kernels, over what must be moved"),
    fields::choice<&K::attention, kAttentionGenerations, S>(
        "attention_kernels",
        "of fused attention: the chip's `own`, or `flash-2` (FlashAttention 2) on all of them"),
    fields::figure<&K::attention_slowdown, S>(
        "attention_slowdown",
        {0.5, kSlowdown.most},
        "of fused attention, over what the chip reaches with such kernels"),
    fields::integer<&K::softmax_heads, S>("softmax_heads",
                                          {1, 1024},
                                          "of scores that go through memory in 16 bits, the fused "
                                          "softmax takes a multiple of so many "
                                          "heads, of all sequences on a rank together; others are "
                                          "scaled, masked and normalised one by "
                                          "one, in fp32; 1: all are fused"),
    fields::figure<&K::loss_traffic, S>(
        "loss_traffic",
        {0.05, kSlowdown.most},
        "time of the loss's kernels, over what its steps move one by one in fp32: 44 B of a logit")
        .or_else("`memory_traffic`"),
    fields::figure<&K::operator_traffic, S>(
        "operator_traffic",
        {0.05, kSlowdown.most},
        "time of what no kernel fuses (clamps of activations, experts' biases), over what its "
        "operators move one by one")
        .or_else("`memory_traffic`"),
    fields::figure<&K::mixer_slowdown, S>(
        "mixer_slowdown",
        {0.5, kSlowdown.most},
        "of the kernels that are a mixer's own (short convolution, chunks, scan, gated norm), "
        "besides"),
    fields::figure<&K::straggling, S>(
        "straggling", {0, 1}, "relative standard deviation of equal devices' compute"),
    fields::special<S>("error_bars",
                       {read_errors, errors_schema, nullptr},
                       "by grade, the shares of a predicted time between which four of five "
                       "measured ones lie"),
    fields::anything<S>("calibration", "how its figures were fitted"),
    fields::of_schema<S, abilities_schema>(
        "abilities", check_abilities, "what it can run of all that plans may ask for")};

std::vector<SupportCell> measured_with(const std::string& stack) {
  std::vector<SupportCell> cells = shipped_support();
  std::erase_if(cells, [&](const SupportCell& cell) { return cell.combination.stack != stack; });
  return cells;
}

}  // namespace

Value stack_schema() { return schema_of<S>(kStackFields); }

Stack read_stack(Reader& in) {
  WrittenStack file;
  read_noted<S>(kStackFields, in, "", file.evidence, file);
  if (file.title.empty()) {
    file.title = file.name;
  }
  Stack stack = static_cast<Stack&&>(file);
  stack.memory = static_cast<const StackMemory&>(file);
  stack.kernels = static_cast<const StackKernels&>(file);
  stack.measured = measured_with(stack.name);
  return stack;
}

}  // namespace titer
