#pragma once
// Measured training runs as scenarios: model, machine, software and plan from the columns of a row,
// and what they leave open from the habits of the software that the row's family names.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "titer/measured/run_row.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// What a family of rows ran, and what that software did where a row does not say.
struct RunHabits {
  std::string stack;
  std::optional<bool> flash{};  // fused attention
  std::optional<Recompute> recompute{};
  std::optional<Sharding> sharding{};
  std::optional<std::int64_t> sequence{};
  std::optional<std::int64_t> vocabulary{};
  std::optional<TensorOverlap> tensor_overlap{};
  std::optional<DataType> gradient{};
};

/// By the family's name, else by the words of its source, notes and sharding. Empty: unknown
/// software.
[[nodiscard]] std::optional<RunHabits> habits_of(const RunRow& row);

/// The cluster of a row: a shipped one, and what of it is put in its place.
struct RunMachine {
  std::string cluster;
  std::vector<Assignment> changes{};
  bool network_known = true;  // false: the row does not say what joins its nodes
};
/// By the chip, the devices of a node and the words for the links. Throws InputError with the
/// reason where there is none.
[[nodiscard]] RunMachine machine_of(const RunRow& row);

/// The model by its dimensions; what they leave open (norms, biases, positions) by its name.
/// `vocabulary`: rows of the token table. Throws InputError with the reason.
[[nodiscard]] Transformer run_model(const RunRow& row,
                                    std::int64_t sequence,
                                    std::int64_t vocabulary,
                                    bool flash);

/// Throws InputError with the reason where the row leaves open or asks for what cannot be told.
[[nodiscard]] Plan run_plan(const RunRow& row, const RunHabits& habits);
/// Batch, sequence and number formats; the batch is filled for `micro_batches` per replica.
[[nodiscard]] Training run_training(const RunRow& row,
                                    const RunHabits& habits,
                                    const Plan& plan,
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
};

class RunReader {
 public:
  /// `changes` are put into every scenario's cluster and stack.
  explicit RunReader(std::vector<Assignment> changes = {}) : changes_(std::move(changes)) {}
  [[nodiscard]] RunReadings read(const RunRow& row);

 private:
  const Scenario& base(const RunMachine& machine, const std::string& stack);
  void add_reading(const RunRow& row,
                   const RunHabits& habits,
                   Scenario scenario,
                   RunReadings& into) const;

  std::vector<Assignment> changes_;
  std::map<std::string, Scenario> bases_;
};

}  // namespace titer
