#include "titer/seeds/equations.hpp"

#include <algorithm>

#include "titer/collectives/algorithm/hybrid.hpp"
#include "titer/collectives/algorithm/ring.hpp"
#include "titer/collectives/collective.hpp"
#include "titer/collectives/rounds.hpp"
#include "titer/engine/engine.hpp"
#include "titer/input/reader.hpp"
#include "titer/model/dlrm/dlrm_times.hpp"
#include "titer/model/einsums.hpp"
#include "titer/model/layer_split.hpp"
#include "titer/plan/schedule/schedule_run.hpp"
#include "titer/scenario/parameter_server.hpp"
#include "titer/scenario/scaling.hpp"
#include "titer/scenario/slow_memory.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr Seconds kTick = Seconds::from_si(1e-12);

using Numbers = std::span<const double>;

Seconds seconds(double value) { return Seconds::from_si(value); }
Bytes bytes(double value) { return Bytes::from_si(value); }
BytesPerSecond rate(double value) { return BytesPerSecond::from_si(value); }
FlopsPerSecond speed(double value) { return FlopsPerSecond::from_si(value); }

NamedNumbers e1(Numbers in) {
  const DlrmTimes times{.bottom_forward = seconds(in[0]),
                        .lookup = seconds(in[1]),
                        .all_to_all_forward = seconds(in[2]),
                        .interaction_forward = seconds(in[3]),
                        .top_forward = seconds(in[4]),
                        .top_backward = seconds(in[5]),
                        .interaction_backward = seconds(in[6]),
                        .all_to_all_backward = seconds(in[7]),
                        .update = seconds(in[8]),
                        .bottom_backward = seconds(in[9]),
                        .top_all_reduce = seconds(in[10]),
                        .bottom_all_reduce = seconds(in[11])};
  const Timeline executed = run(dlrm_graph(times));
  return {{"forward", forward_time(times).si()},
          {"backward", backward_time(times).si()},
          {"total", total_time(times).si()},
          {"executed", static_cast<double>(executed.makespan) * kTick.si()}};
}

NamedNumbers e2(Numbers in) {
  const Flops computation = Flops::from_si(in[0]);
  const Bytes movement = bytes(in[1]);
  const ArithmeticIntensity ait = intensity(computation, movement);
  return {{"compute_time", (computation / speed(in[3])).si()},
          {"ait", ait.flops_per_byte},
          {"communication_time", (movement / rate(in[2])).si()},
          {"efficiency", slow_memory_efficiency(ait, rate(in[2]), speed(in[3]))}};
}

NamedNumbers e2_intensity(Numbers in) {
  return {{"parameters", intensity_of_parameters(in[0]).flops_per_byte},
          {"states", intensity_of_states(in[0]).flops_per_byte},
          {"checkpoints", intensity_of_checkpoints(in[1], in[2]).flops_per_byte}};
}

NamedNumbers e4(Numbers in) {
  const auto whole = [&](std::size_t i) { return static_cast<std::int64_t>(in[i]); };
  const ExpertEinsums einsums{.groups = whole(0),
                              .tokens = whole(1),
                              .experts = whole(2),
                              .capacity = whole(3),
                              .model = whole(4),
                              .hidden = whole(5)};
  return {{"gate", einsums.gate().si()},
          {"dispatch", einsums.dispatch().si()},
          {"wi", einsums.wi().si()},
          {"wo", einsums.wo().si()},
          {"combine", einsums.combine().si()},
          {"all_to_all", einsums.all_to_all(bytes(in[6])).si()}};
}

/// Both E6 and E11: what each rank sends for so many bytes.
NamedNumbers volumes(Numbers in) {
  const auto ranks = static_cast<int>(in[2]);
  const Bytes size = in[0] * bytes(in[1]);
  return {{"all_reduce", volume(Collective::all_reduce, size, ranks).si()},
          {"all_gather", volume(Collective::all_gather, size, ranks).si()},
          {"reduce_scatter", volume(Collective::reduce_scatter, size, ranks).si()}};
}

NamedNumbers e10(Numbers in) {
  const TransformerEstimate estimate{
      .layers = in[0], .hidden = in[1], .heads = in[2], .sequence = in[3], .vocabulary = in[4]};
  return {{"parameters", estimate.parameters()},
          {"all_parameters", estimate.all_parameters()},
          {"flops", estimate.flops(in[5]).si()},
          {"all_flops", estimate.all_flops(in[5], false).si()},
          {"recomputed_flops", estimate.all_flops(in[5], true).si()},
          {"activations", estimate.activations(in[5]).si()}};
}

