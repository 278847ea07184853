#pragma once
// How many devices a training run needs: tokens, a deadline and a budget to devices, plan, days,
// cost, energy and carbon.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/economy.hpp"
#include "titer/campaign/side_costs.hpp"
#include "titer/campaign/training_time.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// What becomes of the global batch as replicas are added.
enum class BatchRule {
  fixed,
  scaled,  // as many sequences for every replica
};
inline constexpr std::array<Choice<BatchRule>, 2> kBatchRules = {
    {{"fixed", BatchRule::fixed}, {"scaled", BatchRule::scaled}}};

/// Year by year: so many times the tokens, and the work of a device for the same money and power.
struct CapacityGrowth {
  int years = 0;
  double demand = 1;
  double performance = 1;

  friend bool operator==(const CapacityGrowth&, const CapacityGrowth&) = default;
};

struct CapacityQuestion {
  Scenario scenario;
  Abilities abilities{};                       // of its software, which plans keep
  std::optional<std::string> sequence_note{};  // where the scenario does not say it
  std::vector<std::string> source_notes{};     // of its files
  std::vector<std::int64_t> devices;           // candidates, in order
  BatchRule batch = BatchRule::fixed;
  double batch_slack = 0;  // share by which it may be another, where devices do not share it out
  std::optional<double> tokens;
  std::optional<Seconds> deadline;
  std::optional<double> chance{};  // of keeping it; otherwise it is kept on average
  std::optional<double> budget;    // dollars
  Currency currency{};             // of the answer; all amounts here are dollars
  std::optional<Economy> economy;
  std::optional<Economy> against{};        // other prices of the same devices
  std::optional<SideCosts> side_costs{};   // need prices of devices, too
  Escalation escalation{};                 // of these prices
  std::vector<OtherRuns> other_runs{};     // on the same devices, before the one asked about
  std::optional<Reliability> reliability;  // none: nothing fails
  std::optional<CapacityGrowth> growth;
  std::size_t pair = 0;           // of model and cluster: questions of one have the same plans
  double least_tokens_per_s = 0;  // of a step: slower plans may be left out of those to choose from
  std::uint32_t samples = 200;
  std::uint64_t seed = 1;
};

/// {"scenario": NAME|FILE|{…}, "tokens": "15T", "deadline": "60 days", "chance": "90%", "budget":
/// "10M", "devices": [1024, 2048], "batch": "fixed" | "scaled", "batch_slack": "5%", "prices",
/// "grid", "reliability": NAME|FILE, "dollars_per_hour": 2.5, "power": "700 W" (of a device, in
/// place of what prices and chip say), "against": NAME|FILE, "currency": {…} of read_currency(),
/// "costs": {…} of side_cost_fields(), "escalation": {…} of escalation_fields(),
/// "other_runs": [{"name", "scenario", "set", "tokens", "count"}], "growth": {"years", "demand",
/// "performance"}, "samples", "seed"}; or a run, which the changes complete. A change whose path
/// leads into a part of a scenario is made to the scenario, others to the question. Needs tokens, a
/// deadline or a budget; a budget needs a price. Throws InputError.
[[nodiscard]] CapacityQuestion load_capacity(std::string_view name_or_file,
                                             std::span<const Assignment> changes = {});
/// Of a document.
[[nodiscard]] CapacityQuestion read_capacity(Document document,
                                             std::span<const Assignment> changes = {});

/// "15T", "300B", "10M", "5k" or a plain number; empty if it is none of these or not above zero.
[[nodiscard]] std::optional<double> parse_count(std::string_view text);
/// "5%", "5 %" or "0.05"; empty if it is none of these.
[[nodiscard]] std::optional<double> parse_share(std::string_view text);

/// The plan for a number of devices, and its step; or why there is none.
struct PlannedStep {
  std::optional<Scenario> scenario{};
  StepResult step{};
  std::string problem{};
  bool over_memory = false;  // that is it
  double memory_margin = 0;  // share of a device's memory that the plan had to leave free
};
using PlanFinder = std::function<PlannedStep(const CapacityQuestion&, std::int64_t devices)>;

/// "; batch 129 would do (--batch-slack 1%, or --set training.global_batch=129)", of one that is
/// not `batch`; nothing without one.
[[nodiscard]] std::string offer_of_batch(std::int64_t batch, std::optional<std::int64_t> other);

/// The scenario's plan with as many replicas as there are devices for: of the micro-batches (the
/// scenario's, and powers of two up to 16 or it) and recomputations (the scenario's and what keeps
/// less and its software can do) the fastest that fits, with fewer virtual stages only where no
/// other does.
[[nodiscard]] PlannedStep scaled_plan(const CapacityQuestion& question, std::int64_t devices);

