#pragma once
// What each rank of a simulated step spends its time on, kept up to date as the events come: no
// list of what happened is needed.

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

inline constexpr std::size_t kTaskParts = kTaskPartNames.size();
/// The first parts are compute; the others communication.
inline constexpr std::size_t kComputeParts = static_cast<std::size_t>(TaskPart::optimizer) + 1;

/// Where a part's time is counted: what of it is exposed, and of communication all of it.
struct CountedPart {
  TaskPart part;
  Seconds Breakdown::*exposed;
  Seconds CommunicationTotal::*total = nullptr;
};
inline constexpr std::array<CountedPart, kTaskParts> kCountedParts = {
    {{TaskPart::forward, &Breakdown::forward},
     {TaskPart::backward, &Breakdown::backward},
     {TaskPart::weight_gradient, &Breakdown::backward},
     {TaskPart::recompute, &Breakdown::recompute},
     {TaskPart::optimizer, &Breakdown::optimizer},
     {TaskPart::tensor_comm, &Breakdown::tensor_comm, &CommunicationTotal::tensor},
     {TaskPart::context_comm, &Breakdown::context_comm, &CommunicationTotal::context},
     {TaskPart::expert_comm, &Breakdown::expert_comm, &CommunicationTotal::expert},
     {TaskPart::pipeline_comm, &Breakdown::pipeline_comm, &CommunicationTotal::pipeline},
     {TaskPart::data_comm, &Breakdown::data_comm, &CommunicationTotal::data},
     {TaskPart::host_copy, &Breakdown::host_comm, &CommunicationTotal::host}}};

struct RankAccount {
  // Every instant counts for one part of those that run: compute before communication, and in the
  // order of TaskPart.
  std::array<Ticks, kTaskParts> shown{};
  std::array<Ticks, kTaskParts> total{};  // time during which a part ran at all
  Ticks start = 0;                        // of the first compute
  Ticks end = 0;                          // of the last that the rank did
  Ticks changed = 0;                      // when a part last began or ended
  std::uint32_t running = 0;              // a bit for each part
  std::array<std::uint8_t, kTaskParts> count{};
  bool computed = false;
};

class Accounts {
 public:
  explicit Accounts(std::size_t ranks) : accounts_(ranks) {}

  void start(std::size_t rank, TaskPart part, Ticks now) {
    RankAccount& account = accounts_[rank];
    settle(account, now);
    const auto i = static_cast<std::size_t>(part);
    ++account.count[i];
    account.running |= std::uint32_t{1} << i;
    if (!account.computed && i < kComputeParts) {
      account.computed = true;
      account.start = now;
    }
  }
  void end(std::size_t rank, TaskPart part, Ticks now) {
    RankAccount& account = accounts_[rank];
    settle(account, now);
    const auto i = static_cast<std::size_t>(part);
    if (--account.count[i] == 0) {
      account.running &= ~(std::uint32_t{1} << i);
    }
    account.end = now;
  }
  [[nodiscard]] const RankAccount& of(std::size_t rank) const { return accounts_[rank]; }

 private:
  static void settle(RankAccount& account, Ticks now) {
    const Ticks passed = now - account.changed;
    account.changed = now;
    if (passed == 0 || account.running == 0) {
      return;
    }
    account.shown[static_cast<std::size_t>(std::countr_zero(account.running))] += passed;
    for (std::uint32_t left = account.running; left != 0; left &= left - 1) {
      account.total[static_cast<std::size_t>(std::countr_zero(left))] += passed;
    }
  }

  std::vector<RankAccount> accounts_;
};

}  // namespace titer
