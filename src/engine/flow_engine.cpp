#include "titer/engine/flow_engine.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// Ends of lists; MessageGraph gives neither as an id.
constexpr MessageId kNoMessage = std::numeric_limits<MessageId>::max();
constexpr MessageId kFinished = kNoMessage - 1;

}  // namespace

class FlowEngine::Run {
 public:
  Run(FlowEngine& engine, const MessageGraph& graph, FlowTimeline& timeline)
      : memory_(engine), graph_(graph), timeline_(timeline) {}

  void run() {
    prepare();
    while (next_tick()) {
      memory_.links_.take_finished(now_, memory_.finished_);
      for (const FlowId flow : memory_.finished_) {
        finish(memory_.message_of_[flow]);
      }
      begin_due();
    }
    timeline_.makespan = now_;
  }

 private:
  /// Every message watches the last of those it waits for.
  void prepare() {
    memory_.waiting_.assign(graph_.size(), {kNoMessage, kNoMessage, 0});
    memory_.begins_.clear();
    for (MessageId message = 0; message < graph_.size(); ++message) {
      const std::span<const MessageId> after = graph_.after(message);
      if (after.empty()) {
        start(message);
      } else {
        watch(message, after.back(), static_cast<std::uint32_t>(after.size()));
      }
    }
  }

  void watch(MessageId message, MessageId earlier, std::uint32_t unseen) {
    Waiting& watched = memory_.waiting_[earlier];
    memory_.waiting_[message].next = watched.watchers;
    memory_.waiting_[message].unseen = unseen;
    watched.watchers = message;
  }

  /// The watched message has finished: watches another that has not, or else starts.
  void look_further(MessageId message) {
    const MessageId* after = graph_.after(message).data();
    for (std::uint32_t unseen = memory_.waiting_[message].unseen - 1; unseen > 0; --unseen) {
      const MessageId earlier = after[unseen - 1];
      if (memory_.waiting_[earlier].watchers != kFinished) {
        watch(message, earlier, unseen);
        return;
      }
    }
    start(message);
  }

  void start(MessageId message) {
    const Ticks start = std::max(now_, graph_.release(message));
    timeline_.start[message] = start;
    memory_.begins_.push_back({add_ticks(start, graph_.latency(message)), message});
    std::push_heap(memory_.begins_.begin(), memory_.begins_.end(), std::greater<>());
  }

  void finish(MessageId message) {
    timeline_.finish[message] = now_;
    MessageId watcher = std::exchange(memory_.waiting_[message].watchers, kFinished);
    while (watcher != kNoMessage) {
      const MessageId next = memory_.waiting_[watcher].next;
      look_further(watcher);
      watcher = next;
    }
  }

  /// Lets the bytes flow of all messages whose latency ends now.
  void begin_due() {
    std::vector<Begin>& begins = memory_.begins_;
    while (!begins.empty() && begins.front().tick == now_) {
      const MessageId message = begins.front().message;
      std::pop_heap(begins.begin(), begins.end(), std::greater<>());
      begins.pop_back();
      begin(message);
    }
  }

  void begin(MessageId message) {
    if (graph_.bytes(message) == Bytes{}) {
      finish(message);
      return;
    }
    const FlowId flow = memory_.links_.start(
        graph_.route(message), graph_.bytes(message), graph_.weight(message), now_);
    if (flow >= memory_.message_of_.size()) {
      memory_.message_of_.resize(flow + std::size_t{1});
    }
    memory_.message_of_[flow] = message;
  }

  /// Goes on to the next event, perhaps at this same tick; false if there is none.
  [[nodiscard]] bool next_tick() {
    std::optional<Ticks> next = memory_.links_.next_finish();
    if (!memory_.begins_.empty()) {
      const Ticks begin = memory_.begins_.front().tick;
      next = next ? std::min(*next, begin) : begin;
    }
    now_ = next.value_or(now_);
    return next.has_value();
  }

  FlowEngine& memory_;
  const MessageGraph& graph_;
  FlowTimeline& timeline_;
  Ticks now_ = 0;
};

void FlowEngine::run(const FlowNetwork& network,
                     const MessageGraph& graph,
                     FlowTimeline& timeline) {
  for (MessageId message = 0; message < graph.size(); ++message) {
    ensure(graph.route(message) < network.routes(), "a message needs a route of the network");
  }
  links_.reset(network);
  timeline.start.resize(graph.size());
  timeline.finish.resize(graph.size());
  Run(*this, graph, timeline).run();
}

FlowTimeline run(const FlowNetwork& network, const MessageGraph& graph) {
  FlowTimeline timeline;
  FlowEngine().run(network, graph, timeline);
  return timeline;
}

}  // namespace titer
