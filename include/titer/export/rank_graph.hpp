#pragma once
// What one rank does in a step, as a graph that other simulators can run: kernels, collectives and
// messages, and what each waits for. Nothing in it knows of lanes or of when anything runs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// A copy is one from the device to its host or back: beside kernels and messages. Input is what
/// the host reads and prepares for the step after: beside all of these.
enum class NodeKind : std::uint8_t { compute, collective, send, receive, copy, input };

/// Which ranks of a collective's group send.
enum class Senders : std::uint8_t {
  all,     // all alike, as a library's collectives have it; of reduces there is one to each rank
  first,   // the first one, to each of the others in turn
  others,  // each of these, to the first one
  neighbours,  // of parts of images: each to those beside it
};

struct GraphNode {
  NodeKind kind = NodeKind::compute;
  TaskPart part = TaskPart::forward;
  Collective collective = Collective::all_reduce;
  Senders senders = Senders::all;
  std::string_view what{};                    // the operation, layer or pass that it is of
  std::optional<std::int32_t> layer{};        // of the model
  std::optional<std::int32_t> stage{};        // of the model
  std::optional<std::int32_t> micro_batch{};  // of a pass
  Ticks duration = 0;  // by itself, as the closed form has it; a receive takes none of its own
  Flops flops{};       // of a kernel
  // Of a kernel: read and written; of a message; a collective's full result; of one with the first
  // rank, what each of the others gets or sends; of neighbours, what a part in the middle sends.
  Bytes bytes{};
  int group = 0;  // of a collective: its number in the exported step
  int peer = 0;   // of a message: the other rank
  int tag = 0;    // of a message: no other between the same two ranks has it

  /// "backward: core attention, layer 5, stage 2, micro-batch 3"
  [[nodiscard]] std::string name() const;
};

/// The nodes of one rank, each after those it waits for.
class RankGraph {
 public:
  using Id = std::uint32_t;

  Id add(const GraphNode& node, std::span<const Id> after);
  /// The node added last may still grow.
  [[nodiscard]] GraphNode& node(Id id) { return nodes_[id]; }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::span<const GraphNode> nodes() const& { return nodes_; }
  [[nodiscard]] std::span<const GraphNode> nodes() const&& = delete;
  [[nodiscard]] const GraphNode& node(Id id) const { return nodes_[id]; }
  [[nodiscard]] std::span<const Id> after(Id id) const {
    return {after_.data() + after_begin_[id], after_.data() + after_begin_[id + 1]};
  }

 private:
  std::vector<GraphNode> nodes_;
  std::vector<std::uint64_t> after_begin_ = {0};
  std::vector<Id> after_;
};

}  // namespace titer
