#pragma once
// Pipelines as streams, one forward one backward, that tests and benchmarks of the stream engine
// share. Nothing is stored per task: a stream's next task follows from how many it has had.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "titer/engine/streams.hpp"

namespace titer::testing {

struct PipelineSize {
  std::uint32_t ranks;  // of a pipeline
  std::uint32_t batches;
  std::uint32_t copies = 1;  // of the pipeline, beside each other
  bool equal = false;        // durations
};

/// What the step-th pass of a rank is.
struct PipelinePass {
  bool forward;
  std::uint32_t batch;
};
[[nodiscard]] inline PipelinePass pass_of(const PipelineSize& size,
                                          std::uint32_t rank,
                                          std::uint32_t step) {
  const std::uint32_t ahead = std::min(size.ranks - rank, size.batches);
  if (step < ahead) {
    return {true, step};
  }
  if (step >= 2 * size.batches - ahead) {
    return {false, step - size.batches};
  }
  const std::uint32_t pair = (step - ahead) / 2;
  return (step - ahead) % 2 == 0 ? PipelinePass{false, pair} : PipelinePass{true, pair + ahead};
}

/// Cheap to draw, and the same for the same stream and step.
[[nodiscard]] inline Ticks some_time(const PipelineSize& size,
                                     std::uint32_t stream,
                                     std::uint32_t step) {
  const std::uint32_t drawn = (stream * 0x9e3779b9u + step) * 0x85ebca6bu;
  return size.equal ? 1'000'000 : 500'000 + static_cast<Ticks>(drawn >> 12);
}

/// One stream per rank; a pass hands its micro-batch on in no time.
class PlainPipeline {
 public:
  explicit PlainPipeline(const PipelineSize& size) : size_(size), step_(streams(), 0) {}

  [[nodiscard]] std::size_t streams() const { return std::size_t{size_.ranks} * size_.copies; }
  [[nodiscard]] std::size_t semaphores() const { return 2 * streams(); }
  [[nodiscard]] std::size_t tasks() const { return 2 * size_.batches * streams(); }
  void restart() { std::ranges::fill(step_, 0u); }

  bool next(StreamId stream, StreamTask& task) {
    const std::uint32_t step = step_[stream]++;
    if (step == 2 * size_.batches) {
      return false;
    }
    const std::uint32_t rank = stream % size_.ranks;
    const PipelinePass pass = pass_of(size_, rank, step);
    if (rank != (pass.forward ? 0 : size_.ranks - 1)) {
      task.waits.add({2 * stream + (pass.forward ? 0u : 1u), pass.batch + 1});
    }
    if (rank != (pass.forward ? size_.ranks - 1 : 0)) {
      task.signals.add(pass.forward ? 2 * (stream + 1) : 2 * (stream - 1) + 1);
    }
    task.duration = some_time(size_, stream, step) * (pass.forward ? 1 : 2);
    return true;
  }

 private:
  PipelineSize size_;
  std::vector<std::uint32_t> step_;
};

/// Five lanes per rank: compute, tensor communication after each pass and beside the next one, the
/// sends and the receives, and a bucket of gradients after every eighth backward pass.
class LanePipeline {
 public:
  static constexpr std::uint32_t lanes = 5;
  static constexpr std::uint32_t passes_per_bucket = 8;
  enum Lane : std::uint32_t { compute, tensor, send, receive, data };

  LanePipeline(const PipelineSize& size, bool loaded)
      : size_(size), step_(streams(), 0), loaded_(loaded) {
    for (std::size_t rank = 0; loaded && rank < ranks(); ++rank) {
      const LoadResource units = loads_.add_resource();
      const LoadResource card = loads_.add_resource();
      loads_.add(std::array{LoadShare{units, 1.0}});
      loads_.add(std::array{LoadShare{units, 0.1256}});
      loads_.add(std::array{LoadShare{card, 1.0}});
      loads_.add(std::array{LoadShare{units, 0.1256}, LoadShare{card, 1.0}});
    }
  }

  [[nodiscard]] std::size_t ranks() const { return std::size_t{size_.ranks} * size_.copies; }
  [[nodiscard]] std::size_t streams() const { return lanes * ranks(); }
  [[nodiscard]] std::size_t semaphores() const { return signs * ranks(); }
  [[nodiscard]] const Loads& loads() const { return loads_; }
  void restart() { std::ranges::fill(step_, 0u); }

