// `titer collective` beside NCCL's rules and beside measured times, and on other networks.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/program.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Of the first row.
std::string cell(const std::vector<std::vector<std::string>>& rows, const std::string& column) {
  for (std::size_t i = 0; i < rows.at(0).size(); ++i) {
    if (rows[0][i] == column) {
      return rows.at(1).at(i);
    }
  }
  return "no such column";
}

std::vector<std::string> eight_a100(std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      "collective", "--cluster", "dgx-a100-80gb", "--op", "all_reduce", "--ranks", "0-7"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// What all_reduce_perf prints for so many ranks: t = 20 us + S / (100 GB/s).
std::string nccl_tests_output(int ranks) {
  std::string text =
      "#                                                              out-of-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       \n";
  const double factor = 2.0 * (ranks - 1) / ranks;
  for (double size = 1 << 20; size <= 1 << 28; size *= 2) {
    const double us = 20 + size / 100e3;
    const double algbw = size / us * 1e-3;
    text += std::to_string(static_cast<long>(size)) + " " +
            std::to_string(static_cast<long>(size) / 4) + " float sum -1 " + std::to_string(us) +
            " " + std::to_string(algbw) + " " + std::to_string(algbw * factor) + " 0\n";
  }
  return text;
}

TEST(AppMeasured, ShowsTheCurveBesideThePrediction) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all_reduce.txt").string();
  std::ofstream(path) << nccl_tests_output(8);
  const Outcome one =
      titer(eight_a100({"--bytes", "100MB", "--measured", path, "--format", "csv"}));
  EXPECT_EQ(one.code, 0) << one.err;
  const auto rows = parse_csv(one.out);
  EXPECT_NEAR(std::stod(cell(rows, "measured_time_s")), 20e-6 + 100e6 / 100e9, 1e-6) << one.out;
  EXPECT_EQ(cell(rows, "measured_grade"), "fitted");
  const Outcome beyond =
      titer(eight_a100({"--bytes", "1GiB", "--measured", path, "--format", "csv"}));
  EXPECT_EQ(cell(parse_csv(beyond.out), "measured_grade"), "extrapolated");
  const Outcome sweep = titer(eight_a100({"--bytes", "1MiB", "--to", "4MiB", "--measured", path}));
  EXPECT_TRUE(has(sweep.out, "measured (us)  error (%)")) << sweep.out;
}

TEST(AppMeasured, HasTheSizesWhereNoneAreGiven) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all_reduce.txt").string();
  std::ofstream(path) << nccl_tests_output(8);
  for (const bool library : {false, true}) {
    std::vector<std::string> more = {"--measured", path, "--format", "csv"};
    if (library) {
      more.insert(more.end(), {"--library", "nccl"});
    }
    const Outcome outcome = titer(eight_a100(more));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto rows = parse_csv(outcome.out);
    ASSERT_EQ(rows.size(), 1 + 9U) << "1 MiB to 256 MiB";
    EXPECT_EQ(cell(rows, "bytes"), "1048576");
    EXPECT_NEAR(std::stod(cell(rows, "measured_time_s")), 20e-6 + 1048576 / 100e9, 1e-6);
  }
  EXPECT_EQ(titer(eight_a100({"--measured", path, "--to", "1GiB"})).code, 2);
  const Outcome none = titer(eight_a100({}));
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "--bytes: expected the full result")) << none.err;
}

/// No curve goes through two times that scatter, and none through fewer than four sizes.
TEST(AppMeasured, ShowsOfItsOwnSizesWhatWasMeasured) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all_reduce.txt").string();
  std::ofstream(path) << "#       size         count      type   redop    root     time   algbw\n"
                         "#        (B)    (elements)                               (us)  (GB/s)\n"
                         "1048576 262144 float sum -1 100.0 10.49\n"
                         "1048576 262144 float sum -1 120.0 8.74\n"
                         "2097152 524288 float sum -1 300.0 6.99\n";
  const auto rows = parse_csv(titer(eight_a100({"--measured", path, "--format", "csv"})).out);
  ASSERT_EQ(rows.size(), 1 + 2U);
  EXPECT_NEAR(std::stod(cell(rows, "measured_time_s")), (100e-6 + 120e-6) / 2, 1e-12);
  EXPECT_EQ(cell(rows, "measured_grade"), "measured");
  const Outcome one = titer(eight_a100({"--bytes", "2MiB", "--measured", path}));
  EXPECT_TRUE(has(one.out, "300 us, measured; the prediction is off by ")) << one.out;
}

