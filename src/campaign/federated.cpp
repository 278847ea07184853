#include "titer/campaign/federated.hpp"

#include <algorithm>

#include "titer/estimate/model_state.hpp"

namespace titer {
namespace {

/// A message of all weights, in the type in which they travel.
Bytes weight_bytes(const Scenario& client) {
  const double numbers = model_state(client).weights / size_of(client.training.weight_type());
  return numbers * client.weight_message();
}

}  // namespace

double FederatedRounds::slowest_link() const {
  return link_spread ? expected_slowdown(*link_spread, clients) : 1;
}

Seconds FederatedRounds::transfer(Bytes weights, BytesPerSecond link) const {
  const Seconds own = slowest_link() * (weights / link);
  const Seconds port = static_cast<double>(clients) * weights / server_bandwidth;
  return latency + std::max(own, port);
}

Seconds FederatedRounds::averaging(Bytes weights) const {
  return averaging_bandwidth ? static_cast<double>(clients + 1) * weights / *averaging_bandwidth
                             : Seconds{};
}

FederatedResult follow(const FederatedCourse& course, Fidelity fidelity) {
  const FederatedRounds& rounds = course.rounds;
  Estimator estimator;
  StepResult step;
  evaluate(course.client, fidelity, estimator, step);
  FederatedResult result{.rounds = rounds, .weights = weight_bytes(course.client)};
  result.download = rounds.transfer(result.weights, rounds.download_bandwidth);
  result.local = static_cast<double>(rounds.local_steps) * step.iteration_time;
  result.upload = rounds.transfer(result.weights, rounds.upload_bandwidth);
  result.averaging = rounds.averaging(result.weights);
  const auto clients = static_cast<double>(rounds.clients);
  result.samples = static_cast<double>(rounds.rounds) * clients *
                   static_cast<double>(rounds.local_steps) *
                   static_cast<double>(course.client.training.global_batch);
  result.server_bytes = 2 * clients * result.weights;
  result.device_time = clients * static_cast<double>(step.devices) * result.total();
  if (!step.fits()) {
    result.too_large = memory_sentence(step);
  }
  return result;
}

}  // namespace titer
