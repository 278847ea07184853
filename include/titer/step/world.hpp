#pragma once
// The devices of a simulated step: their place in the plan, their semaphores, and how the
// conditions change what they do.

#include <array>
#include <cstdint>
#include <vector>

#include "titer/step/step_program.hpp"

namespace titer {

/// Which transfers of a plan go through the network, all of their kind alike.
struct Crossings {
  bool tensor = false;
  bool data = false;
  std::vector<bool> boundary;  // between a pipeline rank and the next, cyclically

  explicit Crossings(const Scenario& scenario);
  [[nodiscard]] bool after(int stage) const { return boundary[static_cast<std::size_t>(stage)]; }
};

/// Devices simulated one by one: all p t d, numbered as in the plan's rank order, or one for each
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
  /// The rank of the same tensor and data number before or after in the pipeline, cyclically.
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
  [[nodiscard]] std::size_t index(int stage, int tensor, int data) const;
  void number(const Plan& plan);
  void place_semaphores();
  void find_factors(const Scenario& scenario);
  /// The largest factor of each group's members, by the semaphore of the group.
  [[nodiscard]] std::vector<double> group_factors(const Conditions& conditions,
                                                  Post group,
                                                  bool network) const;

  int stages_;
  bool two_ways_;
  SimulatedMembers members_;
  std::array<std::size_t, 3> stride_{};  // by Dimension
  std::vector<TimelineRank> ranks_;
  std::vector<std::array<SemaphoreId, kPosts>> posts_;
  std::size_t semaphores_ = 0;
  std::vector<std::array<double, kAffected>> factors_;
};

}  // namespace titer
