#include "titer/campaign/training_time.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "titer/scenario/draws.hpp"

namespace titer {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Times at random with a stream of draws of its own.
class RandomTimes {
 public:
  RandomTimes(std::uint64_t seed, std::uint32_t sample, std::uint64_t stream)
      : name_{.seed = seed,
              .sample = sample,
              .device = stream,
              .number = 0,
              .purpose = draw_purpose} {}

  /// Until the next of what comes so often per second.
  double next(double rate) {
    ++name_.number;
    return rate > 0 ? -std::log(uniform_pair(name_).first) / rate : kNever;
  }
  double uniform() {
    ++name_.number;
    return uniform_pair(name_).first;
  }

 private:
  static constexpr std::uint8_t draw_purpose = 7;  // of the draws in this file
  DrawName name_;
};

/// One run of the job, in plain seconds.
class TrainingRun {
 public:
  TrainingRun(const BreakingJob& job, double useful, const DrawName& name)
      : job_(job), useful_(useful), random_(name.seed, name.sample, 0) {}

  /// How long it takes.
  double follow() {
    while (!done_) {
      const Event event = next_event();
      train_until(event.at);
      if (!done_) {
        take(event);
      }
    }
    return now_;
  }

 private:
  enum class What { failure, planned, becoming_slow, slow_found, repaired };
  struct Event {
    What what;
    double at;
  };

  [[nodiscard]] double failure_rate() const {
    return (job_.rates.hardware + job_.rates.software).si();
  }
  [[nodiscard]] double speed() const {
    const double left = static_cast<double>(job_.replicas_left(in_repair()));
    const double slowed = slow_until_.empty() ? 1 : job_.slowdown;
    return left / static_cast<double>(job_.replicas) / slowed;
  }
  [[nodiscard]] std::int64_t in_repair() const {
    return static_cast<std::int64_t>(repairs_.size());
  }

  /// Of what comes at random, only the first counts: the others are drawn again.
  Event next_event() {
    Event first{What::failure, now_ + random_.next(failure_rate())};
    const auto offer = [&](What what, double at) {
      first = at < first.at ? Event{what, at} : first;
    };
    offer(What::planned, now_ + random_.next(job_.rates.planned.si()));
    offer(What::becoming_slow, now_ + random_.next(job_.becoming_slow.si()));
    if (!slow_until_.empty()) {
      offer(What::slow_found, slow_until_.front());
    }
    if (!repairs_.empty()) {
      offer(What::repaired, repairs_.top());
    }
    first.at = std::max(first.at, now_);
    return first;
  }

  /// A checkpoint has been written up to here.
  void save(double intervals, double at) {
    saved_ += intervals * job_.interval.si();
    saved_at_ = at;
    since_ = 0;
    writing_ = 0;
  }

  /// Trains and writes checkpoints, until then or until all is done.
  void train_until(double then) {
    const double interval = job_.interval.si();
    const double checkpoint = job_.checkpoint.si();
    const double pace = 1 / speed();
    const double cycle = interval * pace + checkpoint;
    const double first = (interval - since_) * pace + checkpoint - writing_;
    const double left = useful_ - saved_ - since_;
    const double beyond = left - (interval - since_);  // of this interval
    const double full = std::max(0.0, std::ceil(beyond / interval) - 1);
    const double finish =
        beyond <= 0 ? left * pace : first + full * cycle + (beyond - full * interval) * pace;
    if (now_ + finish <= then) {
      now_ += finish;
      done_ = true;
      return;
    }
    double time = then - now_;
    if (time >= first) {
      const double cycles = std::floor((time - first) / cycle);
      time -= first + cycles * cycle;
      save(1 + cycles, then - time);
    }
    const double trained = std::min(time, (interval - since_) * pace);
    since_ += trained / pace;
    writing_ += time - trained;
    now_ = then;
  }

  void take(const Event& event) {
    switch (event.what) {
      case What::failure:
        lose();
        fail();
        start_again();
        break;
      case What::planned:
        pause();
        break;
      case What::becoming_slow:
        slow_until_.push(now_ + job_.slow_detect.si());
        break;
      case What::slow_found:
        slow_until_.pop();
        pause();
        break;
      case What::repaired: {
        const std::int64_t before = job_.replicas_left(in_repair());
        repairs_.pop();
        if (job_.replicas_left(in_repair()) > before) {
          pause();
        }
        break;
      }
    }
  }

  /// What was done since the last checkpoint that can be loaded.
  void lose() {
    since_ = 0;
    writing_ = 0;
    if (saved_ > 0 && now_ - saved_at_ < job_.lag.si()) {
      saved_ = std::max(0.0, saved_ - job_.interval.si());
      saved_at_ = -kNever;
    }
  }

