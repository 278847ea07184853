#include "titer/trace/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "communication_clock.hpp"
#include "titer/engine/engine.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace {

/// Something that one rank does by itself, or several together.
struct Meeting {
  std::vector<std::pair<int, std::uint32_t>> members;  // rank and number of its node
};

/// Of each meeting, those that wait for it, and for how many others it has yet to wait.
struct MeetingWaits {
  std::vector<std::vector<std::size_t>> next;
  std::vector<std::size_t> open;
};

/// Starts and ends.
using TickSpans = std::vector<std::pair<Ticks, Ticks>>;

/// When a rank did what.
struct BusySpans {
  TickSpans computing;
  TickSpans moving;
};

/// Both ends and the tag of a message, or the group of a collective; and how many came before it.
using MeetingKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

class Replayer {
 public:
  Replayer(const Workload& workload, const Cluster& cluster, const ReplayOptions& options)
      : workload_(workload),
        cluster_(cluster),
        options_(options),
        clock_(cluster),
        kernels_(cluster.chip, DataType::bf16) {}

  Replay run() {
    const auto most = cluster_.nodes.value_or(0) * cluster_.devices_per_node;
    if (most > 0 && static_cast<std::int64_t>(workload_.ranks.size()) > most) {
      throw InputError(fmt::format("{}: {} ranks; {} has {} devices",
                                   workload_.source,
                                   workload_.ranks.size(),
                                   cluster_.name,
                                   most));
    }
    meet();
    order_meetings();
    Engine engine;
    engine.run(graph_, timeline_);
    return summary();
  }

 private:
  [[nodiscard]] const WorkNode& node(int rank, std::uint32_t number) const {
    return workload_.ranks[static_cast<std::size_t>(rank)][number];
  }
  [[nodiscard]] const WorkNode& first_of(const Meeting& meeting) const {
    return node(meeting.members.front().first, meeting.members.front().second);
  }

  /// Which nodes are one: the n-th collective of a group on each of its ranks, the n-th message
  /// from a rank to another with a tag at both ends.
  void meet() {
    meeting_of_.resize(workload_.ranks.size());
    for (int rank = 0; rank < static_cast<int>(workload_.ranks.size()); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      std::map<MeetingKey, std::int64_t> seen;
      for (std::uint32_t number = 0; number < workload_.ranks[at].size(); ++number) {
        const std::size_t meeting = meeting_for(rank, workload_.ranks[at][number], seen);
        meetings_[meeting].members.emplace_back(rank, number);
        meeting_of_[at].push_back(meeting);
      }
    }
    for (const Meeting& meeting : meetings_) {
      check(meeting);
    }
  }

  /// The meeting of a rank's next node; a new one where nobody else is there yet.
  std::size_t meeting_for(int rank,
                          const WorkNode& work,
                          std::map<MeetingKey, std::int64_t>& seen) {
    if (work.kind != WorkKind::compute) {
      const bool sends = work.kind == WorkKind::send;
      MeetingKey key{-1, -1, static_cast<std::int64_t>(work.group), 0};
      if (work.kind != WorkKind::collective) {
        key = {sends ? rank : work.peer, sends ? work.peer : rank, work.tag, 0};
      }
      const std::int64_t count = seen[key]++;
      std::get<3>(key) = count;
      const auto [known, is_new] = known_meetings_.try_emplace(key, meetings_.size());
      if (!is_new) {
        return known->second;
      }
    }
    meetings_.emplace_back();
    return meetings_.size() - 1;
  }

  /// That all take part, and in the same.
  void check(const Meeting& meeting) const {
    const WorkNode& work = first_of(meeting);
    if (work.kind == WorkKind::collective) {
      check_collective(meeting);
    } else if (work.kind != WorkKind::compute && meeting.members.size() != 2) {
      throw InputError(fmt::format("{}: rank {} does not {} it",
                                   where(meeting),
                                   work.peer,
                                   work.kind == WorkKind::send ? "receive" : "send"));
    }
  }

