#pragma once
// What a pass of a block takes: its kernels, and its transfers by what they count as.

#include <array>
#include <cstdint>

#include "titer/cost/each_pass.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// What the transfers of a pass count as.
enum class PassComm : std::uint8_t {
  tensor,
  context,
  expert,
  data,  // parameters and gradients that are moved by every pass
  host,  // copies to and from the memory of the host
};
inline constexpr std::size_t kPassComms = 5;
inline constexpr std::array<PassComm, kPassComms> kAllPassComms = {
    PassComm::tensor, PassComm::context, PassComm::expert, PassComm::data, PassComm::host};

/// A time for each of them.
class CommTimes {
 public:
  [[nodiscard]] Seconds& operator[](PassComm comm) { return of_[static_cast<std::size_t>(comm)]; }
  [[nodiscard]] Seconds operator[](PassComm comm) const {
    return of_[static_cast<std::size_t>(comm)];
  }
  [[nodiscard]] Seconds sum() const {
    Seconds sum;
    for (const Seconds time : of_) {
      sum += time;
    }
    return sum;
  }
  CommTimes& operator+=(const CommTimes& other) {
    for (std::size_t i = 0; i < of_.size(); ++i) {
      of_[i] += other.of_[i];
    }
    return *this;
  }
  CommTimes& operator-=(const CommTimes& other) { return *this += -1.0 * other; }
  friend CommTimes operator*(double factor, CommTimes times) {
    for (Seconds& time : times.of_) {
      time = factor * time;
    }
    return times;
  }

 private:
  std::array<Seconds, kPassComms> of_{};
};

/// One pass (forward, backward or recomputation) of a block on one rank.
struct PassCost {
  Seconds compute;      // its kernels, or their launches where the host is slower
  CommTimes exposed;    // communication that nothing hides
  CommTimes transfers;  // all of it
  Seconds launched{};   // compute, were nothing beside it in the gaps between launches
  Seconds host{};       // launches alone
  // What another micro-batch's pass beside it (Action::overlapped) hides, and by how much its
  // compute is longer for that.
  CommTimes hidden_by_other{};
  Seconds slowed_by_other{};

  [[nodiscard]] Seconds comm() const { return exposed.sum(); }
  [[nodiscard]] Seconds comm_total() const { return transfers.sum(); }
  [[nodiscard]] Seconds busy() const { return compute + comm(); }
  /// With such a pass beside it.
  [[nodiscard]] PassCost overlapped() const {
    PassCost both = *this;
    both.compute += slowed_by_other;
    both.exposed -= hidden_by_other;
    both.hidden_by_other = {};
    both.slowed_by_other = {};
    return both;
  }
  [[nodiscard]] PassCost of(const Action& action) const {
    return action.overlapped ? overlapped() : *this;
  }
  PassCost& operator+=(const PassCost& other) {
    compute += other.compute;
    exposed += other.exposed;
    transfers += other.transfers;
    launched += other.launched;
    host += other.host;
    hidden_by_other += other.hidden_by_other;
    slowed_by_other += other.slowed_by_other;
    return *this;
  }
  friend PassCost operator*(double factor, const PassCost& cost) {
    return {factor * cost.compute,
            factor * cost.exposed,
            factor * cost.transfers,
            factor * cost.launched,
            factor * cost.host,
            factor * cost.hidden_by_other,
            factor * cost.slowed_by_other};
  }
};

/// A layer, the embedding or the output head: one micro-batch on one rank.
using BlockCost = EachPass<PassCost>;

}  // namespace titer
