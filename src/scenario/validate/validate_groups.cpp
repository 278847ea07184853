#include "validate_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/plan/place/placement.hpp"
#include "titer/scenario/expert_overlap.hpp"

namespace titer {
namespace {

/// Heads of attention, where there is any.
void check_attention_heads(const Transformer& model, std::int64_t t, Demands& demands) {
  demands.demand(model.heads % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the {} attention heads", model.heads);
  });
  if (model.shared_head) {
    const std::int64_t groups = model.shared_head->output_groups;
    demands.demand(groups % t == 0, "plan.tensor", t, [&] {
      return fmt::format("expected a divisor of the {} groups of heads with a latent each", groups);
    });
    return;
  }
  // Latents have no heads of their own.
  const bool of_heads = !model.latent && model.heads % t == 0;
  const bool shares = model.shares_kv_heads(t) && t % model.kv_heads == 0;
  demands.demand(!of_heads || shares || model.kv_heads % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor or a multiple of the {} key-value heads",
                       model.kv_heads);
  });
  demands.demand(!of_heads || !shares || 2 * model.kv_width() % t == 0, "plan.tensor", t, [&] {
    return fmt::format(
        "expected a divisor of the {} columns of keys and values, which are fewer "
        "heads than ranks",
        2 * model.kv_width());
  });
}

/// A mixer is split by heads of values and, where it has these by groups, of keys: as Megatron-Core
/// does. Parts of a sequence are traded for heads, whatever attention does; Mamba's time steps are
/// made of all channels of a token, which this would part.
void check_mixer(const Plan& plan, const Mixer& mixer, Demands& demands) {
  const std::int64_t t = plan.tensor;
  demands.demand(mixer.heads % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the mixer's {} heads", mixer.heads);
  });
  const bool splits = mixer.heads % t == 0;
  const bool groups = !mixer.shares_keys() || mixer.key_heads % t == 0;
  demands.demand(!splits || groups, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the mixer's {} heads of keys", mixer.key_heads);
  });
  const std::int64_t cp = plan.context;
  const bool hands_on = mixer.is_rwkv() || mixer.kind == MixerKind::short_convolution;
  if (cp > 1 && hands_on) {
    demands.demand(false,
                   "plan.context",
                   cp,
                   "expected 1: how parts of a sequence hand their last tokens on to the next, as "
                   "this mixer would need, is not modelled");
    return;
  }
  if (cp == 1 || !splits || !groups) {
    return;
  }
  if (mixer.kind == MixerKind::mamba) {
    demands.demand(false,
                   "plan.context",
                   cp,
                   "expected 1: Mamba's time steps, keys and queries are made of all channels of a "
                   "token, which parts of a sequence cannot be traded for");
    return;
  }
  demands.demand(mixer.heads / t % cp == 0, "plan.context", cp, [&] {
    return fmt::format("expected a divisor of the mixer's {} heads of a tensor-parallel rank",
                       mixer.heads / t);
  });
  const std::int64_t keys = mixer.key_heads / t;
  demands.demand(
      mixer.heads / t % cp != 0 || keys % cp == 0 || cp % keys == 0, "plan.context", cp, [&] {
        return fmt::format(
            "expected a divisor or a multiple of the mixer's {} heads of keys of a "
            "tensor-parallel rank",
            keys);
      });
}

void check_tensor(const Scenario& scenario, const Transformer& model, Demands& demands) {
  const Plan& plan = scenario.plan;
  const std::int64_t t = plan.tensor;
  if (model.has_attention()) {
    check_attention_heads(model, t, demands);
  }
  if (model.mixer) {
    check_mixer(plan, *model.mixer, demands);
  }
  demands.demand(model.ffn % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the MLP width {}", model.ffn);
  });
  const std::int64_t shared = model.experts ? model.experts->shared_ffn : 0;
  demands.demand(shared % t == 0, "plan.tensor", t, [&] {
    return fmt::format("expected a divisor of the shared experts' width {}", shared);
  });
  const std::int64_t tokens = scenario.training.sequence / plan.context;
  demands.demand(!plan.sequence_parallel || tokens % t == 0, "plan.sequence_parallel", "true", [&] {
    return fmt::format("expected a tensor degree that divides the {} of {} tokens, not {}",
                       plan.context > 1 ? "part of a sequence" : "sequence",
                       tokens,
                       t);
  });
}

