#pragma once
// How much of the time devices train that break: failures, checkpoints, restarts, spare nodes and
// slow devices. Records of failures are data with a date (configs/reliability).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

inline constexpr DataKind kReliabilityData = {
    "reliability", "configs/reliability", {"components", "checkpoint", "restart"}};

/// What a component that fails takes with it.
enum class Failure {
  hardware,  // the job, and its node until it is repaired
  software,  // the job, which starts again on the same nodes
  planned,   // the job, after a checkpoint
};
inline constexpr std::array<Choice<Failure>, 3> kFailures = {{{"hardware", Failure::hardware},
                                                              {"software", Failure::software},
                                                              {"planned", Failure::planned}}};

/// What a component comes once for.
enum class FailureUnit { device, node, job };
inline constexpr std::array<Choice<FailureUnit>, 3> kFailureUnits = {
    {{"device", FailureUnit::device}, {"node", FailureUnit::node}, {"job", FailureUnit::job}}};

struct Component {
  std::string name;
  FailureUnit per = FailureUnit::device;
  double count = 1;  // per unit
  Failure failure = Failure::hardware;
  Seconds mtbf{};  // of one
};

/// What sets when a checkpoint is written.
enum class IntervalRule { young, daly, best };
inline constexpr std::array<Choice<IntervalRule>, 3> kIntervalRules = {
    {{"young", IntervalRule::young}, {"daly", IntervalRule::daly}, {"best", IntervalRule::best}}};

struct CheckpointPolicy {
  BytesPerSecond storage_bandwidth;  // of the whole storage
  BytesPerSecond node_bandwidth;     // of a node to it
  Seconds pause{};                   // of training at every checkpoint, however large
  // Training goes on while a copy in the hosts' memory is written; it stops for copying only.
  bool asynchronous = false;
  std::optional<BytesPerSecond> copy_bandwidth{};  // of a device; otherwise the chip's host link
  IntervalRule rule = IntervalRule::daly;
  std::optional<Seconds> interval{};  // whatever the rule says
};

/// What happens when more nodes are being repaired than there are spare ones.
enum class WithoutSpare {
  wait,    // training stands still
  shrink,  // goes on with fewer replicas, and grows again with a node's repair
};
inline constexpr std::array<Choice<WithoutSpare>, 2> kWithoutSpares = {
    {{"wait", WithoutSpare::wait}, {"shrink", WithoutSpare::shrink}}};

struct Spares {
  double share = 0;  // of the nodes, rounded up
  Seconds repair;    // of a node, on average
  WithoutSpare without = WithoutSpare::wait;
};

/// Devices that become slow and hold up all others until they are found and replaced.
struct SlowDevices {
  Seconds mtbf;         // of a device, to becoming slow
  double slowdown = 1;  // of the iteration
  Seconds detect;
};

struct Reliability {
  std::string name;
  std::string title{};
  std::string date{};
  std::vector<Component> components{};
  CheckpointPolicy checkpoint{};
  Seconds detect{};      // of a failure
  Seconds reschedule{};  // on other nodes
  Seconds start{};       // of the job, without loading its state
  Spares spares{};
  std::optional<SlowDevices> slow_devices{};
  EvidenceList evidence{};
};

[[nodiscard]] Reliability read_reliability(Reader& in);
/// A shipped name or a file. Throws InputError.
[[nodiscard]] Reliability load_reliability(std::string_view name_or_file);

using Frequency = Quantity<-1, 0, 0>;

/// Failures by kind at a size of the job.
struct FailureRates {
  Frequency hardware;
  Frequency software;
  Frequency planned;

  /// Between failures that nobody planned. REQUIRES some, as read_reliability() does.
  [[nodiscard]] Seconds mtbf() const { return Seconds::from_si(1 / (hardware + software).si()); }
};
[[nodiscard]] FailureRates failure_rates(const Reliability& reliability,
                                         std::int64_t devices,
                                         std::int64_t nodes);

/// C: what a checkpoint stops training for; M: mean time between failures; both above zero.
/// sqrt(2 C M). [Young 1974, "A first order approximation to the optimum checkpoint interval"]
[[nodiscard]] Seconds young_interval(Seconds checkpoint, Seconds mtbf);
/// sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C for C < 2M, otherwise M.
/// [Daly 2006, "A higher order estimate of the optimum checkpoint interval for restart dumps"]
[[nodiscard]] Seconds daly_interval(Seconds checkpoint, Seconds mtbf);
/// The minimum of time_stretch(): the root of e^((T + C) / M) (1 - T / M) = 1.
[[nodiscard]] Seconds best_interval(Seconds checkpoint, Seconds mtbf);
/// Time that training takes over what it takes without failures and checkpoints: failures come at
/// random, M apart on average, also while a checkpoint is written or the job starts again, which
/// takes R:   M e^(R/M) (e^((T + C) / M) - 1) / T.   [Daly 2006, the complete model]
[[nodiscard]] double time_stretch(Seconds interval,
                                  Seconds checkpoint,
                                  Seconds restart,
                                  Seconds mtbf);

/// A job that breaks and goes on.
struct BreakingJob {
  FailureRates rates{};
  Seconds interval{};         // of training between checkpoints
  Seconds checkpoint{};       // C: it stops training for so long
  Seconds restart{};          // R: until it trains again
  Seconds lag{};              // until a checkpoint can be loaded, training going on
  std::int64_t replicas = 1;  // of the model
  double replicas_per_node = 1;
  std::int64_t spare_nodes = 0;
  Seconds repair{};
  WithoutSpare without = WithoutSpare::wait;
  Frequency becoming_slow{};  // of some device
  double slowdown = 1;
  Seconds slow_detect{};

  /// Replicas that there are with so many nodes in repair.
  [[nodiscard]] std::int64_t replicas_left(std::int64_t in_repair) const;
};

/// Shares of the time that is paid for; they add up to 1 with Goodput::fraction.
struct LostTime {
  double checkpoints = 0;
  double rework = 0;    // what was done since the last checkpoint
  double restarts = 0;  // planned ones too
  double slow_devices = 0;
  double too_few_nodes = 0;  // standing still, or fewer replicas
};

struct Goodput {
  double fraction = 1;  // useful / all time
  Seconds checkpoint_interval{};
  LostTime lost{};
  BreakingJob job{};
  Bytes checkpoint_size{};
};

/// The mean of a long run, by the product of
///   1 / time_stretch(interval, C, R + lag, M),
///   1 / (1 + f (C + R)), f: planned restarts, slow devices replaced, replicas grown again,
///   1 - w (1 - 1 / slowdown), w: the share of the time in which some device is slow,
///   the replicas there are over all, with Poisson's number of nodes in repair; where training
///   waits, the share of the time in which it does not: Erlang's loss formula for spares + 1.
[[nodiscard]] Goodput goodput(const BreakingJob& job);
/// The same of a scenario. A checkpoint holds its ModelState; the nodes write it together, and
/// load it together (each part once; what others need is passed on over the network). The interval
/// is a whole number of iterations, and no shorter than what is written beside training takes.
[[nodiscard]] Goodput goodput(const Reliability& reliability,
                              const Scenario& scenario,
                              Seconds iteration_time);

/// Nodes that stand by, for a job on so many.
[[nodiscard]] std::int64_t spare_nodes(const Reliability& reliability, std::int64_t nodes);

}  // namespace titer
