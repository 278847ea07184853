#pragma once
// Measured training runs as scenarios: model, machine, software and plan from the columns of a row,
// and what they leave open from the habits of the software that the row's family names.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "titer/measured/named_models.hpp"
#include "titer/measured/run_families.hpp"
#include "titer/measured/run_machine.hpp"
#include "titer/measured/run_row.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// What a row may leave open of a model.
struct OpenModel {
  std::int64_t sequence = 0;
  std::int64_t vocabulary = 0;  // rows of the token table
  bool flash = false;
  bool gated = false;  // its MLPs
};
/// What a row may leave open of a plan.
struct OpenPlan {
  std::int64_t chunks = 0;  // of every rank; 0: as its schedule has them
  std::int64_t expert = 0;  // the degree; 0: as the row states it
  std::optional<Sharding> sharding{};
};
/// Whether tokens all see each other, by the row's `arch` or a name of encoders of images.
[[nodiscard]] bool is_encoder(const RunRow& row);
/// What some of a model's layers have.
struct LayerContents {
  bool attention = true;
  bool mixer = false;
  bool dense = false;  // an MLP
  bool experts = false;
};
/// By the row's columns, or of the model that is known by name.
[[nodiscard]] LayerContents contents_of(const RunRow& row, const RunHabits& habits);
/// The model by that name, or by its dimensions; what they leave open (norms, biases, positions) by
/// its name and the habits. Throws InputError with the reason.
[[nodiscard]] Model run_model(const RunRow& row, const RunHabits& habits, const OpenModel& open);

/// Chunks of every rank, the fewest and the most that share its layers evenly, of a pipeline that
/// interleaves some number that the row does not state; nothing of others. Throws InputError where
/// the layers do not tell them.
[[nodiscard]] std::vector<std::int64_t> open_chunks(const RunRow& row);
/// Throws InputError with the reason where the row leaves other things open or asks for what cannot
/// be told.
[[nodiscard]] Plan run_plan(const RunRow& row, const RunHabits& habits, const OpenPlan& open = {});
/// The plan's parts of these; likewise. The schedule after the degrees, the layers after it.
void read_sharding(const RunRow& row,
                   const RunHabits& habits,
                   std::optional<Sharding> open,
                   Plan& plan);
void read_schedule(const RunRow& row, std::int64_t chunks, Plan& plan);
void read_recompute(const RunRow& row, const RunHabits& habits, Plan& plan);
void read_offload(const RunRow& row, const RunHabits& habits, Plan& plan);
/// Throws InputError for a cell that is no number, for devices that are not counted, and for what
/// generates tokens, or passes them through a second model, too.
void check_readable(const RunRow& row);
/// Whether the notes say that attention is fused; nothing where they do not speak of it.
[[nodiscard]] std::optional<bool> noted_flash(const RunRow& row);
/// Of the notes or the sharding; where neither names another the family's, or Adam. Throws
/// InputError for one that is not modelled.
[[nodiscard]] OptimizerRule noted_optimizer(const RunRow& row, const RunHabits& habits);
/// What is launched as one, in the words of rows, where the notes speak of CUDA graphs.
[[nodiscard]] std::optional<std::string> noted_graph(const RunRow& row);
/// Tokens that an expert takes over its even share, where the notes have a capacity factor.
[[nodiscard]] std::optional<double> noted_capacity(const RunRow& row);
/// To what the notes say that devices' power is limited; "": they do not.
[[nodiscard]] std::string noted_power(const RunRow& row);
/// How context ranks exchange, where a word of the row tells it.
[[nodiscard]] std::optional<ContextMethod> noted_context_method(const RunRow& row);
/// Tokens of an image of so many pixels, with those of a text among them, where the model is of
/// images. "1024x1024".
[[nodiscard]] std::optional<std::int64_t> noted_patches(const RunRow& row, const RunHabits& habits);
/// Modules for further tokens that the notes speak of.
[[nodiscard]] std::int64_t noted_predictions(const RunRow& row);
/// As the family has them, or as the row's name or notes say; nothing where neither speaks of LoRA.
[[nodiscard]] std::optional<Adapters> run_adapters(const RunRow& row,
                                                   const RunHabits& habits,
                                                   const Model& model);
/// Whether the base of its adapters is kept as NF4.
[[nodiscard]] bool keeps_four_bits(const RunRow& row);
/// Batch, sequence and number formats of the scenario's model and plan; the batch is filled for
/// `micro_batches` per replica.
[[nodiscard]] Training run_training(const RunRow& row,
                                    const RunHabits& habits,
                                    const Scenario& scenario,
                                    std::int64_t micro_batches);

/// Scenarios whose times, weighed, are the row's: two where micro-batches do not divide the batch.
struct RunReading {
  std::vector<Scenario> scenarios;
  std::vector<double> weights;
};

/// A row as it may be read: several times where it leaves a value open.
struct RunReadings {
  std::string stack;
  std::vector<RunReading> readings;
  std::string open;  // what is open: "network, vocabulary"
  std::string skip_reason;
  std::optional<CountedAttention> rates{};         // of a row's TFLOP/s, where they tell its time
  std::shared_ptr<const ScenarioSource> source{};  // of the cluster and the stack of all readings
};

class RunReader {
 public:
  /// `folder`: of the table, whose files come before the shipped ones. `changes` are put into every
  /// scenario's cluster and stack.
  explicit RunReader(const std::filesystem::path& folder = {}, std::vector<Assignment> changes = {})
      : families_(RunFamilies::load(folder)), changes_(std::move(changes)) {}
  [[nodiscard]] RunReadings read(const RunRow& row);

 private:
  /// Cluster and stack, as read and as they are written.
  struct Base {
    std::shared_ptr<const ScenarioSource> source;
    Scenario scenario;
    Abilities abilities;
  };
  /// Of its family, with what the row's name and notes say.
  RunHabits habits_of(const RunRow& row);
  const Base& base(const RunMachine& machine, const std::string& stack);
  void add_reading(const RunRow& row,
                   const RunHabits& habits,
                   Scenario scenario,
                   RunReadings& into) const;

  /// Into `result` what the row is on this machine, or why it cannot be.
  void read_on(const RunMachine& machine,
               const RunRow& row,
               const RunHabits& habits,
               RunReadings& result);

  RunFamilies families_;
  NamedModels models_;
  RunMachines machines_;
  std::vector<Assignment> changes_;
  std::map<std::string, Base> bases_;
};

}  // namespace titer
