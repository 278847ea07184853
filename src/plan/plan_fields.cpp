#include "titer/plan/plan_fields.hpp"

#include "part_sets.hpp"
#include "plan/place/rank_order.hpp"
#include "titer/plan/schedule/read_schedule.hpp"

namespace titer {
namespace {

constexpr Range kDegree = {1, 10'000'000};

/// "hsdp" is zero3 in groups.
void read_shard(const Field<Plan>& own, Reader& in, Plan& plan) {
  plan.shard = fields::read_integer(own.key, own.range, own.required, in);
  const Value* sharding = in.raw("sharding");
  if (sharding != nullptr && sharding->text == "hsdp" && !plan.shard) {
    in.fail("sharding", "expected \"shard\" too: how many ranks split the parameters among them");
  }
}

/// As many as a layout of the layers has, where there is one.
std::int64_t chunks_of_layout(Reader& in, const Plan& plan) {
  const std::int64_t usual = usual_chunks(plan.schedule);
  const Value* layers = in.raw("layers");
  if (layers == nullptr || layers->kind != Value::Kind::text || !interleaves(plan.schedule)) {
    return usual;
  }
  const auto stages = static_cast<std::int64_t>(read_layout(layers->text).of_stages.size());
  return stages > 0 && stages % plan.pipeline == 0 ? stages / plan.pipeline : usual;
}

void read_virtual_stages(const Field<Plan>& own, Reader& in, Plan& plan) {
  plan.virtual_stages = fields::read_integer(own.key, own.range, own.required, in)
                            .value_or(chunks_of_layout(in, plan));
}

using P = Plan;

Value schedule_schema(const Field<P>& /*own*/) {
  return schema::either(
      {schema::one_of<std::size_t>(schedule_words()), schema::text_like("[.]csv$")});
}

Value layers_schema(const Field<P>& /*own*/) {
  Value ends = schema::object();
  const auto add = [&](std::string_view key, std::string_view about) {
    schema::add_key(ends, {.key = key, .about = about, .written = schema::integer({.least = 0})});
  };
  add("first", "layers of the model's first stage, where the others share out the rest evenly");
  add("last", "layers of its last stage, likewise");
  return schema::either({schema::one_of<LayerRule>(kLayerRules),
                         ends,
                         schema::list_of(schema::integer({.least = 0})),
                         schema::text_like("^E.*L$")});
}

Value list_of(std::span<const std::int64_t> numbers) {
  Value list = Value::make_array();
  for (const std::int64_t number : numbers) {
    list.push(number);
  }
  return list;
}

Value write_layers(const P& plan) {
  if (const auto* ends = std::get_if<EndLayers>(&plan.layers)) {
    Value object = Value::make_object();
    const auto add = [&](std::string_view key, const std::optional<std::int64_t>& number) {
      if (number) {
        object.add(std::string(key), *number);
      }
    };
    add("first", ends->first);
    add("last", ends->last);
    return object;
  }
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&plan.layers);
  return numbers != nullptr ? list_of(*numbers) : Value(text_of(plan.layers));
}

Value write_batch_shares(const P& plan) {
  return plan.batch_shares.weights.empty() ? Value() : list_of(plan.batch_shares.weights);
}

// In the order in which they are read: some look at those before.
constexpr std::array kPlanFields = {
    fields::integer<&P::pipeline>("pipeline", kDegree, "degree p: ranks of the pipeline")
        .affecting(kPlaces | kStages),
    fields::integer<&P::tensor>("tensor", kDegree, "degree t: ranks that split each layer")
        .affecting(kPlaces | kLayerCosts),
    fields::integer<&P::data>("data", kDegree, "degree d: ranks that share out the batch")
        .or_else("1; what a fixed cluster leaves")
        .affecting(kPlaces | kMemory),
    fields::integer<&P::context>("context", kDegree, "degree cp: ranks that split each sequence")
        .affecting(kPlaces | kLayerCosts),
    fields::integer<&P::expert>(
        "expert", kDegree, "degree ep: ranks that share out experts, within t cp d")
        .affecting(kPlaces | kLayerCosts),
    fields::integer<&P::expert_tensor>(
        "expert_tensor", kDegree, "degree etp: ranks that split each expert")
        .or_else("t")
        .affecting(kPlaces | kLayerCosts),
    fields::choice<&P::expert_dispatch, kExpertDispatches>(
        "expert_dispatch",
        "a copy of a token for each of its experts; `deduplicated`: one for each rank, or each "
        "node where experts lie on several (DeepEP, HybridEP); `all-gather`: every rank gets all "
        "tokens, and sums are scattered back (Megatron-Core's allgather dispatcher)")
        .or_else("the stack's")
        .affecting(kLayerCosts),
    fields::flag<&P::expert_overlap>("expert_overlap",
                                     "tokens go to experts and back beside the compute of another "
                                     "micro-batch's pass the other way, where a rank has one")
        .affecting(kLayerCosts),
    fields::flag<&P::shared_expert_overlap>(
        "shared_expert_overlap",
        "the MLP that all tokens go through is computed while they are on their way to their "
        "experts and back, on a stream of its own")
        .affecting(kLayerCosts),
    fields::flag<&P::fused_experts>("fused_experts",
                                    "the products of experts, which are one kernel for all, make "
                                    "their activations and casts as well (Transformer Engine's "
                                    "fused grouped MLP)")
        .affecting(kLayerCosts),
    fields::choice<&P::context_method, kContextMethods>(
        "context_method",
        "how ranks attend to the others' parts of a sequence; `hierarchical`: by heads among "
        "`context_inner` neighbours, and a ring over these")
        .affecting(kLayerCosts),
    fields::integer<&P::context_inner>(
        "context_inner", kDegree, "neighbours of the method `hierarchical`")
        .affecting(kPlaces | kLayerCosts),
    fields::flag<&P::context_balanced>("context_balanced",
                                       "each rank has an early and a late part of a sequence")
        .affecting(kLayerCosts),
    fields::integer<&P::image_columns>(
        "image_columns", kDegree, "images are cut into t / columns rows of so many parts")
        .affecting(kLayerCosts),
    fields::special<P, &P::schedule>(
        "schedule",
        {[](const Field<P>& /*own*/, Reader& in, P& plan) { plan.schedule = read_schedule(in); },
         schedule_schema,
         [](const P& plan) { return Value(name(plan.schedule)); }},
        "a name of `titer list schedules` (`interleaved`: 1f1b with `virtual_stages`), or a CSV "
        "file "
        "beside the scenario")
        .affecting(kMemory)
        .marked(kAdds),
    fields::integer<&P::virtual_stages>(
        "virtual_stages", kDegree, "v: chunks per pipeline rank (interleaving)")
        .read_by(read_virtual_stages)
        .or_else("1, what the schedule needs, or what a layout of `layers` has")
        .affecting(kStages)
        .marked(kAdds),
    fields::special<P, &P::layers>(
        "layers",
        {[](const Field<P>& /*own*/, Reader& in, P& plan) { plan.layers = read_layers(in); },
         layers_schema,
         write_layers},
        "layers of the stages: as many each, one less on the first and on the last, so many on "
        "these, a number for each stage of the model, or a `pipeline_model_parallel_layout` of "
        "Megatron-Core's; what is left over is on the first stages, one each")
        .affecting(kStages | kMemory),
    fields::integer<&P::micro_batch>("micro_batch", kDegree, "b: sequences per micro-batch")
        .affecting(kLayerCosts),
    fields::special<P, &P::batch_shares>(
        "batch_shares",
        {[](const Field<P>& /*own*/, Reader& in, P& plan) {
           plan.batch_shares = read_batch_shares(in);
         },
         [](const Field<P>& /*own*/) { return schema::list_of(schema::integer({.least = 1})); },
         write_batch_shares},
        "a whole weight for each data-parallel rank, such as `[1, 2]`: it has so large a share of "
        "every micro-batch of all of them, of which `micro_batch` is the mean; events only")
        .or_else("equal")
        .affecting(kNothingKept),
    fields::special<P, &P::recompute, &P::recomputed>(
        "recompute",
        {read_recompute, recompute_schema, write_recompute},
        "what backward passes compute again: nothing, core attention, whole layers, all but "
        "attention and every second product (`operations`), or modules")
        .stands_alone(true)
        .affecting(kLayerCosts),
    fields::integer<&P::recompute_every>(
        "recompute_every", kDegree, "of `full`: layers whose input is kept together")
        .or_else("1")
        .affecting(kLayerCosts | kMemory),
    fields::integer<&P::recompute_layers>(
        "recompute_layers", {0, kDegree.most}, "of `full`: how many of a stage's layers")
        .or_else("all")
        .affecting(kLayerCosts | kStages),
    fields::flag<&P::distribute_saved_activations>(
        "distribute_saved_activations",
        "of `full`: each rank of a tensor group keeps a part of what is kept of a layer, which is "
        "gathered before the layer is computed again (DeepSpeed's `partition_activations`)")
        .affecting(kLayerCosts),
    fields::flag<&P::sequence_parallel>("sequence_parallel",
                                        "split norms and dropouts over the tensor group")
        .affecting(kLayerCosts),
    fields::special<P, &P::cuda_graph>(
        "cuda_graph",
        {read_graph, graph_schema, write_graph},
        "what the host launches as one: nothing, whole iterations, or parts of layers")
        .or_else("`none`")
        .affecting(kLayerCosts),
    fields::choice<&P::sharding, kShardingNames>(
        "sharding",
        "what data-parallel ranks split: `zero1` (`weight-update`), `zero2`, `zero3` (`fsdp`, "
        "`hsdp`); `parameter-server` with `servers`; `data-parallel-root` (nn.DataParallel): one "
        "process, all through the port of a node's first device, whose memory is shown")
        .affecting(kMemory)
        .marked(kAdds),
    fields::choice<&P::gradient_collective, kGradientCollectives>(
        "gradient_collective",
        "what adds up gradients: `all-reduce` (with `none`, and `zero1` as it first was), "
        "`reduce-scatter`, or `reduce` to each shard's owner in turn (`zero2`, `zero3`)")
        .or_else("`reduce-scatter`; `all-reduce` with `none`")
        .affecting(kNothingKept)
        .marked(kAdds),
    fields::integer<&P::shard>(
        "shard", kDegree, "ranks that split what is sharded, where not all do")
        .read_by(read_shard)
        .stands_alone(false)
        .or_else("all")
        .affecting(kPlaces | kMemory)
        .marked(kAdds),
    fields::flag<&P::reshard_after_forward>(
        "reshard_after_forward", "of `zero3`: the backward pass gathers parameters again")
        .affecting(kMemory)
        .marked(kAdds),
    fields::flag<&P::reduce_every_pass>("reduce_every_pass",
                                        "of `zero2`, `zero3`: every pass hands on its gradients")
        .affecting(kMemory)
        .marked(kAdds),
    fields::flag<&P::prefetch>("prefetch", "of `zero3`: parameters come beside the block before")
        .affecting(kMemory)
        .marked(kAdds),
    fields::integer<&P::servers>("servers", kDegree, "of the sharding `parameter-server`")
        .affecting(kNothingKept)
        .marked(kAdds),
    fields::object<&P::offload, offload_fields>("offload", "what is kept outside the devices")
        .affecting(kMemory)
        .marked(kAdds),
    fields::object<&P::local_steps, local_steps_fields>(
        "local_steps",
        "islands of data-parallel ranks train by themselves for many steps, then meet (DiLoCo)")
        .affecting(kPlaces | kMemory)
        .marked(kAdds),
    fields::special<P, &P::rank_order>(
        "rank_order",
        {read_rank_order, [](const Field<P>& /*own*/) { return schema::text(); }, write_rank_order},
        "which ranks are neighbours, the nearest first, such as `tp-cp-ep-dp-pp`")
        .stands_alone(true)
        .affecting(kPlaces),
    fields::choice<&P::attention, kAttentionKernels>(
        "attention", "kernels of attention: scores through memory, or not")
        .or_else("the model's")
        .affecting(kLayerCosts),
    fields::integer<&P::micro_batch_group>(
        "micro_batch_group",
        kDegree,
        "micro-batches that interleaving takes through one chunk "
        "before the next")
        .or_else("p")
        .affecting(kNothingKept)
        .marked(kAdds),
    fields::choice<&P::tensor_overlap, kTensorOverlaps>(
        "tensor_overlap",
        "`bulk`: backward collectives beside gradient products; `ring`: products and their "
        "collectives in tiles")
        .or_else("the stack's")
        .affecting(kLayerCosts),
    fields::choice<&P::pipeline_send, kPipelineSends>(
        "pipeline_send",
        "how a stage sends to the next: `overlapped` beside compute; `batched`: exchanged between "
        "passes, events only")
        .or_else("the stack's")
        .affecting(kNothingKept),
    fields::flag<&P::overlap_grad_reduce>("overlap_grad_reduce",
                                          "gradients in buckets beside the backward passes")
        .or_else("the stack's")
        .affecting(kNothingKept),
    fields::flag<&P::overlap_param_gather>(
        "overlap_param_gather", "with `zero1`: parameters beside the first forward passes")
        .or_else("the stack's")
        .affecting(kNothingKept)};

}  // namespace

std::span<const Field<Plan>> plan_fields() { return kPlanFields; }

Plan read_plan(Reader& in) {
  Plan plan;
  read_fields(plan_fields(), in, plan);
  return plan;
}

template <unsigned kept>
bool are_same(const Plan& a, const Plan& b) {
  return same_where<kPlanFields, kept>(a, b);
}
template bool are_same<kPlaces>(const Plan& a, const Plan& b);
template bool are_same<kLayerCosts>(const Plan& a, const Plan& b);
template bool are_same<kStages>(const Plan& a, const Plan& b);
template bool are_same<kMemory>(const Plan& a, const Plan& b);

void leave_out_additions(Plan& plan) {
  const Plan usual;
  for (const Field<Plan>& field : kPlanFields) {
    if ((field.marks & kAdds) != 0) {
      field.copy(usual, plan);
    }
  }
}

}  // namespace titer
