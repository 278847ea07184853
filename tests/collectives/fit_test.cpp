#include "titer/collectives/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kTrue{.latency = 12_us, .bandwidth = 200_GBps};

/// 512 B to 512 MiB in powers of two, times of `link` with a relative error of at most `noise`.
std::vector<LinkSample> synthetic(const Link& link, int messages, double noise) {
  std::mt19937 random(7);
  std::vector<LinkSample> samples;
  for (int power = 9; power <= 29; ++power) {
    const Bytes size = Bytes::from_si(std::ldexp(1.0, power));
    const double draw = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    const Seconds time = messages * link.time(size) * (1 + noise * (2 * draw - 1));
    samples.push_back({.size = size, .time = time, .messages = messages});
  }
  return samples;
}

/// All-reduce in fp16 on 8 A100-SXM4, NCCL 2.27.3 (tables of ai-dynamo/aiconfigurator, Apache-2.0):
/// as a ring, 2 (8-1) messages of an eighth.
std::vector<LinkSample> nccl_a100() {
  const auto ring = [](Bytes size, Seconds time) {
    return LinkSample{.size = size / 8, .time = time, .messages = 2 * (8 - 1)};
  };
  return {ring(512_B, 22.6_us), ring(2_MiB, 53.7_us), ring(32_MiB, 367_us), ring(512_MiB, 4226_us)};
}

double squared_errors(const Link& link, const std::vector<LinkSample>& samples) {
  double sum = 0.0;
  for (const LinkSample& sample : samples) {
    sum += std::pow(sample.messages * link.time(sample.size) / sample.time - 1, 2);
  }
  return sum;
}

TEST(FitLink, RecoversALinkFromExactTimes) {
  for (const int messages : {1, 14}) {
    const LinkFit fit = fit_link(synthetic(kTrue, messages, 0.0));
    EXPECT_NEAR(fit.link.latency.si(), 12e-6, 1e-9 * 12e-6);
    EXPECT_NEAR(fit.link.bandwidth.si(), 200e9, 1e-9 * 200e9);
    EXPECT_LT(fit.max_error, 1e-9);
  }
}

TEST(FitLink, RecoversALinkFromTwoSizes) {
  const LinkFit fit = fit_link(std::vector<LinkSample>{{.size = 1_KiB, .time = kTrue.time(1_KiB)},
                                                       {.size = 1_GiB, .time = kTrue.time(1_GiB)}});
  EXPECT_NEAR(fit.link.latency.si(), 12e-6, 1e-12);
  EXPECT_NEAR(fit.link.bandwidth.si(), 200e9, 1.0e3);
}

TEST(FitLink, IsNotFarOffUnderNoise) {
  const LinkFit fit = fit_link(synthetic(kTrue, 1, 0.1));
  EXPECT_NEAR(fit.link.latency.si(), 12e-6, 0.05 * 12e-6);
  EXPECT_NEAR(fit.link.bandwidth.si(), 200e9, 0.1 * 200e9);
  EXPECT_GT(fit.mean_error, 0.0);
  EXPECT_GE(fit.max_error, fit.mean_error);
  EXPECT_LT(fit.max_error, 0.25);
}

TEST(FitLink, MixesNumbersOfMessages) {
  std::vector<LinkSample> samples = synthetic(kTrue, 1, 0.0);
  const std::vector<LinkSample> more = synthetic(kTrue, 30, 0.0);
  samples.insert(samples.end(), more.begin(), more.end());
  EXPECT_LT(fit_link(samples).max_error, 1e-9);
}

TEST(FitLink, ExplainsTheNcclTableOfEightA100) {
  const LinkFit fit = fit_link(nccl_a100());
  // A single alpha-beta line fits such tables to 7-21 % on average; small messages cost about
  // 22.6 us in all, and the large ones run at 222 GB/s on the bus.
  EXPECT_LT(fit.mean_error, 0.21);
  EXPECT_NEAR(14 * fit.link.latency.si(), 22.6e-6, 0.25 * 22.6e-6);
  const double bus = bus_bandwidth(Collective::all_reduce, 512_MiB, 8, 4226_us).si();
  EXPECT_NEAR(fit.link.bandwidth.si(), bus, 0.25 * bus);
}

TEST(FitLink, IsTheLeastSumOfSquaredRelativeErrors) {
  for (const auto& samples : {nccl_a100(), synthetic(kTrue, 3, 0.2)}) {
    const Link best = fit_link(samples).link;
    const double least = squared_errors(best, samples);
    for (const double a : {0.99, 1.0, 1.01}) {
      for (const double b : {0.99, 1.0, 1.01}) {
        const Link other{.latency = a * best.latency, .bandwidth = b * best.bandwidth};
        EXPECT_GE(squared_errors(other, samples), least) << a << " " << b;
      }
    }
  }
}