TEST(AppMeasured, StandsBesideWhatTheLibraryWouldTake) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all_reduce.txt").string();
  std::ofstream(path) << nccl_tests_output(8);
  const std::vector<std::string> asked = {
      "--bytes", "1MiB", "--to", "4MiB", "--library", "nccl", "--measured", path};
  const Outcome text = titer(eight_a100(asked));
  EXPECT_TRUE(has(text.out, "measured  error (%)")) << text.out;
  std::vector<std::string> in_json = asked;
  in_json.insert(in_json.end(), {"--format", "json"});
  EXPECT_TRUE(has(titer(eight_a100(in_json)).out, "\"measured_time_s\": "));
  std::ofstream(path) << "# all_reduce_perf\n" << nccl_tests_output(4);
  EXPECT_EQ(titer(eight_a100(asked)).code, 2) << "measured on four ranks";
}

TEST(AppMeasured, RefusesTheTimesOfAnotherCollectiveOrGroup) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all_reduce.txt").string();
  std::ofstream(path) << "# all_reduce_perf\n" << nccl_tests_output(4);
  const Outcome outcome = titer(eight_a100({"--bytes", "1MiB", "--measured", path}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, "is of 4 ranks, not 8")) << outcome.err;
  EXPECT_EQ(titer(eight_a100({"--bytes", "1MiB", "--measured", "nowhere.txt"})).code, 2);
}

TEST(AppLibrary, ShowsWhatNcclWouldTakeAndWhy) {
  const Outcome outcome = titer(eight_a100({"--bytes", "64MiB", "--library", "nccl"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "by the rules of NCCL's tuner")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "as NCCL sees the cluster (`library` of its file")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "taken")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "ring")) << outcome.out;
  const Outcome csv = titer(
      eight_a100({"--bytes", "1KiB", "--to", "1GiB", "--library", "nccl", "--format", "csv"}));
  EXPECT_TRUE(
      has(csv.out, "asked,cluster,op,devices,bytes,time_s,algorithm,protocol,channels,notes\n"))
      << csv.out;
  EXPECT_TRUE(has(csv.out, ",all-reduce,0-7,1024,")) << csv.out;
}

TEST(AppLibrary, RefusesLibrariesAndClustersThatItDoesNotKnow) {
  EXPECT_TRUE(has(titer(eight_a100({"--bytes", "1MiB", "--library", "mpi"})).err,
                  "--library: mpi: expected nccl"));
  const Outcome torus = titer({"collective",
                               "--cluster",
                               "tpu-v3-pod",
                               "--op",
                               "all_reduce",
                               "--bytes",
                               "1MiB",
                               "--ranks",
                               "0-31",
                               "--library",
                               "nccl"});
  EXPECT_EQ(torus.code, 2);
  EXPECT_TRUE(has(torus.err, "tpu-v3-pod has no \"library\" object")) << torus.err;
}

double seconds_over(const std::string& network) {
  const Outcome outcome = titer({"collective",
                                 "--cluster",
                                 "dgx-a100-80gb",
                                 "--op",
                                 "all_reduce",
                                 "--bytes",
                                 "64MiB",
                                 "--ranks",
                                 "0-15:8",
                                 "--set",
                                 "cluster.network=" + network,
                                 "--format",
                                 "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t at = outcome.out.find("\"time_s\": ");
  return at == std::string::npos ? 0.0 : std::stod(outcome.out.substr(at + 10));
}

// F19: effective bandwidth depends on the network's protocol.
TEST(F19_EffectiveBandwidth, OfTcpIsBelowRoceAndInfiniBand) {
  const double tcp = seconds_over("tcp-sockets-25g");
  const double roce = seconds_over("rocev2-400g");
  const double infiniband = seconds_over("infiniband-hdr-8x200g");
  EXPECT_GT(tcp, 2 * infiniband);
  EXPECT_GT(tcp, 2 * roce);
}

TEST(AppNetwork, OfAnUnknownNameIsRefusedWithASuggestion) {
  const Outcome outcome =
      titer(eight_a100({"--bytes", "1MiB", "--set", "cluster.network=rocev2-400"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, "did you mean \"rocev2-400g\"?")) << outcome.err;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
