// titer search and titer capacity on every shipped cluster.

#include <gtest/gtest.h>

#include "plan/shipped.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A small question that a cluster can be asked: as many devices as it has slices of.
class ClusterQuestion {
 public:
  std::string cluster;
  std::int64_t devices = 16;
  std::string precision;

  [[nodiscard]] std::string search() const {
    return R"({"scenario": {)" + scenario() + R"(}, "devices": )" + std::to_string(devices) +
           R"(, "space": {"schedule": "1f1b", "micro_batch": [1, 2]}, "top": 1})";
  }
  [[nodiscard]] std::string capacity() const {
    return R"({"scenario": {)" + scenario() + R"(, "plan": {"data": )" + std::to_string(devices) +
           R"(, "sharding": "zero1"}}, "tokens": "1B", "deadline": "1000 days", "devices": [)" +
           std::to_string(devices) + "]}";
  }

 private:
  [[nodiscard]] std::string scenario() const {
    return R"("model": "llama3.2-1b", "cluster": ")" + cluster +
           R"(", "training": {"global_batch": )" + std::to_string(2 * devices) +
           R"(, "sequence": 512, "precision": ")" + precision + R"("})";
  }
};

ClusterQuestion question_of(const std::string& name) {
  const Cluster cluster = shipped::cluster(name);
  ClusterQuestion question{.cluster = name, .precision = "bf16"};
  if (const Torus* torus = cluster.torus(); torus != nullptr && torus->of(16) == nullptr) {
    question.devices = torus->devices();
  }
  if (!cluster.chip.rate(DataType::bf16)) {
    question.precision = "fp16";
  }
  return question;
}

TEST(AppEveryCluster, HasABestPlanAndDevicesForADeadline) {
  const TemporaryFolder folder;
  for (const std::string& name : shipped_names(kClusterData)) {
    const ClusterQuestion question = question_of(name);
    const Outcome found = titer({"search", folder.file(name + ".search.json", question.search())});
    EXPECT_EQ(found.code, 0) << name << ": " << found.err;
    EXPECT_TRUE(contains(found.out, "\n  best: ")) << name << ": " << found.out;
    const Outcome planned =
        titer({"capacity", folder.file(name + ".capacity.json", question.capacity())});
    EXPECT_EQ(planned.code, 0) << name << ": " << planned.err << planned.out;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
