#pragma once
// What is to be sent: messages, the route each takes, and what each waits for. A message takes 28
// bytes and 4 more per message it waits for.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "titer/engine/flow_network.hpp"
#include "titer/engine/task_graph.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

using MessageId = std::uint32_t;

/// What few messages have. If one of a graph has any, each takes 16 bytes more.
struct MessageOptions {
  Seconds release{};    // starts no earlier than this
  double weight = 1.0;  // its part of a shared link, relative to the others' weights
};

/// A directed graph of messages. Add a message only after everything it waits for.
class MessageGraph {
 public:
  /// A new message. The size must be finite and not negative, the weight positive and finite;
  /// latency and release are rounded to ticks here.
  MessageId add(RouteId route,
                Bytes size,
                Seconds latency,
                std::span<const MessageId> after = {},
                const MessageOptions& options = {});

  [[nodiscard]] std::size_t size() const { return sizes_.size(); }
  [[nodiscard]] RouteId route(MessageId message) const { return routes_[message]; }
  [[nodiscard]] Bytes bytes(MessageId message) const { return sizes_[message]; }
  [[nodiscard]] Ticks latency(MessageId message) const { return latencies_[message]; }
  [[nodiscard]] Ticks release(MessageId message) const {
    return options_.empty() ? 0 : options_[message].release;
  }
  [[nodiscard]] double weight(MessageId message) const {
    return options_.empty() ? 1.0 : options_[message].weight;
  }
  [[nodiscard]] std::span<const MessageId> after(MessageId message) const {
    return {after_.data() + after_begin_[message], after_.data() + after_begin_[message + 1]};
  }

 private:
  struct Options {
    Ticks release = 0;
    double weight = 1.0;
  };

  std::vector<Bytes> sizes_;
  std::vector<Ticks> latencies_;
  std::vector<RouteId> routes_;
  std::vector<Options> options_;                  // empty as long as all have the defaults
  std::vector<std::uint32_t> after_begin_ = {0};  // CSR, as in TaskGraph
  std::vector<MessageId> after_;
};

}  // namespace titer