  void check_collective(const Meeting& meeting) const {
    const WorkNode& work = first_of(meeting);
    for (const auto& [rank, number] : meeting.members) {
      const WorkNode& other = node(rank, number);
      if (other.collective != work.collective || other.bytes != work.bytes) {
        throw InputError(fmt::format("{}: rank {} has \"{}\", another collective, in its place",
                                     where(meeting),
                                     rank,
                                     other.name));
      }
    }
    const std::vector<int>& group = workload_.groups[work.group];
    if (meeting.members.size() != group.size()) {
      throw InputError(fmt::format("{}: {} of the {} ranks of its group take part",
                                   where(meeting),
                                   meeting.members.size(),
                                   group.size()));
    }
  }

  /// The place of a meeting's first node in the workload.
  [[nodiscard]] std::string where(const Meeting& meeting) const {
    const WorkNode& work = first_of(meeting);
    return fmt::format("{}{}: rank {}: {}",
                       workload_.source,
                       work.line > 0 ? fmt::format(":{}", work.line) : "",
                       meeting.members.front().first,
                       work.name);
  }

  /// Tasks after all that they wait for; of those that may come next the one first in its file.
  void order_meetings() {
    MeetingWaits waits = waits_of_meetings();
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      if (waits.open[i] == 0) {
        ready.push(i);
      }
    }
    tasks_.assign(meetings_.size(), 0);
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const std::size_t meeting = ready.top();
      ready.pop();
      add_task(meeting);
      for (const std::size_t after : waits.next[meeting]) {
        if (--waits.open[after] == 0) {
          ready.push(after);
        }
      }
    }
    if (done < meetings_.size()) {
      fail_in_circle(waits);
    }
  }

  [[nodiscard]] MeetingWaits waits_of_meetings() const {
    MeetingWaits waits;
    waits.next.resize(meetings_.size());
    waits.open.resize(meetings_.size(), 0);
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      for (const auto& [rank, number] : meetings_[i].members) {
        for (const std::uint32_t before : node(rank, number).after) {
          waits.next[meeting_of_[static_cast<std::size_t>(rank)][before]].push_back(i);
          ++waits.open[i];
        }
      }
    }
    return waits;
  }

  [[noreturn]] void fail_in_circle(const MeetingWaits& waits) const {
    const auto stuck = std::ranges::find_if(waits.open, [](std::size_t n) { return n > 0; });
    const Meeting& meeting = meetings_[static_cast<std::size_t>(stuck - waits.open.begin())];
    throw InputError(fmt::format("{}: rank {}: {}: waits for what waits for it",
                                 workload_.source,
                                 meeting.members.front().first,
                                 first_of(meeting).name));
  }

  void add_task(std::size_t number) {
    const Meeting& meeting = meetings_[number];
    const WorkNode& work = first_of(meeting);
    std::vector<TaskId> after;
    for (const auto& [rank, own] : meeting.members) {
      for (const std::uint32_t before : node(rank, own).after) {
        after.push_back(tasks_[meeting_of_[static_cast<std::size_t>(rank)][before]]);
      }
    }
    tasks_[number] = graph_.add(resource_of(meeting, work), time_of(meeting, work), after);
    ordered_.push_back(number);
  }

  /// A lane of a rank; a group; a way from a rank to another.
  ResourceId resource_of(const Meeting& meeting, const WorkNode& work) {
    std::tuple<int, std::int64_t, std::int64_t> key(
        0, meeting.members.front().first, static_cast<std::int64_t>(work.lane));
    if (work.kind == WorkKind::collective) {
      key = {1, static_cast<std::int64_t>(work.group), 0};
    } else if (work.kind != WorkKind::compute) {
      const auto [from, to] = ends_of(meeting);
      key = {2, from, to};
    }
    const auto [place, is_new] = resources_.try_emplace(key, 0);
    if (is_new) {
      place->second = graph_.add_resource();
    }
    return place->second;
  }

  [[nodiscard]] std::pair<int, int> ends_of(const Meeting& meeting) const {
    const int rank = meeting.members.front().first;
    const WorkNode& work = first_of(meeting);
    return work.kind == WorkKind::send ? std::pair(rank, work.peer) : std::pair(work.peer, rank);
  }

  Seconds time_of(const Meeting& meeting, const WorkNode& work) {
    if (work.kind == WorkKind::collective) {
      return clock_.time(workload_.groups[work.group], work.collective, work.bytes);
    }
    if (work.kind != WorkKind::compute) {
      const auto [from, to] = ends_of(meeting);
      // Both ends may say how much; a receiver that says less gets all of it.
      Bytes bytes;
      for (const auto& [rank, number] : meeting.members) {
        bytes = std::max(bytes, node(rank, number).bytes);
      }
      return clock_.time({std::min(from, to), std::max(from, to)}, Collective::send_recv, bytes);
    }
    return work.duration ? options_.compute_scale * *work.duration : kernels_.time(work.kernel);
  }

  [[nodiscard]] Replay summary() const {
    Replay answer{.makespan = to_seconds(timeline_.makespan), .ranks = {}, .sent = {}};
    answer.ranks.resize(workload_.ranks.size());
    std::vector<BusySpans> busy(workload_.ranks.size());
    for (const std::size_t number : ordered_) {
      count(meetings_[number], answer);
      add_times(number, answer.ranks, busy);
    }
    for (std::size_t rank = 0; rank < answer.ranks.size(); ++rank) {
      set_rest(std::move(busy[rank]), answer.ranks[rank]);
    }
    return answer;
  }

  void count(const Meeting& meeting, Replay& answer) const {
    const WorkNode& work = first_of(meeting);
    answer.nodes += static_cast<std::int64_t>(meeting.members.size());
    if (work.kind == WorkKind::collective) {
      ++answer.collectives;
    } else if (work.kind != WorkKind::compute) {
      ++answer.messages;
      answer.sent += work.bytes;
    }
  }

  /// What a meeting took of the time of each that takes part.
  void add_times(std::size_t number,
                 std::vector<ReplayedRank>& ranks,
                 std::vector<BusySpans>& busy) const {
    const Meeting& meeting = meetings_[number];
    const Ticks start = timeline_.start[tasks_[number]];
    const Ticks end = start + graph_.duration(tasks_[number]);
    const bool computes = first_of(meeting).kind == WorkKind::compute;
    for (const auto& [rank, own] : meeting.members) {
      const auto at = static_cast<std::size_t>(rank);
      (computes ? busy[at].computing : busy[at].moving).emplace_back(start, end);
      ReplayedRank& of = ranks[at];
      of.end = std::max(of.end, to_seconds(end));
      (computes ? of.compute : of.communication) += to_seconds(end - start);
    }
  }

  /// What a rank's spans leave: communication beside no compute, and time in neither.
  void set_rest(BusySpans spans, ReplayedRank& rank) const {
    const Ticks compute = covered(spans.computing);
    TickSpans all = std::move(spans.moving);
    all.insert(all.end(), spans.computing.begin(), spans.computing.end());
    const Ticks busy = covered(std::move(all));
    rank.exposed = to_seconds(busy - compute);
    rank.idle = to_seconds(timeline_.makespan - busy);
  }

  /// The length of the union of spans.
  static Ticks covered(TickSpans spans) {
    std::ranges::sort(spans);
    Ticks sum = 0;
    Ticks until = 0;
    for (const auto& [start, end] : spans) {
      sum += std::max<Ticks>(0, end - std::max(start, until));
      until = std::max(until, end);
    }
    return sum;
  }

  const Workload& workload_;
  const Cluster& cluster_;
  ReplayOptions options_;
  CommunicationClock clock_;
  KernelClock kernels_;
  std::vector<Meeting> meetings_;
  std::map<MeetingKey, std::size_t> known_meetings_;
  std::vector<std::vector<std::size_t>> meeting_of_;  // of each node of each rank
  std::vector<TaskId> tasks_;                         // of each meeting
  std::vector<std::size_t> ordered_;                  // meetings, as their tasks were added
  std::map<std::tuple<int, std::int64_t, std::int64_t>, ResourceId> resources_;
  TaskGraph graph_;
  Timeline timeline_;
};

}  // namespace

Replay replay(const Workload& workload, const Cluster& cluster, const ReplayOptions& options) {
  return Replayer(workload, cluster, options).run();
}

}  // namespace titer
