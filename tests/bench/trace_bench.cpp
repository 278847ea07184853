// Bytes of a trace per second: tokens alone, and a trace read and broken down.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "temporary_folder.hpp"
#include "titer/input/json_stream.hpp"
#include "titer/trace/trace_breakdown.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string trace_text(int kernels) {
  std::string text = "{\"traceEvents\": [";
  for (int i = 0; i < kernels; ++i) {
    text += i == 0 ? "" : ",";
    text +=
        "\n  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
        "\"ampere_bf16_s16816gemm_bf16_128x128_tn\","
        " \"pid\": 0, \"tid\": 7, \"ts\": " +
        std::to_string(4458677000000 + 10LL * i) +
        ".125, \"dur\": 9.5, \"args\": {\"External id\": 12945, \"device\": 0, \"stream\": 7, "
        "\"correlation\": 60047, \"grid\": [8, 1, 1], \"block\": [544, 1, 1]}}";
  }
  return text + "]}";
}

void BM_JsonTokens(benchmark::State& state) {
  const std::string text = trace_text(10'000);
  for (auto _ : state) {
    std::string_view rest = text;
    JsonStream json(
        [&rest](std::span<char> piece) {
          const std::size_t count = std::min(piece.size(), rest.size());
          std::copy_n(rest.begin(), count, piece.begin());
          rest.remove_prefix(count);
          return count;
        },
        "trace.json");
    while (json.next() != JsonToken::end) {
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_JsonTokens)->Unit(benchmark::kMillisecond);

void BM_TraceBreakdown(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  const std::string text = trace_text(100'000);
  const std::string path = folder.file("trace.json", text);
  for (auto _ : state) {
    benchmark::DoNotOptimize(break_down(load_trace_events(path)));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_TraceBreakdown)->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
}  // namespace titer
