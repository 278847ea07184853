#pragma once
// Federated learning: a server sends its weights to clients, each trains by itself for some steps,
// and the server averages what comes back.  [McMahan et al. 2017]

#include <cstdint>
#include <optional>

#include "titer/scenario/jitter.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// The rounds. As with parameter servers (E13) all goes through the server's port, but weights in
/// both directions and once in k steps; and the clients' own links may be slower (trap T13).
struct FederatedRounds {
  std::int64_t rounds = 1;
  std::int64_t clients = 1;             // N, that take part in a round
  std::int64_t local_steps = 1;         // k
  BytesPerSecond download_bandwidth{};  // b, of a client
  BytesPerSecond upload_bandwidth{};
  Seconds latency{};                    // one way
  BytesPerSecond server_bandwidth{};    // B, of the server's port, each way
  std::optional<Jitter> link_spread{};  // factors of 1 / b among the clients, the same both ways
  std::optional<BytesPerSecond>
      averaging_bandwidth{};  // the server's memory; else it takes no time

  /// What the slowest client's link is expected to take over the mean.
  [[nodiscard]] double slowest_link() const;
  /// W bytes to or from every client, until the slowest f of N links is through: a + max(f W / b,
  /// N W / B). Exact for given links under max-min fair sharing of the port: no client ever has
  /// less than the lesser of its link and B / N. Of random links it is the least that can be
  /// expected, and exact where either bound always holds.
  [[nodiscard]] Seconds transfer(Bytes weights, BytesPerSecond link) const;
  /// N W read and W written: (N + 1) W / memory bandwidth.
  [[nodiscard]] Seconds averaging(Bytes weights) const;
};

struct FederatedCourse {
  FederatedRounds rounds;
  Scenario client;  // what one client trains, and on what
};

struct FederatedResult {
  FederatedRounds rounds;
  Bytes weights{};  // of a message
  Seconds download{};
  Seconds local{};  // k steps
  Seconds upload{};
  Seconds averaging{};
  double samples = 0;                      // of all rounds and clients
  Bytes server_bytes{};                    // through its port in a round, both ways
  Seconds device_time{};                   // of all clients, waiting included
  std::optional<std::string> too_large{};  // why a client does not fit in memory

  /// At most this where links differ and the port binds: early clients leave it to the late ones.
  [[nodiscard]] Seconds round() const { return download + local + upload + averaging; }
  [[nodiscard]] Seconds total() const { return static_cast<double>(rounds.rounds) * round(); }
  [[nodiscard]] double communication_share() const { return (download + upload) / round(); }
};

/// Throws InputError where the fidelity does not go with the client.
[[nodiscard]] FederatedResult follow(const FederatedCourse& course, Fidelity fidelity);

}  // namespace titer
