#pragma once
// Who takes part in a transfer of a simulated step: the groups that meet, the semaphores at which
// they do, and whose conditions a transfer feels.

#include <array>
#include <cstdint>
#include <optional>

#include "titer/cost/cost.hpp"

namespace titer {

/// Groups of ranks whose transfers begin when all of them are there.
enum class Meeting : std::uint8_t {
  tensor,
  context,
  expert,   // that have all experts of a layer between them
  shard,    // what passes gather and scatter of parameters and gradients
  data,     // the same parameters but for experts, to be synchronised
  experts,  // the same experts, likewise
};
inline constexpr std::size_t kMeetings = 6;
inline constexpr std::array<Meeting, kMeetings> kAllMeetings = {Meeting::tensor,
                                                                Meeting::context,
                                                                Meeting::expert,
                                                                Meeting::shard,
                                                                Meeting::data,
                                                                Meeting::experts};

/// A semaphore as a rank sees it: counts events of its own, of a neighbour in the pipeline, or of
/// one of its groups.
enum class Post : std::uint8_t {
  from_previous,  // messages that arrived from the pipeline rank before it
  from_next,
  done,           // passes that are through; pairs count once
  sent,           // messages that are through
  hidden,         // transfers of passes beside compute that are through
  ready,          // gradient buckets that are complete
  data,           // buckets that the data track is through with
  host_begin,     // compute with a copy to or from the host beside it that began
  previous_done,  // `done` of the rank before it
  next_done,
  to_previous,  // `from_next` of the rank before it
  to_next,
  tensor_begin,  // members of the tensor group that begin compute with a transfer beside it
  context_begin,
  expert_begin,
  shard_begin,
  tensor,  // members of the tensor group that arrived at a transfer
  context,
  expert,
  shard,
  data_group,  // both ranks of a stage where there are two
  experts_group,
  ends,  // of the first and the last rank that have done their passes
};
inline constexpr std::size_t kOwnPosts = 8;  // the first ones
inline constexpr std::size_t kPosts = 23;
[[nodiscard]] constexpr Post post_of(Meeting meeting) {
  return static_cast<Post>(static_cast<int>(Post::tensor) + static_cast<int>(meeting));
}
/// REQUIRES a meeting in passes.
[[nodiscard]] constexpr Post begin_of(Meeting meeting) {
  return static_cast<Post>(static_cast<int>(Post::tensor_begin) + static_cast<int>(meeting));
}

/// Which conditions an instruction feels: of its device, or the worst of those that take part.
enum class Affected : std::uint8_t {
  nothing,
  compute,
  tensor,
  data,
  to_previous,
  to_next,
  ends,
  context,
  expert,
  shard,
  experts,
};
inline constexpr std::size_t kAffected = 11;
[[nodiscard]] constexpr Affected affected_by(Meeting meeting) {
  constexpr std::array<Affected, kMeetings> affected = {Affected::tensor,
                                                        Affected::context,
                                                        Affected::expert,
                                                        Affected::shard,
                                                        Affected::data,
                                                        Affected::experts};
  return affected[static_cast<std::size_t>(meeting)];
}
[[nodiscard]] std::optional<Meeting> meeting_of(Affected affected);
/// What a pass's transfers that count as this feel; copies to the host are a device's own.
[[nodiscard]] Affected affected_by(PassComm comm);
/// The other way round; nothing for what is no transfer of a pass.
[[nodiscard]] std::optional<PassComm> comm_of(Affected affected);

/// How many devices of a group are simulated one by one; of those that synchronise, the ranks of
/// both copies of the model where two go opposite ways.
class SimulatedMembers {
 public:
  [[nodiscard]] int& operator[](Meeting meeting) { return of_[static_cast<std::size_t>(meeting)]; }
  [[nodiscard]] int operator[](Meeting meeting) const {
    return of_[static_cast<std::size_t>(meeting)];
  }

 private:
  std::array<int, kMeetings> of_ = {1, 1, 1, 1, 1, 1};
};

}  // namespace titer
