#include "titer/study/sweep_run.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace titer {
namespace {

constexpr std::size_t kBlock = 4096;  // points computed before their rows are handed on

/// Fills the rows of the points from `begin` on, a thread per worker.
void compute_block(std::vector<SweepWorker>& workers,
                   std::size_t begin,
                   const std::function<std::string(const SweepPoint&)>& format,
                   std::vector<std::string>& rows) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(workers.size());
  const auto work = [&](std::size_t worker) {
    try {
      SweepPoint point;
      for (std::size_t i = next++; i < rows.size(); i = next++) {
        workers[worker].compute(begin + i, point);
        rows[i] = format(point);
      }
    } catch (...) {
      failures[worker] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 1; w < workers.size(); ++w) {
      threads.emplace_back(work, w);
    }
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace

void run_sweep(const Sweep& sweep,
               const SweepOptions& options,
               const std::function<std::string(const SweepPoint&)>& format,
               const std::function<void(std::string_view, std::size_t)>& emit) {
  const std::size_t total = sweep.points();
  std::vector<std::string> rows;
  const std::size_t threads_wanted = std::min<std::size_t>(options.threads, total);
  std::vector<SweepWorker> workers(std::max<std::size_t>(1, threads_wanted),
                                   SweepWorker(sweep, options.fidelity));
  for (std::size_t begin = 0; begin < total; begin += kBlock) {
    rows.assign(std::min(kBlock, total - begin), {});
    compute_block(workers, begin, format, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      emit(rows[i], begin + i + 1);
    }
  }
}

}  // namespace titer
