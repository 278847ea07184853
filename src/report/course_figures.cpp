#include "course_figures.hpp"

#include <cmath>

namespace titer {
namespace {

/// A count that may be too large for an integer.
CourseFigureValue whole(double count) {
  constexpr double most = 9e15;
  return count < most ? CourseFigureValue(static_cast<std::int64_t>(count))
                      : CourseFigureValue(count);
}

/// A figure of a phase's change; nothing where there is none.
template <class Get>
CourseFigureValue of_change(const PhaseResult& phase, Get get) {
  return phase.change ? CourseFigureValue(get(*phase.change)) : CourseFigureValue();
}

CourseFigures phase_figures(const PhaseResult& phase, Seconds course_time) {
  const auto hours = [](const ChangeCost& change) { return DeviceHours{change.device_time}; };
  return {
      {"phase", phase.name},
      {"devices", phase.devices},
      {"nodes", phase.nodes},
      {"change_state", of_change(phase, [](const ChangeCost& c) { return c.state; }), false},
      {"change_save", of_change(phase, [](const ChangeCost& c) { return c.save; }), false},
      {"change_load", of_change(phase, [](const ChangeCost& c) { return c.load; }), false},
      {"change_restart", of_change(phase, [](const ChangeCost& c) { return c.restart; }), false},
      {"change", of_change(phase, [](const ChangeCost& c) { return c.time(); })},
      {"change_device_hours", of_change(phase, hours), false},
      {"pays_back_after",
       phase.change && phase.change->break_even
           ? whole(std::ceil(*phase.change->break_even))  // iterations
           : CourseFigureValue()},
      {"iteration", phase.iteration_time},
      {"exposed_comm", phase.communication},
      {"iterations", whole(phase.iterations)},
      {"samples", whole(phase.samples)},
      {"time", phase.time},
      {"device_hours", DeviceHours{phase.device_time}},
      {"share", CourseShare{course_time > Seconds{} ? phase.time / course_time : 0}},
  };
}

CourseFigureTable figures_of(const PhasesResult& result) {
  CourseFigureTable table{.kind = "phases", .rows = {}, .all = {}};
  for (const PhaseResult& phase : result.phases) {
    table.rows.push_back(phase_figures(phase, result.time()));
  }
  table.all = {{"time", result.time()},
               {"training_time", result.training_time()},
               {"change_time", result.change_time()},
               {"device_hours", DeviceHours{result.device_time()}},
               {"training_device_hours", DeviceHours{result.training_device_time()}},
               {"average_devices", result.average_devices()},
               {"samples", whole(result.samples())}};
  return table;
}

CourseFigureTable figures_of(const SharingResult& result) {
  CourseFigureTable table{.kind = "jobs", .rows = {}, .all = {}};
  for (const SharedJobResult& job : result.jobs) {
    table.rows.push_back(
        {{"job", job.name},
         {"load", CourseShare{job.load}},
         {"memory", job.memory},
         {"iteration_alone", job.alone},
         {"iteration_shared", job.shared},
         {"device_hours_alone", DeviceHours{job.device_time_alone}, false},
         {"device_hours_shared", DeviceHours{job.device_time_shared}, false},
         {"device_time_saved", CourseShare{1 - job.device_time_shared / job.device_time_alone}}});
  }
  table.all = {{"devices", result.devices},
               {"load", CourseShare{result.load}},
               {"slowdown", result.slowdown},
               {"memory", result.memory},
               {"memory_capacity", result.capacity},
               {"fits", std::string(result.fits() ? "yes" : "no")},
               {"device_time_saved", CourseShare{result.saved_share()}}};
  return table;
}

CourseFigureTable figures_of(const FederatedResult& result) {
  CourseFigureTable table{.kind = "rounds", .rows = {}, .all = {}};
  const Seconds round = result.round();
  const auto add = [&](std::string_view part, Seconds time) {
    table.rows.push_back({{"part_of_a_round", std::string(part)},
                          {"time", time},
                          {"share", CourseShare{time / round}}});
  };
  add("download", result.download);
  add("local steps", result.local);
  add("upload", result.upload);
  add("averaging", result.averaging);
  table.all = {{"round", round},
               {"communication", CourseShare{result.communication_share()}},
               {"weights", result.weights},
               {"server_traffic_per_round", result.server_bytes},
               {"slowest_link", result.rounds.slowest_link()},
               {"rounds", result.rounds.rounds},
               {"clients", result.rounds.clients},
               {"local_steps", result.rounds.local_steps},
               {"samples", whole(result.samples)},
               {"device_hours", DeviceHours{result.device_time}},
               {"total", result.total()}};
  return table;
}

CourseFigureTable figures_of(const QueryFleetResult& result) {
  CourseFigureTable table{.kind = "queries", .rows = {}, .all = {}};
  for (const QueryIntervalResult& one : result.intervals) {
    table.rows.push_back({{"interval", one.interval.name},
                          {"queries", one.interval.queries},
                          {"devices", one.devices},
                          {"time", one.interval.time},
                          {"device_hours", DeviceHours{one.device_time}}});
  }
  table.all = {{"time", result.time},
               {"most_devices", result.most_devices},
               {"average_devices", result.average_devices()},
               {"device_hours", DeviceHours{result.device_time}},
               {"fixed_device_hours", DeviceHours{result.fixed_device_time()}},
               {"device_time_saved", CourseShare{result.saved_share()}}};
  return table;
}

}  // namespace

CourseFigureTable course_figures(const CourseResult& result) {
  return std::visit([](const auto& one) { return figures_of(one); }, result);
}

}  // namespace titer
