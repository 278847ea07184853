#include "fewest_devices.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "capacity_devices.hpp"
#include "titer/model/model.hpp"

namespace titer {
namespace {

constexpr double kUsualShare = 0.4;  // of the peak, at which the sizes that are tried begin
constexpr double kMostShare = 2;     // that no plan has: of 6 FLOPs some models need fewer
constexpr double kAllFlops = 1.05;   // of the peak, by FLOPs that are counted one by one
constexpr double kMostGrowth = 4;    // from a size that has a plan to the next

class FewestDevices {
 public:
  FewestDevices(const CapacityQuestion& question, const PlanFinder& plan)
      : question_(question), plan_(plan), sizes_(usual_sizes(question.scenario.cluster)) {}

  std::vector<CapacityPoint> find() {
    const double ideal = ideal_devices();
    const std::size_t guess = first_of(ideal / kUsualShare);
    const auto in_time = grow_from(guess);
    const bool has_plan = std::ranges::any_of(
        tried_, [](const auto& size_and_point) { return size_and_point.second.has_plan(); });
    if (in_time || !has_plan) {
      try_fewer(first_of(least_devices(ideal)), in_time.value_or(guess));
    } else {
      try_between();
    }
    std::vector<CapacityPoint> points;
    for (auto& [size, point] : tried_) {
      points.push_back(std::move(point));
    }
    return points;
  }

 private:
  /// That would do at the peak of the chip, 6 FLOPs for each parameter and token.
  [[nodiscard]] double ideal_devices() const {
    const Scenario& scenario = question_.scenario;
    const Transformer* transformer = scenario.model.if_transformer();
    const double parameters = static_cast<double>(
        transformer != nullptr ? active_parameters(*transformer) : titer::parameters(scenario));
    const auto& rate = scenario.cluster.chip.rate(scenario.training.precision);
    return rate ? 6 * parameters * *question_.tokens / (rate->peak.si() * question_.deadline->si())
                : 1;
  }
  /// That fewer cannot do it: at the peak of the chip the passes of all tokens, attention to what
  /// is before each. Of models part of which is not trained there is no such count.
  [[nodiscard]] double least_devices(double ideal) const {
    const Scenario& scenario = question_.scenario;
    const auto& rate = scenario.cluster.chip.rate(scenario.training.precision);
    const Transformer* transformer = scenario.model.if_transformer();
    if (!rate || transformer == nullptr || transformer->tower || scenario.training.adapters ||
        scenario.unlike()) {
      return ideal / kMostShare;
    }
    const ForwardFlops forward =
        forward_flops(scenario.model, 1, scenario.training.sequence, AttentionCount::causal);
    const double of_token =
        3 * forward.total().si() / static_cast<double>(scenario.training.sequence);
    return of_token * *question_.tokens / (kAllFlops * rate->peak.si() * question_.deadline->si());
  }
  /// The first size of so many devices or more; the last where there is none.
  [[nodiscard]] std::size_t first_of(double devices) const {
    const auto found = std::ranges::lower_bound(
        sizes_, devices, {}, [](std::int64_t size) { return static_cast<double>(size); });
    return std::min(static_cast<std::size_t>(found - sizes_.begin()), sizes_.size() - 1);
  }
  CapacityPoint& try_size(std::size_t size) {
    return tried_.emplace(size, capacity_point(question_, plan_, sizes_[size])).first->second;
  }
  [[nodiscard]] bool is_in_time(const CapacityPoint& point) const {
    return point.has_plan() && keeps_deadline(question_, point);
  }
  /// That has to be within the deadline: with a chance asked for, about what 90 % keep.
  [[nodiscard]] Seconds time_asked_for(const CapacityPoint& point) const {
    return question_.chance && point.spread ? point.spread->high : point.time;
  }

