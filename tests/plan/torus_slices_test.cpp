// Slices of a torus: which there are, which one a plan takes, and what it hears where there is
// none.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string slice_of(const std::string& pod, std::int64_t chips) {
  const Cluster cluster = shipped::cluster(pod);
  const Torus* slice = cluster.torus_of(chips);
  return slice == nullptr ? "none" : torus_name(*slice);
}

/// A small model on so many chips of a cluster, sequences shared out.
ScenarioSource run_on(const std::string& cluster, std::int64_t chips) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  for (const char* change : {"model=megatron-1.7b",
                             "training.sequence=2048",
                             "training.global_batch=1024",
                             "plan={\"tensor\": 2, \"micro_batch\": 1}"}) {
    source.assign(parse_assignment(change));
  }
  source.assign(parse_assignment("cluster=" + cluster));
  source.assign(parse_assignment("plan.data=" + std::to_string(chips / 2)));
  return source;
}

Seconds time_of(const Scenario& scenario, Fidelity fidelity) {
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result);
  return result.iteration_time;
}

TEST(TorusSlices, OfCubesAreClosedAndAsCompactAsTheirNumberAllows) {
  EXPECT_EQ(slice_of("tpu-v5p-pod", 64), "4 x 4 x 4");
  EXPECT_EQ(slice_of("tpu-v5p-pod", 128), "4 x 4 x 8");
  EXPECT_EQ(slice_of("tpu-v5p-pod", 768), "8 x 8 x 12");
  EXPECT_EQ(slice_of("tpu-v5p-pod", 1024), "8 x 8 x 16");
  EXPECT_EQ(slice_of("tpu-v5p-pod", 6144), "16 x 16 x 24");
  EXPECT_EQ(slice_of("tpu-v5p-pod", 8960), "16 x 20 x 28") << "all of it";
  EXPECT_EQ(slice_of("tpu-v5p-pod", 112 * 64), "none") << "more than a job may have";
  EXPECT_EQ(slice_of("tpu-v5p-pod", 17 * 64), "none") << "an axis of 68 is too long";
  EXPECT_EQ(slice_of("tpu-v5p-pod", 96), "none") << "cubes are not split";
  EXPECT_EQ(slice_of("tpu7x-pod", 2048), "8 x 16 x 16");
}

TEST(TorusSlices, OfLessThanACubeAreOpen) {
  EXPECT_EQ(slice_of("tpu-v4-pod", 4), "1 x 2 (open) x 2 (open)");
  EXPECT_EQ(slice_of("tpu-v4-pod", 32), "2 (open) x 4 (open) x 4 (open)");
  EXPECT_EQ(slice_of("tpu-v4-pod", 1), "none");
  EXPECT_EQ(slice_of("tpu7x-pod", 1), "1 x 1 x 1");
}

TEST(TorusSlices, OfTwoDimensionsAreClosedWhereTheyGoRoundThePod) {
  EXPECT_EQ(slice_of("tpu-v5e-pod", 64), "8 (open) x 8 (open)");
  EXPECT_EQ(slice_of("tpu-v5e-pod", 128), "8 (open) x 16");
  EXPECT_EQ(slice_of("tpu-v6e-pod", 256), "16 x 16");
  EXPECT_EQ(slice_of("tpu-v3-pod", 512), "16 (open) x 32");
  EXPECT_EQ(slice_of("tpu-v2-pod", 512), "none");
}

TEST(TorusSlices, AreTakenByPlansAsIfTheRunSaidThem) {
  for (const Fidelity fidelity : {Fidelity::closed, Fidelity::event}) {
    ScenarioSource source = run_on("tpu-v5e-pod", 32);
    const Seconds taken = time_of(source.read(), fidelity);
    source.assign(parse_assignment("cluster.slice=[4, 8]"));
    EXPECT_EQ(time_of(source.read(), fidelity), taken);
    source.assign(parse_assignment("cluster.slice=[2, 16]"));
    EXPECT_NE(time_of(source.read(), fidelity), taken);
  }
}

std::string asked_slice(const std::string& pod, std::int64_t chips, const std::string& slice) {
  ScenarioSource source = run_on(pod, chips);
  source.assign(parse_assignment("cluster.slice=" + slice));
  Scenario scenario;
  source.read_unchecked(scenario);
  return torus_name(*scenario.cluster.torus());
}

