#pragma once
// Training whose devices, placement or set-up change on the way: elastic training, job migration.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

struct Iterations {
  std::int64_t count = 0;
};
struct Sequences {
  double count = 0;  // in as many whole iterations as they need
};
/// How long a phase is. A time is filled with whole iterations, and its devices are held to its
/// end.
using PhaseLength = std::variant<Iterations, Sequences, Seconds>;

struct CoursePhase {
  std::string name;
  Scenario scenario;
  PhaseLength length;
  bool moves = false;  // its plan, cluster or model is not the one of the phase before
};

/// How states come from one layout to the next.
enum class StateMove {
  storage,  // written by the nodes before, read by those after
  network,  // over the network interfaces of both
};
inline constexpr std::array<Choice<StateMove>, 2> kStateMoves = {
    {{"storage", StateMove::storage}, {"network", StateMove::network}}};

/// What stands between two phases of different layouts.
struct LayoutChange {
  StateMove move = StateMove::storage;
  std::optional<BytesPerSecond> storage_bandwidth;  // of a node, either way; REQUIRED of storage
  Seconds restart;

  friend bool operator==(const LayoutChange&, const LayoutChange&) = default;
};

struct TrainingPhases {
  std::vector<CoursePhase> phases;
  std::optional<LayoutChange> change;  // nothing: changes take no time
};

/// One change of layout: n to n' nodes, of which each needs the bytes node_state() says.
///   storage: save = (W + O) / (n B), load = node_state / B
///   network: save = 0, load = max((W + O) / (n C), node_state / C'), C: all NICs of a node;
///            whoever has received passes it on, so that nothing leaves the former nodes twice
struct ChangeCost {
  Bytes state{};  // W + O
  Seconds save{};
  Seconds load{};
  Seconds restart{};
  // Devices x time: saving holds the former ones, loading over the network whichever are more,
  // loading from storage and the restart the new ones.
  Seconds device_time{};
  // Iterations of the new phase after which the change has paid for itself: its time over what an
  // iteration takes less than as many sequences did before. Empty: it takes no less.
  std::optional<double> break_even{};

  [[nodiscard]] Seconds time() const { return save + load + restart; }
};

struct PhaseResult {
  std::string name;
  std::int64_t devices = 0;
  std::int64_t nodes = 0;
  Seconds iteration_time{};
  Seconds communication{};  // exposed, of an iteration
  double iterations = 0;
  double samples = 0;  // sequences
  Seconds time{};      // without the change before it
  Seconds device_time{};
  std::optional<ChangeCost> change{};      // before it
  std::optional<std::string> too_large{};  // why it does not fit in memory
};

struct PhasesResult {
  std::vector<PhaseResult> phases;

  [[nodiscard]] Seconds training_time() const;
  [[nodiscard]] Seconds training_device_time() const;
  [[nodiscard]] Seconds change_time() const;
  [[nodiscard]] Seconds time() const { return training_time() + change_time(); }
  [[nodiscard]] Seconds device_time() const;  // with that of the changes
  [[nodiscard]] double samples() const;
  /// While it trains: the fixed number of devices that holds as much device time in the same time.
  [[nodiscard]] double average_devices() const;
};

/// Throws InputError where the fidelity does not go with a phase.
[[nodiscard]] PhasesResult follow(const TrainingPhases& course, Fidelity fidelity);

}  // namespace titer
