#include "sweep_stream.hpp"

#include <algorithm>

#include "titer/report/study/sweep_report.hpp"

namespace titer::python {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 18U;  // bytes worth handing on before their time

}  // namespace

SweepStream::SweepStream(const Sweep& sweep, SweepOptions options) {
  options.stop = &stopped_;
  thread_ = std::jthread([this, &sweep, options] { compute(sweep, options); });
}

SweepStream::~SweepStream() { stopped_ = true; }

void SweepStream::compute(const Sweep& sweep, const SweepOptions& options) {
  const SweepRows json(sweep, RowFormat::json_lines);
  bool any = false;
  std::exception_ptr failure;
  try {
    const SweepOutcome outcome = run_sweep(
        sweep,
        options,
        [&json, kept = KeptCells()](const SweepPoint& point, std::string& text) mutable {
          json.append(point, kept, text);
        },
        [&](std::span<const SweepChunk> chunks) {
          for (const SweepChunk& chunk : chunks) {
            add(chunk.rows);
            any = any || !chunk.rows.empty();
          }
        });
    if (outcome.all && !any) {
      refuse_empty(sweep, outcome.left_out);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  failure_ = failure;
  came_.notify_one();
}

void SweepStream::add(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  rows_ += lines;
  if (rows_.size() >= kBatch) {
    came_.notify_one();
  }
}

std::optional<std::string> SweepStream::next(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, longest, [&] { return finished_ || rows_.size() >= kBatch; });
  if (finished_ && rows_.empty()) {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return std::nullopt;
  }
  std::string rows;
  rows.swap(rows_);
  lock.unlock();
  if (!rows.empty()) {
    rows.pop_back();
    std::ranges::replace(rows, '\n', ',');  // none stands in a row: JSON escapes it
  }
  return "[" + rows + "]";
}

}  // namespace titer::python