NamedNumbers e12(Numbers in) {
  const ScalingPoint few{seconds(in[0]), seconds(in[1])};
  const ScalingPoint many{seconds(in[2]), seconds(in[3])};
  const double efficiency = communication_efficiency(few, many);
  const double speedup = iteration_speedup(few, many);
  return {{"efficiency", efficiency},
          {"speedup", speedup},
          {"speedup_by_ratios", iteration_speedup(few, efficiency)},
          {"throughput_speedup", throughput_speedup(speedup, in[4], in[5])}};
}

NamedNumbers e12a(Numbers in) {
  const Flops flops = Flops::from_si(in[0]);
  return {{"transformer", (flops / speed(in[1])).si()},
          {"compute", compute_time(flops, speed(in[1]), in[2], in[3]).si()}};
}

NamedNumbers e12b(Numbers in) {
  return {{"all_reduce", zero1_all_reduce(in[0], rate(in[1]), in[2]).si()},
          {"all_gather", zero1_all_gather(in[0], rate(in[1]), in[2]).si()}};
}

NamedNumbers e13(Numbers in) {
  const ParameterServers servers{.workers = in[0], .servers = in[1], .bandwidth = rate(in[4])};
  return {{"t1", servers.push(bytes(in[2])).si()},
          {"t2", servers.pull(bytes(in[3])).si()},
          {"t_ps", servers.time(bytes(in[2]), bytes(in[3])).si()}};
}

/// Ranks of one node, with links that cost nothing but bytes.
Fabric plain_fabric(double bandwidth) {
  return {.node = Channel(Link{.latency = {}, .bandwidth = rate(bandwidth)})};
}

NamedNumbers e14(Numbers in) {
  const Group group{.per_node = static_cast<int>(in[0])};
  const Fabric fabric = plain_fabric(in[2]);
  const Seconds forward = bytes(in[1]) / rate(in[2]);
  return {{"t1", (in[0] * forward).si()},
          {"t2", ((in[0] - 1) * forward).si()},
          {"t_ar", NaiveRingAllReduce::time(bytes(in[1]), group, fabric).si()},
          {"t_chunked", RingAllReduce::time(bytes(in[1]), group, fabric).si()}};
}

NamedNumbers e15(Numbers in) {
  return {{"t_ring", forwarding_round(bytes(in[0]), in[2], rate(in[1])).si()},
          {"t_tree", forwarding_round(bytes(in[0]), in[3], rate(in[1])).si()}};
}

NamedNumbers e15a(Numbers in) {
  Fabric fabric = plain_fabric(in[0]);
  fabric.host = Channel(Link{.latency = {}, .bandwidth = rate(in[1])});
  const Group pair{.per_node = 2};
  const Bytes size = bytes(in[2]);
  return {{"R", in[0] / in[1]},
          {"nvlink_share", node_share(fabric)},
          {"pcie_share", 1 - node_share(fabric)},
          {"time", HybridRingsAllReduce::time(size, pair, fabric).si()},
          {"nvlink_time", RingAllReduce::time(size, pair, fabric).si()}};
}

NamedNumbers e16(Numbers in) {
  const PassTimes slots{.forward = seconds(1), .input_gradient = seconds(1), .weight_gradient = {}};
  const ScheduleRun executed = run_schedule(
      named_schedule("sequential"), {.stages = static_cast<int>(in[0]), .micro_batches = 1}, slots);
  const Seconds work = executed.ranks.front().busy;
  return {{"total_time", executed.makespan.si()},
          {"gpu_work", work.si()},
          {"gpu_idle", executed.idle(0).si()},
          {"gpu_util", work / executed.makespan}};
}

NamedNumbers e17(Numbers in) {
  const auto whole = [&](std::size_t i) { return static_cast<std::int64_t>(in[i]); };
  const SplitErrors errors = execute(
      SplitProduct{.rows = whole(0), .inner = whole(1), .columns = whole(2), .ranks = whole(3)});
  return {{"columns", errors.columns},
          {"columns_relu", errors.columns_relu},
          {"rows", errors.rows},
          {"rows_relu_first", errors.rows_relu_first}};
}

