// Rows of a sweep per second and core, from the point's number to its text: bytes_per_second is of
// CSV or JSON lines.
#include <benchmark/benchmark.h>

#include <string>

#include "titer/report/study/sweep_report.hpp"

namespace TITER_TEST_FILE {

using titer::RowFormat;

constexpr const char* kPlans = R"("plan.tensor": [1, 2, 4, 8],
  "plan.pipeline": {"powers_of_two": {"to": 64}}, "plan.virtual_stages": [1, 2, 3, 6],
  "plan.micro_batch": [1, 2, 4, 8], "plan.recompute": ["none", "selective", "full"],
  "plan.sharding": ["none", "zero1", "zero2", "zero3"],
  "plan.rank_order": ["tp-dp-pp", "tp-pp-dp", "dp-tp-pp"],
  "plan.overlap_grad_reduce": [true, false])";

/// GPT-3 175B on 1,024 devices.
titer::Sweep sweep_with(const std::string& axes, const std::string& more = "") {
  return titer::read_sweep(titer::parse_json(R"({"scenario": {"model": "gpt3-175b",
    "cluster": {"name": "dgx-a100-80gb", "nodes": 128}, "plan": {"sequence_parallel": true},
    "training": {"global_batch": 1024, "sequence": 2048, "precision": "fp16"}}, "axes": {)" +
                                                 axes + "}" + more + "}",
                                             "sweep.json"));
}

void compute_rows(benchmark::State& state, const titer::Sweep& sweep, RowFormat format) {
  const titer::SweepRows rows(sweep, format);
  titer::KeptCells kept;
  titer::SweepWorker worker(sweep, titer::Fidelity::closed);
  titer::SweepPoint point;
  std::string text;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  const std::size_t end = sweep.points();
  std::size_t next = 0;
  for (auto _ : state) {
    next = worker.next_kept(next, end);
    if (next == end) {
      next = worker.next_kept(0, end);
    }
    text.clear();
    if (worker.compute(next++, point)) {
      rows.append(point, kept, text);
      bytes += std::ssize(text);
      ++count;
    }
    benchmark::DoNotOptimize(text.data());
  }
  state.SetItemsProcessed(count);
  state.SetBytesProcessed(bytes);
}

/// Half of them invalid, two of three others out of memory.
void sweep_rows_of_plans(benchmark::State& state) {
  compute_rows(state, sweep_with(kPlans), RowFormat::csv);
}
BENCHMARK(sweep_rows_of_plans)->Iterations(32256);

void sweep_json_rows_of_plans(benchmark::State& state) {
  compute_rows(state, sweep_with(kPlans), RowFormat::json_lines);
}
BENCHMARK(sweep_json_rows_of_plans)->Iterations(32256);

/// Valid and fitting plans only.
void sweep_rows_that_fit(benchmark::State& state) {
  const titer::Sweep sweep = sweep_with(
      R"("plan.tensor": [8], "plan.pipeline": [8, 16], "plan.virtual_stages": [1, 3, 6],
         "plan.micro_batch": [1, 2], "plan.recompute": ["selective", "full"],
         "plan.sharding": ["zero1"], "plan.overlap_grad_reduce": [true, false])",
      R"(, "where": "fits")");
  compute_rows(state, sweep, RowFormat::csv);
}
BENCHMARK(sweep_rows_that_fit);

/// A figure of the cluster that differs from point to point, inside a plan.
void sweep_rows_along_the_cluster(benchmark::State& state) {
  compute_rows(state,
               sweep_with(R"("plan.tensor": [8], "plan.pipeline": [8, 16],
      "cluster.node.nic_bandwidth": {"from": 100, "to": 800, "step": 100, "unit": "Gbps"})"),
               RowFormat::csv);
}
BENCHMARK(sweep_rows_along_the_cluster);

/// Points that constraints leave out: ten million of them in one pass, 1,000 of which remain.
void sweep_points_left_out(benchmark::State& state) {
  const titer::Sweep sweep = sweep_with(
      R"("plan.tensor": {"from": 1, "to": 1000, "step": 1},
         "plan.pipeline": {"from": 1, "to": 1000, "step": 1},
         "plan.micro_batch": {"from": 1, "to": 10, "step": 1})",
      R"(, "where": ["plan.tensor * plan.pipeline == 64", "plan.micro_batch < 3"])");
  titer::SweepWorker worker(sweep, titer::Fidelity::closed);
  const std::size_t end = sweep.points();
  for (auto _ : state) {
    std::size_t kept = 0;
    for (std::size_t p = worker.next_kept(0, end); p < end; p = worker.next_kept(p + 1, end)) {
      ++kept;
    }
    benchmark::DoNotOptimize(kept);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(end));
}
BENCHMARK(sweep_points_left_out);

}  // namespace TITER_TEST_FILE
