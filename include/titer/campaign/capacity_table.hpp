#pragma once
// Models on clusters by deadlines, each as a question of capacity: one row for each combination.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/capacity.hpp"

namespace titer {

/// A model on a cluster by a deadline.
struct CapacityCase {
  std::string model;  // as they are called in the answer
  std::string cluster;
  std::string stack;
  std::optional<CapacityQuestion> question{};  // its devices: those that were asked for, or none
  std::string problem{};                       // why there is no question
};

struct CapacityTable {
  std::vector<CapacityCase> cases;     // model by model, in it cluster by cluster
  bool has_run = false;                // whose plan is scaled, unless plans are searched for
  std::vector<std::string> assumed{};  // batch and sequence, where nobody says them
};

/// {"models": ["llama3-70b", …], "clusters": […], "stacks", "prices", "dollars_per_hour", "power":
/// one for all or one for each cluster ("-": nobody says), "deadlines": ["60d", …], "scenario": a
/// run that lends the rest, and its own model or cluster where none is listed} and the keys of a
/// question of capacity but for "deadline"; a list may be a text with commas. Without a scenario
/// the steps are of 16 Mi tokens, in sequences of 8192 or of the model's longest (as Llama 3 405B
/// was trained; Grattafiori et al. 2024), where changes do not say otherwise. Needs a deadline, or
/// devices. What only some combinations cannot be asked is their problem. Throws InputError.
[[nodiscard]] CapacityTable read_capacity_table(const Document& document,
                                                std::span<const Assignment> changes = {});
/// Of a file; or of a run, by its file or shipped name, which lends all but what the changes list.
[[nodiscard]] CapacityTable load_capacity_table(std::string_view name_or_file,
                                                std::span<const Assignment> changes = {});

struct CapacityRow {
  const CapacityCase* of = nullptr;
  std::optional<CapacityPoint> point{};  // the fewest devices that will do, otherwise the fastest
  std::string miss{};                    // in a few words, why the answer is no; empty: it is yes
  std::string reason{};                  // the same at length, where there is more to say
  std::vector<std::string> notes{};

  [[nodiscard]] bool possible() const { return miss.empty(); }
};

/// Told how many cases are through.
using CasesDone = std::function<void(std::size_t)>;

/// A row for each case, in order. The table must stay. Where no devices are asked for, the fewest
/// of usual sizes that keep the deadline are looked for, whether more devices take less time or
/// not.
[[nodiscard]] std::vector<CapacityRow> find_rows(const CapacityTable& table,
                                                 const PlanFinder& plan,
                                                 const CasesDone& done = {});

enum class RowOrder { as_asked, days, dollars, devices, energy, carbon };
inline constexpr std::array<Choice<RowOrder>, 6> kRowOrders = {{{"asked", RowOrder::as_asked},
                                                                {"days", RowOrder::days},
                                                                {"dollars", RowOrder::dollars},
                                                                {"devices", RowOrder::devices},
                                                                {"energy", RowOrder::energy},
                                                                {"carbon", RowOrder::carbon}}};
enum class BestOf { all, model, cluster };
inline constexpr std::array<Choice<BestOf>, 3> kBestOf = {
    {{"all", BestOf::all}, {"model", BestOf::model}, {"cluster", BestOf::cluster}}};

/// The least first; then what has no such figure, then those that are not possible. Equal ones stay
/// in order.
void sort_rows(RowOrder by, std::vector<CapacityRow>& rows);
/// Of each model or cluster the best row alone. REQUIRES an order.
void keep_best(BestOf best_of, RowOrder by, std::vector<CapacityRow>& rows);

}  // namespace titer
