#include "titer/sweep/sweep_run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace titer {
namespace {

constexpr std::size_t kMostOfClosedForm = 256;  // points of a chunk: about a millisecond
constexpr std::size_t kMostOfEvents = 1;        // a point may take seconds
constexpr auto kPatience = std::chrono::milliseconds(10);

/// Whether points may take the event engine: it is asked for, or devices may differ.
bool may_take_events(const Sweep& sweep, std::optional<Fidelity> fidelity) {
  if (fidelity) {
    return *fidelity != Fidelity::closed;
  }
  const Document& base = sweep.base.document();
  const auto differs = [](const Axis& axis) {
    return axis.path.starts_with("conditions") || axis.path == "plan.batch_shares" ||
           (axis.path == "plan" && std::ranges::any_of(axis.values, [](const Value& value) {
              return value.find("batch_shares") != nullptr;
            }));
  };
  return base.at("conditions") != nullptr || base.at("plan.batch_shares") != nullptr ||
         std::ranges::any_of(sweep.axes, differs);
}

/// Chunks between the first not handed on and the last begun. A killed process loses no more than
/// these: of points that take seconds, those in work and as many that wait for one of them.
std::size_t window_of(bool events, unsigned threads) {
  constexpr std::size_t least = 64;  // some 50 ms
  return events ? std::size_t{2} * threads : std::max<std::size_t>(least, std::size_t{8} * threads);
}

/// Chunks on their way from the threads that compute them, in any order, to the one that hands
/// them on, in order.
class ChunkWindow {
 public:
  /// Chunks `first` to `count`, so many of them in work or waiting.
  ChunkWindow(std::size_t first,
              std::size_t count,
              std::size_t window,
              const std::atomic<bool>* stop)
      : count_(count), stop_(stop), begun_(first), handed_on_(first), slots_(window) {}

  /// The next chunk to compute; none when all are begun, or no more are wanted.
  std::optional<std::size_t> begin() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return ended() || begun_ < handed_on_ + slots_.size(); });
    return ended() ? std::nullopt : std::optional(begun_++);
  }

  /// Takes a chunk's rows, and gives back a text to write the next into.
  void put(std::size_t nth, SweepChunk& chunk) {
    const std::scoped_lock lock(mutex_);
    Slot& slot = slots_[nth % slots_.size()];
    std::swap(slot.chunk, chunk);
    slot.ready = true;
    ++ready_;
    // Waking for every chunk would cost as much as computing a small one.
    if (ready_ >= slots_.size() / 4 || (ended() && handed_on_ + ready_ == begun_)) {
      rows_.notify_one();
    }
  }

  void fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(failure);
    rows_.notify_one();
  }

  /// No more chunks are wanted.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }

  /// Puts all that can be handed on into the first of `into`, waiting for some, and returns how
  /// many; none when there will be none. The texts that are there go back to be written into.
  std::size_t take(std::vector<SweepChunk>& into) {
    std::unique_lock lock(mutex_);
    while (true) {
      rows_.wait_for(lock, kPatience, [&] { return failure_ || next_is_ready(); });
      if (failure_) {
        std::rethrow_exception(failure_);
      }
      std::size_t taken = 0;
      for (; next_is_ready(); ++taken) {
        Slot& slot = slots_[handed_on_++ % slots_.size()];
        into.resize(std::max(into.size(), taken + 1));
        std::swap(into[taken], slot.chunk);
        slot.ready = false;
      }
      ready_ -= taken;
      if (taken > 0) {
        room_.notify_all();
      }
      if (taken > 0 || (ended() && handed_on_ == begun_)) {
        return taken;
      }
    }
  }

  [[nodiscard]] bool all() const { return handed_on_ == count_; }

 private:
  struct Slot {
    SweepChunk chunk;
    bool ready = false;
  };

  [[nodiscard]] bool ended() const {
    return closed_ || failure_ || begun_ == count_ || (stop_ != nullptr && *stop_);
  }
  [[nodiscard]] bool next_is_ready() const { return slots_[handed_on_ % slots_.size()].ready; }

  std::size_t count_;
  const std::atomic<bool>* stop_;
  std::mutex mutex_;
  std::condition_variable room_;  // a chunk may be begun
  std::condition_variable rows_;  // chunks may be handed on
  std::size_t begun_;
  std::size_t handed_on_;
  std::size_t ready_ = 0;
  std::vector<Slot> slots_;  // chunk k's is k mod the window
  std::exception_ptr failure_;
  bool closed_ = false;
};