TEST(FitLink, ReportsTheErrorsOfItsOwnLink) {
  const std::vector<LinkSample> samples = nccl_a100();
  const LinkFit fit = fit_link(samples);
  double sum = 0.0;
  double most = 0.0;
  for (const LinkSample& sample : samples) {
    const double error = std::abs(14 * fit.link.time(sample.size) / sample.time - 1);
    sum += error;
    most = std::max(most, error);
  }
  EXPECT_DOUBLE_EQ(fit.mean_error, sum / 4);
  EXPECT_DOUBLE_EQ(fit.max_error, most);
}

TEST(FitLink, HoldsLatencyAtZeroWhenTheBestOneIsNegative) {
  // Faster per byte when small: a line through these has a negative start.
  const LinkFit fit = fit_link(
      std::vector<LinkSample>{{.size = 1_MB, .time = 1_us}, {.size = 10_MB, .time = 40_us}});
  EXPECT_EQ(fit.link.latency, Seconds{});
  // Least squares of (x / (B t) - 1) with x / t = 1e12 and 0.25e12: 1/B = sum / sum of squares.
  EXPECT_NEAR(1 / fit.link.bandwidth.si(), 1.25e12 / (1e24 + 0.0625e24), 1e-20);
}

TEST(FitLink, RefusesFewerThanTwoDistinctSizes) {
  EXPECT_THROW((void)fit_link({}), InputError);
  EXPECT_THROW((void)fit_link(std::vector<LinkSample>{{.size = 1_MB, .time = 1_us},
                                                      {.size = 1_MB, .time = 2_us}}),
               InputError);
}

TEST(FitLink, RefusesFiguresThatAreNotPositive) {
  const LinkSample good{.size = 1_MB, .time = 9_us};
  for (const LinkSample& bad : {LinkSample{.size = 2_MB, .time = Seconds{}},
                                LinkSample{.size = Bytes{}, .time = 1_us},
                                LinkSample{.size = 2_MB, .time = 1_us, .messages = 0}}) {
    EXPECT_THROW((void)fit_link(std::vector<LinkSample>{good, bad}), InputError);
  }
}

TEST(FitLink, RefusesTimesThatDoNotGrowWithTheSize) {
  EXPECT_THROW((void)fit_link(std::vector<LinkSample>{{.size = 1_MB, .time = 20_us},
                                                      {.size = 2_MB, .time = 10_us}}),
               InputError);
}

/// The faster of two links, two messages each, 64 B to 1 GiB.
std::vector<LinkSample> of_two(const Link& small, const Link& large) {
  std::vector<LinkSample> samples;
  for (int power = 6; power <= 30; ++power) {
    const Bytes size = Bytes::from_si(std::ldexp(1.0, power));
    const Seconds time = 2 * std::min(small.time(size), large.time(size));
    samples.push_back({.size = size, .time = time, .messages = 2});
  }
  return samples;
}

TEST(FitProtocols, RecoversTwoLinksFromTheirMinimum) {
  const Link small{.latency = 5_us, .bandwidth = 4_GBps};
  const Link large{.latency = 40_us, .bandwidth = 20_GBps};
  const ProtocolFit fit = fit_protocols(of_two(small, large), 25_GBps);
  ASSERT_EQ(fit.links.size(), 2U);
  EXPECT_NEAR(fit.links[0].latency.si(), 5e-6, 1e-11);
  EXPECT_NEAR(fit.links[0].bandwidth.si(), 4e9, 1e3);
  EXPECT_NEAR(fit.links[1].latency.si(), 40e-6, 1e-10);
  EXPECT_NEAR(fit.links[1].bandwidth.si(), 20e9, 1e3);
  EXPECT_LT(fit.max_error, 1e-9);
  EXPECT_EQ(fit.least, 64_B);
  EXPECT_EQ(fit.most, 1_GiB);
}

TEST(FitProtocols, NoLinkIsFasterThanTheWire) {
  const Link small{.latency = 5_us, .bandwidth = 4_GBps};
  const Link large{.latency = 40_us, .bandwidth = 20_GBps};
  const ProtocolFit fit = fit_protocols(of_two(small, large), 16_GBps);
  for (const Link& link : fit.links) {
    EXPECT_LE(link.bandwidth.si(), 16e9 * (1 + 1e-12));
  }
  // A quarter slower at large sizes, whatever the latencies.
  EXPECT_NEAR(fit.time(2, 1_GiB) / (2 * large.time(1_GiB)), 20.0 / 16, 0.01);
}

TEST(FitProtocols, OneLinkIsEnoughForOneLink) {
  const ProtocolFit fit = fit_protocols(of_two(kTrue, kTrue), 400_GBps);
  EXPECT_NEAR(fit.time(2, 1_MiB) / (2 * kTrue.time(1_MiB)), 1.0, 1e-9);
  EXPECT_LT(fit.max_error, 1e-9);
}

TEST(FitProtocols, RefusesWhatALinkRefuses) {
  EXPECT_THROW((void)fit_protocols({}, 1_GBps), InputError);
  EXPECT_THROW(
      (void)fit_protocols(std::vector<LinkSample>{{.size = 1_MB, .time = Seconds{}}}, 1_GBps),
      InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
