#include "titer/collectives/steps.hpp"

#include <algorithm>
#include <cstddef>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {
// A rank that awaits more messages than this gets a join, so that the messages of its next round
// need not list them all, each.
constexpr std::size_t kMostAwaited = 8;
// Shorter lists of runs are written down again for each message.
constexpr std::size_t kMostUnshared = 4;
constexpr std::uint64_t kHashPrime = 0x100000001b3U;  // [FNV-1a, Fowler, Noll & Vo]
}  // namespace

Steps::Steps(int ranks, std::vector<Bytes> piece_sizes, int helpers)
    : ranks_(ranks), helpers_(helpers), piece_sizes_(std::move(piece_sizes)) {
  ensure(ranks >= 1 && helpers >= 0, "steps are those of one or more ranks");
}

Steps::Steps(int ranks, Bytes size, int pieces, int helpers)
    : Steps(
          ranks,
          std::vector<Bytes>(static_cast<std::size_t>(pieces), size / static_cast<double>(pieces)),
          helpers) {}

std::uint32_t Steps::add(Message message,
                         std::span<const Run> runs,
                         std::span<const std::uint32_t> after) {
  const auto index = static_cast<std::uint32_t>(messages_.size());
  const int vertices = ranks_ + helpers_;
  ensure(message.from >= 0 && message.from < vertices && message.to >= 0 && message.to < vertices,
         "a message goes between ranks of the collective");
  message.size = Bytes{};
  for (const Run& run : runs) {
    ensure(run.first >= 0 && run.count >= 1 && run.first + run.count <= pieces(),
           "a message carries pieces of the buffer");
    for (std::int32_t piece = run.first; piece < run.first + run.count; ++piece) {
      message.size += piece_sizes_[static_cast<std::size_t>(piece)];
    }
  }
  for (const std::uint32_t before : after) {
    ensure(before < index, "a message waits for earlier ones");
  }
  messages_.push_back(message);
  run_lists_.push_back(keep(runs));
  after_.insert(after_.end(), after.begin(), after.end());
  after_begin_.push_back(static_cast<std::uint32_t>(after_.size()));
  return index;
}

Steps::RunList Steps::keep(std::span<const Run> runs) {
  std::uint64_t hash = runs.size();
  if (runs.size() > kMostUnshared) {
    for (const Run& run : runs) {
      hash = (hash ^ static_cast<std::uint64_t>(run.first)) * kHashPrime;
      hash = (hash ^ static_cast<std::uint64_t>(run.count)) * kHashPrime;
    }
    const auto found = long_lists_.find(hash);
    if (found != long_lists_.end() && found->second.count == runs.size() &&
        std::equal(runs.begin(), runs.end(), runs_.begin() + found->second.first)) {
      return found->second;
    }
  }
  const RunList list{.first = static_cast<std::uint32_t>(runs_.size()),
                     .count = static_cast<std::uint32_t>(runs.size())};
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  if (runs.size() > kMostUnshared) {
    long_lists_.try_emplace(hash, list);
  }
  return list;
}

Script::Script(Steps steps, int threads) : steps_(std::move(steps)) {
  const auto vertices =
      static_cast<std::size_t>(steps_.ranks()) + static_cast<std::size_t>(steps_.helpers());
  threads_.resize(static_cast<std::size_t>(threads));
  for (Thread& thread : threads_) {
    thread.awaited.resize(vertices);
    thread.sent_in.assign(vertices, -1);
  }
}

void Script::send(Message message, std::span<const Run> runs) {
  Thread& thread = threads_[static_cast<std::size_t>(thread_)];
  const auto from = static_cast<std::size_t>(message.from);
  thread.round.push_back(steps_.add(message, runs, thread.awaited[from]));
}

void Script::next_round() {
  Thread& thread = threads_[static_cast<std::size_t>(thread_)];
  for (const std::uint32_t index : thread.round) {
    const std::int32_t from = steps_.message(index).from;
    auto& awaited = thread.awaited[static_cast<std::size_t>(from)];
    std::int32_t& sent_in = thread.sent_in[static_cast<std::size_t>(from)];
    if (std::exchange(sent_in, thread.rounds) != thread.rounds) {
      awaited.clear();  // its messages of this round have waited for these
    }
    awaited.push_back(index);
  }
  for (const std::uint32_t index : thread.round) {
    thread.awaited[static_cast<std::size_t>(steps_.message(index).to)].push_back(index);
  }
  for (const std::uint32_t index : thread.round) {
    for (const std::int32_t rank : {steps_.message(index).from, steps_.message(index).to}) {
      join_if_many(thread.awaited[static_cast<std::size_t>(rank)], rank);
    }
  }
  thread.round.clear();
  ++thread.rounds;
}

void Script::join_if_many(std::vector<std::uint32_t>& awaited, std::int32_t rank) {
  if (awaited.size() > kMostAwaited) {
    awaited = {steps_.add({.from = rank, .to = rank}, {}, awaited)};
  }
}

}  // namespace titer
