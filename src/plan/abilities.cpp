#include "titer/plan/abilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/hardware/noted_fields.hpp"
#include "titer/plan/file_schemas.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// A list of names, each of them among the choices.
template <class T, class E>
std::optional<std::vector<T>> read_some(Reader& in,
                                        std::string_view key,
                                        std::span<const Choice<E>> choices) {
  const std::vector<std::string> words = in.texts(key);
  if (!in.has(key)) {
    return std::nullopt;
  }
  std::vector<T> some;
  for (const std::string& word : words) {
    const auto at =
        std::ranges::find_if(choices, [&](const auto& choice) { return choice.name == word; });
    if (at == choices.end()) {
      in.fail(key,
              fmt::format(
                  "{}: expected a list of some of {}", word, listed(choices, &Choice<E>::name)));
      break;
    }
    some.emplace_back(at->value);
  }
  return some;
}

/// Without a limit all is allowed.
template <class T>
bool allows(const std::optional<std::vector<T>>& some, const T& value) {
  return !some || includes(*some, value);
}
bool allows(const std::optional<std::int64_t>& most, std::int64_t degree) {
  return !most || degree <= *most;
}
/// What is not asked for is no matter.
bool allows(const std::optional<bool>& able, bool asked) { return !asked || able.value_or(true); }

bool allows_sharding(const Abilities& can, const Plan& plan) {
  return !plan.has_copies() ||
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
  add("gradients", offload.gradients);
  add("activations", offload.activations);
  if (offload.updates_on_host()) {
    parts.emplace_back("update");
  }
  return parts;
}

bool allows_offload(const Abilities& can, const Plan& plan) {
  const std::vector<std::string> parts = offloaded(plan.offload);
  return std::ranges::all_of(parts,
                             [&](const std::string& part) { return allows(can.offload, part); });
}

/// "interleaved" where ranks have several chunks.
std::string_view word_of(const Plan& plan) {
  const ScheduleEntry& entry = plan.schedule.entry();
  return plan.virtual_stages > 1 && !entry.of_chunks.empty() ? entry.of_chunks : entry.name;
}

bool allows_overlap_in(const Abilities& can, const Plan& plan) {
  return !plan.expert_overlap || plan.pipeline == 1 ||
         allows(can.expert_overlap_schedule, std::string(word_of(plan)));
}

