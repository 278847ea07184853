#include "titer/plan/offload.hpp"

namespace titer {

Offload read_offload(Reader in) {
  Offload offload;
  offload.weights = in.maybe_choice<HostPlace>("weights", kHostPlaces);
  offload.optimizer = in.maybe_choice<HostPlace>("optimizer", kHostPlaces);
  offload.activations = in.maybe_choice<HostPlace>("activations", kHostPlaces);
  offload.prefetch = in.flag("prefetch", true);
  in.finish();
  return offload;
}

}  // namespace titer