  void fail() {
    const double hardware = job_.rates.hardware.si() / failure_rate();
    if (random_.uniform() < hardware) {
      repairs_.push(now_ + random_.next(1 / job_.repair.si()));
    }
  }

  /// Writes a checkpoint and starts again: planned, or on other devices.
  void pause() {
    saved_ += since_;
    since_ = 0;
    writing_ = 0;
    now_ += job_.checkpoint.si();
    start_again();
  }

  /// With enough nodes, and until no failure comes in between.
  void start_again() {
    while (true) {
      while (!repairs_.empty() &&
             (repairs_.top() <= now_ || job_.replicas_left(in_repair()) == 0)) {
        now_ = std::max(now_, repairs_.top());
        repairs_.pop();
      }
      const double failing = random_.next(failure_rate());
      if (failing >= job_.restart.si()) {
        now_ += job_.restart.si();
        return;
      }
      now_ += failing;
      fail();
    }
  }

  const BreakingJob& job_;
  double useful_;
  RandomTimes random_;
  double now_ = 0;
  double saved_ = 0;  // useful time in the last checkpoint
  double saved_at_ = -kNever;
  double since_ = 0;    // useful time since
  double writing_ = 0;  // of the next one
  bool done_ = false;
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;
  std::queue<double> slow_until_;
};

constexpr double kNormalTenth = 1.2815515655446004;  // 10 % of a normal are beyond

/// A sample's iteration time over the predicted one.
double step_factor(const TrainingSamples& samples, std::uint32_t sample) {
  RandomTimes random(samples.seed, sample, 1);
  const double deviation = normal_quantile_above(random.uniform());
  const double end = deviation < 0 ? samples.low : samples.high;
  return std::pow(end, std::abs(deviation) / kNormalTenth);
}

/// The share of these factors that are no larger.
double share_below(const TrainingSamples& samples, double factor) {
  const bool is_slow = factor >= 1;
  const double end = std::log(is_slow ? samples.high : samples.low);
  const double deviation =
      end == 0 ? (factor == 1 ? 0 : kNever) : kNormalTenth * std::log(factor) / end;
  const double beyond = 0.5 * std::erfc(deviation / std::sqrt(2.0));
  return is_slow ? 1 - beyond : beyond;
}

}  // namespace

TrainingSamples samples_of(const StepResult& step) {
  TrainingSamples samples;
  if (step.error_bar) {
    samples.low = step.error_bar->low / step.iteration_time;
    samples.high = step.error_bar->high / step.iteration_time;
  }
  return samples;
}

TrainingTime time_of_steps(const TrainingSamples& samples, Seconds mean) {
  TrainingTime time{.mean = mean, .low = samples.low * mean, .high = samples.high * mean};
  if (samples.deadline) {
    time.in_time = share_below(samples, *samples.deadline / mean);
  }
  return time;
}

std::optional<TrainingTime> simulate_training(const BreakingJob& job,
                                              Seconds useful,
                                              const TrainingSamples& samples) {
  constexpr double least_fraction = 0.01;
  constexpr double most_events = 50'000;  // of a sample; more spread by less than half a percent
  constexpr double all_events = 1e6;
  const double fraction = goodput(job).fraction;
  if (!(fraction >= least_fraction)) {
    return std::nullopt;
  }
  const Frequency any =
      job.rates.hardware + job.rates.software + job.rates.planned + job.becoming_slow;
  const double events = 1 + 2 * (any * useful) / fraction;
  if (events > most_events) {
    return time_of_steps(samples, useful / fraction);
  }
  const auto count =
      static_cast<std::uint32_t>(std::min<double>(samples.samples, all_events / events));
  std::vector<double> times;
  double sum = 0;
  for (std::uint32_t sample = 0; sample < count; ++sample) {
    const double work = useful.si() * step_factor(samples, sample);
    times.push_back(
        TrainingRun(job, work, DrawName{.seed = samples.seed, .sample = sample}).follow());
    sum += times.back();
  }
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return Seconds::from_si(times[static_cast<std::size_t>(std::lround(share * (count - 1)))]);
  };
  TrainingTime time{.mean = Seconds::from_si(sum / count), .low = at(0.1), .high = at(0.9)};
  if (samples.deadline) {
    const auto late = std::ranges::upper_bound(times, samples.deadline->si());
    time.in_time = static_cast<double>(late - times.begin()) / count;
  }
  return time;
}

}  // namespace titer
