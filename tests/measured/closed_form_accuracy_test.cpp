// What algorithms added to the accuracy on measured tables, from a mebibyte up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "paths.hpp"
#include "plan/shipped.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/measured/collective/measured_collective.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;
const fs::path kTables = testing::root() / "tests/data/measured/collectives";

struct Table {
  std::string cluster;
  std::string name;
  double mean = 0.0;
  double most = 0.0;
  std::optional<int> nics{};  // of the machine measured, where it has fewer
};

struct Errors {
  double mean = 0.0;
  double most = 0.0;
  int rows = 0;
};

Group group_of(const MeasuredCollective& measured) {
  const int nodes = measured.nodes.value();
  return {.per_node = measured.ranks.value() / nodes, .nodes = nodes};
}

/// Of `predict` (MeasuredCollective, Bytes, Group, Fabric -> Seconds).
template <class Predict>
Errors errors_of(const Table& table, Predict predict) {
  Cluster cluster = shipped::cluster(table.cluster);
  cluster.nics = table.nics.value_or(cluster.nics);
  const MeasuredCollective measured = load_collective_table(kTables / (table.name + ".csv"));
  const Group group = group_of(measured);
  const Fabric fabric = cluster.fabric(group.per_node, 1);
  Errors errors;
  for (const MeasuredSize& row : measured.sizes) {
    if (row.size >= 1_MiB) {
      const Seconds time = predict(measured, row.size, group, fabric);
      const double error = std::abs(time / *row.time() - 1.0);
      errors.mean += error;
      errors.most = std::max(errors.most, error);
      ++errors.rows;
    }
  }
  errors.mean /= errors.rows;
  return errors;
}

Errors errors_of(const Table& table) {
  return errors_of(
      table,
      [](const MeasuredCollective& measured, Bytes size, const Group& group, const Fabric& fabric) {
        return collective_time(measured.collective.value(), size, group, fabric).time;
      });
}

// What libraries had here before rings on every rail and reduction in the switch.
using OneRingAtATime = AlgorithmsOf<DisjointRingsAllReduce, RingAllReduce, HierarchicalAllReduce>;

TEST(ClosedFormAccuracy, RailsAndSwitchesHalveTheErrorOfRingsOnePerTier) {
  for (const Table& table : {Table{"dgx-a100-80gb", "allreduce_2n_ndv4_a100_rdma"},
                             {"dgx-a100-80gb", "allreduce_2n_nda100v4_hdr8"},
                             {"dgx-a100-80gb", "allreduce_2n_a100_gcm_large"},
                             {"dgx-a100-40gb", "allreduce_2n_nda100v4_40_hdr8_large"},
                             {"dgx-a100-40gb", "allreduce_2n_oci_a100_40_roce_large"},
                             {"dgx-h100", "allreduce_96gpu_h100_sharp_ndr_large"},
                             {"dgx-h100", "allreduce_1n8gpu_h100_sxm_aiconf"},
                             {"dgx-h200", "allreduce_1n8gpu_h200_sxm_aiconf"},
                             {"dgx-h100", "allreduce_1n_p5_h100_aws"},
                             {"dgx-h200", "allreduce_1n8gpu_h200_mleng"}}) {
    const Errors without = errors_of(
        table, [](const MeasuredCollective&, Bytes size, const Group& group, const Fabric& fabric) {
          return fastest<OneRingAtATime>(size, group, fabric).time;
        });
    EXPECT_LT(errors_of(table).mean, 0.5 * without.mean) << table.name;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
