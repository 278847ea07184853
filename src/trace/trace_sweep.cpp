#include "trace_sweep.hpp"

#include <algorithm>
#include <bit>

namespace titer {
namespace {

constexpr CategoryMask mask_of(TraceClass of) {
  CategoryMask mask = 0;
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    mask |= class_of(static_cast<TraceCategory>(i)) == of ? CategoryMask{1} << i : 0;
  }
  return mask;
}
constexpr CategoryMask kCompute = mask_of(TraceClass::compute);

std::size_t first(CategoryMask mask) { return static_cast<std::size_t>(std::countr_zero(mask)); }

}  // namespace

void CategorySums::add(CategoryMask running, TraceTime time) {
  if (running == 0) {
    return;
  }
  any += time;
  communication_first[first(running)] += time;
  const CategoryMask compute = running & kCompute;
  compute_first[first(compute != 0 ? compute : running)] += time;
  for (CategoryMask rest = running; rest != 0; rest &= rest - 1) {
    busy[first(rest)] += time;
  }
}

void KindSum::add(TraceTime duration) { add({.calls = 1, .time = duration, .fastest = duration}); }

void KindSum::add(const KindSum& other) {
  if (other.calls > 0) {
    fastest = calls == 0 ? other.fastest : std::min(fastest, other.fastest);
  }
  time += other.time;
  calls += other.calls;
}

TraceSweep::TraceSweep(const Trace& trace, std::vector<TraceWindow> windows)
    : trace_(&trace), windows_(std::move(windows)), kinds_(trace.kinds.size()) {}

TraceTime TraceSweep::time() const {
  TraceTime time = 0;
  for (const TraceWindow& window : windows_) {
    time += window.end - window.start;
  }
  return time;
}

void TraceSweep::run(const std::deque<TraceSpan>& spans) {
  for (const TraceSpan& span : spans) {
    advance(span.start());
    begin(span);
  }
  while (!ends_.empty()) {
    advance(ends_.top().first);
  }
}

void TraceSweep::begin(const TraceSpan& span) {
  const auto category = static_cast<std::size_t>(trace_->kinds[span.kind()].category);
  ++running_[category];
  mask_ |= CategoryMask{1} << category;
  ends_.emplace(span.end(), category);
  if (window_ < windows_.size() && span.start() >= windows_[window_].start) {
    kinds_[span.kind()].add(span.duration());
    ++calls_[category];
  }
}

void TraceSweep::advance(TraceTime until) {
  while (!ends_.empty() && ends_.top().first <= until) {
    const auto [end, category] = ends_.top();
    ends_.pop();
    count(end);
    if (--running_[category] == 0) {
      mask_ &= ~(CategoryMask{1} << category);
    }
  }
  count(until);
}

/// The time from now_ on: what of it is in windows, and after them.
void TraceSweep::count(TraceTime until) {
  for (; window_ < windows_.size() && windows_[window_].end <= until; ++window_) {
    add(std::max(now_, windows_[window_].start), windows_[window_].end);
  }
  if (window_ < windows_.size()) {
    add(std::max(now_, windows_[window_].start), until);
  } else if (mask_ != 0 && !windows_.empty()) {
    after_ += std::max<TraceTime>(0, until - std::max(now_, windows_.back().end));
  }
  now_ = std::max(now_, until);
}

void TraceSweep::add(TraceTime from, TraceTime to) {
  if (to > from) {
    sums_.add(mask_, to - from);
  }
}

}  // namespace titer
