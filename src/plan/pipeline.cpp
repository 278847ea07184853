#include "titer/plan/pipeline.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// As many as a search is likely to go back to.
constexpr std::size_t kPassesKept = 2'000'000;  // of all programs: 24 MB
constexpr std::size_t kFollowed = 256;

/// Of some ticks evenly apart: pipelines that differ elsewhere are told apart by comparing all.
std::uint64_t hash_of(const PipelineShape& shape, const PassTicks& ticks) {
  constexpr std::uint64_t prime = 1099511628211U;  // FNV-1a
  constexpr std::size_t most = 64;
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * prime;
  };
  add(shape.stages);
  add(shape.micro_batches);
  add(shape.virtual_stages);
  for (std::size_t i = 0; i < ticks.size(); i += 1 + ticks.size() / most) {
    add(ticks[i]);
  }
  return hash;
}

}  // namespace

void PipelineClock::run(const Schedule& schedule,
                        PipelineShape shape,
                        const PassTicks& ticks,
                        std::vector<Ticks>& finish) {
  const FollowedPipeline& pipeline = followed(schedule, shape, ticks);
  finish = pipeline.finish;
  counts_ = pipeline.counts;
}

const FollowedPipeline& PipelineClock::followed(const Schedule& schedule,
                                                PipelineShape shape,
                                                const PassTicks& ticks) {
  const std::uint64_t hash = hash_of(shape, ticks);
  const auto [first, last] = known_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const FollowedPipeline& one = followed_[known->second];
    if (one.shape == shape && one.ticks == ticks && is_same(one.schedule, schedule)) {
      last_followed_ = known->second;
      return one;
    }
  }
  std::size_t at = followed_.size();
  if (at < kFollowed) {
    followed_.emplace_back();
    hashes_.push_back(hash);
  } else {
    at = oldest_followed_;
    oldest_followed_ = (oldest_followed_ + 1) % kFollowed;
    const auto [old, end] = known_.equal_range(hashes_[at]);
    const auto replaced =
        std::find_if(old, end, [&](const auto& known) { return known.second == at; });
    ensure(replaced != end, "a pipeline that is kept is known by its hash");
    known_.erase(replaced);
    hashes_[at] = hash;
  }
  FollowedPipeline& pipeline = followed_[at];
  pipeline.schedule = schedule;
  pipeline.shape = shape;
  pipeline.ticks = ticks;
  follow_all(pipeline);
  known_.emplace(hash, at);
  last_followed_ = at;
  return pipeline;
}

void PipelineClock::follow_all(FollowedPipeline& into) {
  micro_batches_ = micro_batches_per_chunk(placement(into.schedule), into.shape);
  PipelineShape shape = into.shape;
  shape.micro_batches = few_micro_batches(into.schedule, into.shape);
  if (shape.micro_batches < into.shape.micro_batches) {
    const PipelineProgram& few = program(into.schedule, shape);
    if (const int period = few.repeated().micro_batches; period > 0) {
      follow(few, (into.shape.micro_batches - shape.micro_batches) / period, into);
      return;
    }
  }
  follow(program(into.schedule, into.shape), 0, into);
}

void PipelineClock::fill_counts(const PipelineProgram& program,
                                std::vector<PassCounts>& counts) const {
  counts.clear();
  for (std::size_t place = 0; place < program.places(); ++place) {
    PassCounts& own = counts.emplace_back(program.counts(place));
    if (program.uniform()) {
      for (int& count : own.alone) {
        count = count > 0 ? micro_batches_ : 0;
      }
    }
  }
}

const PipelineProgram& PipelineClock::program(const Schedule& schedule, PipelineShape shape) {
  const auto known = std::find_if(programs_.begin(), programs_.end(), [&](const auto& program) {
    return program.shape() == shape && is_same(program.schedule(), schedule);
  });
  if (known != programs_.end()) {
    return *known;
  }
  const PipelineProgram& made = programs_.emplace_back(schedule, shape);
  passes_kept_ += made.passes().size();
  while (passes_kept_ > kPassesKept && programs_.size() > 1) {
    passes_kept_ -= programs_.front().passes().size();
    programs_.pop_front();
  }
  return made;
}

/// `periods`: how many more than the program's own.
void PipelineClock::follow(const PipelineProgram& program, int periods, FollowedPipeline& into) {
  const std::span<const PipelinePass> passes = program.passes();
  const PipelineProgram::Repeated& repeated = program.repeated();
  std::vector<Ticks>& ends = ends_of_passes_;
  ends.resize(std::max(ends.size(), passes.size() + 1));
  ends[0] = 0;  // every other end is written before it is read
  follow(passes.first(repeated.end), 0, into.ticks);
  into.later = 0;
  for (; periods > 0; --periods) {
    if (const auto later = later_by(repeated)) {
      into.later = periods * *later;
      break;
    }
    for (const auto& [end, next] : repeated.carried) {
      ends[end] = ends[next];
    }
    follow(passes.first(repeated.end).subspan(repeated.begin), repeated.begin, into.ticks);
  }
  follow(passes.subspan(repeated.end), repeated.end, into.ticks);
  into.finish.clear();
  for (const PassEnd last : program.last()) {
    into.finish.push_back(ends[last] + into.later);
  }
  fill_events(program, into.events);
  fill_counts(program, into.counts);
}

/// Some of a program's passes, whose first one is its `first`.
void PipelineClock::follow(std::span<const PipelinePass> passes,
                           std::size_t first,
                           const PassTicks& ticks) {
  const Ticks* const cost = ticks.data();
  Ticks* const ends = ends_of_passes_.data();
  Ticks* end = ends + first;
  for (const PipelinePass& pass : passes) {
    *++end = std::max(ends[pass.before], ends[pass.input]) + cost[pass.kind];
  }
}

/// How much later the next period begins than the last one, if that is one time.
std::optional<Ticks> PipelineClock::later_by(const PipelineProgram::Repeated& repeated) const {
  const std::vector<Ticks>& ends = ends_of_passes_;
  const auto by = [&](const auto& pair) { return ends[pair.second] - ends[pair.first]; };
  const Ticks first = by(repeated.carried.front());
  Ticks differs = 0;
  for (const auto& pair : repeated.carried) {
    differs |= by(pair) ^ first;
  }
  return differs == 0 ? std::optional(first) : std::nullopt;
}

/// Before some gradients are complete nothing is on a data lane.
void PipelineClock::fill_events(const PipelineProgram& program, std::vector<LaneEvent>& events) {
  const std::span<const PipelinePass> passes = program.passes();
  const auto made = program.made();
  events.clear();
  if (made.empty()) {
    return;
  }
  const Ticks* const ends = ends_of_passes_.data();
  std::size_t i = made.front().pass;
  events_.resize(std::max(events_.size(), passes.size() - i + made.size()));
  LaneEvent* event = events_.data();
  const auto add_waits = [&](std::size_t until) {
    for (; i < until; ++i) {
      const Ticks from = ends[passes[i].before];
      const Ticks to = ends[passes[i].input];
      *event = {.from = from, .to = to, .rank = passes[i].rank, .waits = true};
      event += to > from ? 1 : 0;  // otherwise the next one is written over it
    }
  };
  for (const PipelineProgram::Made& one : made) {
    add_waits(one.pass + 1);
    *event++ = {.to = ends[one.pass + 1],
                .rank = passes[one.pass].rank,
                .place = static_cast<std::uint16_t>(one.place),
                .pass = passes[one.pass].kind,
                .kind = one.kind};
  }
  add_waits(passes.size());
  events.assign(events_.data(), event);
}

}  // namespace titer
