#include "part_sets.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "titer/plan/plan_fields.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<Module>, 11> kModuleNames = {
    {{"core_attention", Module::core_attention},
     {"layer_norm", Module::layer_norm},
     {"latent_up", Module::latent_up},
     {"mlp", Module::mlp},
     {"moe", Module::moe},
     {"activation", Module::activation},
     {"shared_experts", Module::shared_experts},
     {"attention", Module::attention},
     {"attention_result", Module::attention_result},
     {"attention_output", Module::attention_output},
     {"mlp_activation", Module::mlp_activation}}};

constexpr std::span<const Choice<Recompute>> kNamedRecomputes(kRecomputes.data(),
                                                              kRecomputes.size() - 1);

constexpr std::array<Choice<LayerPart>, 5> kPartNames = {{{"attention", LayerPart::attention},
                                                          {"mixer", LayerPart::mixer},
                                                          {"mlp", LayerPart::mlp},
                                                          {"router", LayerPart::router},
                                                          {"experts", LayerPart::experts}}};
constexpr std::array<Choice<LayerPartSet>, 2> kGraphs = {
    {{"none", LayerPartSet{0}}, {"iteration", kWholeIteration}}};

bool is_list(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  return value != nullptr && value->kind == Value::Kind::array;
}

template <class Set, class Names>
Set read_set(std::string_view key, Reader& in, const Names& names) {
  Set set{0};
  for (const std::string& word : in.texts(key)) {
    const auto* known =
        std::ranges::find_if(names, [&](const auto& part) { return part.name == word; });
    if (known == names.end()) {
      const auto name_of = [](const auto& part) { return part.name; };
      in.fail(key, "expected some of " + listed(names, name_of) + ", not \"" + word + "\"");
      break;
    }
    set = static_cast<Set>(set | bit(known->value));
  }
  return set;
}

template <class Set, class Names>
Value names_in(Set set, const Names& names) {
  Value list = Value::make_array();
  for (const auto& part : names) {
    if ((set & bit(part.value)) != 0) {
      list.push(part.name);
    }
  }
  return list;
}

std::optional<std::string_view> graph_name(LayerPartSet graph) {
  const auto* named =
      std::ranges::find_if(kGraphs, [&](const auto& one) { return one.value == graph; });
  return named == kGraphs.end() ? std::nullopt : std::optional(named->name);
}

}  // namespace

void read_recompute(const Field<Plan>& own, Reader& in, Plan& plan) {
  if (is_list(in, own.key)) {
    plan.recompute = Recompute::modules;
    plan.recomputed = read_set<Modules>(own.key, in, kModuleNames);
  } else {
    plan.recompute =
        in.maybe_choice<Recompute>(own.key, kNamedRecomputes).value_or(Recompute::none);
  }
}

Value recompute_schema(const Field<Plan>& /*own*/) {
  return schema::either({schema::one_of<Recompute>(kNamedRecomputes),
                         schema::list_of(schema::one_of<Module>(kModuleNames))});
}

Value write_recompute(const Plan& plan) {
  return plan.recompute == Recompute::modules ? names_in(plan.recomputed, kModuleNames)
                                              : Value(name(plan.recompute));
}

void read_graph(const Field<Plan>& own, Reader& in, Plan& plan) {
  plan.cuda_graph = is_list(in, own.key)
                        ? read_set<LayerPartSet>(own.key, in, kPartNames)
                        : in.maybe_choice<LayerPartSet>(own.key, kGraphs).value_or(LayerPartSet{0});
}

Value graph_schema(const Field<Plan>& /*own*/) {
  return schema::either({schema::one_of<LayerPartSet>(kGraphs),
                         schema::list_of(schema::one_of<LayerPart>(kPartNames))});
}

Value write_graph(const Plan& plan) {
  const auto named = graph_name(plan.cuda_graph);
  return named ? Value(*named) : names_in(plan.cuda_graph, kPartNames);
}

std::string graph_text(LayerPartSet graph) {
  const auto named = graph_name(graph);
  return named ? std::string(*named) : listed(names_in(graph, kPartNames).items, &Value::text, "+");
}

}  // namespace titer
