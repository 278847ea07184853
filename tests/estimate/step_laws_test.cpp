// What must hold of any step in closed form: what is faster or less makes none longer.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "scenario/violations.hpp"
#include "simulate/random_scenarios.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/plan/place/placement.hpp"
#include "titer/plan/schedule/schedule.hpp"
#include "titer/topology/family/node_families.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kCompared = 120;
constexpr double kRounding = 1e-9;
// Where transfers slow down what they are beside, a pass is taken as a mixture of what is and what
// is not: shorter transfers of its own leave more in it that is.
constexpr double kMixture = 1e-3;

/// Compares scenarios with what `change` makes of them; it says whether there is something to
/// change.
void expect_no_longer(const std::function<bool(Scenario&)>& change, std::uint64_t first) {
  scenarios::Numbered numbered;
  Scenario scenario;
  int compared = 0;
  int shorter = 0;
  for (std::uint64_t number = first; number < first + 40'000 && compared < kCompared; ++number) {
    try {
      const scenarios::Question question = numbered.question(number, scenario);
      Scenario changed = scenario;
      if (scenario.unlike() || !change(changed) || !validate(scenario).empty() ||
          !validate(changed).empty()) {
        continue;
      }
      const double before = estimate(scenario).iteration_time.si();
      const double after = estimate(changed).iteration_time.si();
      const double tolerance = scenario.stack.overlap_slowdown > 1 ? kMixture : kRounding;
      EXPECT_LE(after / before, 1 + tolerance) << number << ": " << question.text();
      shorter += after / before < 1 - kRounding ? 1 : 0;
      ++compared;
    } catch (const InputError&) {
      // Refused, as it is read or for what it is.
    }
  }
  EXPECT_EQ(compared, kCompared);
  EXPECT_GT(shorter, kCompared / 10) << "what is changed counts";
}

TEST(StepLaws, MoreBandwidthBetweenNodesMakesNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        scenario.cluster.nic_bandwidth = 1.7 * scenario.cluster.nic_bandwidth;
        return scenario.cluster.nics > 0 &&
               scenario.plan.devices() > scenario.cluster.devices_per_node;
      },
      100'000);
}

TEST(StepLaws, MoreBandwidthInANodeMakesNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        Cluster& cluster = scenario.cluster;
        const SwitchedNode* node = cluster.topology.as<SwitchedNode>();
        if (node == nullptr || scenario.plan.devices() == 1) {
          return false;
        }
        SwitchedNode faster = *node;
        faster.bandwidth = 1.5 * faster.bandwidth;
        cluster.topology = faster;
        cluster.fill_bandwidths();
        return true;
      },
      1'200'000);
}

/// Whether the kernel that fuses the softmax of several heads takes those of a micro-batch.
bool fuses_softmax(const Scenario& scenario) {
  const Transformer* model = scenario.model.if_transformer();
  const std::int64_t heads = model == nullptr ? 0 : model->heads / scenario.plan.tensor;
  return scenario.plan.micro_batch * heads % scenario.stack.kernels.softmax_heads == 0;
}

// Of heads that the same kernels take.
TEST(StepLaws, SmallerMicroBatchesMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        Plan& plan = scenario.plan;
        const bool halves = plan.micro_batch % 2 == 0 && plan.batch_shares.even();
        plan.micro_batch /= 2;
        scenario.training.global_batch /= 2;
        return halves && fuses_softmax(scenario);
      },
      1'300'000);
}

TEST(StepLaws, LessLatencyMakesNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        for (auto* protocols : {&scenario.cluster.node_protocols,
                                &scenario.cluster.peer_protocols,
                                &scenario.cluster.network_protocols}) {
          for (Protocol& protocol : *protocols) {
            protocol.latency = 0.5 * protocol.latency;
            protocol.startup = 0.5 * protocol.startup;
          }
        }
        return scenario.plan.devices() > 1;
      },
      200'000);
}

TEST(StepLaws, FasterMemoryMakesNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        scenario.cluster.chip.memory.bandwidth = 1.5 * scenario.cluster.chip.memory.bandwidth;
        return true;
      },
      300'000);
}

TEST(StepLaws, ShorterSequencesMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        const Transformer* model = scenario.model.if_transformer();
        scenario.training.sequence /= 2;
        return model != nullptr && !model->denoiser && !model->tower;
      },
      400'000);
}

/// Behind switches, since of a node with a wire for each pair more ranks have more wires; where a
/// rank does nothing once for a whole ring, which more ranks make less of.
bool grows_with_ranks(const Cluster& cluster) {
  return cluster.topology.as<SwitchedNode>() != nullptr &&
         std::all_of(cluster.node_protocols.begin(),
                     cluster.node_protocols.end(),
                     [](const Protocol& protocol) { return protocol.own_share == 0; });
}

