#include "titer/collectives/algorithm/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace titer {

int Pipeline::blocks(Bytes size, const Link& link) const {
  const Seconds filling = static_cast<double>(fill) / (per_block * parts) * (size / link.bandwidth);
  if (filling == Seconds{}) {
    return 1;
  }
  const Seconds too_many = static_cast<double>(most_blocks) * most_blocks * link.latency;
  if (filling >= too_many) {
    return most_blocks;
  }
  const int fewer = static_cast<int>(std::sqrt(filling / link.latency));
  if (fewer == 0) {
    return 1;
  }
  return time(size, fewer + 1, link) < time(size, fewer, link) ? fewer + 1 : fewer;
}

int Pipeline::blocks(Bytes size, const Channel& channel) const {
  int best = 1;
  const Seconds least = time(size, channel);
  for (const Link& link : channel.links()) {
    const int count = blocks(size, link);
    if (time(size, count, link) == least) {
      best = count;
    }
  }
  return best;
}

Seconds Pipeline::time(Bytes size, const Channel& channel) const {
  return channel.best([&](const Link& link) { return time(size, blocks(size, link), link); });
}

Rendezvous::Rendezvous(Steps steps) : steps_(std::move(steps)) {
  last_.resize(static_cast<std::size_t>(steps_.ranks()) +
               static_cast<std::size_t>(steps_.helpers()));
}

void Rendezvous::send(const Message& message, std::span<const Run> runs) {
  std::vector<std::uint32_t> after = last_[static_cast<std::size_t>(message.from)];
  const auto& receiver = last_[static_cast<std::size_t>(message.to)];
  after.insert(after.end(), receiver.begin(), receiver.end());
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  round_.push_back(steps_.add(message, runs, after));
}

void Rendezvous::next_round() {
  // The messages of this round have waited for those of the rounds before.
  for (const std::uint32_t index : round_) {
    last_[static_cast<std::size_t>(steps_.message(index).from)].clear();
    last_[static_cast<std::size_t>(steps_.message(index).to)].clear();
  }
  for (const std::uint32_t index : round_) {
    last_[static_cast<std::size_t>(steps_.message(index).from)].push_back(index);
    last_[static_cast<std::size_t>(steps_.message(index).to)].push_back(index);
  }
  round_.clear();
}

}  // namespace titer