  /// From one size to larger ones, the first that keeps the deadline. Empty where there is none, or
  /// more devices help no longer.
  std::optional<std::size_t> grow_from(std::size_t size) {
    for (; size < sizes_.size(); size = after(size)) {
      if (is_in_time(try_larger(size))) {
        return size;
      }
      if (no_longer_helps()) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }
  /// One that is expected to be in time: a search for no more than that is quicker, and does where
  /// it finds a plan.
  CapacityPoint& try_larger(std::size_t size) {
    const bool is_expected = std::ranges::any_of(
        tried_, [](const auto& size_and_point) { return size_and_point.second.has_plan(); });
    if (is_expected) {
      CapacityPoint point = capacity_point(hurried(), plan_, sizes_[size]);
      if (is_in_time(point)) {
        return tried_.emplace(size, std::move(point)).first->second;
      }
    }
    return try_size(size);
  }
  /// What is asked, of plans that keep the deadline alone; with a chance asked for it is not known
  /// which do.
  [[nodiscard]] CapacityQuestion hurried() const {
    CapacityQuestion question = question_;
    if (!question_.chance) {
      constexpr double less = 1 - 1e-9;  // than rounding takes off
      question.least_tokens_per_s = less * *question_.tokens / question_.deadline->si();
    }
    return question;
  }
  /// What the size just tried says of the next, as if twice as many took half the time.
  [[nodiscard]] std::size_t after(std::size_t size) const {
    const CapacityPoint& point = tried_.at(size);
    const double times =
        point.has_plan() ? std::min(kMostGrowth, time_asked_for(point) / *question_.deadline) : 1;
    return std::max(size + 1, first_of(static_cast<double>(point.devices) * times));
  }
  /// Whether the two largest sizes that have a plan are no faster than a smaller one. One alone may
  /// share out layers, batch or racks badly.
  [[nodiscard]] bool no_longer_helps() const {
    constexpr int enough = 2;
    Seconds fastest = Seconds::from_si(std::numeric_limits<double>::infinity());
    int no_faster = 0;
    for (const auto& [size, point] : tried_) {
      if (point.has_plan()) {
        no_faster = point.time < fastest ? 0 : no_faster + 1;
        fastest = std::min(fastest, point.time);
      }
    }
    return no_faster >= enough;
  }

  /// Sizes from `size` until one keeps the deadline, but for `end`. That one is too slow or has no
  /// plan says nothing of a larger or a smaller one: their plans share out layers, batch and
  /// network otherwise.
  void try_fewer(std::size_t size, std::size_t end) {
    const CapacityQuestion in_time = hurried();
    for (; size < end; ++size) {
      if (tried_.contains(size)) {
        continue;
      }
      CapacityPoint point = capacity_point(in_time, plan_, sizes_[size]);
      if (is_in_time(point)) {
        tried_.emplace(size, std::move(point));
        return;
      }
    }
  }
  /// Where the largest sizes will not do, some between may: plans share out some numbers better
  /// than others. As many devices as the best of those that were tried would need are the least.
  void try_between() {
    constexpr int most_tries = 4;
    constexpr double slack = 0.95;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [size, point] : tried_) {
      if (point.has_plan()) {
        least = std::min(
            least,
            static_cast<double>(point.devices) * (time_asked_for(point) / *question_.deadline));
      }
    }
    int tries = 0;
    for (std::size_t size = 0; size < sizes_.size() && tries < most_tries; ++size) {
      if (static_cast<double>(sizes_[size]) >= slack * least && !tried_.contains(size)) {
        ++tries;
        if (is_in_time(try_size(size))) {
          return;
        }
      }
    }
  }

  const CapacityQuestion& question_;
  const PlanFinder& plan_;
  std::vector<std::int64_t> sizes_;
  std::map<std::size_t, CapacityPoint> tried_;
};

}  // namespace

std::vector<CapacityPoint> try_for_fewest(const CapacityQuestion& question,
                                          const PlanFinder& plan) {
  return FewestDevices(question, plan).find();
}

}  // namespace titer