std::string offload_text(const Plan& plan) {
  const std::string parts = listed(offloaded(plan.offload), "+");
  return parts.empty() ? "" : "offload " + parts;
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
constexpr std::array<Ability, 20> kAbilities = {{
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
     [](const A& can, const P& plan) {
       return !plan.expert_dispatch || allows(can.expert_dispatch, *plan.expert_dispatch);
     },
     [](const A&, const P& plan) {
       return fmt::format("expert_dispatch {}", name(*plan.expert_dispatch));
     }},
    {PlanPart::layer,
     [](const A& can, const P& plan) { return allows(can.expert_overlap, plan.expert_overlap); },
     [](const A&, const P&) { return std::string("expert_overlap"); }},
    {PlanPart::layer,
     [](const A& can, const P& plan) {
       return !plan.expert_overlap || allows(can.expert_overlap_recompute, plan.recompute);
     },
     [](const A&, const P& plan) {
       return fmt::format("expert_overlap with recompute {}", name(plan.recompute));
     }},
    {PlanPart::layer,
     [](const A& can, const P& plan) {
       return allows(can.shared_expert_overlap, plan.shared_expert_overlap);
     },
     [](const A&, const P&) { return std::string("shared_expert_overlap"); }},
    {PlanPart::layer,
     [](const A& can, const P& plan) { return allows(can.fused_experts, plan.fused_experts); },
     [](const A&, const P&) { return std::string("fused_experts"); }},
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
    {PlanPart::schedule,
     allows_overlap_in,
     [](const A&, const P& plan) {
       return fmt::format("expert_overlap with schedule {}", word_of(plan));
     }},
    {PlanPart::state, allows_sharding, sharding_text},
    {PlanPart::state, allows_offload, [](const A&, const P& plan) { return offload_text(plan); }},
    {PlanPart::state,
     [](const A& can, const P& plan) {
       return !plan.has_copies() ||
              allows(can.overlap_grad_reduce, plan.overlap_grad_reduce.value_or(false));
     },
     [](const A&, const P&) { return std::string("overlap_grad_reduce"); }},
    {PlanPart::state,
     [](const A& can, const P& plan) {
       return !plan.has_copies() ||
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

constexpr Range kMost = {1, 1e9};
constexpr std::string_view kNoLimit = "no limit";
constexpr std::array<Choice<std::string_view>, 5> kOffloaded = {{{"weights", "weights"},
                                                                 {"optimizer", "optimizer"},
                                                                 {"gradients", "gradients"},
                                                                 {"activations", "activations"},
                                                                 {"update", "update"}}};

/// Schedules by their words.
std::span<const Choice<std::string_view>> named_schedules() {
  static const auto named = each_of(schedule_words(), [](const Choice<std::size_t>& word) {
    return Choice<std::string_view>{word.name, word.name};
  });
  return named;
}

template <const auto& table>
auto choices() {
  return std::span<const typename std::remove_cvref_t<decltype(table)>::value_type>(table);
}

template <auto Member, auto choices_of>
constexpr Field<A> some_of(std::string_view key, std::string_view about) {
  constexpr auto found = [](const Field<A>& own, Reader& in) {
    return read_some<typename fields::TypeOf<Member>::value_type>(in, own.key, choices_of());
  };
  Field<A> field = fields::single<Member, found, A>(key, about).or_else(kNoLimit);
  field.schema = [](const Field<A>& /*own*/) {
    return schema::list_of(schema::one_of(choices_of()));
  };
  return field;
}

/// What the software can do of a key of plans.
template <auto Member>
constexpr Field<A> most(std::string_view key, std::string_view about) {
  return fields::integer<Member>(key, kMost, about).or_else(kNoLimit);
}
template <auto Member, const auto& table>
constexpr Field<A> some(std::string_view key, std::string_view about) {
  return some_of<Member, choices<table>>(key, about);
}
template <auto Member>
constexpr Field<A> whether(std::string_view key, std::string_view about = "whether it can") {
  return fields::flag<Member>(key, about).or_else("it can");
}

constexpr std::array kAbilityFields = {
    fields::label<A>("source", "one of `sources`: the software's own documents").needed(),
    most<&A::tensor>("tensor", "largest degree; 1: it has none of it"),
    most<&A::context>("context", "likewise"),
    most<&A::expert>("expert", "likewise"),
    most<&A::pipeline>("pipeline", "likewise"),
    most<&A::virtual_stages>("virtual_stages", "likewise, of schedules that interleave"),
    some_of<&A::schedule, schedule_choices>("schedule", "those that it has"),
    some<&A::recompute, kRecomputes>("recompute", "likewise"),
    some<&A::sharding, kShardingNames>("sharding", "likewise"),
    some<&A::sharding_with_pipeline, kShardingNames>("sharding_with_pipeline",
                                                     "of these with more than one stage"),
    some<&A::sharding_with_tensor, kShardingNames>("sharding_with_tensor",
                                                   "of these with a tensor degree above 1"),
    some<&A::offload, kOffloaded>("offload", "what it can keep outside the devices"),
    some<&A::tensor_overlap, kTensorOverlaps>("tensor_overlap", "those that it has"),
    some<&A::pipeline_send, kPipelineSends>("pipeline_send", "likewise"),
    some<&A::precision, kDataTypes>("precision", "of training"),
    whether<&A::tensor_beyond_kv_heads>(
        "tensor_beyond_kv_heads", "whether it can: a tensor degree above the key-value heads"),
    whether<&A::sequence_parallel>("sequence_parallel"),
    some<&A::expert_dispatch, kExpertDispatches>("expert_dispatch",
                                                 "those that it has beside its own"),
    whether<&A::expert_overlap>("expert_overlap"),
    some<&A::expert_overlap_recompute, kRecomputes>("expert_overlap_recompute",
                                                    "those beside which it can do that"),
    some_of<&A::expert_overlap_schedule, named_schedules>("expert_overlap_schedule",
                                                          "likewise, with more than one stage"),
    whether<&A::shared_expert_overlap>("shared_expert_overlap"),
    whether<&A::fused_experts>("fused_experts"),
    whether<&A::overlap_grad_reduce>("overlap_grad_reduce"),
    whether<&A::overlap_param_gather>("overlap_param_gather")};

}  // namespace

Value abilities_schema() { return schema_of<A>(kAbilityFields); }

Abilities read_abilities(Reader& stack) {
  Abilities can;
  if (auto in = stack.maybe_object("abilities")) {
    read_fields<A>(kAbilityFields, *in, can);
  }
  return can;
}

bool is_able(const Abilities& abilities, const Plan& plan, PlanPart part) {
  return std::ranges::all_of(kAbilities, [&](const Ability& ability) {
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