  bool next(StreamId stream, StreamTask& task) {
    const std::uint32_t step = step_[stream]++;
    const std::uint32_t device = stream / lanes;
    const auto lane = static_cast<Lane>(stream % lanes);
    if (step == count(lane, device % size_.ranks)) {
      return false;
    }
    task.duration = some_time(size_, stream, step);
    if (loaded_ && lane != receive) {
      constexpr std::array<LoadId, lanes> load = {0, 1, 2, 0, 3};
      task.load = 4 * device + load[lane];
    }
    switch (lane) {
      case compute:
        fill_compute(device, step, task);
        break;
      case tensor:
        fill_tensor(device, step, task);
        break;
      case send:
        fill_send(device, step, task);
        break;
      case receive:
        fill_receive(device, step, task);
        break;
      case data:
        fill_data(device, step, task);
        break;
    }
    return true;
  }

 private:
  // What a device counts: forwards and backwards received, passes computed, passes whose tensor
  // communication is over, arrivals, backwards computed.
  enum Sign : std::uint32_t {
    forwards,
    backwards,
    computed,
    joined,
    arrived,
    backward_done,
    signs
  };

  [[nodiscard]] static SemaphoreId sign(std::uint32_t device, Sign sign) {
    return signs * device + sign;
  }
  [[nodiscard]] std::uint32_t count(Lane lane, std::uint32_t rank) const {
    const std::uint32_t inner = (rank > 0 ? 1u : 0u) + (rank + 1 < size_.ranks ? 1u : 0u);
    switch (lane) {
      case send:
      case receive:
        return inner * size_.batches;
      case data:
        return size_.batches / passes_per_bucket;
      default:
        return 2 * size_.batches;
    }
  }
  void fill_compute(std::uint32_t device, std::uint32_t step, StreamTask& task) const {
    const std::uint32_t rank = device % size_.ranks;
    const PipelinePass pass = pass_of(size_, rank, step);
    if (rank != (pass.forward ? 0 : size_.ranks - 1)) {
      task.waits.add({sign(device, pass.forward ? forwards : backwards), pass.batch + 1});
    }
    if (step > 1) {  // the pass before the last one is through
      task.waits.add({sign(device, joined), step - 1});
    }
    task.signals.add(sign(device, computed));
    task.duration *= pass.forward ? 4 : 8;
    if (!pass.forward) {
      task.signals.add(sign(device, backward_done));
    }
  }
  static void fill_tensor(std::uint32_t device, std::uint32_t step, StreamTask& task) {
    task.waits.add({sign(device, computed), step + 1});
    task.signals.add(sign(device, joined));
  }
  void fill_send(std::uint32_t device, std::uint32_t step, StreamTask& task) const {
    const std::uint32_t rank = device % size_.ranks;
    // The step-th pass that has somebody to send to.
    std::uint32_t at = step;
    bool forward = rank + 1 < size_.ranks;
    if (rank > 0 && rank + 1 < size_.ranks) {
      forward = pass_of(size_, rank, step).forward;
    } else {
      at = step_of(rank, forward, step);
    }
    task.waits.add({sign(device, joined), at + 1});
    task.signals.add(sign(forward ? device + 1 : device - 1, arrived));
    task.signals.add(sign(forward ? device + 1 : device - 1, forward ? forwards : backwards));
  }
  static void fill_receive(std::uint32_t device, std::uint32_t step, StreamTask& task) {
    task.waits.add({sign(device, arrived), step + 1});
    task.duration = 1000;
  }
  static void fill_data(std::uint32_t device, std::uint32_t step, StreamTask& task) {
    task.waits.add({sign(device, backward_done), passes_per_bucket * (step + 1)});
    task.duration *= 4;
  }
  /// The step at which a rank has its batch-th forward or backward pass.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t rank, bool forward, std::uint32_t batch) const {
    const std::uint32_t ahead = std::min(size_.ranks - rank, size_.batches);
    if (forward) {
      return batch < ahead ? batch : ahead + 2 * (batch - ahead) + 1;
    }
    return batch < size_.batches - ahead ? ahead + 2 * batch : size_.batches + batch;
  }

  PipelineSize size_;
  std::vector<std::uint32_t> step_;  // of each stream
  bool loaded_;
  Loads loads_;
};

}  // namespace titer::testing
