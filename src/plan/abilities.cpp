#include "titer/plan/abilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/plan/schedule/read_schedule.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostAbility = 1'000'000'000;
constexpr std::array<Choice<std::string_view>, 3> kOffloaded = {
    {{"weights", "weights"}, {"optimizer", "optimizer"}, {"activations", "activations"}}};

/// A list of names, each of them among the choices.
template <class T, class Choices>
void read_some(Reader& in,
               std::string_view key,
               const Choices& choices,
               std::optional<std::vector<T>>& some) {
  const std::vector<std::string> words = in.texts(key);
  if (!in.has(key)) {
    return;
  }
  some.emplace();
  for (const std::string& word : words) {
    const auto at = std::find_if(
        choices.begin(), choices.end(), [&](const auto& choice) { return choice.name == word; });
    if (at == choices.end()) {
      std::string names;
      for (const auto& choice : choices) {
        names += (names.empty() ? "" : ", ") + std::string(choice.name);
      }
      in.fail(key, fmt::format("{}: expected a list of some of {}", word, names));
      return;
    }
    some->emplace_back(at->value);
  }
}

/// Without a limit all is allowed.
template <class T>
bool allows(const std::optional<std::vector<T>>& some, const T& value) {
  return !some || std::find(some->begin(), some->end(), value) != some->end();
}
bool allows(const std::optional<std::int64_t>& most, std::int64_t degree) {
  return !most || degree <= *most;
}
/// What is not asked for is no matter.
bool allows(const std::optional<bool>& able, bool asked) { return !asked || able.value_or(true); }

/// Whether some ranks have the same parameters.
bool has_copies(const Plan& plan) {
  return plan.replicas() > 1 || plan.expert_tensor_degree() != plan.tensor;
}

bool allows_sharding(const Abilities& can, const Plan& plan) {
  return !has_copies(plan) ||
         (allows(can.sharding, plan.sharding) &&
          (plan.pipeline == 1 || allows(can.sharding_with_pipeline, plan.sharding)) &&
          (plan.tensor == 1 || allows(can.sharding_with_tensor, plan.sharding)));
}

std::string sharding_text(const Abilities& can, const Plan& plan) {
  std::string text = fmt::format("sharding {}", name(plan.sharding));
  if (!allows(can.sharding, plan.sharding)) {
    return text;
  }
  const bool pipeline = plan.pipeline > 1 && !allows(can.sharding_with_pipeline, plan.sharding);
  return text + (pipeline ? fmt::format(" with pipeline {}", plan.pipeline)
                          : fmt::format(" with tensor {}", plan.tensor));
}

/// What of a plan is outside the device's memory.
std::vector<std::string> offloaded(const Offload& offload) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view part, const std::optional<HostPlace>& where) {
    if (where) {
      parts.emplace_back(part);
    }
  };
  add("weights", offload.weights);
  add("optimizer", offload.optimizer);
  add("activations", offload.activations);
  return parts;
}

bool allows_offload(const Abilities& can, const Plan& plan) {
  const std::vector<std::string> parts = offloaded(plan.offload);
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return allows(can.offload, part);
  });
}

std::string offload_text(const Plan& plan) {
  std::string text;
  for (const std::string& part : offloaded(plan.offload)) {
    text += (text.empty() ? "offload " : "+") + part;
  }
  return text;
}

struct Ability {
  PlanPart part;
  bool (*is_there)(const Abilities&, const Plan&);
  std::string (*text)(const Abilities&, const Plan&);
};

template <auto OfAbilities, auto OfPlan>
constexpr auto kAllowsDegree =
    [](const Abilities& can, const Plan& plan) { return allows(can.*OfAbilities, plan.*OfPlan); };

