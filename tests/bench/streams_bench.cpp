// Tasks per second of the stream engine. The source is part of what is measured: it works out every
// task from its number.
//
// Floors and gaps, measured on one core of a shared, busy machine (Xeon, 2 MB of second-level
// cache):
// - `plain`: 64 ranks, 512 micro-batches, one lane each; 65,536 tasks, nearly all at a tick of
//   their own. A task touches its stream (104 bytes), two semaphores (24), a place in the source
//   (4) and two levels of the calendar down and up again (128 once): 260 bytes of the first-level
//   cache, 2 ns at 130 GB/s. What bounds it is the chain through the calendar: four times eight
//   comparisons of which each waits for the one before, 15 ns, and two branches that nobody can
//   foresee, 10 ns. Measured: 42 ns, 23 million tasks/s. At equal durations 64 ranks share one look
//   into the calendar: 12 ns, 80 million tasks/s.
// - `lanes`: five lanes per rank, 320 streams and 264,000 tasks, up to three semaphores more and
//   three levels: 420 bytes. Measured: 56 ns, 18 million tasks/s.
// - `lanes loaded`: compute takes all arithmetic units of its device, its communication an eighth;
//   sends and gradients share the card. One task in seven changes rates: a walk over two to four
//   tasks, a hash, and an alarm that moves through three levels, 40 bytes per task and 24 per share
//   on top. Measured: 80 ns, 12.5 million tasks/s; all but 320 of 36,000 patterns are known.
// - `ranks_16384`: 1024 pipelines of 16 ranks and 16 micro-batches, 81,920 streams, no two ticks
//   equal. Streams, semaphores and calendar are 11 MB, so the five or six cache lines of a task
//   come from the third-level cache, 40 ns each: 230 ns. Measured: 330 ns, 3 million tasks/s; equal
//   durations 14 million. Peak memory 15 MB, with loads 29 MB.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "engine/stream_pipelines.hpp"
#include "titer/engine/streams.hpp"

namespace TITER_TEST_FILE {

using titer::StreamEngine;
using titer::StreamId;
using titer::StreamTask;
using titer::Ticks;
using titer::testing::LanePipeline;
using titer::testing::PipelineSize;
using titer::testing::PlainPipeline;

struct Count {
  std::int64_t ended_tasks = 0;
  void started(StreamId /*stream*/, const StreamTask& /*task*/, Ticks /*now*/) {}
  void ended(StreamId /*stream*/, const StreamTask& /*task*/, Ticks /*start*/, Ticks /*now*/) {
    ++ended_tasks;
  }
};

template <class Pipeline>
void measure(benchmark::State& state, Pipeline& pipeline, const titer::Loads& loads) {
  StreamEngine engine;
  Count count;
  titer::LoadPatterns patterns;
  while (state.KeepRunning()) {
    pipeline.restart();
    const titer::StreamRun run =
        engine.run(pipeline.streams(), pipeline.semaphores(), pipeline, count, loads);
    if (!run.stuck.empty()) {
      state.SkipWithError("the pipeline is stuck");
    }
    patterns = run.patterns;
  }
  state.SetItemsProcessed(count.ended_tasks);
  state.counters["found"] = static_cast<double>(patterns.found);
  state.counters["known"] = static_cast<double>(patterns.known);
}

void plain(benchmark::State& state, const PipelineSize& size) {
  PlainPipeline pipeline(size);
  measure(state, pipeline, {});
}
void lanes(benchmark::State& state, const PipelineSize& size, bool loaded) {
  LanePipeline pipeline(size, loaded);
  measure(state, pipeline, pipeline.loads());
}

constexpr PipelineSize kOne{.ranks = 64, .batches = 512};
constexpr PipelineSize kOneEqual{.ranks = 64, .batches = 512, .copies = 1, .equal = true};
constexpr PipelineSize kMany{.ranks = 16, .batches = 16, .copies = 1024};
constexpr PipelineSize kManyEqual{.ranks = 16, .batches = 16, .copies = 1024, .equal = true};

BENCHMARK_CAPTURE(plain, unequal, kOne)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plain, equal, kOneEqual)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, unequal, kOne, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, equal, kOneEqual, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, unequal_loaded, kOne, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, equal_loaded, kOneEqual, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, ranks_16384, kMany, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, ranks_16384_equal, kManyEqual, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lanes, ranks_16384_loaded, kMany, true)->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
