// The machine of a measured run on slices of a torus.

#include <fmt/format.h>

#include <algorithm>

#include "titer/measured/run_machine.hpp"

namespace titer {
namespace {

constexpr std::int64_t kLargestHost = 8;  // chips of one host of a slice
constexpr std::int64_t kUsualHost = 4;

/// A host is no slice by itself; one of eight chips may be where a network is said to join them.
bool is_host(const RunRow& row, std::int64_t devices) {
  return devices <= (row.says("inter_link", "DCN") ? kUsualHost : kLargestHost);
}

constexpr std::int64_t kLargestNode = 1024;  // devices that a node's switch may join

}  // namespace

std::int64_t RunMachines::slice_of(const RunRow& row, const std::string& chip) {
  const std::int64_t chips = row.chips();
  const std::int64_t devices = row.whole("chips_per_node", 8);
  if (const auto noted = noted_slice(row)) {
    return *noted;
  }
  const bool is_one = row.says("inter_link", "single slice") ||
                      (row.says("inter_link", "ICI") && !row.says("inter_link", "DCN"));
  if (is_one || chips <= devices) {
    return std::max(chips, devices);
  }
  const std::vector<Shipped>& pods = of_chip(chip);
  const auto hands_out = [&](std::int64_t slice) {
    return std::ranges::any_of(
        pods, [&](const Shipped& pod) { return pod.cluster.torus_of(slice) != nullptr; });
  };
  for (std::int64_t slices = 1; is_host(row, devices) && slices <= chips / devices; ++slices) {
    if (chips % slices == 0 && hands_out(chips / slices)) {
      return chips / slices;
    }
  }
  return devices;
}

std::vector<RunMachine> RunMachines::of_torus(const RunRow& row, const std::string& chip) {
  const std::int64_t slice = slice_of(row, chip);
  std::vector<RunMachine> machines;
  const Shipped* smallest = nullptr;
  for (const Shipped& one : of_chip(chip)) {
    const Cluster& cluster = one.cluster;
    if (cluster.torus() == nullptr) {
      if (slice <= kLargestNode) {
        machines.push_back(switched_node(one.name, cluster, slice));
      }
    } else if (cluster.torus_of(slice) != nullptr &&
               (smallest == nullptr || one.devices() < smallest->devices())) {
      smallest = &one;
    }
  }
  if (smallest != nullptr && row.chips() <= slice) {
    machines.insert(machines.begin(), {.cluster = smallest->name});
  }
  if (machines.empty()) {
    throw InputError(fmt::format("{} chips are no slice of {}", slice, row.text("hw_key")));
  }
  return machines;
}

}  // namespace titer
