#pragma once
// The devices of a simulated step: their place in the plan, their semaphores, and how the
// conditions change what they do.

#include <array>
#include <span>
#include <vector>

#include "titer/simulate/step_program.hpp"

namespace titer {

/// The group of a plan that has a meeting. Where two copies of the model go opposite ways, those of
/// both ranks of a stage meet to synchronise.
[[nodiscard]] PlanGroup group_of(Meeting meeting, const Plan& plan);

/// Which transfers of a plan go through the network, all of their kind alike.
class Crossings {
 public:
  explicit Crossings(const Scenario& scenario);

  [[nodiscard]] bool of(Meeting meeting) const { return of_[static_cast<std::size_t>(meeting)]; }
  /// Between a pipeline rank and the next, cyclically.
  [[nodiscard]] bool after(int stage) const { return boundary_[static_cast<std::size_t>(stage)]; }

 private:
  std::array<bool, kMeetings> of_{};
  std::vector<bool> boundary_;
};

/// Devices simulated one by one: all of the plan, numbered in its rank order, or one for each
/// pipeline rank.
class World {
 public:
  World(const Scenario& scenario, bool every_rank);

  [[nodiscard]] const std::vector<TimelineRank>& ranks() const { return ranks_; }
  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] int before(int stage) const { return (stage + stages_ - 1) % stages_; }
  [[nodiscard]] SimulatedMembers members() const { return members_; }
  [[nodiscard]] std::size_t semaphores() const { return semaphores_; }
  [[nodiscard]] SemaphoreId semaphore(std::size_t rank, Post post) const {
    return posts_[rank][static_cast<std::size_t>(post)];
  }
  /// The rank at the same place of the pipeline rank before or after, cyclically.
  [[nodiscard]] std::size_t neighbour(std::size_t rank, bool onward) const;
  [[nodiscard]] bool uniform() const { return factors_.empty(); }
  /// What a transfer takes longer than its cost says, for all that take part. REQUIRES conditions
  /// that are not uniform.
  [[nodiscard]] double transfer_factor(std::size_t rank, Affected affected) const {
    return factors_[rank][static_cast<std::size_t>(affected)];
  }
  /// The device that names a transfer: the first of its group, or its sender.
  [[nodiscard]] std::size_t first_of(std::size_t rank, Affected affected) const;

 private:
  [[nodiscard]] std::size_t at_stage(std::size_t rank, int stage) const;
  void number(const Plan& plan);
  void place_semaphores();
  /// Those that the members of its groups share; the first number that is free after them.
  [[nodiscard]] std::size_t share_semaphores(std::size_t from);
  void find_factors(const Scenario& scenario);
  /// The largest factor of each group's members, by the semaphore of the group.
  [[nodiscard]] std::vector<double> group_factors(const Conditions& conditions,
                                                  Post group,
                                                  bool network) const;

  int stages_;
  bool two_ways_;
  std::size_t stride_ = 1;  // from a pipeline rank to the next
  std::array<GroupRanks, kMeetings> groups_{};
  SimulatedMembers members_;
  std::vector<TimelineRank> ranks_;
  std::vector<std::array<SemaphoreId, kPosts>> posts_;
  std::size_t semaphores_ = 0;
  std::vector<std::array<double, kAffected>> factors_;
};

/// The class whose costs each simulated device takes. The members of a tensor group wait for one
/// another in every pass, so all of them take those of its slowest chip.
[[nodiscard]] std::vector<std::size_t> classes_of(const Scenario& scenario,
                                                  const World& world,
                                                  std::span<const StepCosts> costs);

}  // namespace titer
