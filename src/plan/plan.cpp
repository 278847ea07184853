#include "titer/plan/plan.hpp"

#include <algorithm>

namespace titer {
namespace {

constexpr std::int64_t kMostDegree = 10'000'000;

/// The variant's own list is the list of names.
template <std::size_t... I>
constexpr auto schedule_names(std::index_sequence<I...> /*alternatives*/) {
  return std::array<Choice<std::size_t>, sizeof...(I)>{
      {{std::variant_alternative_t<I, Schedule>::name, I}...}};
}

template <std::size_t... I>
Schedule schedule_at(std::size_t index, std::index_sequence<I...> /*alternatives*/) {
  Schedule schedule;
  ((index == I ? void(schedule = std::variant_alternative_t<I, Schedule>{}) : void()), ...);
  return schedule;
}

Schedule read_listed_schedule(Reader& in) {
  try {
    return ListedSchedule::load(in.file("schedule"));
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      in.fail("schedule", line);
    }
  }
  return OneForwardOneBackward{};
}

/// A name, or a file of actions.
Schedule read_schedule(Reader& in) {
  constexpr auto alternatives = std::make_index_sequence<kNamedSchedules>{};
  constexpr auto names = schedule_names(alternatives);
  const Value* value = in.raw("schedule");
  if (value != nullptr && value->kind == Value::Kind::text && value->text.ends_with(".csv")) {
    return read_listed_schedule(in);
  }
  const auto index = in.maybe_choice<std::size_t>("schedule", names);
  return index ? schedule_at(*index, alternatives) : Schedule(OneForwardOneBackward{});
}

struct DimensionName {
  std::string_view name;
  std::optional<Dimension> dimension;  // cp and ep are 1: their place does not matter
};
constexpr std::array<DimensionName, 5> kDimensionNames = {{{"tp", Dimension::tensor},
                                                           {"cp", std::nullopt},
                                                           {"ep", std::nullopt},
                                                           {"dp", Dimension::data},
                                                           {"pp", Dimension::pipeline}}};

/// Splits "tp-cp-ep-dp-pp"; empty when a name is unknown or repeated, or tp, dp or pp is missing.
std::optional<std::array<Dimension, 3>> parse_rank_order(std::string_view text) {
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
  if (order.size() != 3) {
    return std::nullopt;
  }
  return std::array<Dimension, 3>{order[0], order[1], order[2]};
}

void read_rank_order(Reader& in, Plan& plan) {
  const auto text = in.maybe_text("rank_order");
  if (!text) {
    return;
  }
  const auto order = parse_rank_order(*text);
  if (!order) {
    in.fail("rank_order",
            "expected tp, dp and pp in some order, joined by dashes, such as \"tp-dp-pp\"");
    return;
  }
  plan.rank_order = *order;
}

void refuse_unmodelled_degree(Reader& in, std::string_view key) {
  const auto degree = in.maybe_integer(key, 1, kMostDegree);
  if (degree && *degree != 1) {
    in.fail(key, "expected 1: this dimension is not modelled yet");
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

std::int64_t Plan::degree(Dimension dimension) const {
  switch (dimension) {
    case Dimension::tensor:
      return tensor;
    case Dimension::data:
      return data;
    case Dimension::pipeline:
      return pipeline;
  }
  return 1;
}

Plan read_plan(Reader& in) {
  Plan plan;
  plan.pipeline = in.maybe_integer("pipeline", 1, kMostDegree).value_or(1);
  plan.tensor = in.maybe_integer("tensor", 1, kMostDegree).value_or(1);
  plan.data = in.maybe_integer("data", 1, kMostDegree).value_or(1);
  refuse_unmodelled_degree(in, "expert");
  refuse_unmodelled_degree(in, "context");
  plan.schedule = read_schedule(in);
  plan.virtual_stages =
      in.maybe_integer("virtual_stages", 1, kMostDegree).value_or(usual_chunks(plan.schedule));
  plan.layers = read_layers(in);
  plan.micro_batch = in.maybe_integer("micro_batch", 1, kMostDegree).value_or(1);
  plan.recompute = in.maybe_choice<Recompute>("recompute", kRecomputes).value_or(Recompute::none);
  plan.sequence_parallel = in.flag("sequence_parallel", false);
  plan.sharding = in.maybe_choice<Sharding>("sharding", kShardings).value_or(Sharding::none);
  read_rank_order(in, plan);
  plan.attention = in.maybe_choice<AttentionKernel>("attention", kAttentionKernels);
  read_overlap(in, plan);
  in.finish();
  return plan;
}

std::string rank_order_name(const Plan& plan) {
  std::string text;
  for (const Dimension dimension : plan.rank_order) {
    for (const DimensionName& known : kDimensionNames) {
      if (known.dimension == dimension) {
        text += text.empty() ? "" : "-";
        text += known.name;
      }
    }
  }
  return text;
}

}  // namespace titer