/// What one thread does.
class ChunkWorker {
 public:
  ChunkWorker(const Sweep& sweep,
              const SweepOptions& options,
              const std::function<void(const SweepPoint&, std::string&)>& append)
      : chunks_(sweep_chunks(sweep, options.fidelity)),
        shard_(options.shard),
        append_(append),
        worker_(sweep, options.fidelity) {}

  void compute(std::size_t nth, SweepChunk& into) {
    into.chunk = {.number = shard_.chunk(nth)};
    into.rows.clear();
    const std::size_t end = chunks_.end(into.chunk.number);
    std::size_t i = worker_.next_kept(chunks_.begin(into.chunk.number), end);
    for (; i < end; i = worker_.next_kept(i + 1, end)) {
      if (worker_.compute(i, point_)) {
        append_(point_, into.rows);
        ++into.chunk.rows;
        into.chunk.beyond += point_.beyond.empty() ? 0 : 1;
        if (point_.status == PointStatus::defect) {
          into.chunk.defects += {.count = 1, .first = i};
        }
      }
    }
    into.chunk.bytes = into.rows.size();
    into.chunk.sum = checksum(into.rows);
  }

  [[nodiscard]] const std::vector<std::uint64_t>& left_out() const { return worker_.left_out(); }

 private:
  Chunks chunks_;
  Shard shard_;
  std::function<void(const SweepPoint&, std::string&)> append_;
  SweepWorker worker_;
  SweepPoint point_;
};

void add(std::vector<std::uint64_t>& sums, const std::vector<std::uint64_t>& counts) {
  sums.resize(std::max(sums.size(), counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sums[i] += counts[i];
  }
}

}  // namespace

Chunks sweep_chunks(const Sweep& sweep, std::optional<Fidelity> fidelity) {
  return cut_into_chunks(sweep.points(),
                         may_take_events(sweep, fidelity) ? kMostOfEvents : kMostOfClosedForm);
}

void check_columns(const Sweep& sweep, std::optional<Fidelity> fidelity) {
  if (sweep.has(SweepColumn::algorithms) && fidelity != Fidelity::network) {
    throw InputError(
        "columns: algorithms: expected --fidelity network beside it: elsewhere no links choose "
        "among them");
  }
}

SweepOutcome run_sweep(const Sweep& sweep,
                       const SweepOptions& options,
                       const std::function<void(const SweepPoint&, std::string&)>& append,
                       const std::function<void(std::span<const SweepChunk>)>& emit) {
  check_columns(sweep, options.fidelity);
  const std::size_t own = options.shard.count(sweep_chunks(sweep, options.fidelity).count());
  const auto threads = static_cast<unsigned>(
      std::clamp<std::size_t>(own - options.done, 1, std::max(1U, options.threads)));
  const std::size_t ahead = window_of(may_take_events(sweep, options.fidelity), threads);
  ChunkWindow window(options.done, own, ahead, options.stop);
  std::vector<std::vector<std::uint64_t>> left_out(threads);
  const auto work = [&](std::size_t thread) {
    try {
      ChunkWorker worker(sweep, options, append);
      SweepChunk chunk;
      while (const std::optional<std::size_t> nth = window.begin()) {
        worker.compute(*nth, chunk);
        window.put(*nth, chunk);
      }
      left_out[thread] = worker.left_out();
    } catch (...) {
      window.fail(std::current_exception());
    }
  };
  {
    struct Closing {
      ChunkWindow* window;
      ~Closing() { window->close(); }
    };
    std::vector<std::jthread> team;
    const Closing closing{&window};  // before the threads are waited for, however this ends
    for (unsigned i = 0; i < threads; ++i) {
      team.emplace_back(work, i);
    }
    std::vector<SweepChunk> ready;
    while (const std::size_t count = window.take(ready)) {
      emit(std::span(ready).first(count));
    }
  }
  SweepOutcome outcome{.all = window.all(), .left_out = {}};
  for (const std::vector<std::uint64_t>& counts : left_out) {
    add(outcome.left_out, counts);
  }
  return outcome;
}

}  // namespace titer
