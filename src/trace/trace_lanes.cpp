#include "trace_lanes.hpp"

#include <algorithm>
#include <cmath>

#include "titer/input/reader.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostDigits = 16;                         // before the point
constexpr TraceTime kMostMicroseconds = 9'000'000'000'000'000;  // in nanoseconds fit into 64 bits
constexpr std::size_t kMostLanes = 4096;

/// Each step lasts until the next one begins.
void join_steps(std::vector<TraceStep>& steps) {
  std::ranges::stable_sort(steps, {}, &TraceStep::start);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    steps[i - 1].end = steps[i].start;
  }
}

/// Numbers in their order, before texts.
bool comes_before(std::string_view a, std::string_view b) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  if (is_number(a) != is_number(b)) {
    return is_number(a);
  }
  return is_number(a) && a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

/// The digits from `at` on as a number; nothing where there are none, or too many.
std::optional<TraceTime> take_whole(std::string_view text, std::size_t& at) {
  const std::size_t from = at;
  TraceTime value = 0;
  for (; is_digit_at(text, at) && at - from <= kMostDigits; ++at) {
    value = 10 * value + (text[at] - '0');
  }
  const bool good = at > from && at - from <= kMostDigits && value <= kMostMicroseconds;
  return good ? std::optional(value) : std::nullopt;
}

/// Thousandths after a point, rounded; none without one.
TraceTime take_thousandths(std::string_view text, std::size_t& at) {
  at += at < text.size() && text[at] == '.' ? 1 : 0;
  TraceTime value = 0;
  for (int place = 0; place < 3; ++place) {
    const bool digit = is_digit_at(text, at);
    value = 10 * value + (digit ? text[at] - '0' : 0);
    at += digit ? 1 : 0;
  }
  value += is_digit_at(text, at) && text[at] >= '5' ? 1 : 0;
  while (is_digit_at(text, at)) {
    ++at;
  }
  return value;
}

}  // namespace

std::optional<TraceTime> nanoseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::size_t at = negative ? 1 : 0;
  const std::optional<TraceTime> whole = take_whole(text, at);
  if (!whole) {
    return std::nullopt;
  }
  const TraceTime value = 1000 * *whole + take_thousandths(text, at);
  if (at == text.size()) {
    return negative ? -value : value;
  }
  const auto microseconds = number_of_text<double>(text);  // with an exponent
  if (!microseconds || std::abs(*microseconds) > 1e15) {
    return std::nullopt;
  }
  return std::llround(1e3 * *microseconds);
}

TraceLanes::Lane& TraceLanes::lane(const LaneKey& key) {
  const auto is_it = [&](const Lane& lane) {
    return lane.thread == key.thread && lane.process == key.process && lane.sort == key.sort;
  };
  if (last_ < lanes_.size() && is_it(lanes_[last_])) {
    return lanes_[last_];
  }
  const auto known = std::ranges::find_if(lanes_, is_it);
  last_ = static_cast<std::size_t>(known - lanes_.begin());
  if (known == lanes_.end()) {
    if (lanes_.size() == kMostLanes) {
      throw InputError("a trace with more than " + std::to_string(kMostLanes) +
                       " streams cannot be read");
    }
    lanes_.push_back({.process = std::string(key.process),
                      .thread = std::string(key.thread),
                      .sort = key.sort,
                      .spans = {}});
  }
  return lanes_[last_];
}

void TraceLanes::span(const LaneKey& key,
                      TraceTime start,
                      TraceTime duration,
                      const SpanFacts& facts) {
  if (key.sort == LaneSort::unnamed) {
    const std::string_view process = process_name(key.process);
    const bool of_host = !process.empty() && process.find("/device:") == process.npos;
    if (of_host || holds_others(facts.name) || is_idle(facts.name)) {
      return;
    }
  }
  Lane& to = lane(key);
  to.busy += Seconds::from_si(1e-9 * static_cast<double>(duration));
  to.spans.emplace_back(start, duration, kinds_.of(facts));
}

void TraceLanes::step(TraceStep step, std::string_view process) {
  steps_[std::string(process)].push_back(std::move(step));
}

