// Training over time.

#include <filesystem>

#include "question_text.hpp"

namespace titer {
namespace {

void add_numbers(const PhasesResult& result, NamedNumbers& numbers) {
  numbers.push_back({"time_s", result.time().si()});
  numbers.push_back({"training_time_s", result.training_time().si()});
  numbers.push_back({"change_time_s", result.change_time().si()});
  numbers.push_back({"device_time_s", result.device_time().si()});
  numbers.push_back({"training_device_time_s", result.training_device_time().si()});
  numbers.push_back({"average_devices", result.average_devices()});
  numbers.push_back({"samples", result.samples()});
  for (const PhaseResult& phase : result.phases) {
    const std::string name = expression_name(phase.name) + ".";
    numbers.push_back({name + "devices", static_cast<double>(phase.devices)});
    numbers.push_back({name + "nodes", static_cast<double>(phase.nodes)});
    numbers.push_back({name + "iteration_time_s", phase.iteration_time.si()});
    numbers.push_back({name + "exposed_comm_s", phase.communication.si()});
    numbers.push_back({name + "iterations", phase.iterations});
    numbers.push_back({name + "samples", phase.samples});
    numbers.push_back({name + "time_s", phase.time.si()});
    numbers.push_back({name + "device_time_s", phase.device_time.si()});
    if (phase.change) {
      numbers.push_back({name + "change_time_s", phase.change->time().si()});
      numbers.push_back({name + "state_bytes", phase.change->state.si()});
      numbers.push_back({name + "break_even", phase.change->break_even.value_or(0.0)});
    }
  }
}

void add_numbers(const SharingResult& result, NamedNumbers& numbers) {
  numbers.push_back({"load", result.load});
  numbers.push_back({"slowdown", result.slowdown});
  numbers.push_back({"memory_bytes", result.memory.si()});
  numbers.push_back({"capacity_bytes", result.capacity.si()});
  numbers.push_back({"fits", result.fits() ? 1.0 : 0.0});
  numbers.push_back({"saved_share", result.saved_share()});
  for (const SharedJobResult& job : result.jobs) {
    const std::string name = expression_name(job.name) + ".";
    numbers.push_back({name + "load", job.load});
    numbers.push_back({name + "alone_s", job.alone.si()});
    numbers.push_back({name + "shared_s", job.shared.si()});
    numbers.push_back({name + "memory_bytes", job.memory.si()});
  }
}

void add_numbers(const FederatedResult& result, NamedNumbers& numbers) {
  numbers.push_back({"weight_bytes", result.weights.si()});
  numbers.push_back({"download_s", result.download.si()});
  numbers.push_back({"local_s", result.local.si()});
  numbers.push_back({"upload_s", result.upload.si()});
  numbers.push_back({"averaging_s", result.averaging.si()});
  numbers.push_back({"round_s", result.round().si()});
  numbers.push_back({"total_s", result.total().si()});
  numbers.push_back({"communication_share", result.communication_share()});
  numbers.push_back({"server_bytes", result.server_bytes.si()});
}

void add_numbers(const QueryFleetResult& result, NamedNumbers& numbers) {
  numbers.push_back({"most_devices", static_cast<double>(result.most_devices)});
  numbers.push_back({"time_s", result.time.si()});
  numbers.push_back({"device_time_s", result.device_time.si()});
  numbers.push_back({"fixed_device_time_s", result.fixed_device_time().si()});
  for (const QueryIntervalResult& interval : result.intervals) {
    numbers.push_back({expression_name(interval.interval.name) + ".devices",
                       static_cast<double>(interval.devices)});
  }
}

}  // namespace

CourseQuestion CourseQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  CourseQuestion question;
  question.course = in.text("course");
  question.changes = read_changes(in);
  return question;
}

NamedNumbers CourseQuestion::answer() const {
  NamedNumbers numbers;
  std::visit([&](const auto& result) { add_numbers(result, numbers); },
             follow(load_course(course, changes), Fidelity::closed));
  return numbers;
}

std::string CourseQuestion::command() const {
  return "titer course " + course + set_options(changes);
}

}  // namespace titer
