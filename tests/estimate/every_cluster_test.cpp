// Every shipped model on every shipped cluster, with groups of every kind inside nodes and across
// them: an answer, or what of the question is not right.

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimate/sound_result.hpp"
#include "plan/shipped.hpp"
#include "repetitions.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

struct NamedPlan {
  std::string kind;  // of its groups
  Plan plan;
};

/// A group of so many ranks of every kind, on neighbouring devices and on every other one.
std::vector<NamedPlan> plans_of(std::int64_t ranks) {
  std::vector<NamedPlan> plans;
  const auto add = [&](const std::string& kind, const auto& change) {
    for (const std::int64_t tensor : {1, 2}) {
      Plan plan;
      plan.tensor = tensor;
      change(plan);
      plans.push_back({kind, plan});
    }
  };
  add("tensor", [&](Plan& plan) { plan.tensor *= ranks; });
  add("data", [&](Plan& plan) { plan.data = ranks; });
  add("pipeline", [&](Plan& plan) { plan.pipeline = ranks; });
  for (const Choice<ContextMethod>& method : kContextMethods) {
    add("context by " + std::string(method.name), [&](Plan& plan) {
      plan.context = ranks;
      plan.context_method = method.value;
      plan.context_inner = method.value == ContextMethod::hierarchical ? 2 : 1;
    });
  }
  add("expert", [&](Plan& plan) {
    plan.data = ranks;
    plan.expert = ranks;
  });
  add("expert", [&](Plan& plan) {
    plan.data = 2 * ranks;
    plan.expert = ranks;
  });
  add("expert tensor", [&](Plan& plan) {
    plan.data = ranks;
    plan.expert = ranks;
    plan.expert_tensor = 1;
  });
  add("expert tensor", [&](Plan& plan) {
    plan.data = ranks;
    plan.expert = 2;
    plan.expert_tensor = ranks / 2;
  });
  return plans;
}

/// Trained as the model and the chip can be.
Training training_of(const Scenario& scenario) {
  Training training;
  const Transformer* model = scenario.model.if_transformer();
  training.sequence = model != nullptr ? std::min<std::int64_t>(model->max_sequence, 2048) : 1;
  training.precision = scenario.cluster.chip.rate(DataType::bf16)   ? DataType::bf16
                       : scenario.cluster.chip.rate(DataType::fp16) ? DataType::fp16
                                                                    : DataType::fp32;
  training.global_batch = 2 * scenario.plan.pipeline * scenario.plan.data;
  return training;
}

/// What is left of a torus is data-parallel.
void fill_torus(Scenario& scenario) {
  if (const Torus* torus = scenario.cluster.torus()) {
    scenario.plan.data *= std::max<std::int64_t>(1, torus->devices() / scenario.plan.devices());
  }
}

/// The power of two above a number: what sequences, heads and layers are cut into.
std::int64_t power_above(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number) + 1));
}

std::string text_of(const Scenario& scenario, const NamedPlan& named) {
  return scenario.model.name() + " on " + scenario.cluster.name + ", " + named.kind + ", " +
         std::to_string(scenario.plan.devices()) + " devices";
}

/// Whether there is an answer, and a sound one.
bool is_answered(const Scenario& scenario, Estimator& estimator, const std::string& text) {
  try {
    if (!validate(scenario).empty()) {
      return false;
    }
    StepResult result;
    evaluate(scenario, Fidelity::closed, estimator, result);
    EXPECT_EQ(unsound(result), "") << text;
    return true;
  } catch (const InputError&) {
    return false;
  } catch (const std::exception& error) {
    ADD_FAILURE() << text << ": " << error.what();
    return false;
  }
}

/// All, or where that takes long every third, and the deepest: only those fill a pipeline through
/// more than one rack.
std::vector<Model> models_to_try() {
  std::vector<Model> models;
  const std::vector<std::string> names = shipped_names(kModelData);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Model model = shipped::any_model(names[i]);
    const Transformer* transformer = model.if_transformer();
    if (!testing::kSanitized || i % 3 == 0 ||
        (transformer != nullptr && transformer->layers > 120)) {
      models.push_back(std::move(model));
    }
  }
  return models;
}

TEST(EveryModelOnEveryCluster, IsAnsweredOrRefused) {
  const std::vector<Model> models = models_to_try();
  Estimator estimator;
  Scenario scenario;
  scenario.stack = shipped::stack();
  std::set<std::string> kinds;
  for (const std::string& name : shipped_names(kClusterData)) {
    scenario.cluster = shipped::cluster(name);
    const bool on_nodes = scenario.cluster.torus() == nullptr;
    const std::int64_t node = on_nodes ? scenario.cluster.devices_per_node : 8;
    std::map<std::string, int> inside;
    std::map<std::string, int> across;
    for (const Model& model : models) {
      scenario.model = model;
      for (const std::int64_t ranks :
           std::set<std::int64_t>{2, node / 2, node, 2 * node, power_above(node)}) {
        for (const NamedPlan& named : plans_of(ranks)) {
          scenario.plan = named.plan;
          fill_torus(scenario);
          scenario.training = training_of(scenario);
          const bool answered = is_answered(scenario, estimator, text_of(scenario, named));
          (ranks > node ? across : inside)[named.kind] += answered ? 1 : 0;
          kinds.insert(named.kind);
        }
      }
    }
    for (const std::string& kind : kinds) {
      EXPECT_TRUE(!on_nodes || inside[kind] > 0) << kind << " inside nodes of " << name;
      EXPECT_TRUE(!on_nodes || across[kind] > 0) << kind << " across nodes of " << name;
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
