#include "titer/simulate/meetings.hpp"

namespace titer {

std::optional<Meeting> meeting_of(Affected affected) {
  for (const Meeting meeting : kAllMeetings) {
    if (affected_by(meeting) == affected) {
      return meeting;
    }
  }
  return std::nullopt;
}

Affected affected_by(PassComm comm) {
  constexpr std::array<Affected, kPassComms> affected = {
      Affected::tensor, Affected::context, Affected::expert, Affected::shard, Affected::nothing};
  return affected[static_cast<std::size_t>(comm)];
}

std::optional<PassComm> comm_of(Affected affected) {
  for (const PassComm comm : kAllPassComms) {
    if (affected != Affected::nothing && affected_by(comm) == affected) {
      return comm;
    }
  }
  return std::nullopt;
}

}  // namespace titer
