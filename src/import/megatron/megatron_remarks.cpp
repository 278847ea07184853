// What Megatron's settings ask for that is taken in another way here, which is said.

#include <array>

#include "import/import_parts.hpp"

namespace titer {
namespace {

struct TakenOtherwise {
  std::string_view key;  // switched on, or not 0
  std::string_view how;
};
/// Each concerns a small part of a step, or what the stack's figures hold already.
constexpr std::array<TakenOtherwise, 40> kTakenOtherwise = {
    {{"use_nccl_ub", "NCCL's figures are taken as without registered buffers"},
     {"nccl_ub", "NCCL's figures are taken as without registered buffers"},
     {"disable_tp_comm_overlap_ag", "all products of the tensor degree overlap alike"},
     {"disable_tp_comm_overlap_rs", "all products of the tensor degree overlap alike"},
     {"disable_tp_comm_bulk_dgrad", "all products of the tensor degree overlap alike"},
     {"disable_tp_comm_bulk_wgrad", "all products of the tensor degree overlap alike"},
     {"no_align_grad_reduce", "stages are taken to reduce as the schedule has it"},
     {"no_align_param_gather", "stages are taken to gather as the schedule has it"},
     {"use_ring_exchange_p2p", "all sends are taken alike"},
     {"ep_overlap_early_attn_memory_release", "what attention keeps is freed as without it"},
     {"microbatch_group_size_per_virtual_pipeline_stage",
      "micro-batches go through a chunk in groups of as many as there are stages"},
     {"megatron_fsdp_version", "all versions of Megatron-FSDP are taken alike"},
     {"use_sharp", "where switches add up is the cluster's to tell"},
     {"deterministic_mode", "kernels are taken as without it"},
     {"optimizer_cuda_graph", "the optimizer's kernels are taken as launched one by one"},
     {"batch_invariant_mode", "kernels are taken as without it"},
     {"wgrad_deferral_limit", "products for weights are taken where the schedule has them"},
     {"delay_wgrad_compute", "products for weights are taken where the schedule has them"},
     {"defer_embedding_wgrad_compute",
      "products for weights are taken where the schedule has them"},
     {"overlap_p2p_communication_warmup_flush", "all sends are taken alike"},
     {"overlap_param_gather_with_optimizer_step", "parameters are gathered behind the whole step"},
     {"overlap_cpu_optimizer_d2h_h2d", "copies of offloaded state are taken as the plan has them"},
     {"use_torch_optimizer_for_cpu_offload",
      "the host's step is taken to be one pass over its memory"},
     {"first_last_layers_bf16", "all layers are taken to be narrow"},
     {"num_layers_at_start_in_bf16", "all layers are taken to be narrow"},
     {"num_layers_at_end_in_bf16", "all layers are taken to be narrow"},
     {"fp8_multi_head_attention", "what attention returns is taken to be converted twice"},
     {"moe_pad_expert_input_to_capacity", "experts are taken to get no more than their tokens"},
     {"moe_expert_rank_capacity_factor", "ranks are taken to get all their tokens"},
     {"moe_extended_tp", "the tensor degree splits experts, too"},
     {"moe_paged_stash", "what experts keep is taken to stay on the device"},
     {"sync_tp_duplicated_parameters", "what tensor ranks hold alike is taken to stay alike"},
     {"scattered_embeddings", "embedded tokens are taken to be kept whole"},
     {"split_transformers", "layers are taken to be recomputed from what enters them"},
     {"enable_primus_turbo", "kernels are taken as the stack's"},
     {"use_turbo_attention", "kernels are taken as the stack's"},
     {"use_turbo_grouped_mlp", "kernels are taken as the stack's"},
     {"turbo_sync_free_moe_stage", "the host is taken to wait as the stack's does"}}};

/// Not null, 0 or switched off.
bool asks_for_something(Settings& in, std::string_view key) {
  const Value* const value = in.raw(key);
  const bool is_off = value == nullptr ||
                      (value->kind == Value::Kind::boolean && !value->boolean) ||
                      (value->kind == Value::Kind::number && value->number == 0) ||
                      value->text == "0" || value->text == "False" || value->text == "false";
  return !is_off;
}

}  // namespace

void remark_on_megatron(const ImportTask& task) {
  if (asks_for_something(task.in, "attention_sink_k")) {
    task.in.leave_out("attention_sink_k",
                      "first tokens that all others see beside a window are not modelled");
  }
  for (const TakenOtherwise& known : kTakenOtherwise) {
    if (!task.in.is_skipped(known.key) && asks_for_something(task.in, known.key)) {
      assume(task, known.key, known.how);
    }
  }
}

}  // namespace titer
