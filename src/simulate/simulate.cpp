#include "titer/simulate/simulate.hpp"

#include <fmt/format.h>

#include <array>

#include "playback.hpp"
#include "span_limit.hpp"
#include "titer/estimate/check_rates.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/simulate/network_loads.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

void fill_breakdown(const RankAccount& account, Ticks makespan, StepResult& result) {
  result.breakdown = {};
  Ticks idle = makespan;
  std::array<Ticks, kTaskParts> ticks = account.shown;
  // One sum for both parts of a backward pass, so that it is rounded once.
  ticks[static_cast<std::size_t>(TaskPart::backward)] +=
      std::exchange(ticks[static_cast<std::size_t>(TaskPart::weight_gradient)], 0);
  for (const CountedPart& counted : kCountedParts) {
    const auto part = static_cast<std::size_t>(counted.part);
    result.breakdown.*counted.exposed += to_seconds(ticks[part]);
    idle -= ticks[part];
    if (counted.total != nullptr) {
      result.comm_total.*counted.total = to_seconds(account.total[part]);
    }
  }
  result.breakdown.bubble = to_seconds(idle);
}

/// Of each pipeline rank the device that ends last; the first of equals.
std::vector<std::size_t> latest_devices(const World& world, const Accounts& accounts, int stages) {
  std::vector<std::optional<std::size_t>> latest(static_cast<std::size_t>(stages));
  for (std::size_t rank = 0; rank < world.ranks().size(); ++rank) {
    auto& known = latest[static_cast<std::size_t>(world.ranks()[rank].stage)];
    if (!known || accounts.of(rank).end > accounts.of(*known).end) {
      known = rank;
    }
  }
  return each_of(latest, [&](const auto& device) { return *device; });
}

SimulatedRank simulated_rank(const RankAccount& account, Ticks makespan) {
  Ticks compute = 0;
  Ticks communication = 0;
  for (std::size_t part = 0; part < kTaskParts; ++part) {
    (part < kComputeParts ? compute : communication) += account.shown[part];
  }
  return {.rank = 0,
          .start = to_seconds(account.start),
          .end = to_seconds(account.end),
          .compute = to_seconds(compute),
          .communication = to_seconds(communication),
          .idle = to_seconds(makespan - compute - communication),
          .memory = {}};
}

/// What each pipeline rank holds all the time.
std::vector<Bytes> fixed_bytes(const std::vector<StageMemory>& stages) {
  return each_of(stages, [&](const StageMemory& stage) { return stage.fixed(); });
}

