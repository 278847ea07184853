#include "titer/plan/schedule/listed_schedule.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"
#include "titer/plan/schedule/schedule_run.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr int kMostStages = 10'000;
constexpr int kMostMicroBatches = 10'000'000;
constexpr std::string_view kPassLetters = "FBIW";  // by Pass

/// An action as it was written.
struct Written {
  Action action;  // but for the chunk
  int stage = 0;
  std::size_t rank = 0;
  std::string where;  // "schedule.csv:2: cell 3: 0F0"
};

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// Takes a number below `end` from the front of the text.
std::optional<int> take_below(int end, std::string_view& text) {
  const auto number = take_number<int>(text);
  return number && *number >= 0 && *number < end ? number : std::nullopt;
}

std::optional<Written> parse_action(std::string_view text) {
  text = trimmed(text);
  const auto stage = take_below(kMostStages, text);
  if (!stage || text.empty()) {
    return std::nullopt;
  }
  const std::size_t pass = kPassLetters.find(text.front());
  text.remove_prefix(1);
  const auto micro_batch = take_below(kMostMicroBatches, text);
  if (pass == std::string_view::npos || !micro_batch || !text.empty()) {
    return std::nullopt;
  }
  return Written{
      .action = {.pass = static_cast<Pass>(pass), .chunk = 0, .micro_batch = *micro_batch},
      .stage = *stage,
      .rank = 0,
      .where = {}};
}

/// The one action of a cell, or the two of a pair; none if it is ill-formed.
std::vector<Written> parse_cell(std::string_view cell) {
  const bool is_pair = cell.front() == '(';
  if (is_pair) {
    const std::size_t end = cell.find(')');
    if (end == std::string_view::npos || cell.substr(end + 1) != kPairMark) {
      return {};
    }
    cell = cell.substr(1, end - 1);
  }
  std::vector<Written> actions;
  for (const std::string_view part : split(cell, ';')) {
    auto action = parse_action(part);
    if (!action) {
      return {};
    }
    actions.push_back(std::move(*action));
  }
  if (actions.size() != (is_pair ? 2 : 1)) {
    return {};
  }
  actions.front().action.with_next = is_pair;
  return actions;
}

class ListReader {
 public:
  explicit ListReader(std::string source) : source_(std::move(source)) {}

  ListedSchedule read(std::string_view text) {
    read_cells(text);
    find_placement();
    check_passes();
    check_pairs();
    result_.name = std::filesystem::path(source_).filename().string();
    result_.ranks.resize(lines_);
    for (const Written& written : actions_) {
      result_.ranks[written.rank].push_back(written.action);
    }
    const Schedule schedule = result_;
    const PassTimes ones{.forward = 1_s, .input_gradient = 1_s, .weight_gradient = 1_s, .pair = {}};
    const ScheduleRun run = run_schedule(schedule, result_.shape(), ones);
    if (!run.deadlock.empty()) {
      throw InputError(source_ + ": " + run.deadlock);
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}: {}", source_, message));
  }
  [[noreturn]] static void fail(const Written& at, std::string_view message) {
    throw InputError(fmt::format("{}: {}", at.where, message));
  }

