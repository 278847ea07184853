#include "titer/report/study/course_report.hpp"

#include <fmt/format.h>

#include <cmath>

namespace titer {
namespace {

constexpr NumberStyle kWholeDigits = {.format = "{:.10g}"};

/// A course's result as figures.
struct CourseFigures {
  std::string_view kind;
  FigureRows rows;  // of phases, jobs, parts of a round or intervals
  Figures all;
};

/// A count that may be too large for an integer.
Datum whole(double count) {
  constexpr double most = 9e15;
  return count < most ? Datum(static_cast<std::int64_t>(count)) : Datum(count, kWholeDigits);
}

/// With three digits behind the point, or four if it is less than 1.
Datum decimal(double number) {
  return number >= 1 ? Datum(number, fmt::format("{:.10g}", std::round(number * 1e3) / 1e3))
                     : Datum(number);
}

Datum hours(Seconds device_time) { return device_time / kHour; }
Datum share(double of_one) { return {of_one, kPercent}; }

/// A figure of a phase's change; nothing where there is none.
template <class Get>
Datum of_change(const PhaseResult& phase, Get get) {
  return phase.change ? Datum(get(*phase.change)) : Datum();
}

Figures phase_figures(const PhaseResult& phase, Seconds course_time) {
  const auto state = of_change(phase, [](const ChangeCost& c) { return whole_bytes(c.state); });
  Datum pays_back;  // after so many iterations
  if (phase.change && phase.change->break_even) {
    pays_back = whole(std::ceil(*phase.change->break_even));
  }
  return {
      {"phase", phase.name, "phase"},
      {"devices", phase.devices, "devices"},
      {"nodes", phase.nodes, "nodes"},
      {"change_state_bytes", state},
      {"change_save_s", of_change(phase, [](const ChangeCost& c) { return c.save; })},
      {"change_load_s", of_change(phase, [](const ChangeCost& c) { return c.load; })},
      {"change_restart_s", of_change(phase, [](const ChangeCost& c) { return c.restart; })},
      {"change_s", of_change(phase, [](const ChangeCost& c) { return c.time(); }), "change"},
      {"change_device_hours",
       of_change(phase, [](const ChangeCost& c) { return hours(c.device_time); })},
      {"pays_back_after", pays_back, "pays back after"},
      {"iteration_s", phase.iteration_time, "iteration"},
      {"exposed_comm_s", phase.communication, "exposed comm"},
      {"iterations", whole(phase.iterations), "iterations"},
      {"samples", whole(phase.samples), "samples"},
      {"time_s", phase.time, "time"},
      {"device_hours", hours(phase.device_time), "device hours"},
      {"share", share(course_time > Seconds{} ? phase.time / course_time : 0), "share"},
  };
}

CourseFigures figures_of(const PhasesResult& result) {
  return {
      .kind = "phases",
      .rows = rows_of(result.phases,
                      [&](const auto& phase) { return phase_figures(phase, result.time()); }),
      .all = {
          {"time_s", result.time(), "time"},
          {"training_time_s", result.training_time(), "training time"},
          {"change_time_s", result.change_time(), "change time"},
          {"device_hours", hours(result.device_time()), "device hours"},
          {"training_device_hours", hours(result.training_device_time()), "training device hours"},
          {"average_devices", decimal(result.average_devices()), "average devices"},
          {"samples", whole(result.samples()), "samples"}}};
}

Figures job_figures(const SharedJobResult& job) {
  return {{"job", job.name, "job"},
          {"load", share(job.load), "load"},
          {"memory_bytes", whole_bytes(job.memory), "memory"},
          {"iteration_alone_s", job.alone, "iteration alone"},
          {"iteration_shared_s", job.shared, "iteration shared"},
          {"device_hours_alone", hours(job.device_time_alone)},
          {"device_hours_shared", hours(job.device_time_shared)},
          {"device_time_saved",
           share(1 - job.device_time_shared / job.device_time_alone),
           "device time saved"}};
}

CourseFigures figures_of(const SharingResult& result) {
  return {.kind = "jobs",
          .rows = rows_of(result.jobs, job_figures),
          .all = {{"devices", result.devices, "devices"},
                  {"load", share(result.load), "load"},
                  {"slowdown", decimal(result.slowdown), "slowdown"},
                  {"memory_bytes", whole_bytes(result.memory), "memory"},
                  {"memory_capacity_bytes", whole_bytes(result.capacity), "memory capacity"},
                  {"fits", result.fits() ? "yes" : "no", "fits"},
                  {"device_time_saved", share(result.saved_share()), "device time saved"}}};
}

CourseFigures figures_of(const FederatedResult& result) {
  const Seconds round = result.round();
  const auto part = [&](std::string_view name, Seconds time) {
    return Figures{{"part_of_a_round", name, "part of a round"},
                   {"time_s", time, "time"},
                   {"share", share(time / round), "share"}};
  };
  return {.kind = "rounds",
          .rows = {part("download", result.download),
                   part("local steps", result.local),
                   part("upload", result.upload),
                   part("averaging", result.averaging)},
          .all = {{"round_s", round, "round"},
                  {"communication", share(result.communication_share()), "communication"},
                  {"weights_bytes", whole_bytes(result.weights), "weights"},
                  {"server_traffic_per_round_bytes",
                   whole_bytes(result.server_bytes),
                   "server traffic per round"},
                  {"slowest_link", decimal(result.rounds.slowest_link()), "slowest link"},
                  {"rounds", result.rounds.rounds, "rounds"},
                  {"clients", result.rounds.clients, "clients"},
                  {"local_steps", result.rounds.local_steps, "local steps"},
                  {"samples", whole(result.samples), "samples"},
                  {"device_hours", hours(result.device_time), "device hours"},
                  {"total_s", result.total(), "total"}}};
}

Figures interval_figures(const QueryIntervalResult& one) {
  return {{"interval", one.interval.name, "interval"},
          {"queries", decimal(one.interval.queries), "queries"},
          {"devices", one.devices, "devices"},
          {"time_s", one.interval.time, "time"},
          {"device_hours", hours(one.device_time), "device hours"}};
}

CourseFigures figures_of(const QueryFleetResult& result) {
  return {.kind = "queries",
          .rows = rows_of(result.intervals, interval_figures),
          .all = {{"time_s", result.time, "time"},
                  {"most_devices", result.most_devices, "most devices"},
                  {"average_devices", decimal(result.average_devices()), "average devices"},
                  {"device_hours", hours(result.device_time), "device hours"},
                  {"fixed_device_hours", hours(result.fixed_device_time()), "fixed device hours"},
                  {"device_time_saved", share(result.saved_share()), "device time saved"}}};
}

/// The table's numbers are written as in JSON: 4.0 where there may be fractions.
void write_as_json(FigureRows& rows) {
  for (Figures& row : rows) {
    for (Figure& figure : row) {
      const Value& value = figure.datum.value();
      figure.datum = value.kind == Value::Kind::number ? Datum(to_json(value, 0)) : figure.datum;
    }
  }
}

}  // namespace

View course_view(const Course& course, const CourseResult& result) {
  auto [kind, rows, all] = std::visit([](const auto& one) { return figures_of(one); }, result);
  const std::vector<std::string> problems = too_large(result);
  View view{.text = course.title + "\n\n",
            .figures = {{"title", course.title},
                        {"kind", kind},
                        {"rows", rows},
                        {"all", all},
                        {"does_not_fit", problems}},
            .rows = rows,
            .columns = {}};
  view.text.table(rows).add("\nin all\n").pairs(all);
  for (const std::string& problem : problems) {
    view.text.add(problem + "\n");
  }
  view.rows.push_back(joined({{rows.front().front().key, "all"}}, all));
  write_as_json(view.rows);
  return view;
}

}  // namespace titer
