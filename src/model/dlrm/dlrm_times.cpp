#include "titer/model/dlrm/dlrm_times.hpp"

#include <algorithm>
#include <array>

namespace titer {
namespace {

/// The kernels of one device, timed.
class DeviceClock {
 public:
  DeviceClock(const KernelClock& clock, const DlrmBatch& batch)
      : clock_(&clock), samples_(batch.own_samples()), value_(size_of(batch.type)) {}

  /// A product with weights: (samples x in) (in x out). Its two gradients are products as large.
  [[nodiscard]] Seconds product(std::int64_t in, std::int64_t out) const {
    const auto i = static_cast<double>(in);
    const auto o = static_cast<double>(out);
    return clock_->time({.kind = KernelKind::matrix,
                         .flops = Flops::from_si(2 * samples_ * i * o),
                         .bytes = (samples_ * (i + o) + i * o) * value_,
                         .shape = {.rows = static_cast<float>(samples_),
                                   .columns = static_cast<float>(o),
                                   .inner = static_cast<float>(i)}});
  }
  [[nodiscard]] Seconds mlp(std::int64_t input, const std::vector<std::int64_t>& widths) const {
    Seconds sum;
    for (const std::int64_t width : widths) {
      sum += product(input, width);
      input = width;
    }
    return sum;
  }
  /// The products of all pairs of vectors, read once, and what they make, written once.
  [[nodiscard]] Seconds interaction(const Dlrm& model, const Flops& of_sample) const {
    const auto in = static_cast<double>(model.vectors() * model.dim);
    const auto out = static_cast<double>(model.interaction_width());
    return clock_->time({.kind = KernelKind::matrix,
                         .flops = samples_ * of_sample,
                         .bytes = samples_ * (in + out) * value_});
  }
  [[nodiscard]] Seconds memory(Bytes bytes) const {
    return clock_->time({.kind = KernelKind::memory, .flops = {}, .bytes = bytes});
  }

 private:
  const KernelClock* clock_;
  double samples_;
  Bytes value_;
};

/// What E1 has at the end of its backward pass, side by side.
Seconds embeddings_or_bottom(const DlrmTimes& times) {
  return std::max(times.all_to_all_backward + times.update, times.bottom_backward);
}

/// A collective of no bytes is none at all.
Seconds collective(Collective kind, Bytes size, const Group& group, const Fabric& fabric) {
  return size > Bytes{} ? collective_time(kind, size, group, fabric).time : Seconds{};
}

}  // namespace

Seconds forward_time(const DlrmTimes& times) {
  return std::max(times.bottom_forward, times.lookup + times.all_to_all_forward) +
         times.interaction_forward + times.top_forward;
}

Seconds backward_time(const DlrmTimes& times) {
  return std::max(times.top_backward + times.interaction_backward + embeddings_or_bottom(times),
                  times.all_reduces());
}

Seconds total_time(const DlrmTimes& times) { return forward_time(times) + backward_time(times); }

Seconds exposed_communication(const DlrmTimes& times) {
  DlrmTimes alone = times;
  alone.all_to_all_forward = alone.all_to_all_backward = Seconds{};
  alone.top_all_reduce = alone.bottom_all_reduce = alone.table_all_reduce = Seconds{};
  return total_time(times) - total_time(alone);
}

TaskGraph dlrm_graph(const DlrmTimes& times, GradientStart start) {
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
  const TaskId bottom_backward = after(dense, times.bottom_backward, gradients);
  const TaskId sent = after(exchange, times.all_to_all_backward, gradients);
  const TaskId update = after(tables, times.update, sent);
  const bool at_once = start == GradientStart::with_backward;
  after(reduction, times.top_all_reduce, at_once ? forward : top);
  after(reduction, times.bottom_all_reduce, at_once ? forward : bottom_backward);
  after(reduction, times.table_all_reduce, at_once ? forward : update);
  return graph;
}

DlrmTimes dlrm_times(const Dlrm& model,
                     const DlrmBatch& batch,
                     const KernelClock& clock,
                     const Group& group,
                     const Fabric& fabric) {
  ensure(group.ranks() == batch.devices, "the group holds the devices of the batch");
  const DeviceClock device(clock, batch);
  const TableLoad load = table_load(model, batch);
  const DlrmParameters count = dlrm_parameters(model);
  const Seconds bottom = device.mlp(model.dense_features, model.bottom);
  const Seconds top = device.mlp(model.interaction_width(), model.top);
  const Seconds interaction = device.interaction(model, forward_flops(model).interaction);
  const auto across = [&](Collective kind, Bytes size) {
    return collective(kind, size, group, fabric);
  };
  const Seconds vectors = across(Collective::all_to_all, load.all_to_all);
  const auto gradient = [&](std::int64_t parameters) {
    return across(Collective::all_reduce, static_cast<double>(parameters) * kDlrmGradient);
  };
  return {
      .bottom_forward = bottom,
      .lookup = device.memory(load.lookup),
      .all_to_all_forward = vectors + across(Collective::reduce_scatter, load.reduce_scatter),
      .interaction_forward = interaction,
      .top_forward = top,
      .top_backward = 2.0 * top,
      .interaction_backward = 2.0 * interaction,
      .all_to_all_backward = vectors + across(Collective::all_gather, load.reduce_scatter),
      .update = device.memory(load.update),
      // The first layer's input has no gradient.
      .bottom_backward = 2.0 * bottom - device.product(model.dense_features, model.bottom.front()),
      .top_all_reduce = gradient(count.top),
      .bottom_all_reduce = gradient(count.bottom),
      .table_all_reduce = across(Collective::all_reduce, load.all_reduce)};
}

}  // namespace titer