void TraceLanes::name(std::string_view process,
                      std::string_view thread,
                      std::string_view what,
                      std::string_view name) {
  if (what == "process_name") {
    processes_[std::string(process)] = name;
  } else if (what == "thread_name") {
    threads_[{std::string(process), std::string(thread)}] = name;
  }
}

std::string_view TraceLanes::process_name(std::string_view process) const {
  const auto known = processes_.find(process);
  return known == processes_.end() ? std::string_view() : known->second;
}

std::string_view TraceLanes::thread_name(const Lane& lane) const {
  const auto known = threads_.find({lane.process, lane.thread});
  return known == threads_.end() ? std::string_view() : known->second;
}

void TraceLanes::add_lane(TraceDevice& device, Lane& lane, std::string name) {
  device.streams.push_back({.name = std::move(name),
                            .busy = lane.busy,
                            .spans = static_cast<std::int64_t>(lane.spans.size())});
  if (device.spans.empty()) {
    device.spans = std::move(lane.spans);
  } else {
    device.spans.insert(device.spans.end(), lane.spans.begin(), lane.spans.end());
  }
  lane.spans = {};
}

void TraceLanes::finish_pytorch(Trace& trace) {
  trace.format = "PyTorch profiler";
  std::erase_if(lanes_, [](const Lane& lane) { return lane.sort != LaneSort::kernels; });
  for (Lane& lane : lanes_) {
    if (trace.devices.empty() || trace.devices.back().name != lane.process) {
      trace.devices.push_back({.name = lane.process, .streams = {}, .spans = {}, .steps = {}});
      const bool own = steps_.contains(lane.process);
      const auto steps = steps_.find(own ? std::string_view(lane.process) : std::string_view());
      if (steps != steps_.end()) {
        trace.devices.back().steps = steps->second;
      }
      trace.devices.back().steps_of_host = !own;
    }
    add_lane(trace.devices.back(), lane, lane.thread);
  }
}

void TraceLanes::finish_xla(Trace& trace) {
  trace.format = "XLA trace viewer";
  std::erase_if(lanes_, [this](const Lane& lane) {
    return lane.sort != LaneSort::unnamed ||
           process_name(lane.process).find("/device:") == std::string_view::npos;
  });
  for (Lane& lane : lanes_) {
    const std::string_view process = process_name(lane.process);
    if (trace.devices.empty() || trace.devices.back().name != process) {
      trace.devices.push_back(
          {.name = std::string(process), .streams = {}, .spans = {}, .steps = {}});
    }
    TraceDevice& device = trace.devices.back();
    const std::string_view line = thread_name(lane);
    const bool has_streams = std::ranges::any_of(lanes_, [&](const Lane& other) {
      return other.process == lane.process && thread_name(other).starts_with("Stream #");
    });
    if (line == "Steps") {
      for (const TraceSpan& span : lane.spans) {
        device.steps.push_back(
            {.name = kinds_[span.kind()].name, .start = span.start(), .end = span.end()});
      }
    } else if (has_streams ? line.starts_with("Stream #")
                           : starts_with_any(line, {"XLA Ops", "Async XLA Ops"})) {
      add_lane(device, lane, std::string(line));
    }
  }
  std::erase_if(trace.devices, [](const TraceDevice& device) { return device.spans.empty(); });
}

void TraceLanes::finish(Trace& trace) {
  std::ranges::stable_sort(lanes_, [](const Lane& a, const Lane& b) {
    return a.process == b.process ? comes_before(a.thread, b.thread)
                                  : comes_before(a.process, b.process);
  });
  const bool pytorch = includes(lanes_, LaneSort::kernels, &Lane::sort);
  if (pytorch) {
    finish_pytorch(trace);
  } else {
    finish_xla(trace);
  }
  if (trace.devices.empty()) {
    throw InputError(trace.source +
                     ": no device did anything: expected events of category kernel (PyTorch's "
                     "profiler) or lines \"XLA Ops\" of a process /device:… (XLA's trace viewer)");
  }
  for (TraceDevice& device : trace.devices) {
    join_steps(device.steps);
  }
  trace.kinds = kinds_.take();
  trace.skipped = skipped_;
}

}  // namespace titer