/// All-to-all among `ranks` trades parts of the sequence for heads; key-value heads that are fewer
/// are copied.
void check_head_exchange(const Scenario& scenario,
                         const Transformer& model,
                         std::int64_t ranks,
                         Demands& demands) {
  const Plan& plan = scenario.plan;
  const std::string_view path =
      plan.context_method == ContextMethod::ulysses ? "plan.context" : "plan.context_inner";
  const bool can_share = model.heads % (plan.tensor * ranks) == 0;
  demands.demand(can_share, path, ranks, [&] {
    return fmt::format(
        "expected {} attention heads to be a multiple of tensor x this = {} x "
        "{}: the method {} gives every rank some of them",
        model.heads,
        plan.tensor,
        ranks,
        name(plan.context_method));
  });
  const std::int64_t own = std::max<std::int64_t>(1, model.kv_heads / plan.tensor);
  demands.demand(
      model.latent || !can_share || own % ranks == 0 || ranks % own == 0, path, ranks, [&] {
        return fmt::format(
            "expected a divisor or a multiple of the {} key-value heads of a "
            "tensor-parallel rank",
            own);
      });
}

void check_context(const Scenario& scenario, const Transformer& model, Demands& demands) {
  const Plan& plan = scenario.plan;
  const std::int64_t cp = plan.context;
  const bool hierarchical = plan.context_method == ContextMethod::hierarchical;
  demands.demand(plan.context_inner == 1 || hierarchical,
                 "plan.context_inner",
                 plan.context_inner,
                 "expected the context_method hierarchical, whose all-to-all it is of");
  demands.demand(cp % plan.context_inner == 0, "plan.context_inner", plan.context_inner, [&] {
    return fmt::format("expected a divisor of the context degree {}", cp);
  });
  if (cp == 1) {
    return;
  }
  const bool halves =
      plan.context_balanced && model.causal && plan.context_method != ContextMethod::ulysses;
  const std::int64_t parts = halves ? 2 * cp : cp;
  demands.demand(scenario.training.sequence % parts == 0, "plan.context", cp, [&] {
    return fmt::format("expected the sequence of {} tokens to be a multiple of {}{}",
                       scenario.training.sequence,
                       parts,
                       halves ? ": every rank has an early and a late part of it" : "");
  });
  if (!model.has_attention()) {
    return;  // nothing attends
  }
  if (hierarchical) {
    check_head_exchange(scenario, model, plan.context_inner, demands);
  } else if (plan.context_method == ContextMethod::ulysses) {
    check_head_exchange(scenario, model, cp, demands);
  }
}

void check_experts(const Scenario& scenario, const Transformer& model, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (!model.experts) {
    const auto expected = [&] {
      return fmt::format("expected a model with experts, which {} has not", model.name);
    };
    demands.demand(plan.expert == 1, "plan.expert", plan.expert, expected);
    demands.demand(plan.expert_tensor_degree() == plan.tensor,
                   "plan.expert_tensor",
                   plan.expert_tensor_degree(),
                   expected);
    demands.demand(!plan.expert_overlap, "plan.expert_overlap", "true", expected);
    demands.demand(!plan.shared_expert_overlap, "plan.shared_expert_overlap", "true", expected);
    demands.demand(!plan.fused_experts, "plan.fused_experts", "true", expected);
    return;
  }
  const Experts& experts = *model.experts;
  demands.demand(!plan.shared_expert_overlap || experts.shared_ffn > 0,
                 "plan.shared_expert_overlap",
                 "true",
                 [&] {
                   return fmt::format(
                       "expected a model with experts of all tokens, which {} has not", model.name);
                 });
  demands.demand(experts.count % plan.expert == 0, "plan.expert", plan.expert, [&] {
    return fmt::format("expected a divisor of the {} experts", experts.count);
  });
  if (const auto refused =
          refusal(experts.routing, experts.count, experts.per_token, plan.expert)) {
    demands.demand(experts.count % plan.expert != 0,
                   "model.experts.routing",
                   name(experts.routing.shape),
                   *refused);
  }
  for (const Violation& refused : refused_overlaps(
           scenario.expert_dispatch(), plan.expert_overlap, plan.shared_expert_overlap)) {
    demands.demand(false, refused.path, refused.value, refused.expected);
  }
  const bool gathers = scenario.expert_dispatch() == ExpertDispatch::all_gather;
  demands.demand(
      !gathers || !experts.routing.dense_group, "plan.expert_dispatch", "all-gather", [] {
        return "expected all-to-all or deduplicated, as products with masks of places "
               "(experts.routing.dense_group) do without gathered tokens";
      });
  const std::int64_t etp = plan.expert_tensor_degree();
  demands.demand(model.experts->ffn % etp == 0,
                 plan.expert_tensor ? "plan.expert_tensor" : "plan.tensor",
                 etp,
                 [&] {
                   return fmt::format("expected a divisor of the experts' width {}",
                                      model.experts->ffn);
                 });
}

