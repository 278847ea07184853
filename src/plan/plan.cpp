#include "titer/plan/plan.hpp"

#include <algorithm>

#include "titer/plan/read_schedule.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostDegree = 10'000'000;

struct DimensionName {
  std::string_view name;
  std::optional<Dimension> dimension;  // ep: experts lie within the others
};
constexpr std::array<DimensionName, 5> kDimensionNames = {{{"tp", Dimension::tensor},
                                                           {"cp", Dimension::context},
                                                           {"ep", std::nullopt},
                                                           {"dp", Dimension::data},
                                                           {"pp", Dimension::pipeline}}};

struct RankOrder {
  std::array<Dimension, kDimensions> order{};
  bool experts_inside = true;  // ep is between tp and dp, if it is there
};

/// Splits "tp-cp-ep-dp-pp"; empty when a name is unknown or repeated, or tp, dp or pp is missing.
/// Without cp, that comes after tp.
std::optional<RankOrder> parse_rank_order(std::string_view text) {
  std::vector<Dimension> order;
  std::vector<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const std::string_view word = text.substr(0, dash);
    text.remove_prefix(std::min(dash + 1, text.size()));
    const auto* known = std::find_if(kDimensionNames.begin(),
                                     kDimensionNames.end(),
                                     [&](const DimensionName& d) { return d.name == word; });
    if (known == kDimensionNames.end() || std::find(seen.begin(), seen.end(), word) != seen.end()) {
      return std::nullopt;
    }
    seen.push_back(word);
    if (known->dimension) {
      order.push_back(*known->dimension);
    }
  }
  if (std::find(order.begin(), order.end(), Dimension::context) == order.end()) {
    const auto tensor = std::find(order.begin(), order.end(), Dimension::tensor);
    order.insert(tensor == order.end() ? tensor : tensor + 1, Dimension::context);
  }
  if (order.size() != kDimensions) {
    return std::nullopt;
  }
  const auto place_of = [&](std::string_view word) {
    return std::find(seen.begin(), seen.end(), word) - seen.begin();
  };
  const auto experts = place_of("ep");
  RankOrder result;
  result.experts_inside =
      experts == std::ssize(seen) || (place_of("tp") < experts && experts < place_of("dp"));
  std::copy(order.begin(), order.end(), result.order.begin());
  return result;
}

void read_rank_order(Reader& in, Plan& plan) {
  const auto text = in.maybe_text("rank_order");
  if (!text) {
    return;
  }
  const auto order = parse_rank_order(*text);
  if (!order) {
    in.fail("rank_order",
            "expected tp, dp and pp, and cp if there is one, in some order, joined by dashes, such "
            "as \"tp-cp-dp-pp\"");
    return;
  }
  if (plan.expert > 1 && !order->experts_inside) {
    in.fail("rank_order",
            "expected ep between tp and dp: experts are on neighbouring ranks of a pipeline rank, "
            "and their replicas further apart");
  }
  plan.rank_order = order->order;
}

constexpr std::array<Choice<Module>, 8> kModuleNames = {{{"core_attention", Module::core_attention},
                                                         {"layer_norm", Module::layer_norm},
                                                         {"latent_up", Module::latent_up},
                                                         {"mlp", Module::mlp},
                                                         {"moe", Module::moe},
                                                         {"activation", Module::activation},
                                                         {"shared_experts", Module::shared_experts},
                                                         {"attention", Module::attention}}};

/// "none", "selective", "full", or a list of modules.
void read_recompute(Reader& in, Plan& plan) {
  const Value* value = in.raw("recompute");
  if (value != nullptr && value->kind == Value::Kind::array) {
    plan.recompute = Recompute::modules;
    plan.recomputed = 0;
    for (const std::string& word : in.texts("recompute")) {
      const auto* known = std::find_if(kModuleNames.begin(),
                                       kModuleNames.end(),
                                       [&](const Choice<Module>& m) { return m.name == word; });
      if (known == kModuleNames.end()) {
        in.fail("recompute",
                "expected some of core_attention, layer_norm, latent_up, mlp, moe, activation, "
                "shared_experts, attention, not \"" +
                    word + "\"");
        break;
      }
      plan.recomputed = static_cast<Modules>(plan.recomputed | bit(known->value));
    }
  } else {
    const std::span<const Choice<Recompute>> named(kRecomputes.data(), kRecomputes.size() - 1);
    plan.recompute = in.maybe_choice<Recompute>("recompute", named).value_or(Recompute::none);
  }
  plan.recompute_every = in.maybe_integer("recompute_every", 1, kMostDegree);
  plan.recompute_layers = in.maybe_integer("recompute_layers", 0, kMostDegree);
}

