// Settings of Megatron-LM that count only beside something that a run has not.

#include "import/import_parts.hpp"

namespace titer {

void skip_without_object(const ImportTask& task, const Degrees& degrees) {
  Settings& in = task.in;
  const Value& plan = task.into.plan;
  const auto skip = [&](bool is_off, std::string_view patterns) {
    if (is_off) {
      in.skip(kSwitchedOff, patterns);
    }
  };
  skip(!in.is_on("use_fused_sdpa_with_recompute"), "use_fused_sdpa_with_recompute");
  skip(!task.into.model || !task.into.model->experts, "moe_* overlap_moe_* expert_*");
  skip(degrees.tensor == 1, "tp_comm_* ub_tp_comm_*");
  skip(plan.find("tensor_overlap") == nullptr,
       "disable_tp_comm_* tp_comm_overlap_* tp_comm_bulk_* tp_comm_split_*");
  const auto group = in.integer("microbatch_group_size_per_virtual_pipeline_stage", 1, kMostDegree);
  skip(group == degrees.pipeline, "microbatch_group_size_per_virtual_pipeline_stage");
  skip(degrees.pipeline == 1,
       "standalone_embedding_stage encoder_pipeline_model_parallel_size "
       "pipeline_model_parallel_comm_backend no_scatter_gather_tensors_in_pipeline "
       "use_ring_exchange_p2p");
  skip(in.word("pipeline_model_parallel_comm_backend").value_or("nccl") == "nccl",
       "pipeline_model_parallel_comm_backend");
  skip(plan.find("offload") == nullptr, "optimizer_offload_fraction");
  skip(!in.has("fp4_format"), "fp4_recipe fp4_param_gather");
  skip(in.word("recompute_granularity").value_or("") != "selective", "recompute_modules");
  // With sequence parallelism gradients of inputs are scattered, and none is reduced by itself.
  skip(degrees.tensor == 1 || in.is_on("sequence_parallel"),
       "no_async_tensor_model_parallel_allreduce");
  skip(plan.find("virtual_stages") == nullptr,
       "overlap_p2p_* batch_p2p_comm no_overlap_p2p_communication align_* no_align_* "
       "microbatch_group_size_per_virtual_pipeline_stage");
  skip(degrees.context == 1, "cp_comm_type hierarchical_context_parallel_sizes");
  skip(!in.is_on("fsdp"), "fsdp_*");
  // NeMo's layers of Falcon alone ask for these.
  skip(in.text("name").value_or("").find("falcon") == std::string::npos,
       "mcore_customization_config.parallel_attention "
       "mcore_customization_config.new_decoder_architecture");
  skip(!in.is_on("multi_latent_attention"),
       "q_lora_rank kv_lora_rank qk_head_dim qk_pos_emb_head_dim v_head_dim");
}

}  // namespace titer