using A = Abilities;
using P = Plan;
/// In the order of PlanPart.
constexpr std::array<Ability, 14> kAbilities = {{
    {PlanPart::degrees,
     kAllowsDegree<&A::tensor, &P::tensor>,
     [](const A&, const P& plan) { return fmt::format("tensor {}", plan.tensor); }},
    {PlanPart::degrees,
     kAllowsDegree<&A::context, &P::context>,
     [](const A&, const P& plan) { return fmt::format("context {}", plan.context); }},
    {PlanPart::degrees,
     kAllowsDegree<&A::expert, &P::expert>,
     [](const A&, const P& plan) { return fmt::format("expert {}", plan.expert); }},
    {PlanPart::degrees,
     kAllowsDegree<&A::pipeline, &P::pipeline>,
     [](const A&, const P& plan) { return fmt::format("pipeline {}", plan.pipeline); }},
    {PlanPart::layer,
     [](const A& can, const P& plan) {
       return plan.tensor == 1 || allows(can.sequence_parallel, plan.sequence_parallel);
     },
     [](const A&, const P&) { return std::string("sequence_parallel"); }},
    {PlanPart::layer,
     [](const A& can, const P& plan) { return allows(can.recompute, plan.recompute); },
     [](const A&, const P& plan) { return fmt::format("recompute {}", name(plan.recompute)); }},
    {PlanPart::layer,
     [](const A& can, const P& plan) {
       return plan.tensor == 1 || !plan.tensor_overlap ||
              allows(can.tensor_overlap, *plan.tensor_overlap);
     },
     [](const A&, const P& plan) {
       return fmt::format("tensor_overlap {}", name(*plan.tensor_overlap));
     }},
    {PlanPart::schedule,
     [](const A& can, const P& plan) {
       return plan.pipeline == 1 || allows(can.schedule, plan.schedule.index());
     },
     [](const A&, const P& plan) { return fmt::format("schedule {}", name(plan.schedule)); }},
    {PlanPart::schedule,
     [](const A& can, const P& plan) {
       return plan.pipeline == 1 || !interleaves(plan.schedule) ||
              allows(can.virtual_stages, plan.virtual_stages);
     },
     [](const A&, const P& plan) { return fmt::format("virtual_stages {}", plan.virtual_stages); }},
    {PlanPart::state, allows_sharding, sharding_text},
    {PlanPart::state, allows_offload, [](const A&, const P& plan) { return offload_text(plan); }},
    {PlanPart::state,
     [](const A& can, const P& plan) {
       return !has_copies(plan) ||
              allows(can.overlap_grad_reduce, plan.overlap_grad_reduce.value_or(false));
     },
     [](const A&, const P&) { return std::string("overlap_grad_reduce"); }},
    {PlanPart::state,
     [](const A& can, const P& plan) {
       return !has_copies(plan) ||
              allows(can.overlap_param_gather, plan.overlap_param_gather.value_or(false));
     },
     [](const A&, const P&) { return std::string("overlap_param_gather"); }},
    {PlanPart::sends,
     [](const A& can, const P& plan) {
       return plan.pipeline == 1 || !plan.pipeline_send ||
              allows(can.pipeline_send, *plan.pipeline_send);
     },
     [](const A&, const P& plan) {
       return fmt::format("pipeline_send {}", name(*plan.pipeline_send));
     }},
}};

}  // namespace

Abilities read_abilities(Reader& stack) {
  Abilities can;
  auto in = stack.maybe_object("abilities");
  if (!in) {
    return can;
  }
  static_cast<void>(in->text("source"));
  can.tensor = in->maybe_integer("tensor", 1, kMostAbility);
  can.context = in->maybe_integer("context", 1, kMostAbility);
  can.expert = in->maybe_integer("expert", 1, kMostAbility);
  can.pipeline = in->maybe_integer("pipeline", 1, kMostAbility);
  can.virtual_stages = in->maybe_integer("virtual_stages", 1, kMostAbility);
  read_some(*in, "schedule", schedule_choices(), can.schedule);
  read_some(*in, "recompute", kRecomputes, can.recompute);
  read_some(*in, "sharding", kShardingNames, can.sharding);
  read_some(*in, "sharding_with_pipeline", kShardingNames, can.sharding_with_pipeline);
  read_some(*in, "sharding_with_tensor", kShardingNames, can.sharding_with_tensor);
  read_some(*in, "offload", kOffloaded, can.offload);
  read_some(*in, "tensor_overlap", kTensorOverlaps, can.tensor_overlap);
  read_some(*in, "pipeline_send", kPipelineSends, can.pipeline_send);
  read_some(*in, "precision", kDataTypes, can.precision);
  can.sequence_parallel = in->maybe_flag("sequence_parallel");
  can.overlap_grad_reduce = in->maybe_flag("overlap_grad_reduce");
  can.overlap_param_gather = in->maybe_flag("overlap_param_gather");
  in->finish();
  return can;
}

bool is_able(const Abilities& abilities, const Plan& plan, PlanPart part) {
  return std::all_of(kAbilities.begin(), kAbilities.end(), [&](const Ability& ability) {
    return ability.part != part || ability.is_there(abilities, plan);
  });
}

std::vector<std::string> missing_abilities(const Abilities& abilities, const Plan& plan) {
  std::vector<std::string> missing;
  for (const Ability& ability : kAbilities) {
    if (!ability.is_there(abilities, plan)) {
      missing.push_back(ability.text(abilities, plan));
    }
  }
  return missing;
}

}  // namespace titer
