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

/// Whether so many devices of a cluster are whole nodes, an even part of one, or a slice. Of racks
/// of several hosts that is all of their devices or nearly so: 64 of 72.
bool can_be(const Cluster& cluster, std::int64_t devices) {
  if (cluster.torus() != nullptr) {
    return cluster.torus_of(devices) != nullptr;
  }
  const int whole = cluster.devices_of_whole_node();
  const int step = cluster.whole_node ? *cluster.devices_per_host : whole;
  for (int used = whole; 9 * used >= 8 * whole; used -= step) {
    if (devices < used ? used % devices == 0 : devices % used == 0) {
      return true;
    }
  }
  return false;
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
  constexpr std::int64_t most = 131'072;
  constexpr std::array<std::int64_t, 5> eighths = {8, 9, 10, 12, 14};
  if (cluster.torus() != nullptr) {
    return slice_sizes(*cluster.torus());
  }
  const std::int64_t per_node = cluster.devices_per_node;
  const std::int64_t last = cluster.nodes ? *cluster.nodes * per_node : most;
  std::vector<std::int64_t> sizes;
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
  return sizes;
}

}  // namespace titer
