#pragma once
// The best plans for a model, a cluster and a batch: every plan of a space, but for those that a
// bound proves to be worse than what was found. The answer does not depend on threads, nor on
// whether bounds are used.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/estimate/result.hpp"
#include "titer/scenario/source.hpp"
#include "titer/search/known_work.hpp"
#include "titer/search/search_space.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// What is better: each is turned such that less is.
enum class Objective {
  time,               // of an iteration
  cost,               // of an iteration, dollars
  tokens_per_dollar,  // negative
  mfu,                // negative
  energy,             // of an iteration
  goodput,            // tokens/s that count, negative
  memory,             // of the fullest device
  devices,
};
inline constexpr std::array<Choice<Objective>, 8> kObjectives = {
    {{"time", Objective::time},
     {"cost", Objective::cost},
     {"tokens_per_dollar", Objective::tokens_per_dollar},
     {"mfu", Objective::mfu},
     {"energy", Objective::energy},
     {"goodput", Objective::goodput},
     {"memory", Objective::memory},
     {"devices", Objective::devices}}};
[[nodiscard]] constexpr std::string_view name(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)].name;
}

/// Of what the best is one answer.
enum class BestPlanOf : std::uint8_t {
  shape,  // tensor, pipeline, context and expert degree on so many devices: the best plan of each
  plan,   // each that reads otherwise
};
inline constexpr std::array<Choice<BestPlanOf>, 2> kBestPlanOf = {
    {{"shape", BestPlanOf::shape}, {"plan", BestPlanOf::plan}}};

/// How far predicted memory is off: the mean of |predicted / measured - 1| over the public runs
/// whose memory is known, but for those of InternEvo, which has tens of GiB that no tensor explains
/// (tests/measured/measured_memory_test.cpp demands it).
inline constexpr double kMemoryError = 0.07;

/// How far the time of a plan is off by itself, beside what is off in all plans of one model on one
/// machine and what the figures behind it make it off: the standard deviation of
/// ln(measured / predicted). Two of them are then in the predicted order as often as measured pairs
/// of runs are (tests/measured/plan_order_test.cpp demands it).
inline constexpr double kPlanError = 0.05;

/// What a plan must keep besides the rules of validate().
struct SearchLimits {
  double memory_margin = kMemoryError;  // share of a device's memory that stays free
  std::optional<Seconds> most_time;
  std::optional<double> least_tokens_per_s;
  std::optional<double> least_mfu;

  /// The longest iteration that keeps them.
  [[nodiscard]] Seconds longest(const Scenario& scenario) const;
};

struct Search {
  std::string title;
  ScenarioSource source;
  Scenario scenario;  // its plan is what is not varied
  SearchSpace space;
  std::vector<std::int64_t> devices;                      // each of these numbers
  std::vector<std::string_view> narrowed{};               // keys whose values were given
  Abilities abilities{};                                  // of its software: no plan is beyond them
  std::vector<Objective> objectives = {Objective::time};  // several: a Pareto front
  std::size_t top = 10;
  BestPlanOf best_of = BestPlanOf::shape;  // of fronts: plan
  bool robust = false;  // by expected time over the figures' spread; REQUIRES the objective time
  SearchLimits limits{};
  bool fewest_devices = false;  // stop at the first number that has a plan
  // Searches of the same for other models, titled by them, the largest first: until one has a plan.
  std::vector<Search> models{};
  std::optional<Economy> economy{};
  std::optional<Reliability> reliability{};
};

/// {"scenario": NAME|FILE|{…}, "devices": 4096, "space": {…}, "objective": "time", …}; changes are
/// put into the scenario. Throws InputError.
[[nodiscard]] Search load_search(std::string_view name_or_file,
                                 std::span<const Assignment> changes = {});
/// Of a document. `names`: of the file, where it is none.
[[nodiscard]] Search read_search(const Document& document,
                                 std::span<const Assignment> changes = {});

/// What became of the plans of a space; they add up to `plans`.
struct SearchCounts {
  std::size_t plans = 0;
  std::size_t refused = 0;  // by validate()
  std::string refusal{};    // what it said of the first of them
  std::size_t over_memory = 0;
  std::size_t over_limit = 0;
  std::size_t bounded = 0;  // a bound shows that they are no better than what was found
  std::size_t evaluated = 0;
  std::size_t defects = 0;    // the program met one of its own
  std::string defect{};       // what it said at the first of them, and of which plan
  std::size_t unreached = 0;  // when the search was stopped
  std::size_t beyond = 0;     // not among `plans`: the software cannot run them

  /// All but `plans` and what was not reached.
  [[nodiscard]] std::size_t reached() const {
    return refused + over_memory + over_limit + bounded + evaluated + defects;
  }
  SearchCounts& operator+=(const SearchCounts& other);
};

