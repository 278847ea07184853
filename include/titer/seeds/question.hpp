#pragma once
// Questions as a file can ask them: a step, a collective, a topology, a schedule, … each put to the
// room that knows, and answered in named numbers, so that expressions can compare the answers.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/campaign/course.hpp"
#include "titer/export/traffic_matrix.hpp"
#include "titer/input/expression.hpp"
#include "titer/model/model.hpp"
#include "titer/model/routing/gating.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/plan/schedule/schedule_run.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// Changes as a file writes them, "set": {"plan.tensor": 8}.
using Changes = std::vector<Assignment>;

/// A run that a question is about, as it can be given to titer run, and changes to it.
struct RunReference {
  std::string run;  // "" where the file holds it whole
  Changes changes;
  Document document;

  [[nodiscard]] static RunReference read(Reader& in,
                                         std::string_view key,
                                         const std::filesystem::path& folder);
  [[nodiscard]] Scenario scenario() const;
  /// "configs/seeds/runs/x.json --set …"
  [[nodiscard]] std::string arguments() const;
};

/// {"run": NAME|FILE|{…}, "set": {…}, "fidelity": "event"}: a training step. Answers: every figure,
/// part and total of a result by its JSON name, and what follows from them (`result_numbers`).
struct RunQuestion {
  static constexpr std::string_view key = "run";
  RunReference reference;
  Fidelity fidelity = Fidelity::closed;

  [[nodiscard]] static RunQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"traffic": NAME|FILE|{…}, "set": {…}, "kind": "data", "spread": "direct", "seed": 1,
/// "iteration": 0, "exponent": 0.5, "pairs": ["0-1"]}: the matrix of who sends how much to whom; of
/// experts drawn where there is a seed. Bytes between the devices named, and from devices to those
/// beside them by number.
struct TrafficQuestion {
  static constexpr std::string_view key = "traffic";
  RunReference reference;
  TrafficOptions options;
  std::optional<double> exponent;  // of zipf routing
  std::vector<std::string> pairs;

  [[nodiscard]] static TrafficQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"collective": "all-reduce", "cluster": NAME|{…}, "set": {…}, "bytes": "1 GB", "ranks": "0-15",
/// "algorithm": …, "servers": …, "fidelity": "flow"}; "ranks" may be a list of groups at once.
struct CollectiveQuestion {
  static constexpr std::string_view key = "collective";
  CollectiveQuery query;
  std::string size;  // as written
  Value cluster;
  Changes changes;
  std::vector<std::string> ranks;
  int servers = 0;

  [[nodiscard]] static CollectiveQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"topology": NAME|FILE, "set": {…}, "all_to_all": "64 MiB", "wires": ["0-3"]}: its figures; the
/// bounds of an all-to-all; the links between two devices.
struct TopologyQuestion {
  static constexpr std::string_view key = "topology";
  std::string topology;
  Changes changes;
  std::optional<Bytes> all_to_all;
  std::vector<std::string> wires;
  Document document;

  [[nodiscard]] static TopologyQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"schedule": "1f1b", "pipeline": 4, "micro_batches": 8, "virtual_stages": 2, "forward": 1,
/// "input_gradient": 1, "weight_gradient": 1}: executed by itself.
struct ScheduleQuestion {
  static constexpr std::string_view key = "schedule";
  Schedule schedule;
  PipelineShape shape;
  PassTimes times;

  [[nodiscard]] static ScheduleQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"model": NAME|FILE|{…}, "set": {…}, "batch": 1, "sequence": 1024}: parameters and FLOPs.
struct ModelQuestion {
  static constexpr std::string_view key = "model";
  Model model;
  double batch = 1;
  std::int64_t sequence = 1;

  [[nodiscard]] static ModelQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] static std::string command() { return {}; }
};

/// {"equation": "E13", "with": {"N": 8, "g": "1 GB"}}: a named formula (seeds/equations.hpp).
struct EquationQuestion {
  static constexpr std::string_view key = "equation";
  std::string equation;
  NamedNumbers inputs;

  [[nodiscard]] static EquationQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] static std::string command() { return {}; }
};

/// {"gating": {"tokens": 1024, "experts": 128, "capacity": 256, "seed": 1}}: Algorithm 1 executed.
struct GatingQuestion {
  static constexpr std::string_view key = "gating";
  GatingRun run;

  [[nodiscard]] static GatingQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] static std::string command() { return {}; }
};

/// {"table": "../tables/000-3.csv", "key": "num_cores"}: every number as ROW.COLUMN, the row by
/// its cell in the column `key`.
struct TableQuestion {
  static constexpr std::string_view key = "table";
  std::filesystem::path file;
  std::string row_key;

  [[nodiscard]] static TableQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] static std::string command() { return {}; }
};

/// {"profile": FILE}: the shares of an op profile by category.
struct ProfileQuestion {
  static constexpr std::string_view key = "profile";
  std::filesystem::path file;

  [[nodiscard]] static ProfileQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

/// {"course": NAME, "set": {…}}: training over time; what comes of it all, and of each phase, job
/// or interval by its name.
struct CourseQuestion {
  static constexpr std::string_view key = "course";
  std::string course;
  Changes changes;

  [[nodiscard]] static CourseQuestion read(Reader& in, const std::filesystem::path& folder);
  [[nodiscard]] NamedNumbers answer() const;
  [[nodiscard]] std::string command() const;
};

using Question = std::variant<RunQuestion,
                              TrafficQuestion,
                              CollectiveQuestion,
                              TopologyQuestion,
                              ScheduleQuestion,
                              ModelQuestion,
                              EquationQuestion,
                              GatingQuestion,
                              TableQuestion,
                              ProfileQuestion,
                              CourseQuestion>;

/// A question by the key that it has; files are found from `folder`.
[[nodiscard]] Question read_question(Reader& in, const std::filesystem::path& folder);
/// Throws InputError where the room that is asked refuses.
[[nodiscard]] NamedNumbers answer(const Question& question);
/// The command line that asks the same; "" where there is none.
[[nodiscard]] std::string command(const Question& question);

/// The questions of one that has "cases": {NAME: {…}}: the question with each case's keys put in
/// ("set" merged), by NAME; of any other, itself under "".
[[nodiscard]] std::vector<std::pair<std::string, Value>> cases_of(const Value& question);

/// What a result says, by its JSON names, with compute_s, comm_s (hidden or not), exposed_comm_s,
/// efficiency = compute / (compute + comm), fits (1 or 0) and the parts of the fullest stage's
/// memory.
[[nodiscard]] NamedNumbers result_numbers(const Scenario& scenario, const StepResult& result);

}  // namespace titer