/// Whether all groups of a plan fill nodes or lie in one: of others messages are taken to run
/// through the network between every two ranks.
bool lies_evenly(const Scenario& scenario) {
  const std::int64_t node = scenario.cluster.devices_per_node;
  const auto fills = [node](std::int64_t ranks) { return ranks % node == 0 || node % ranks == 0; };
  const Plan& plan = scenario.plan;
  return plan.rank_order == Plan().rank_order && fills(plan.tensor) &&
         fills(plan.tensor * plan.data) && fills(plan.devices());
}

int nodes_of_replicas(const Scenario& scenario) {
  return place(scenario.plan, PlanGroup::replicas, scenario.cluster).group.nodes;
}

// Of replicas with as large batches each, all states whole on every one of them, and one copy of
// the model in a pipeline. Those of one node have its links alone, and those of several the
// network's besides.
TEST(StepLaws, FewerReplicasMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        Plan& plan = scenario.plan;
        const bool halves =
            plan.data % 2 == 0 && plan.context == 1 && grows_with_ranks(scenario.cluster) &&
            plan.sharding == Sharding::none && plan.expert == 1 && !plan.offload.any() &&
            placement(plan.schedule) != Placement::two_ways && lies_evenly(scenario);
        if (!halves) {
          return false;
        }
        const bool leaves_node = nodes_of_replicas(scenario) > 1;
        plan.data /= 2;
        scenario.training.global_batch /= 2;
        return lies_evenly(scenario) && leaves_node == (nodes_of_replicas(scenario) > 1);
      },
      500'000);
}

TEST(StepLaws, FasterProductsMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        for (std::optional<MatrixRate>& rate : scenario.cluster.chip.matrix) {
          if (rate) {
            rate->peak = 1.5 * rate->peak;
          }
        }
        return true;
      },
      700'000);
}

TEST(StepLaws, FasterHostsMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        scenario.cluster.host_slowdown *= 0.5;
        return scenario.plan.cuda_graph == 0;
      },
      800'000);
}

TEST(StepLaws, FewerMicroBatchesMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        const std::int64_t before = scenario.micro_batches();
        scenario.training.global_batch /= 2;
        return before % 2 == 0 && scenario.formula == Formula::titer;
      },
      900'000);
}

TEST(StepLaws, FewerLayersMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        const Transformer* model = scenario.model.if_transformer();
        if (model == nullptr || model->order.size() > 1 || model->tower || model->denoiser ||
            model->layers % 2 != 0 || !std::holds_alternative<LayerRule>(scenario.plan.layers)) {
          return false;
        }
        Transformer half = *model;
        half.layers /= 2;
        for (LayerRun& run : half.order) {
          run.count = half.layers;
        }
        scenario.model = Model(half);
        return true;
      },
      1'100'000);
}

TEST(StepLaws, FasterWaysToTheHostMakeNoStepLonger) {
  expect_no_longer(
      [](Scenario& scenario) {
        for (auto* tier : {&scenario.cluster.host_memory, &scenario.cluster.nvme}) {
          if (*tier) {
            (*tier)->bandwidth = 2.0 * (*tier)->bandwidth;
            (*tier)->per_device = 2.0 * (*tier)->per_device;
          }
        }
        return scenario.plan.offload.any();
      },
      1'000'000);
}

TEST(StepLaws, StepsOfOneDeviceAreComputeAlone) {
  scenarios::Numbered numbered;
  Scenario scenario;
  int compared = 0;
  for (std::uint64_t number = 600'000; number < 640'000 && compared < kCompared; ++number) {
    try {
      static_cast<void>(numbered.question(number, scenario));
      if (scenario.plan.devices() > 1 || scenario.plan.offload.any() ||
          scenario.plan.sharding == Sharding::parameter_server ||  // whose servers are elsewhere
          !validate(scenario).empty()) {
        continue;
      }
      const StepResult result = estimate(scenario);
      EXPECT_EQ(result.breakdown.tensor_comm + result.breakdown.data_comm +
                    result.breakdown.pipeline_comm + result.breakdown.expert_comm +
                    result.breakdown.context_comm,
                Seconds{})
          << number;
      EXPECT_NEAR(result.breakdown.bubble / result.iteration_time, 0.0, 1e-12) << number;
      ++compared;
    } catch (const InputError&) {
      // Refused, as it is read or for what it is.
    }
  }
  EXPECT_GT(compared, 20);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
