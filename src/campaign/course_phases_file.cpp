// Reading a course of phases.

#include <fmt/format.h>

#include <algorithm>

#include "campaign/capacity/capacity_counts.hpp"
#include "course_document.hpp"

namespace titer {
namespace {

struct WrittenPhase : WrittenPart {
  std::optional<std::int64_t> iterations{};
  std::optional<double> samples{};
  std::optional<double> tokens{};
  std::optional<Seconds> time{};

  /// `sequence`: tokens of each.
  [[nodiscard]] PhaseLength length(std::int64_t sequence) const {
    return iterations ? PhaseLength(Iterations{*iterations})
           : samples  ? PhaseLength(Sequences{*samples})
           : tokens   ? PhaseLength(Sequences{*tokens / static_cast<double>(sequence)})
                      : PhaseLength(time.value_or(Seconds{}));
  }
};
constexpr std::array kPhaseFields = {
    fields::text<&WrittenPhase::name, WrittenPhase>("name", "of the phase").or_else("`phase N`"),
    changes_field<WrittenPhase>(),
    fields::integer<&WrittenPhase::iterations>(
        "iterations", kAmount, "how long it lasts; or `samples`, `tokens` or `time`"),
    fields::number<&WrittenPhase::samples>("samples", kAmount, "likewise, in sequences"),
    count<WrittenPhase, &WrittenPhase::tokens, kTrainedTokens>("tokens", "likewise, such as `15T`"),
    fields::quantity<&WrittenPhase::time>("time", "likewise")
        .read_by([](const Field<WrittenPhase>& own, Reader& in, WrittenPhase& phase) {
          static_cast<void>(in.raw(own.key));  // a key that is known
          if (in.has(own.key)) {
            phase.time = read_duration(in);
          }
        })};

constexpr std::array kChangeFields = {
    fields::choice<&LayoutChange::move, kStateMoves>(
        "move",
        "how states get from one layout to the next: written and read, or sent between nodes"),
    fields::quantity<&LayoutChange::storage_bandwidth>("storage_bandwidth", "of a node, either way")
        .read_by([](const Field<LayoutChange>& own, Reader& in, LayoutChange& change) {
          if (change.move == StateMove::storage) {
            change.storage_bandwidth = in.quantity<BytesPerSecond>(own.key);
          }
        })
        .or_else("required of `storage`"),
    fields::quantity<&LayoutChange::restart>("restart", "of the job")};

std::span<const Field<LayoutChange>> change_fields() { return kChangeFields; }

struct WrittenPhases : WrittenPart {
  std::optional<LayoutChange> change{};
  std::vector<WrittenPhase> phases{};
};

void read_phase_list(const Field<WrittenPhases>& own, Reader& in, WrittenPhases& course) {
  WrittenPhase empty;
  empty.document = course.document;
  empty.name = "phase";
  course.phases = read_parts<WrittenPhase, kPhaseFields>(in, own.key, empty, [](Reader& one) {
    if (one.has("iterations") + one.has("samples") + one.has("tokens") + one.has("time") != 1) {
      one.fail("", "expected one of iterations, samples, tokens and time");
    }
  });
  if (course.phases.empty()) {
    in.fail(own.key, "expected a phase or more");
  }
}

constexpr std::array kPhasesFields = {
    scenario_field<WrittenPhases>("of all phases").needed(),
    fields::object<&WrittenPhases::change, change_fields>(
        "change", "of the layout, from one phase to the next")
        .or_else("it takes no time"),
    fields::special<WrittenPhases>("phases",
                                   {read_phase_list,
                                    [](const Field<WrittenPhases>& /*own*/) {
                                      return schema::list_of(schema_of<WrittenPhase>(kPhaseFields));
                                    },
                                    nullptr},
                                   "in order")
        .needed()};

/// Whether states have to move between the two.
bool differ(const Document& a, const Document& b) {
  constexpr std::array<std::string_view, 3> parts = {"plan", "cluster", "model"};
  return std::ranges::any_of(parts, [&](std::string_view part) {
    return to_json(*a.at(part), 0) != to_json(*b.at(part), 0);
  });
}

/// A torus has no network interfaces.
void check_networks(const TrainingPhases& course) {
  if (!course.change || course.change->move != StateMove::network) {
    return;
  }
  for (const CoursePhase& phase : course.phases) {
    if (phase.scenario.cluster.nics == 0) {
      throw InputError(
          fmt::format("change.move: network: expected clusters with network interfaces, which that "
                      "of {} has not",
                      phase.name));
    }
  }
}

}  // namespace

Value phases_schema() { return schema_of<WrittenPhases>(kPhasesFields); }

TrainingPhases read_phases(Reader& in,
                           const CourseDocument& file,
                           Problems& problems,
                           ScenarioNotes& notes) {
  WrittenPhases written;
  written.document = &file.document;
  read_fields<WrittenPhases>(kPhasesFields, in, written);
  problems.raise();
  TrainingPhases course{.phases = {}, .change = written.change};
  const ScenarioSource base = file.source(*written.scenario);
  std::optional<ScenarioSource> before;
  for (const WrittenPhase& one : written.phases) {
    ScenarioSource source = base;
    CoursePhase phase{
        .name = one.name, .scenario = changed(source, one.changes, one.name), .length = {}};
    phase.length = one.length(phase.scenario.training.sequence);
    notes.add(phase.name, answer_notes(source, phase.scenario));
    phase.moves = before && differ(before->document(), source.document());
    course.phases.push_back(std::move(phase));
    before = std::move(source);
  }
  check_networks(course);
  return course;
}

}  // namespace titer