/// The best of all plans (search/search.hpp), whatever the scenario's is: by tokens that count
/// where something fails, otherwise by time. What layers take is kept from one number of devices to
/// the next, so that one finder is asked about questions of one pair after another.
[[nodiscard]] PlanFinder searched_plans(unsigned threads = 1);

/// What devices cost at other prices, in the time that they are held at the question's.
struct OtherBill {
  std::optional<double> dollars{};         // of the devices alone
  std::optional<RentOrBuy> rent_or_buy{};  // where the one list rents and the other buys
};

/// One number of devices. `time` and what follows from it: REQUIRES a plan.
struct CapacityPoint {
  std::int64_t devices = 0;
  std::int64_t nodes = 0;
  std::int64_t spare_devices = 0;
  PlannedStep planned{};
  Goodput goodput{};                 // all useful, where nothing fails
  double tokens = 0;                 // asked for; otherwise those that are possible
  std::optional<double> possible{};  // tokens that deadline and budget allow
  Seconds time{};                    // for these tokens
  Seconds others{};                  // before it: of other runs, on all devices
  std::optional<TrainingTime> spread{};
  std::optional<KnownBill> bill{};      // with the spares, other runs and side costs
  std::optional<double> dollars_low{};  // of the bill, for the spread's times
  std::optional<double> dollars_high{};
  double fixed_dollars = 0;   // of it, what does not grow with `time`
  double side_dollars = 0;    // of it, what is not of devices
  double unused_dollars = 0;  // of it, what a commitment costs that lasts longer
  std::optional<OtherBill> against{};

  [[nodiscard]] bool has_plan() const { return planned.scenario.has_value(); }
  [[nodiscard]] Seconds whole_time() const { return others + time; }
  [[nodiscard]] Seconds device_time() const { return static_cast<double>(devices) * whole_time(); }
};

/// REQUIRES a price of the chip where there is a budget.
[[nodiscard]] CapacityPoint capacity_point(const CapacityQuestion& question,
                                           const PlanFinder& plan,
                                           std::int64_t devices);

struct CapacityYear {
  int year = 0;
  double tokens = 0;
  std::optional<std::size_t> point{};  // the fewest devices that meet the deadline
  Seconds time{};
  std::optional<double> dollars{};
};

/// Which other deadline an answer has a look at.
inline constexpr Seconds kLater = 7 * kDay;

/// By which the interfaces between nodes are faster that an answer has a look at.
inline constexpr double kFasterNetwork = 2;

/// Points by their index. With tokens: among those that keep to deadline and budget.
struct CapacityResult {
  std::vector<CapacityPoint> points;
  std::optional<std::size_t> fewest{};  // devices
  std::optional<std::size_t> cheapest{};
  std::optional<std::size_t> fastest{};
  std::optional<std::size_t> certain{};  // the fewest with 90 % of the runs through by the deadline
  std::optional<std::size_t> most{};     // tokens, of all points
  std::optional<std::size_t> later{};    // the fewest with kLater more, where these are fewer
  std::optional<TrainingTime> later_spread{};  // of these, and how many runs keep that deadline
  std::optional<std::size_t> more{};           // the next number above the fewest
  // The whole time of the fewest, or of the fastest where none will do, with this much network.
  std::optional<Seconds> faster_network{};
  std::vector<CapacityYear> years{};
  std::vector<std::string> misses{};  // why the answer is no

  [[nodiscard]] bool possible() const { return misses.empty(); }
};

/// The share of runs that keep the deadline, by the point's spread; without one all or none.
/// REQUIRES a deadline, and a plan.
[[nodiscard]] double chance_in_time(const CapacityQuestion& question, const CapacityPoint& point);
/// Whether the deadline, if there is one, is kept as it is asked for. REQUIRES a plan.
[[nodiscard]] bool keeps_deadline(const CapacityQuestion& question, const CapacityPoint& point);

/// What follows from points that were found, in the order of their devices.
[[nodiscard]] CapacityResult capacity_of(const CapacityQuestion& question,
                                         std::vector<CapacityPoint> points);
/// All of the question's devices. REQUIRES a price of the chip where there is a budget.
[[nodiscard]] CapacityResult find_capacity(const CapacityQuestion& question,
                                           const PlanFinder& plan = scaled_plan);

/// What is to be said beside it: answer_notes() of the plans that it has.
[[nodiscard]] std::vector<std::string> capacity_notes(const CapacityQuestion& question,
                                                      const CapacityResult& result);

}  // namespace titer