constexpr std::array<NamedEquation, 17> kEquations = {{
    {"E1",
     "step of a recommendation model, closed and executed",
     "titer/model/dlrm/dlrm_times.hpp",
     "bottom_forward lookup all_to_all_forward interaction_forward top_forward top_backward "
     "interaction_backward all_to_all_backward update bottom_backward top_all_reduce "
     "bottom_all_reduce",
     "forward backward total executed",
     e1,
     "executed"},
    {"E2",
     "efficiency with a slow memory",
     "titer/scenario/slow_memory.hpp",
     "total_computation total_data_movement bw peak_tp",
     "compute_time ait communication_time efficiency",
     e2},
    {"E2-intensity",
     "arithmetic intensity of a transformer's states",
     "titer/scenario/slow_memory.hpp",
     "tokens hidden interval",
     "parameters states checkpoints",
     e2_intensity},
    {"E4",
     "FLOPs of GShard's einsums",
     "titer/model/einsums.hpp",
     "G S E C M H bytes",
     "gate dispatch wi wo combine all_to_all",
     e4},
    {"E5",
     "the profile's dispatch",
     "titer/model/einsums.hpp",
     "G S E C M H bytes",
     "gate dispatch wi wo combine all_to_all",
     e4},
    {"E6",
     "traffic of data parallelism per rank",
     "titer/collectives/collective.hpp",
     "parameters precision d",
     "all_reduce all_gather reduce_scatter",
     volumes},
    {"E10",
     "estimates of a transformer",
     "titer/model/transformer/transformer_estimates.hpp",
     "l d a s V b",
     "parameters all_parameters flops all_flops recomputed_flops activations",
     e10},
    {"E11",
     "volumes per rank",
     "titer/collectives/collective.hpp",
     "P precision p",
     "all_reduce all_gather reduce_scatter",
     volumes},
    {"E12",
     "speed-up and efficiency from measured times",
     "titer/scenario/scaling.hpp",
     "compute_g comm_g compute_n comm_n g n",
     "efficiency speedup speedup_by_ratios throughput_speedup",
     e12},
    {"E12a",
     "compute time by its shares",
     "titer/scenario/scaling.hpp",
     "flops flops_per_s k1 k2",
     "transformer compute",
     e12a},
    {"E12b",
     "collectives of ZeRO-1",
     "titer/scenario/scaling.hpp",
     "P BW eff",
     "all_reduce all_gather",
     e12b},
    {"E13",
     "parameter servers",
     "titer/scenario/parameter_server.hpp",
     "N M g W BW",
     "t1 t2 t_ps",
     e13},
    {"E14",
     "the book's ring, beside the chunked one",
     "titer/collectives/algorithm/ring.hpp",
     "N g BW",
     "t1 t2 t_ar t_chunked",
     e14},
    {"E15",
     "a round over rings and over trees",
     "titer/collectives/rounds.hpp",
     "g BW rings trees",
     "t_ring t_tree",
     e15},
    {"E15a",
     "NVLink and PCIe at once",
     "titer/collectives/algorithm/hybrid.hpp",
     "BW_NVLink BW_PCIe S",
     "R nvlink_share pcie_share time nvlink_time",
     e15a},
    {"E16",
     "vanilla model parallelism, executed",
     "titer/plan/schedule/schedule.hpp",
     "N",
     "total_time gpu_work gpu_idle gpu_util",
     e16,
     "total_time gpu_work gpu_idle gpu_util"},
    {"E17",
     "a product split by columns and by rows, executed",
     "titer/model/layer_split.hpp",
     "rows inner columns ranks",
     "columns columns_relu rows rows_relu_first",
     e17,
     "columns columns_relu rows rows_relu_first"},
}};

const NamedEquation& equation_called(std::string_view name) {
  std::vector<std::string_view> known;
  for (const NamedEquation& equation : kEquations) {
    if (equation.name == name) {
      return equation;
    }
    known.push_back(equation.name);
  }
  throw InputError("equation: " + std::string(name) +
                   ": expected the name of an equation, such as E13" + suggestion(name, known));
}

}  // namespace

std::span<const NamedEquation> equations() { return kEquations; }

bool is_executed(std::string_view equation, std::string_view output) {
  const std::vector<std::string_view> executed = words_of(equation_called(equation).executed);
  return includes(executed, output);
}

NamedNumbers compute_equation(std::string_view name, const NamedNumbers& inputs) {
  const NamedEquation& equation = equation_called(name);
  const std::vector<std::string_view> wanted = words_of(equation.inputs);
  std::vector<double> values;
  for (const std::string_view word : wanted) {
    const auto found = std::ranges::find(inputs, word, &NamedNumber::name);
    if (found == inputs.end()) {
      throw InputError("with." + std::string(word) + ": missing: " + std::string(name) + " takes " +
                       std::string(equation.inputs));
    }
    values.push_back(found->value);
  }
  for (const NamedNumber& input : inputs) {
    if (!includes(wanted, input.name)) {
      throw InputError("with." + input.name + ": unknown: " + std::string(name) + " takes " +
                       std::string(equation.inputs));
    }
  }
  return equation.compute(values);
}

}  // namespace titer
