#include "capacity_devices.hpp"

#include <algorithm>
#include <array>

namespace titer {
namespace {

/// Plans share out few other numbers well.
bool is_round(std::int64_t number) {
  while (number % 2 == 0 && number > 0) {
    number /= 2;
  }
  return number <= 9;
}

/// Those of a batch that stays as it is: what divides it; with slack also round numbers of which
/// some multiple is near enough.
std::vector<std::int64_t> replicas_of_fixed(const CapacityQuestion& question) {
  constexpr std::int64_t most_replicas = 1 << 20;
  const std::int64_t batch = question.scenario.training.global_batch;
  const double room = question.batch_slack * static_cast<double>(batch);
  const auto is_near = [&](std::int64_t replicas) {
    const std::int64_t over = batch % replicas;
    return over == 0 || static_cast<double>(std::min(over, replicas - over)) <= room;
  };
  std::vector<std::int64_t> counts;
  for (std::int64_t replicas = 1; replicas <= std::min(batch, most_replicas); ++replicas) {
    if (batch % replicas == 0 || (room > 0 && is_round(replicas) && is_near(replicas))) {
      counts.push_back(replicas);
    }
  }
  return counts;
}

/// Of a batch that grows the plan's times or over powers of two.
std::vector<std::int64_t> replicas_of_scaled(const CapacityQuestion& question) {
  constexpr int most_doublings = 6;
  const std::int64_t data = question.scenario.plan.data;
  std::vector<std::int64_t> counts;
  std::int64_t smallest = data;
  for (int k = 0; k < most_doublings && smallest % 2 == 0; ++k) {
    smallest /= 2;
  }
  for (std::int64_t factor = data / smallest << most_doublings; factor > 0; factor /= 2) {
    counts.insert(counts.begin(), counted_product(smallest, factor));
  }
  return counts;
}

/// How many devices of a node plans use: all; of racks of several hosts also nearly so, 64 of 72.
std::vector<int> used_of_node(const Cluster& cluster) {
  const int whole = cluster.devices_of_whole_node();
  const int step = cluster.whole_node ? *cluster.devices_per_host : whole;
  std::vector<int> counts;
  for (int used = whole; 9 * used >= 8 * whole; used -= step) {
    counts.push_back(used);
  }
  return counts;
}

/// Whether so many devices of a cluster are whole nodes, an even part of one, or a slice.
bool can_be(const Cluster& cluster, std::int64_t devices) {
  if (cluster.torus() != nullptr) {
    return cluster.torus_of(devices) != nullptr;
  }
  return std::ranges::any_of(used_of_node(cluster), [&](int used) {
    return devices < used ? used % devices == 0 : devices % used == 0;
  });
}

/// Round slices of a torus, each a tenth larger than the one before or more, and all of it.
std::vector<std::int64_t> slice_sizes(const Torus& torus) {
  std::vector<std::int64_t> sizes;
  for (const Torus& slice : torus.slices) {
    if (is_round(slice.devices()) &&
        (sizes.empty() || 10 * std::int64_t{slice.devices()} >= 11 * sizes.back())) {
      sizes.push_back(slice.devices());
    }
  }
  sizes.push_back(torus.devices());
  return sizes;
}

/// Even parts of a node of so many devices, and 8, 9, 10, 12 and 14 times powers of two of nodes.
void add_sizes(std::int64_t per_node,
               const std::optional<std::int64_t>& nodes,
               std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t most = 131'072;
  constexpr std::array<std::int64_t, 5> eighths = {8, 9, 10, 12, 14};
  const std::int64_t last = nodes ? *nodes * per_node : most;
  for (std::int64_t devices = 1; devices < per_node; ++devices) {
    if (per_node % devices == 0) {
      sizes.push_back(devices);
    }
  }
  for (std::int64_t octave = 1; octave * per_node <= last; octave *= 2) {
    for (const std::int64_t part : eighths) {
      const std::int64_t devices = octave * part / 8 * per_node;
      if (octave * part % 8 == 0 && devices <= last) {
        sizes.push_back(devices);
      }
    }
  }
}

}  // namespace

std::vector<std::int64_t> default_devices(const CapacityQuestion& question) {
  const Plan& plan = question.scenario.plan;
  const std::int64_t of_replica =
      counted_product(counted_product(plan.tensor, plan.context), plan.pipeline);
  std::vector<std::int64_t> counts;
  for (const std::int64_t replicas : question.batch == BatchRule::fixed
                                         ? replicas_of_fixed(question)
                                         : replicas_of_scaled(question)) {
    const std::int64_t devices = counted_product(replicas, of_replica);
    if (can_be(question.scenario.cluster, devices) && devices <= kMostAskedDevices) {
      counts.push_back(devices);
    }
  }
  return counts;
}

std::vector<std::int64_t> usual_sizes(const Cluster& cluster) {
  if (cluster.torus() != nullptr) {
    return slice_sizes(*cluster.torus());
  }
  std::vector<std::int64_t> sizes;
  for (const int used : used_of_node(cluster)) {
    if (used == cluster.devices_of_whole_node() || is_round(used)) {
      add_sizes(used, cluster.nodes, sizes);
    }
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace titer
