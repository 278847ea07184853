#pragma once
// The ways of computing a step.

namespace titer {

/// How closely time is followed.
enum class Fidelity {
  closed,   // closed form
  event,    // the event engine
  network,  // likewise, with transfers that share the links of the cluster
};

}  // namespace titer
