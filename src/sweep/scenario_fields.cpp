#include "titer/sweep/scenario_fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace titer {
namespace {

template <auto Member>
constexpr ScenarioField plan_field(std::string_view path) {
  return {.path = path,
          .copy = [](const Scenario& from, Scenario& to) { to.plan.*Member = from.plan.*Member; }};
}

template <auto Member>
constexpr ScenarioField training_field(std::string_view path) {
  return {.path = path, .copy = [](const Scenario& from, Scenario& to) {
            to.training.*Member = from.training.*Member;
          }};
}

template <auto Member>
constexpr ScenarioField plan_number(std::string_view path) {
  ScenarioField field = plan_field<Member>(path);
  field.set = [](std::int64_t value, Scenario& to) { to.plan.*Member = value; };
  return field;
}

template <auto Member>
constexpr ScenarioField training_number(std::string_view path) {
  ScenarioField field = training_field<Member>(path);
  field.set = [](std::int64_t value, Scenario& to) { to.training.*Member = value; };
  return field;
}

constexpr std::array kFields = {
    plan_number<&Plan::pipeline>("plan.pipeline"),
    plan_number<&Plan::tensor>("plan.tensor"),
    plan_number<&Plan::data>("plan.data"),
    plan_number<&Plan::context>("plan.context"),
    plan_number<&Plan::expert>("plan.expert"),
    plan_number<&Plan::expert_tensor>("plan.expert_tensor"),
    plan_number<&Plan::virtual_stages>("plan.virtual_stages"),
    plan_number<&Plan::micro_batch>("plan.micro_batch"),
    plan_number<&Plan::context_inner>("plan.context_inner"),
    plan_number<&Plan::recompute_every>("plan.recompute_every"),
    plan_number<&Plan::recompute_layers>("plan.recompute_layers"),
    plan_field<&Plan::context_method>("plan.context_method"),
    plan_field<&Plan::context_balanced>("plan.context_balanced"),
    ScenarioField{.path = "plan.recompute",
                  .copy =
                      [](const Scenario& from, Scenario& to) {
                        to.plan.recompute = from.plan.recompute;
                        to.plan.recomputed = from.plan.recomputed;
                      }},
    plan_field<&Plan::sequence_parallel>("plan.sequence_parallel"),
    plan_field<&Plan::sharding>("plan.sharding"),
    plan_field<&Plan::gradient_collective>("plan.gradient_collective"),
    plan_field<&Plan::reshard_after_forward>("plan.reshard_after_forward"),
    plan_field<&Plan::reduce_every_pass>("plan.reduce_every_pass"),
    plan_field<&Plan::prefetch>("plan.prefetch"),
    plan_field<&Plan::rank_order>("plan.rank_order"),
    plan_field<&Plan::attention>("plan.attention"),
    plan_field<&Plan::micro_batch_group>("plan.micro_batch_group"),
    plan_field<&Plan::tensor_overlap>("plan.tensor_overlap"),
    plan_field<&Plan::pipeline_send>("plan.pipeline_send"),
    plan_field<&Plan::overlap_grad_reduce>("plan.overlap_grad_reduce"),
    plan_field<&Plan::overlap_param_gather>("plan.overlap_param_gather"),
    training_number<&Training::global_batch>("training.global_batch"),
    training_number<&Training::sequence>("training.sequence"),
    training_field<&Training::precision>("training.precision"),
    training_field<&Training::gradient_precision>("training.gradient_precision"),
    training_field<&Training::weight_precision>("training.weight_precision"),
    training_field<&Training::state_precision>("training.state_precision"),
    training_field<&Training::master_precision>("training.master_precision"),
    training_field<&Training::gradient_messages>("training.gradient_messages"),
    training_field<&Training::weight_messages>("training.weight_messages"),
    training_field<&Training::fused_optimizer>("training.fused_optimizer"),
};

/// Hands what a part is in two scenarios to `act`.
template <class AnyScenario, class Act>
void each_value(ScenarioPart part, AnyScenario& one, Scenario& other, const Act& act) {
  switch (part) {
    case ScenarioPart::model:
      return act(one.model, other.model);
    case ScenarioPart::cluster:
      return act(one.cluster, other.cluster);
    case ScenarioPart::stack:
      return act(one.stack, other.stack);
    case ScenarioPart::plan:
      return act(one.plan, other.plan);
    case ScenarioPart::training:
      return act(one.training, other.training);
    case ScenarioPart::formula:
      act(one.formula, other.formula);
      return act(one.e7, other.e7);
    case ScenarioPart::conditions:
      return act(one.conditions, other.conditions);
  }
}

}  // namespace

const ScenarioField* scenario_field(std::string_view path) {
  const auto* const found = std::find_if(
      kFields.begin(), kFields.end(), [&](const ScenarioField& f) { return f.path == path; });
  return found == kFields.end() ? nullptr : found;
}

void copy_part(ScenarioPart part, const Scenario& from, Scenario& to) {
  each_value(part, from, to, [](const auto& value, auto& other) { other = value; });
}

void swap_part(ScenarioPart part, Scenario& one, Scenario& other) {
  each_value(part, one, other, [](auto& value, auto& of_other) { std::swap(value, of_other); });
}

bool follows(ScenarioPart part, ScenarioPart other) {
  return part == other || (part == ScenarioPart::training && other == ScenarioPart::model) ||
         (part == ScenarioPart::conditions && other == ScenarioPart::cluster);
}

}  // namespace titer
