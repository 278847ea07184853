#pragma once
// The engine at the level of flows. A message starts when everything it waits for has finished and
// its release time has come. It spends its latency; then its bytes flow at its max-min fair share
// of every link of its route, and it finishes when the last byte is through. Without bytes, or
// without links, there is only the latency. Same graph, same timeline, on any machine.

#include <cstdint>
#include <vector>

#include "titer/engine/flow_network.hpp"
#include "titer/engine/message_graph.hpp"
#include "titer/engine/shared_links.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {

/// When each message started (before its latency) and finished, and when the last one finished.
struct FlowTimeline {
  std::vector<Ticks> start;
  std::vector<Ticks> finish;
  Ticks makespan = 0;
};

/// Runs graphs of messages. Keeps its working memory between runs: repeating a run into the same
/// timeline allocates nothing.
class FlowEngine {
 public:
  void run(const FlowNetwork& network, const MessageGraph& graph, FlowTimeline& timeline);

 private:
  class Run;

  struct Waiting {         // a message; see Engine, which keeps the same of its tasks
    MessageId watchers;    // first of the messages that wait for this one
    MessageId next;        // next watcher of the same message
    std::uint32_t unseen;  // how many of those it waits for may not have finished
  };
  struct Begin {  // the end of a latency
    Ticks tick;
    MessageId message;
    [[nodiscard]] friend auto operator<=>(const Begin& a, const Begin& b) = default;
  };

  SharedLinks links_;
  std::vector<Waiting> waiting_;
  std::vector<Begin> begins_;          // a heap, the earliest first
  std::vector<MessageId> message_of_;  // by flow
  std::vector<FlowId> finished_;
};

/// Convenience for a single run.
[[nodiscard]] FlowTimeline run(const FlowNetwork& network, const MessageGraph& graph);

}  // namespace titer