void read_degrees(Reader& in, Plan& plan) {
  plan.pipeline = in.maybe_integer("pipeline", 1, kMostDegree).value_or(1);
  plan.tensor = in.maybe_integer("tensor", 1, kMostDegree).value_or(1);
  plan.data = in.maybe_integer("data", 1, kMostDegree).value_or(1);
  plan.context = in.maybe_integer("context", 1, kMostDegree).value_or(1);
  plan.expert = in.maybe_integer("expert", 1, kMostDegree).value_or(1);
  plan.expert_tensor = in.maybe_integer("expert_tensor", 1, kMostDegree);
  plan.context_method = in.maybe_choice<ContextMethod>("context_method", kContextMethods)
                            .value_or(ContextMethod::ring);
  plan.context_inner = in.maybe_integer("context_inner", 1, kMostDegree).value_or(1);
  plan.context_balanced = in.flag("context_balanced", true);
  plan.image_columns = in.maybe_integer("image_columns", 1, kMostDegree).value_or(1);
}

void read_sharding(Reader& in, Plan& plan) {
  const Value* written = in.raw("sharding");
  plan.sharding = in.maybe_choice<Sharding>("sharding", kShardingNames).value_or(Sharding::none);
  plan.gradient_collective =
      in.maybe_choice<GradientCollective>("gradient_collective", kGradientCollectives);
  plan.shard = in.maybe_integer("shard", 1, kMostDegree);
  const bool hybrid =
      written != nullptr && written->kind == Value::Kind::text && written->text == "hsdp";
  if (hybrid && !plan.shard) {
    in.fail("sharding", "expected \"shard\" too: how many ranks split the parameters among them");
  }
  plan.reshard_after_forward = in.flag("reshard_after_forward", true);
  plan.reduce_every_pass = in.flag("reduce_every_pass", true);
  plan.prefetch = in.flag("prefetch", true);
  plan.servers = in.maybe_integer("servers", 1, kMostDegree);
  if (auto offload = in.maybe_object("offload")) {
    plan.offload = read_offload(*offload);
  }
}

/// What runs beside what, where it is not as the stack says; and the order of interleaving.
void read_overlap(Reader& in, Plan& plan) {
  const auto group = in.maybe_integer("micro_batch_group", 1, kMostDegree);
  if (group) {
    plan.micro_batch_group = static_cast<int>(*group);
  }
  plan.tensor_overlap = in.maybe_choice<TensorOverlap>("tensor_overlap", kTensorOverlaps);
  plan.pipeline_send = in.maybe_choice<PipelineSend>("pipeline_send", kPipelineSends);
  plan.overlap_grad_reduce = in.maybe_flag("overlap_grad_reduce");
  plan.overlap_param_gather = in.maybe_flag("overlap_param_gather");
}

}  // namespace

Plan::Plan() = default;
Plan::Plan(const Plan& other) = default;
Plan::Plan(Plan&& other) noexcept = default;
Plan& Plan::operator=(const Plan& other) = default;
Plan& Plan::operator=(Plan&& other) noexcept = default;
Plan::~Plan() = default;

std::int64_t Plan::degree(Dimension dimension) const {
  switch (dimension) {
    case Dimension::tensor:
      return tensor;
    case Dimension::context:
      return context;
    case Dimension::data:
      return data;
    case Dimension::pipeline:
      return pipeline;
  }
  return 1;
}

Modules Plan::recomputed_modules() const {
  return recompute == Recompute::selective ? bit(Module::core_attention) : recomputed;
}

Plan read_plan(Reader& in) {
  Plan plan;
  read_degrees(in, plan);
  plan.schedule = read_schedule(in);
  plan.virtual_stages =
      in.maybe_integer("virtual_stages", 1, kMostDegree).value_or(usual_chunks(plan.schedule));
  plan.layers = read_layers(in);
  plan.micro_batch = in.maybe_integer("micro_batch", 1, kMostDegree).value_or(1);
  plan.batch_shares = read_batch_shares(in);
  read_recompute(in, plan);
  plan.sequence_parallel = in.flag("sequence_parallel", false);
  read_sharding(in, plan);
  read_rank_order(in, plan);
  plan.attention = in.maybe_choice<AttentionKernel>("attention", kAttentionKernels);
  read_overlap(in, plan);
  in.finish();
  return plan;
}

std::string rank_order_name(const Plan& plan) {
  std::string text;
  const auto add = [&](std::string_view word) {
    text += text.empty() ? "" : "-";
    text += word;
  };
  for (const Dimension dimension : plan.rank_order) {
    const auto* const known =
        std::find_if(kDimensionNames.begin(), kDimensionNames.end(), [&](const DimensionName& d) {
          return d.dimension == dimension;
        });
    if (dimension == Dimension::data && plan.expert > 1) {
      add("ep");
    }
    if (dimension != Dimension::context || plan.context > 1) {
      add(known->name);
    }
  }
  return text;
}

}  // namespace titer