/// Recommendation models have whole tables on the ranks of an expert group, and nothing to split.
void check_tables(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  demands.demand(plan.tensor == 1 && plan.expert_tensor_degree() == 1,
                 "plan.tensor",
                 plan.tensor,
                 "expected 1: tables are shared out over the ranks of plan.expert");
  demands.demand(
      plan.context == 1, "plan.context", plan.context, "expected 1: there is no sequence");
}

/// Images cut over tensor-parallel ranks.
void check_images(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  demands.demand(
      plan.tensor % plan.image_columns == 0, "plan.image_columns", plan.image_columns, [&] {
        return fmt::format("expected a divisor of the tensor degree {}", plan.tensor);
      });
  if (!scenario.cuts_images()) {
    return;
  }
  // Parts of images and replicas are one group.
  constexpr std::string_view undivided =
      "expected none where images are cut over tensor-parallel ranks: with all of these gradients "
      "are added up";
  demands.demand(!plan.shard, "plan.shard", plan.shard.value_or(0), undivided);
  demands.demand(!plan.local_steps,
                 "plan.local_steps.islands",
                 plan.local_steps ? plan.local_steps->islands : 0,
                 undivided);
  const bool last = plan.pipeline == 1 || plan.rank_order.back() == Dimension::pipeline;
  demands.demand(last,
                 "plan.rank_order",
                 rank_order_name(plan),
                 "expected pp last where images are cut over tensor-parallel ranks");
}

/// What only transformers have.
void check_layered(const Scenario& scenario, Demands& demands) {
  const auto no_transformer = [&] {
    return fmt::format("expected false: {} is no transformer", scenario.model.name());
  };
  demands.demand(!scenario.plan.expert_overlap, "plan.expert_overlap", "true", no_transformer);
  demands.demand(
      !scenario.plan.shared_expert_overlap, "plan.shared_expert_overlap", "true", no_transformer);
  demands.demand(!scenario.plan.fused_experts, "plan.fused_experts", "true", no_transformer);
  if (scenario.model.if_dlrm() != nullptr) {
    check_tables(scenario, demands);
    return;
  }
  check_images(scenario, demands);
  const Plan& plan = scenario.plan;
  const std::string expected =
      fmt::format("expected 1: {} is no transformer", scenario.model.name());
  demands.demand(plan.context == 1, "plan.context", plan.context, expected);
  demands.demand(plan.expert == 1, "plan.expert", plan.expert, expected);
  demands.demand(
      plan.expert_tensor_degree() == plan.tensor,
      "plan.expert_tensor",
      plan.expert_tensor_degree(),
      [&] { return fmt::format("expected none: {} is no transformer", scenario.model.name()); });
}

}  // namespace

std::vector<Violation> refused_overlaps(ExpertDispatch dispatch, bool overlap, bool shared) {
  const bool gathers = dispatch == ExpertDispatch::all_gather;
  std::vector<Violation> refused;
  if (shared && overlap) {
    refused.push_back({"plan.shared_expert_overlap",
                       "true",
                       "expected false beside plan.expert_overlap, by which exchanges are beside "
                       "all of another micro-batch's compute"});
  }
  if (shared && gathers) {
    refused.push_back({"plan.shared_expert_overlap",
                       "true",
                       "expected false where all tokens are gathered "
                       "(plan.expert_dispatch=all-gather), as Megatron-Core has it"});
  }
  if (overlap && gathers) {
    refused.push_back({"plan.expert_overlap",
                       "true",
                       "expected another plan.expert_dispatch than all-gather, whose tokens no "
                       "software takes on their way beside another micro-batch"});
  }
  return refused;
}

void check_splits(const Scenario& scenario, Demands& demands) {
  const Transformer* model = scenario.model.if_transformer();
  if (model == nullptr) {
    check_layered(scenario, demands);
    return;
  }
  check_tensor(scenario, *model, demands);
  check_context(scenario, *model, demands);
  check_experts(scenario, *model, demands);
}

void check_groups(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (!has_countable_devices(plan)) {
    return;  // their number is refused
  }
  const std::int64_t own = plan.expert_ranks();
  const bool divides = plan.stage_devices() % own == 0;
  demands.demand(divides, "plan.expert", plan.expert, [&] {
    return fmt::format(
        "expected expert x expert_tensor = {} to divide the {} devices of a "
        "pipeline rank: experts are on ranks of tensor, context and data",
        own,
        plan.stage_devices());
  });
  if (const auto refused = refused_order(plan); refused && divides) {
    demands.demand(false, "plan.rank_order", rank_order_name(plan), *refused);
  }
  demands.demand(
      plan.replicas() % plan.shard.value_or(1) == 0, "plan.shard", plan.shard.value_or(1), [&] {
        return fmt::format("expected a divisor of the {} ranks that have the same parameters",
                           plan.replicas());
      });
}

}  // namespace titer
