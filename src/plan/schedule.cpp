#include "titer/plan/schedule.hpp"

namespace titer {
std::string_view name(const Schedule& schedule) {
  return std::visit([](const auto& s) -> std::string_view { return s.name; }, schedule);
}
std::string_view bubble_formula(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.formula; }, schedule);
}
std::string_view source(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.source; }, schedule);
}
Placement placement(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.placement; }, schedule);
}
bool interleaves(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.interleaves; }, schedule);
}
bool may_pair(const Schedule& schedule) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.pairs; }) {
          return s.pairs;
        } else {
          return false;
        }
      },
      schedule);
}
bool may_split(const Schedule& schedule) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.splits; }) {
          return s.splits;
        } else {
          return true;
        }
      },
      schedule);
}
int usual_chunks(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.chunks; }, schedule);
}
std::optional<std::string> refusal(const Schedule& schedule, const PipelineShape& shape) {
  return std::visit([&](const auto& s) { return s.refusal(shape); }, schedule);
}
ActionList actions(const Schedule& schedule, int rank, const PipelineShape& shape) {
  return std::visit([&](const auto& s) { return s.actions(rank, shape); }, schedule);
}
std::vector<ActionList> action_lists(const Schedule& schedule, const PipelineShape& shape) {
  return std::visit(
      [&](const auto& s) {
        if constexpr (requires { s.lists(shape); }) {
          return s.lists(shape);
        } else {
          std::vector<ActionList> lists;
          lists.reserve(static_cast<std::size_t>(shape.stages));
          for (int rank = 0; rank < shape.stages; ++rank) {
            lists.push_back(s.actions(rank, shape));
          }
          return lists;
        }
      },
      schedule);
}
bool is_same(const Schedule& a, const Schedule& b) {
  const auto* const listed = std::get_if<ListedSchedule>(&a);
  return a.index() == b.index() && (listed == nullptr || *listed == std::get<ListedSchedule>(b));
}
int in_flight(const Schedule& schedule, int rank, const PipelineShape& shape) {
  const auto known = std::visit([&](const auto& s) { return s.in_flight(rank, shape); }, schedule);
  return known ? *known : most_alive(actions(schedule, rank, shape));
}
std::optional<Seconds> bubble(const Schedule& schedule,
                              const PipelineShape& shape,
                              const PassTimes& times) {
  return std::visit([&](const auto& s) { return s.bubble(shape, times); }, schedule);
}
std::optional<SteadyPhase> steady_phase(const Schedule& schedule,
                                        int rank,
                                        const PipelineShape& shape) {
  return std::visit([&](const auto& s) { return s.steady_phase(rank, shape); }, schedule);
}

std::string actions_csv(const Schedule& schedule, const PipelineShape& shape) {
  const Placement placed = placement(schedule);
  const std::vector<ActionList> lists = action_lists(schedule, shape);
  std::string text;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    const auto cell = [&](const Action& action) {
      return action_text(
          action, stage_of(placed, {.rank = static_cast<int>(rank), .chunk = action.chunk}, shape));
    };
    const ActionList& list = lists[rank];
    for (std::size_t i = 0; i < list.size(); ++i) {
      text += i == 0 ? "" : ",";
      if (!list[i].with_next) {
        text += cell(list[i]);
        continue;
      }
      ensure(i + 1 < list.size(), "an action done with the next one has a next one");
      text += "(" + cell(list[i]) + ";" + cell(list[i + 1]) + ")" + std::string(kPairMark);
      ++i;
    }
    text += "\n";
  }
  return text;
}

}  // namespace titer
