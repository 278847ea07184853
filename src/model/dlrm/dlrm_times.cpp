#include "titer/model/dlrm/dlrm_times.hpp"

#include <algorithm>
#include <array>

namespace titer {
namespace {

/// What E1 has at the end of its backward pass, side by side.
Seconds embeddings_or_bottom(const DlrmTimes& times) {
  return std::max(times.all_to_all_backward + times.update, times.bottom_backward);
}

}  // namespace

Seconds forward_time(const DlrmTimes& times) {
  return std::max(times.bottom_forward, times.lookup + times.all_to_all_forward) +
         times.interaction_forward + times.top_forward;
}

Seconds backward_time(const DlrmTimes& times) {
  return std::max(times.top_backward + times.interaction_backward + embeddings_or_bottom(times),
                  times.top_all_reduce + times.bottom_all_reduce);
}

Seconds total_time(const DlrmTimes& times) { return forward_time(times) + backward_time(times); }

TaskGraph dlrm_graph(const DlrmTimes& times) {
  TaskGraph graph;
  const ResourceId dense = graph.add_resource();
  const ResourceId tables = graph.add_resource();
  const ResourceId exchange = graph.add_resource();
  const ResourceId reduction = graph.add_resource();
  const auto after = [&](ResourceId on, Seconds time, TaskId earlier) {
    return graph.add(on, time, std::array{earlier});
  };
  const TaskId bottom = graph.add(dense, times.bottom_forward);
  const TaskId lookup = graph.add(tables, times.lookup);
  const TaskId vectors = after(exchange, times.all_to_all_forward, lookup);
  const TaskId products = graph.add(dense, times.interaction_forward, std::array{bottom, vectors});
  const TaskId forward = after(dense, times.top_forward, products);

  const TaskId top = after(dense, times.top_backward, forward);
  const TaskId gradients = after(dense, times.interaction_backward, top);
  after(dense, times.bottom_backward, gradients);
  const TaskId sent = after(exchange, times.all_to_all_backward, gradients);
  after(tables, times.update, sent);
  after(reduction, times.top_all_reduce, forward);
  after(reduction, times.bottom_all_reduce, forward);
  return graph;
}

}  // namespace titer
