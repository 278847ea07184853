#include "titer/plan/pipeline/pipeline.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// As many as a search is likely to go back to.
constexpr std::size_t kPassesKept = 2'000'000;  // of all programs: 24 MB
constexpr std::size_t kFollowed = 256;

/// Of some ticks evenly apart: pipelines that differ elsewhere are told apart by comparing all.
std::uint64_t hash_of(const PipelineShape& shape,
                      const PassTicks& ticks,
                      const StartGathers& gathers) {
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
  for (const Ticks through : gathers.through) {
    add(through);
  }
  return hash;
}

}  // namespace

void PipelineClock::run(const Schedule& schedule,
                        PipelineShape shape,
                        const PassTicks& ticks,
                        std::vector<Ticks>& finish) {
  const FollowedPipeline& pipeline = followed(schedule, shape, ticks, {}, false);
  finish = pipeline.finish;
  counts_ = pipeline.counts;
}

const FollowedPipeline& PipelineClock::followed(const Schedule& schedule,
                                                PipelineShape shape,
                                                const PassTicks& ticks,
                                                const StartGathers& gathers,
                                                bool to_end_beside) {
  const std::uint64_t hash = hash_of(shape, ticks, gathers);
  const auto [first, last] = known_.equal_range(hash);
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    const FollowedPipeline& one = followed_[entry.second];
    return is_of(one, schedule, shape, gathers) && one.ticks == ticks;
  });
  if (found != last) {
    last_followed_ = found->second;
    return known(last_followed_, to_end_beside);
  }
  const std::size_t at = room_for(hash);
  FollowedPipeline& pipeline = followed_[at];
  pipeline.schedule = schedule;
  pipeline.shape = shape;
  pipeline.ticks = ticks;
  pipeline.gathers = gathers;
  pipeline.has_before_ending = false;
  follow(at);
  known_.emplace(hash, at);
  last_followed_ = at;
  return known(at, to_end_beside);
}

/// Where a pipeline that is not known is kept from now on.
std::size_t PipelineClock::room_for(std::uint64_t hash) {
  if (followed_.size() < kFollowed) {
    followed_.emplace_back();
    hashes_.push_back(hash);
    return followed_.size() - 1;
  }
  const std::size_t at = oldest_followed_;
  oldest_followed_ = (oldest_followed_ + 1) % kFollowed;
  const auto [old, end] = known_.equal_range(hashes_[at]);
  const auto replaced =
      std::find_if(old, end, [&](const auto& entry) { return entry.second == at; });
  ensure(replaced != end, "a pipeline that is kept is known by its hash");
  known_.erase(replaced);
  hashes_[at] = hash;
  return at;
}

/// What the ending takes, and was not asked for before, is among the ends, while these are still
/// there.
const FollowedPipeline& PipelineClock::known(std::size_t at, bool to_end_beside) {
  FollowedPipeline& pipeline = followed_[at];
  if (to_end_beside && !pipeline.has_before_ending) {
    if (ends_of_ != at) {
      follow(at);
    }
    pipeline.before_ending.clear();
    for (const PassEnd end : course(pipeline.schedule, pipeline.shape).program->ending().taken) {
      pipeline.before_ending.push_back(ends_of_passes_[end]);
    }
    pipeline.has_before_ending = true;
  }
  return pipeline;
}

void PipelineClock::follow(std::size_t at) {
  ends_of_.reset();
  FollowedPipeline& pipeline = followed_[at];
  const auto [program, periods] = course(pipeline.schedule, pipeline.shape);
  follow(*program, periods, pipeline);
  pipeline.counts =
      program->counts_of(micro_batches_per_chunk(placement(pipeline.schedule), pipeline.shape));
  ends_of_ = at;
}

PipelineClock::Course PipelineClock::course(const Schedule& schedule, const PipelineShape& shape) {
  PipelineShape few = shape;
  few.micro_batches = few_micro_batches(schedule, shape);
  if (few.micro_batches < shape.micro_batches) {
    const PipelineProgram& short_one = program(schedule, few);
    if (const int period = short_one.repeated().micro_batches; period > 0) {
      return {&short_one, (shape.micro_batches - few.micro_batches) / period};
    }
  }
  return {&program(schedule, shape), 0};
}

const PipelineProgram& PipelineClock::program(const Schedule& schedule, PipelineShape shape) {
  const auto known = std::ranges::find_if(programs_, [&](const auto& program) {
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
  const PipelineProgram::Repeated& repeated = program.repeated();
  std::vector<Ticks>& ends = ends_of_passes_;
  ends.resize(std::max(ends.size(), program.passes().size() + 1));
  ends[0] = 0;  // every other end is written before it is read
  std::size_t done = 0;
  into.starts.assign(program.last().size(), {});
  if (!into.gathers.empty()) {
    follow_gathers(program, into);
    done = program.started();
  }
  if (done < repeated.end) {
    follow(program, done, repeated.end, into.ticks);
    done = repeated.end;
  }
  into.later = 0;
  for (; periods > 0; --periods) {
    if (const auto later = later_by(repeated)) {
      into.later = periods * *later;
      break;
    }
    for (const auto& [end, next] : repeated.carried) {
      ends[end] = ends[next];
    }
    follow(program, repeated.begin, repeated.end, into.ticks);
  }
  follow(program, done, program.passes().size(), into.ticks);
  into.finish.clear();
  for (const PassEnd last : program.last()) {
    into.finish.push_back(ends[last] + into.later);
  }
}

/// The passes from `begin` to `end`.
void PipelineClock::follow(const PipelineProgram& program,
                           std::size_t begin,
                           std::size_t end,
                           const PassTicks& ticks) {
  const Ticks* const cost = ticks.data();
  Ticks* const ends = ends_of_passes_.data();
  Ticks* own = ends + begin;
#pragma GCC unroll 4
  for (const PipelinePass& pass : program.passes().first(end).subspan(begin)) {
    *++own = std::max(ends[pass.before], ends[pass.input]) + cost[pass.kind];
  }
}

/// The passes until every place has begun. Each rank has then done a forward that waited for its
/// last gather: what comes later waits for none.
void PipelineClock::follow_gathers(const PipelineProgram& program, FollowedPipeline& into) {
  Ticks* const ends = ends_of_passes_.data();
  Ticks* own = ends;
  const LanesBeside beside(into.ticks, into.gathers.slower, into.gathers);
  for (std::size_t rank = 0; rank < into.starts.size(); ++rank) {
    into.starts[rank].data = into.gathers.through[rank];
  }
  for (const PipelinePass& pass : program.passes().first(program.started())) {
    const Ticks idle = ends[pass.before];
    const Ticks start = std::max(idle, ends[pass.input]);
    LaneEnds& lanes = into.starts[pass.rank];
    lanes.wait(idle, start, 0);
    *++own = is_alone(pass, Pass::forward, program.places())
                 ? beside.first(pass.kind, start, 0, pass.rank, lanes)
                 : beside.pass(pass.kind, start, lanes);
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

}  // namespace titer