class Simulator {
 public:
  Simulator(const Scenario& scenario,
            std::span<const StepCosts> costs,
            const SimulationOptions& options)
      : scenario_(scenario),
        costs_(costs.front()),
        options_(options),
        world_(scenario, every_rank(scenario, options)),
        contention_(scenario, world_),
        classes_(classes_of(scenario, world_, costs)) {
    for (const StepCosts& of_class : costs) {
      check_length(scenario, of_class);
    }
    const MemoryNeeds needs = memory_needs(scenario, costs_.blocks);
    memory_.find(scenario.plan, needs, simulation_.result.memory);
    fixed_ = fixed_bytes(simulation_.result.memory);
    for (const StepCosts& of_class : costs) {
      const auto stages = stage_activations(scenario.plan, memory_needs(scenario, of_class.blocks));
      StepProgram& program =
          programs_.emplace_back(step_program(scenario, of_class, world_.members()));
      for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        RankProgram& own = program.ranks[rank];
        own.memory = walk_memory(of_class, own, static_cast<int>(rank), stages);
      }
    }
    if (options.network) {
      std::vector<Scenario> scenarios;
      for (std::size_t i = 0; i < costs.size(); ++i) {
        scenarios.push_back(costs.size() == 1 ? scenario : class_scenario(scenario, i));
      }
      links_ = share_links({.scenarios = scenarios,
                            .costs = costs,
                            .classes = classes_,
                            .world = world_,
                            .contention = contention_},
                           programs_);
      simulation_.result.algorithms = std::exchange(links_.algorithms, {});
    }
    if (options.record) {
      check_recordable(world_, programs_.front());
    }
  }

  Simulation run() {
    Recorder recorder(simulation_.timeline, world_, fixed_);
    // On the links of the network every instruction has its load already.
    const Contention none;
    const Contention& contention = options_.network ? none : contention_;
    const SimulatedStep step{.scenario = scenario_,
                             .world = world_,
                             .programs = programs_,
                             .classes = classes_,
                             .contention = contention,
                             .sample = options_.sample,
                             .links = options_.network ? &links_ : nullptr};
    Playback playback(step, options_.record ? &recorder : nullptr);
    simulation_.timeline.ranks = world_.ranks();
    const StreamRun run = follow(playback, options_.network ? links_.loads : contention.loads());
    for (const StreamId stream : run.stuck) {
      if (playback.is_main(stream)) {
        refuse_deadlock(world_.ranks()[playback.rank_of(stream)].stage, playback.current(stream));
      }
    }
    ensure(run.stuck.empty(), "streams beside compute end when compute does");
    simulation_.timeline.makespan = run.makespan;
    fill_result(playback, run.makespan);
    if (options_.network) {
      simulation_.result.contention = {.found = run.patterns.found,
                                       .known = run.patterns.known,
                                       .busy = std::exchange(links_.busy, {})};
    }
    return std::move(simulation_);
  }

 private:
  static bool every_rank(const Scenario& scenario, const SimulationOptions& options) {
    const bool every = options.every_rank || scenario.unlike();
    if (every && scenario.plan.devices() > kMostSimulatedDevices) {
      throw InputError(fmt::format("plan: {} devices: expected at most {} to simulate every one",
                                   scenario.plan.devices(),
                                   kMostSimulatedDevices));
    }
    return every;
  }

  /// What shares something, and noise, may make a step too long that is not by itself.
  StreamRun follow(Playback& playback, const Loads& loads) const {
    StreamEngine engine;
    try {
      return engine.run(playback.streams(), world_.semaphores(), playback, playback, loads);
    } catch (const TimelineTooLong&) {
      refuse_length();
    }
  }

  /// Of the first rank whose compute is stuck.
  [[noreturn]] void refuse_deadlock(int stage, const Instruction& instruction) const {
    const RankProgram& own = programs_.front().ranks[static_cast<std::size_t>(stage)];
    const std::string before = instruction.unit < own.units.size()
                                   ? "the " + unit_text(costs_, own, stage, instruction.unit)
                                   : "its optimizer step";
    throw InputError(
        fmt::format("plan.pipeline_send: {}: rank {} of the pipeline waits for ever before {}: "
                    "expected sends that the schedule {} can do in its order, such as overlapped",
                    name(scenario_.pipeline_send()),
                    stage,
                    before,
                    name(scenario_.plan.schedule)));
  }

  void fill_result(const Playback& playback, Ticks end) {
    const Ticks waits = input_wait(scenario_, end);
    const Ticks makespan = end + waits;
    StepResult& result = simulation_.result;
    const auto devices = latest_devices(world_, playback.accounts(), costs_.shape.stages);
    result.iteration_time = to_seconds(makespan);
    result.reference_stage = 0;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      const RankAccount& account = playback.accounts().of(devices[rank]);
      SimulatedRank simulated = simulated_rank(account, makespan);
      const RankProgram& own = programs_.front().ranks[rank];
      simulated.rank = static_cast<int>(rank);
      simulated.memory = {
          .in_use = fixed_[rank] + own.memory.during[own.memory.peak],
          .at = to_seconds(playback.peak(devices[rank])),
          .operation = unit_text(costs_, own, static_cast<int>(rank), own.memory.peak)};
      result.ranks.push_back(std::move(simulated));
      const auto reference = static_cast<std::size_t>(result.reference_stage);
      if (account.end > playback.accounts().of(devices[reference]).end) {
        result.reference_stage = static_cast<int>(rank);
      }
    }
    fill_breakdown(
        playback.accounts().of(devices[static_cast<std::size_t>(result.reference_stage)]),
        end,
        result);
    result.breakdown.input = to_seconds(waits);
    fill_derived(scenario_, costs_.blocks, memory_, result);
  }

  const Scenario& scenario_;
  const StepCosts& costs_;
  const SimulationOptions& options_;
  World world_;
  Contention contention_;
  std::vector<std::size_t> classes_;   // of each device
  std::vector<StepProgram> programs_;  // of each class; they differ in durations only
  LinkLoads links_;
  MemoryFinder memory_;
  std::vector<Bytes> fixed_;
  Simulation simulation_;
};

}  // namespace

Simulation simulate(const Scenario& scenario, const SimulationOptions& options) {
  Simulation simulation = simulate(scenario, class_costs(scenario), options);
  check_rates(scenario, simulation.result);
  return simulation;
}

Simulation simulate(const Scenario& scenario,
                    const StepCosts& costs,
                    const SimulationOptions& options) {
  return simulate(scenario, std::span(&costs, 1), options);
}

Simulation simulate(const Scenario& scenario,
                    std::span<const StepCosts> costs,
                    const SimulationOptions& options) {
  ensure(costs.size() == class_count(scenario), "a simulated step has costs of every class");
  return Simulator(scenario, costs, options).run();
}

}  // namespace titer