/// Switches join whole cubes whoever names them; what is less than a cube has wires alone.
TEST(TorusSlices, OfCubesAreClosedWhereTheRunSaysThem) {
  EXPECT_EQ(asked_slice("tpu-v5p-pod", 1024, "[8, 8, 16]"), "8 x 8 x 16");
  EXPECT_EQ(asked_slice("tpu-v5p-pod", 256, "[4, 4, 16]"), "4 x 4 x 16");
  EXPECT_EQ(asked_slice("tpu-v5p-pod", 768, "[4, 4, 48]"), "4 x 4 x 48") << "longer than the pod";
  EXPECT_EQ(asked_slice("tpu-v5p-pod", 32, "[2, 4, 4]"), "2 (open) x 4 (open) x 4 (open)");
  EXPECT_EQ(asked_slice("tpu-v5p-pod", 1344, "[6, 8, 28]"), "6 (open) x 8 (open) x 28");
  EXPECT_EQ(asked_slice("tpu-v5e-pod", 64, "[8, 8]"), "8 (open) x 8 (open)") << "has no cubes";
  ScenarioSource taken = run_on("tpu-v5p-pod", 1024);
  ScenarioSource asked = taken;
  asked.assign(parse_assignment("cluster.slice=[8, 8, 16]"));
  EXPECT_EQ(time_of(asked.read(), Fidelity::closed), time_of(taken.read(), Fidelity::closed));
}

TEST(TorusSlices, OfCubesThatAreTooLongOrTooManyAreRefused) {
  for (const char* wrong : {"[4, 4, 68]", "[4, 4, 30]", "[8, 8]"}) {
    ScenarioSource source = run_on("tpu-v5p-pod", 1024);
    source.assign(parse_assignment(std::string("cluster.slice=") + wrong));
    try {
      Scenario scenario;
      source.read_unchecked(scenario);
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_NE(error.lines.front().find("or of cubes of 4 joined to 6144 chips at most, none "
                                         "longer than 64"),
                std::string::npos)
          << error.lines.front();
    }
  }
}

TEST(TorusSlices, FollowThePlanThatAnEstimatorSeesNext) {
  Estimator kept;
  StepResult result;
  for (const std::int64_t chips : {64, 128, 64, 256}) {
    const Scenario scenario = run_on("tpu-v5p-pod", chips).read();
    evaluate(scenario, Fidelity::closed, Changed::plan, kept, result);
    EXPECT_EQ(result.iteration_time, time_of(scenario, Fidelity::closed)) << chips;
  }
}

TEST(TorusSlices, AreSaidByTheAnswer) {
  const auto last_note = [](const ScenarioSource& source) {
    const std::vector<std::string> notes = answer_notes(source, source.read());
    return notes.empty() ? std::string() : notes.back();
  };
  EXPECT_EQ(last_note(run_on("tpu-v5p-pod", 64)),
            "64 chips of tpu-v5p-pod are its slice 4 x 4 x 4");
  EXPECT_EQ(last_note(run_on("tpu-v5e-pod", 256)).find("slice"), std::string::npos) << "all of it";
}

TEST(TorusSlices, OfNumbersThatNoneHasAreRefusedWithTheNextOnes) {
  const Cluster pod = shipped::cluster("tpu-v5e-pod");
  EXPECT_EQ(no_slice_text(pod, 64), "");
  EXPECT_EQ(no_slice_text(pod, 96),
            "expected as many chips as a slice of tpu-v5e-pod has; the next to 96: 64, 128");
  EXPECT_EQ(no_slice_text(pod, 512),
            "expected as many chips as a slice of tpu-v5e-pod has; the next to 512: 256");
  EXPECT_EQ(no_slice_text(shipped::cluster("dgx-h100"), 96), "");
  Scenario scenario;
  run_on("tpu-v5e-pod", 96).read_unchecked(scenario);
  const std::vector<Violation> found = validate(scenario);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back().path, "cluster.slice");
  EXPECT_NE(found.back().expected.find("the next to 96: 64, 128"), std::string::npos);
}

TEST(TorusSlices, AreRead) {
  const auto complaints = [](const std::string& slices) -> std::vector<std::string> {
    const Document document = parse_json(
        R"({"family": "torus", "dimensions": [8, 8], "wrap": true, "bandwidth": "50 GB/s",
            "slices": )" +
            slices + "}",
        "torus.json");
    try {
      static_cast<void>(shipped::read_all(document, read_node_topology));
    } catch (const InputError& error) {
      return error.lines;
    }
    return {};
  };
  EXPECT_TRUE(complaints(R"({"shapes": [[2, 4], [8, 4], [2, 9], [2]]})").empty())
      << "those that do not fit are of the pod before its dimensions were changed";
  for (const std::string wrong : {"[[]]", "[[0, 2]]", "[[2, 2.5]]", "[2, 2]", "4"}) {
    const std::vector<std::string> lines = complaints(R"({"shapes": )" + wrong + "}");
    ASSERT_FALSE(lines.empty()) << wrong;
    EXPECT_NE(lines.front().find("expected lists of the lengths"), std::string::npos)
        << lines.front();
  }
  EXPECT_EQ(complaints(R"({"cubes": 4})").size(), 1U) << "how long an axis may be";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
