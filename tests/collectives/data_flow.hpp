#pragma once
// Plays the messages of a collective on what each rank holds of each piece: whose contributions,
// and which messages brought and took them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/collectives/send.hpp"

namespace titer {

using Ranks = std::vector<bool>;  // whose contributions a piece holds

/// One rank's copy of one piece: what it holds, and which messages last wrote and read it.
struct Copy {
  Ranks holds;
  std::vector<std::size_t> writes;
  std::vector<std::size_t> reads;
};

/// Follows every contribution from rank to rank, and checks that a message carries only what has
/// certainly arrived by then.
class DataFlow {
 public:
  DataFlow(Collective collective, Group group)
      : ranks_(static_cast<std::size_t>(group.ranks())), copies_(ranks_ * ranks_) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const auto home = static_cast<std::size_t>(home_piece(static_cast<int>(rank), group));
      for (std::size_t piece = 0; piece < ranks_; ++piece) {
        const bool gathers = collective == Collective::all_gather;
        const bool sends = collective == Collective::send_recv;
        copy(rank, piece).holds = Ranks(ranks_, false);
        copy(rank, piece).holds[rank] = gathers ? piece == home : !sends || rank == 0;
      }
    }
  }

  void play(const std::vector<Send>& sends) {
    for (std::size_t index = 0; index < sends.size(); ++index) {
      note_ancestors(sends[index]);
      for (int i = 0; i < sends[index].pieces; ++i) {
        deliver(sends[index], index, static_cast<std::size_t>(sends[index].first_piece + i));
      }
    }
  }

  Copy& copy(std::size_t rank, std::size_t piece) { return copies_[rank * ranks_ + piece]; }

 private:
  void note_ancestors(const Send& send) {
    std::vector<bool> all(ancestors_.size() + 1, false);
    for (const int before : send.after) {
      const auto parent = static_cast<std::size_t>(before);
      ASSERT_LT(parent, ancestors_.size()) << "a message waits for a later one";
      all[parent] = true;
      for (std::size_t i = 0; i < ancestors_[parent].size(); ++i) {
        all[i] = all[i] || ancestors_[parent][i];
      }
    }
    ancestors_.push_back(all);
  }

  void deliver(const Send& send, std::size_t index, std::size_t piece) {
    Copy& from = copy(static_cast<std::size_t>(send.from), piece);
    Copy& to = copy(static_cast<std::size_t>(send.to), piece);
    EXPECT_NE(std::count(from.holds.begin(), from.holds.end(), true), 0) << "nothing to send";
    for (const std::size_t write : from.writes) {
      EXPECT_TRUE(ancestors_[index][write])
          << "message " << index << " does not wait for " << write;
    }
    for (const std::size_t read : to.reads) {
      EXPECT_TRUE(ancestors_[index][read])
          << "message " << index << " may overwrite what message " << read << " is to send";
    }
    from.reads.push_back(index);
    to.writes.push_back(index);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const bool adds_twice = send.arrival == Arrival::add && from.holds[rank] && to.holds[rank];
      const bool loses = send.arrival == Arrival::replace && to.holds[rank] && !from.holds[rank];
      EXPECT_FALSE(adds_twice) << "message " << index << " adds rank " << rank << " twice";
      EXPECT_FALSE(loses) << "message " << index << " loses rank " << rank;
      to.holds[rank] = to.holds[rank] || from.holds[rank];
    }
  }

  std::size_t ranks_;
  std::vector<Copy> copies_;  // rank by rank
  std::vector<std::vector<bool>> ancestors_;
};

/// What `rank` must hold of `piece` in the end; empty when nothing is asked.
inline Ranks wanted(Collective collective, Group group, std::size_t rank, std::size_t piece) {
  const auto ranks = static_cast<std::size_t>(group.ranks());
  const auto home = [group](std::size_t of) {
    return static_cast<std::size_t>(home_piece(static_cast<int>(of), group));
  };
  Ranks one(ranks, false);
  switch (collective) {
    case Collective::all_reduce:
      return Ranks(ranks, true);
    case Collective::reduce_scatter:
      return piece == home(rank) ? Ranks(ranks, true) : Ranks{};
    case Collective::all_gather:
      for (std::size_t owner = 0; owner < ranks; ++owner) {
        one[owner] = home(owner) == piece;
      }
      return one;
    case Collective::send_recv:
      one[0] = true;
      return one;
  }
  return {};
}

}  // namespace titer
