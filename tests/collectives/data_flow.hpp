#pragma once
// Plays the messages of a collective on what each rank holds of each piece: whose contributions,
// and by which messages they came.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/collectives/steps.hpp"

namespace titer {

using Ranks = std::uint64_t;  // a set of ranks, one bit each: whose contributions a copy holds

constexpr Ranks only(std::size_t rank) { return Ranks{1} << rank; }
constexpr Ranks all_of(std::size_t ranks) {
  return ranks == 64 ? ~Ranks{} : only(ranks) - 1;  // 64 is as many as there is room for
}

/// What a collective starts and ends with. Pieces are numbered as home_piece() has it; where there
/// are several times as many as ranks, each part of the buffer is numbered so. Those of an
/// all-to-all: f n + t goes from rank f to rank t.
class Promise {
 public:
  Promise(Collective collective, Group group, std::size_t pieces)
      : collective_(collective), group_(group), ranks_(static_cast<std::size_t>(group.ranks())) {
    const bool by_rank =
        collective == Collective::all_gather || collective == Collective::reduce_scatter;
    EXPECT_TRUE(!by_rank || pieces % ranks_ == 0) << "every rank has as much";
    EXPECT_TRUE(collective != Collective::all_to_all || pieces % (ranks_ * ranks_) == 0);
  }

  [[nodiscard]] Ranks start(std::size_t rank, std::size_t piece) const {
    switch (collective_) {
      case Collective::all_reduce:
      case Collective::reduce_scatter:
      case Collective::reduce:
        return only(rank);
      case Collective::all_gather:
        return piece % ranks_ == home(rank) ? only(rank) : 0;
      case Collective::all_to_all:
        return source(piece) == rank ? only(rank) : 0;
      case Collective::broadcast:
      case Collective::send_recv:
        return rank == 0 ? only(0) : 0;
    }
    return 0;
  }

  /// What the copy must hold in the end; nothing where nothing is promised.
  [[nodiscard]] Ranks end(std::size_t rank, std::size_t piece) const {
    switch (collective_) {
      case Collective::all_reduce:
        return all_of(ranks_);
      case Collective::reduce_scatter:
        return piece % ranks_ == home(rank) ? all_of(ranks_) : 0;
      case Collective::reduce:
        return rank == 0 ? all_of(ranks_) : 0;
      case Collective::all_gather:
        return owner(piece % ranks_);
      case Collective::all_to_all:
        return piece % ranks_ == rank ? only(source(piece)) : 0;
      case Collective::broadcast:
      case Collective::send_recv:
        return only(0);
    }
    return 0;
  }

 private:
  [[nodiscard]] std::size_t home(std::size_t rank) const {
    return static_cast<std::size_t>(home_piece(static_cast<int>(rank), group_));
  }
  [[nodiscard]] Ranks owner(std::size_t piece) const {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (home(rank) == piece) {
        return only(rank);
      }
    }
    return 0;
  }
  [[nodiscard]] std::size_t source(std::size_t piece) const { return piece / ranks_ % ranks_; }

  Collective collective_;
  Group group_;
  std::size_t ranks_;
};

/// Which messages have certainly arrived when one starts: all that it waits for, and what those
/// waited for.
class Ancestors {
 public:
  explicit Ancestors(const Steps& steps)
      : words_((steps.size() + 63) / 64), bits_(words_ * steps.size(), 0) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const std::uint32_t before : steps.after(i)) {
        for (std::size_t word = 0; word <= before / 64; ++word) {
          bits_[i * words_ + word] |= bits_[before * words_ + word];
        }
        bits_[i * words_ + before / 64] |= std::uint64_t{1} << before % 64;
      }
    }
  }
  [[nodiscard]] bool has(std::size_t message, std::size_t earlier) const {
    return (bits_[message * words_ + earlier / 64] >> earlier % 64 & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// Follows every contribution from rank to rank. A message carries what its sender holds for
/// certain when it starts: its own, and what came by messages that this one waits for. What comes
/// otherwise lies in a buffer by then, and is not carried.
class DataFlow {
 public:
  DataFlow(const Promise& promise, const Steps& steps)
      : pieces_(static_cast<std::size_t>(steps.pieces())), ancestors_(steps) {
    const auto ranks = static_cast<std::size_t>(steps.ranks());
    copies_.resize((ranks + static_cast<std::size_t>(steps.helpers())) * pieces_);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t piece = 0; piece < pieces_; ++piece) {
        Copy& copy = copies_[rank * pieces_ + piece];
        copy.holds = copy.start = promise.start(rank, piece);
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      play(steps, i);
    }
  }

  [[nodiscard]] Ranks holds(std::size_t rank, std::size_t piece) const {
    return copies_[rank * pieces_ + piece].holds;
  }

 private:
  struct Write {
    std::uint32_t message;
    Arrival arrival;
    Ranks brought;
  };
  struct Copy {
    Ranks start = 0;
    Ranks holds = 0;
    std::vector<Write> writes;
  };

  void play(const Steps& steps, std::size_t i) {
    const Message& message = steps.message(i);
    EXPECT_EQ(message.is_join(), steps.runs(i).empty()) << "only joins carry nothing";
    for (const Run& run : steps.runs(i)) {
      for (int piece = run.first; piece < run.first + run.count; ++piece) {
        deliver(message, i, static_cast<std::size_t>(piece));
      }
    }
  }

  void deliver(const Message& message, std::size_t i, std::size_t piece) {
    const Copy& from = copies_[static_cast<std::size_t>(message.from) * pieces_ + piece];
    Copy& to = copies_[static_cast<std::size_t>(message.to) * pieces_ + piece];
    Ranks brought = from.start;
    for (const Write& write : from.writes) {
      brought |= ancestors_.has(i, write.message) ? write.brought : 0;
    }
    EXPECT_NE(brought, 0U) << "message " << i << " has nothing of piece " << piece << " to bring";
    if (message.arrival == Arrival::add) {
      EXPECT_EQ(brought & to.holds, 0U) << "message " << i << " adds what is there already";
    } else {
      EXPECT_EQ(to.holds & ~brought, 0U) << "message " << i << " replaces what it does not bring";
    }
    for (const Write& write : to.writes) {
      const bool any_order = message.arrival == write.arrival &&
                             (message.arrival == Arrival::add || write.brought == brought);
      EXPECT_TRUE(any_order || ancestors_.has(i, write.message))
          << "messages " << write.message << " and " << i << " may arrive in the wrong order";
    }
    to.holds |= brought;
    to.writes.push_back({static_cast<std::uint32_t>(i), message.arrival, brought});
  }

  std::size_t pieces_;
  Ancestors ancestors_;
  std::vector<Copy> copies_;  // rank by rank
};

/// Every rank ends with what the collective promises.
inline void expect_promise(Collective collective, const Group& group, const Steps& steps) {
  const auto pieces = static_cast<std::size_t>(steps.pieces());
  const Promise promise(collective, group, pieces);
  const DataFlow flow(promise, steps);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(group.ranks()); ++rank) {
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Ranks promised = promise.end(rank, piece);
      ASSERT_TRUE(promised == 0 || flow.holds(rank, piece) == promised)
          << "rank " << rank << ", piece " << piece;
    }
  }
}

}  // namespace titer