struct FoundPlan {
  Plan plan;
  std::int64_t devices = 1;
  std::vector<double> scores;        // of the objectives, less is better
  std::vector<std::uint32_t> place;  // in the space: the first of equals is listed
  StepResult result;
  std::optional<Bill> bill{};  // of an iteration
  std::optional<Goodput> goodput{};
  std::optional<Seconds> refined{};  // iteration time at another fidelity
  // By find_chances: the mean over the figures' spread, and how likely it is the fastest of all
  // that were found, and fits.
  std::optional<Seconds> expected_time{};
  std::optional<double> chance_fastest{};
  std::optional<double> chance_fits{};
  // Plans of the same shape, or of the same devices, degrees and schedule, whose objectives read
  // the same, and how many of them there are; the first of many.
  std::vector<Plan> alike{};
  std::size_t alike_count = 0;
};

struct SearchAnswer {
  // Best first; a Pareto front by its first objective. They are of this search's scenario, or of
  // that of its models called `model`.
  std::vector<FoundPlan> plans;
  SearchCounts counts;
  bool complete = true;  // otherwise stopped before
  std::string model;
  std::vector<std::string> without_plan;  // larger models, or fewer devices
};

struct SearchOptions {
  unsigned threads = 1;
  bool exhaustive = false;  // evaluate all that is sound: neither bounds nor memory first
  const std::atomic<bool>* stop = nullptr;
  bool counts_beyond = true;  // SearchCounts::beyond, for which all plans are listed twice
  /// That plans are told apart by why they are left out. Where nobody asks, those that take too
  /// long need not be sound.
  bool tells_reasons = true;
  /// Of searches of the same but on other numbers of devices, to which this one adds.
  KnownWork* known_work = nullptr;
  /// Told how many plans of how many are through.
  std::function<void(std::size_t, std::size_t)> progress{};
};

/// Evaluates with the closed form.
[[nodiscard]] SearchAnswer run_search(const Search& search, const SearchOptions& options = {});

/// The share of a standard normal distribution below z.
[[nodiscard]] double normal_share_below(double z);
/// How likely a device has room for a predicted peak, as far as such are off (kMemoryError).
[[nodiscard]] double chance_to_fit(Bytes peak, Bytes capacity);
/// Of each plan its expected time, how likely it is the fastest of them, and fits. `drawn`: its
/// times with the figures of each draw, over its own. The fastest by prediction need not be the
/// one with the least expected time, nor the likeliest to be fastest and fit.
void find_chances(std::span<const std::vector<double>> drawn, SearchAnswer& answer);
/// Best first by expected time, of each shape one where the search asks for that, and as many as it
/// asks for.
void keep_most_robust(const Search& search, SearchAnswer& answer);

/// The best of an answer's plans by one of the search's objectives; nullptr where it has none.
[[nodiscard]] const FoundPlan* best_by(const SearchAnswer& answer, std::size_t objective);

/// Of a search that has no plan for want of memory: the plan that needs the least of it, as if all
/// devices had enough. None where even then no plan keeps to the constraints.
[[nodiscard]] std::optional<FoundPlan> least_memory_plan(const Search& search,
                                                         const SearchAnswer& answer,
                                                         const SearchOptions& options);

/// By one of a search's objectives, the best plan of all.
struct BeyondSoftware {
  std::size_t objective = 0;  // of the search's
  SearchAnswer best;          // the plan; that objective is its only score
};
/// For each objective by which the search's software cannot run the best plan, and all that it can
/// are worse: what staying inside costs, of a front at each of its ends. Nothing of a search that
/// was stopped.
[[nodiscard]] std::vector<BeyondSoftware> best_beyond_software(const Search& search,
                                                               const SearchAnswer& answer,
                                                               const SearchOptions& options = {});

/// What powers of two leave of a number of devices.
[[nodiscard]] std::int64_t odd_part(std::int64_t devices);

/// Of a search that has no plans the batch nearest to its own with which it has some, by half as
/// large to twice; none where that is not why.
[[nodiscard]] std::optional<std::int64_t> batch_with_plans(const Search& search);

/// Degrees of the space that no plan has, each with its reason: "pipeline 16: 61 layers …".
[[nodiscard]] std::vector<std::string> degrees_left_out(const Search& search);

/// The search whose plans an answer has: its own, or that of one of its models.
[[nodiscard]] const Search& searched(const Search& search, const SearchAnswer& answer);
/// What of a scenario holds for some plans of a search only, or for none.
[[nodiscard]] std::vector<std::string> carried_notes(const Scenario& scenario);
/// What makes a plan of one that says nothing of what searches vary.
[[nodiscard]] std::vector<Assignment> plan_assignments(const Plan& plan);
/// The scenario with a plan that was found, to write and to read again.
[[nodiscard]] ScenarioSource source_with(const Search& search, const Plan& plan);

/// Why plans have no time at another fidelity.
struct Refinement {
  std::vector<std::string> reasons{};  // sentences, in the order of the plans
  std::size_t defects = 0;             // plans at which the program met one of its own
  std::string defect{};                // what it said at the first of them, and of which plan
};
/// Evaluates the plans at another fidelity and sorts them by that. What that fidelity cannot do
/// stays after the others.
[[nodiscard]] Refinement refine(const Search& search, Fidelity fidelity, SearchAnswer& answer);

}  // namespace titer
