#include "titer/collectives/nccl/nccl_tables.hpp"

#include <array>

namespace titer {
namespace {

using ByProtocol = std::array<double, kNcclProtocols>;        // LL, LL128, Simple
using ByAlgorithm = std::array<ByProtocol, kNcclAlgorithms>;  // in the order of NcclAlgorithm
using ByNodes = std::array<double, 3>;                        // 1, 2, more nodes
using ByGeneration = std::array<ByNodes, 4>;                  // Volta, Ampere, Hopper, Blackwell

constexpr ByProtocol kNone = {0.0, 0.0, 0.0};

// Grouped sends and receives borrow the ring's figures: one kernel, one hop.
constexpr ByAlgorithm kBase = {{{6.6, 14.0, 8.4},
                                {6.8, 14.0, 8.4},
                                kNone,
                                kNone,
                                kNone,
                                kNone,
                                {8.0, 8.0, 8.0},
                                {6.6, 14.0, 8.4}}};

constexpr std::array<ByAlgorithm, 3> kHops = {{
    {{{0.6, 1.9, 3.4},
      {0.6, 1.25, 4.0},
      {0.0, 0.0, 3.7},
      {0.0, 0.0, 2.8},
      {0.0, 0.0, 25.0},
      {0.0, 0.0, 25.0},
      {0.0, 0.0, 4.0},
      {0.6, 1.9, 3.4}}},
    {{{1.0, 2.5, 5.7},
      {1.0, 1.9, 4.0},
      {0.0, 0.0, 3.7},
      {0.0, 0.0, 2.8},
      kNone,
      kNone,
      {0.0, 0.0, 4.0},
      {1.0, 2.5, 5.7}}},
    {{{2.7, 4.0, 14.0},
      {5.0, 8.5, 14.0},
      {0.0, 0.0, 31.0},
      {0.0, 0.0, 30.0},
      {0.0, 0.0, 18.0},
      {0.0, 0.0, 20.9},
      {0.0, 0.0, 14.0},
      {2.7, 4.0, 14.0}}},
}};

constexpr ByGeneration kLlCap = {
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr ByGeneration kRingLl128 = {
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr ByGeneration kTreeLl128 = {
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr ByGeneration kTreeSimple = {
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr ByGeneration kNvlsTree = {
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};

// One column per power of two from 64 B on.
constexpr std::array<std::array<double, 24>, kNcclProtocols> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

constexpr std::array kIntra = {40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
constexpr std::array kInter = {
    48., 30., 28., 24., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3., 2.4, 1.2, .24, .12};
constexpr std::array kIntraHopper = {60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
constexpr std::array kInterHopper = {
    48., 45., 42., 40., 30., 24., 22., 20., 17.5, 15., 12., 6., 3., 2.4, 1.2, 0.24, .12};
constexpr std::array kIntraBlackwell = {90., 80., 70., 60., 50., 45., 40., 30., 24., 20., 19., 18.};
constexpr std::array kInterBlackwell = {
    96., 80., 48., 45.1, 42., 40., 30., 24., 22., 20., 17.5, 15., 12., 6., 3., 2.4, 1.2, .24, .12};

template <class Enum>
constexpr std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

constexpr std::size_t column(int nodes) {
  return nodes <= 2 ? static_cast<std::size_t>(nodes - 1) : 2;
}

BytesPerSecond gigabytes(double value) { return BytesPerSecond::from_si(value * 1e9); }
Seconds microseconds(double value) { return Seconds::from_si(value * 1e-6); }

/// Simple between nodes, where releases differ; releases that nobody has read count as the nearest
/// older one that somebody has.
double network_simple_hop(NcclAlgorithm algorithm, int minor) {
  const bool tree = algorithm == NcclAlgorithm::tree;
  if (tree && (minor < 18 || minor == 21 || minor == 22)) {
    return 28.0;
  }
  if (!tree && minor < 18) {
    return minor < 12 ? 9.6 : 28.0;
  }
  return 14.0;
}

}  // namespace

Seconds nccl_base_latency(NcclAlgorithm algorithm, NcclProtocol protocol, NcclVersion version) {
  if (version.minor < 18 && protocol == NcclProtocol::ll) {
    if (algorithm == NcclAlgorithm::tree) {
      return microseconds(4.4);
    }
    if (algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::p2p) {
      return microseconds(3.6);
    }
  }
  return microseconds(kBase[index(algorithm)][index(protocol)]);
}

Seconds nccl_hop_latency(NcclMedium medium,
                         NcclAlgorithm algorithm,
                         NcclProtocol protocol,
                         NcclVersion version) {
  const bool changed = algorithm == NcclAlgorithm::tree || algorithm == NcclAlgorithm::ring ||
                       algorithm == NcclAlgorithm::p2p;
  if (medium == NcclMedium::network && protocol == NcclProtocol::simple && changed) {
    return microseconds(network_simple_hop(algorithm, version.minor));
  }
  return microseconds(kHops[index(medium)][index(algorithm)][index(protocol)]);
}

BytesPerSecond nccl_ll_cap(GpuGeneration generation, CpuVendor cpu, int nodes) {
  const std::size_t row = nodes == 1 ? index(generation) : index(cpu);
  return gigabytes(kLlCap[row][column(nodes)]);
}

NcclChannelCaps nccl_channel_caps(GpuGeneration generation, int nodes) {
  const auto cap = [&](const ByGeneration& table) {
    return gigabytes(table[index(generation)][column(nodes)]);
  };
  return {.ring_ll128 = cap(kRingLl128),
          .tree_ll128 = cap(kTreeLl128),
          .tree_simple = cap(kTreeSimple),
          .nvls_tree = cap(kNvlsTree)};
}

double nccl_nvls_efficiency(GpuGeneration generation) {
  constexpr std::array<double, 4> efficiency = {0.0, 0.0, 0.85, 0.74};
  return efficiency[index(generation)];
}

double nccl_tree_correction(NcclProtocol protocol, Bytes size) {
  const double units = size.si() / 64.0;
  if (units < 1.0) {
    return 1.0;
  }
  const int power = std::ilogb(units);
  const auto& row = kTreeCorrection[index(protocol)];
  return power < static_cast<int>(row.size()) ? row[static_cast<std::size_t>(power)] : 1.0;
}

BytesPerSecond nccl_link_rate(GpuGeneration generation) {
  constexpr std::array<double, 4> rate = {20.0, 20.0, 20.6, 40.1};
  return gigabytes(rate[index(generation)]);
}

std::span<const double> nccl_speeds(GpuGeneration generation, bool between_nodes) {
  switch (generation) {
    case GpuGeneration::volta:
    case GpuGeneration::ampere:
      return between_nodes ? std::span<const double>(kInter) : kIntra;
    case GpuGeneration::hopper:
      return between_nodes ? std::span<const double>(kInterHopper) : kIntraHopper;
    case GpuGeneration::blackwell:
      return between_nodes ? std::span<const double>(kInterBlackwell) : kIntraBlackwell;
  }
  return kIntra;
}

}  // namespace titer