  void read_cells(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) {
      fail("expected a line of actions for each rank, got none");
    }
    Problems problems;
    for (const std::string_view line : split(text.substr(0, end + 1), '\n')) {
      int number = 0;
      for (const std::string_view cell : split(line, ',')) {
        ++number;
        if (!trimmed(cell).empty()) {
          add_cell(trimmed(cell), number, problems);
        }
      }
      ++lines_;
    }
    problems.raise();
    if (actions_.empty()) {
      fail("expected a line of actions for each rank, got none");
    }
  }

  void add_cell(std::string_view cell, int number, Problems& problems) {
    const std::string where = fmt::format("{}:{}: cell {}: {}", source_, lines_ + 1, number, cell);
    std::vector<Written> actions = parse_cell(cell);
    if (actions.empty()) {
      problems.add(where +
                   ": expected a stage, F, B, I or W, and a micro-batch, such as 0F0, or two done "
                   "together, such as (0F1;1B0)OVERLAP_F_B");
    }
    for (Written& action : actions) {
      action.rank = lines_;
      action.where = where;
      stages_ = std::max(stages_, action.stage + 1);
      result_.micro_batches = std::max(result_.micro_batches, action.action.micro_batch + 1);
      actions_.push_back(std::move(action));
    }
  }

  /// The chunk of the action if stages are placed like that.
  [[nodiscard]] std::optional<int> chunk(Placement placement, const Written& written) const {
    const int p = static_cast<int>(lines_);
    const PipelineShape shape{.stages = p,
                              .micro_batches = result_.micro_batches,
                              .virtual_stages = placement == Placement::two_ways ? 1 : stages_ / p};
    const bool second_way = 2 * written.action.micro_batch >= result_.micro_batches;
    const int chunk = placement == Placement::two_ways ? (second_way ? 1 : 0) : written.stage / p;
    const StagePlace place{.rank = static_cast<int>(written.rank), .chunk = chunk};
    return stage_of(placement, place, shape) == written.stage ? std::optional(chunk) : std::nullopt;
  }

  void find_placement() {
    const int p = static_cast<int>(lines_);
    if (stages_ % p != 0) {
      fail(fmt::format(
          "expected as many stages on each of its {} ranks, a line each, got {}", p, stages_));
    }
    std::size_t furthest = 0;
    for (const Placement placement : {Placement::loop, Placement::wave, Placement::two_ways}) {
      if (placement == Placement::two_ways &&
          (stages_ != p || p % 2 != 0 || result_.micro_batches % 2 != 0)) {
        continue;
      }
      const auto misfit =
          std::ranges::find_if(actions_, [&](const Written& w) { return !chunk(placement, w); });
      if (misfit == actions_.end()) {
        place(placement);
        return;
      }
      furthest = std::max(furthest, static_cast<std::size_t>(misfit - actions_.begin()));
    }
    fail(actions_[furthest],
         fmt::format("not a stage of rank {}; expected stage s on rank s mod {}, or in waves over "
                     "the ranks and back, or half of the micro-batches in the opposite way",
                     actions_[furthest].rank,
                     p));
  }

  void place(Placement placement) {
    result_.placement = placement;
    result_.chunks = placement == Placement::two_ways ? 1 : stages_ / static_cast<int>(lines_);
    for (Written& written : actions_) {
      written.action.chunk = *chunk(placement, written);
    }
  }

  struct Passes {
    bool forward = false;
    bool backward = false;
    bool input_gradient = false;
    bool weight_gradient = false;
  };

  void check_passes() const {
    std::map<std::pair<int, int>, Passes> all;
    for (const Written& written : actions_) {
      note(written, all[{written.stage, written.action.micro_batch}]);
    }
    for (int stage = 0; stage < stages_; ++stage) {
      for (int i = 0; i < result_.micro_batches; ++i) {
        const auto& done = all[{stage, i}];
        if (!done.forward) {
          fail(fmt::format("{}F{} is missing", stage, i));
        }
        if (!done.backward && !(done.input_gradient && done.weight_gradient)) {
          fail(fmt::format("{0}B{1} is missing, or {0}I{1} or {0}W{1}", stage, i));
        }
      }
    }
  }

  static void note(const Written& written, Passes& done) {
    const std::string of =
        fmt::format("micro-batch {} on stage {}", written.action.micro_batch, written.stage);
    const Pass pass = written.action.pass;
    if (pass != Pass::forward && !done.forward) {
      fail(written, "comes before the forward of " + of);
    }
    if (pass == Pass::weight_gradient && !done.input_gradient && !done.backward) {
      fail(written, "comes before the input gradient of " + of);
    }
    bool& own = pass == Pass::forward          ? done.forward
                : pass == Pass::backward       ? done.backward
                : pass == Pass::input_gradient ? done.input_gradient
                                               : done.weight_gradient;
    const bool in_parts = done.input_gradient || done.weight_gradient;
    if (own || (pass == Pass::backward && in_parts) || (pass != Pass::forward && done.backward)) {
      fail(written, "is the second of its kind for " + of);
    }
    own = true;
  }

  void check_pairs() const {
    for (std::size_t i = 0; i + 1 < actions_.size(); ++i) {
      if (!actions_[i].action.with_next) {
        continue;
      }
      const OppositePasses both = opposite_passes(actions_[i].action.pass, i);
      const Written& forward = actions_[both.forward];
      const Written& backward = actions_[both.backward];
      if (forward.action.pass != Pass::forward || backward.action.pass != Pass::backward ||
          backward.stage != stages_ - 1 - forward.stage) {
        fail(actions_[i],
             "expected a forward and a whole backward, as far from the last stage as the forward "
             "is from the first");
      }
    }
  }

  std::string source_;
  std::size_t lines_ = 0;  // read so far
  int stages_ = 0;
  std::vector<Written> actions_;
  ListedSchedule result_;
};

}  // namespace

ListedSchedule ListedSchedule::parse(std::string_view text, std::string source_name) {
  return ListReader(std::move(source_name)).read(text);
}

ListedSchedule ListedSchedule::load(const std::string& path) {
  return parse(read_text(path), path);
}

std::optional<std::string> ListedSchedule::refusal(const PipelineShape& wanted) const {
  const PipelineShape own = shape();
  if (wanted.stages == own.stages && wanted.micro_batches == own.micro_batches &&
      wanted.virtual_stages == own.virtual_stages) {
    return std::nullopt;
  }
  return fmt::format(
      "expected what it lists, {} stages, {} micro-batches and {} chunks per rank, got {}, {} and "
      "{}",
      own.stages,
      own.micro_batches,
      own.virtual_stages,
      wanted.stages,
      wanted.micro_batches,
      wanted.virtual_stages);
}

std::string action_text(const Action& action, int stage) {
  return fmt::format(
      "{}{}{}", stage, kPassLetters[static_cast<std::size_t>(action.pass)], action.micro_batch);
}

}  // namespace titer
