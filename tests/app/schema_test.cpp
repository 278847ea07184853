// titer schema, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/input/shipped_data.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/units/blanks.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppSchema, ListsTheKindsOfFiles) {
  const Outcome kinds = titer({"schema"});
  EXPECT_EQ(kinds.code, 0);
  EXPECT_NE(kinds.out.find("\nrun "), std::string::npos) << kinds.out;
}

TEST(AppSchema, HasEveryKeyOfAPlan) {
  const Document schema = parse_json(titer({"schema", "run"}).out, "schema");
  EXPECT_EQ(schema.at("$schema")->text, "https://json-schema.org/draft/2020-12/schema");
  const Value* plan = schema.at("properties.plan.properties");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->members.size(), plan_fields().size());
  for (const Field<Plan>& field : plan_fields()) {
    const Value* key = plan->find(field.key);
    ASSERT_NE(key, nullptr) << field.key;
    EXPECT_EQ(key->find("description")->text, field.about);
    EXPECT_TRUE(key->find("default") != nullptr || key->find("x-otherwise") != nullptr ||
                field.write(Plan()).kind == Value::Kind::null)
        << field.key;
  }
}

/// A run that is another file in truth is told by a key that only the other kind has.
TEST(AppSchema, HasTheKeysThatTellOtherFilesFromRuns) {
  for (const NoRun& other : kNoRuns) {
    const std::string kind(other.kind == nullptr ? "question" : other.kind->name);
    for (const std::string_view key : words_of(other.keys)) {
      EXPECT_EQ(titer({"schema", kind, std::string(key)}).code, 0) << kind << ": " << key;
      EXPECT_EQ(titer({"schema", "run", std::string(key)}).code, 2) << key;
    }
  }
}

TEST(AppSchema, ShowsWhatStandsBelowAKey) {
  EXPECT_EQ(titer({"schema", "run", "conditions.compute_jitter", "--format", "text"}).out,
            "conditions.compute_jitter.distribution: of factors with the mean 1\n"
            "    `normal`, `lognormal`, `gamma`, `uniform` or `exponential`; if left out: "
            "required\n"
            "conditions.compute_jitter.deviation: standard deviation of the factors\n"
            "    a number from 0; if left out: required\n");
  const std::string csv = titer({"schema", "run", "formula", "--format", "csv"}).out;
  EXPECT_NE(csv.find("formula.utilization,\"u: of the devices, needed by `e7`\",a number from "
                     "1e-06 to 1,none\n"),
            std::string::npos)
      << csv;
  const std::string markdown = titer({"schema", "run", "plan", "--format", "markdown"}).out;
  EXPECT_NE(markdown.find("| `plan.offload.weights` | fetched by every pass | `host` or `nvme` | "
                          "none |\n"),
            std::string::npos)
      << markdown;
}

TEST(AppSchema, TellsWhatAWholeNeedsOfFilesThatMayStartFromAnother) {
  const std::string text = titer({"schema", "chip", "--format", "csv"}).out;
  for (const std::string_view row :
       {"name,as plans and prices name it,a text,required\n",
        "matrix.NAME.peak,dense rate of the number format,such as `312 TFLOP/s`,required\n",
        "attention.tiling.packs_groups,queries of one group of heads share tiles,`true` or "
        "`false`,`false`\n",
        "base,name or file of another that this one starts from,a text,none\n"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  const Document schema = parse_json(titer({"schema", "chip"}).out, "schema");
  EXPECT_EQ(schema.at("required"), nullptr);
  EXPECT_EQ(to_json(*schema.at("anyOf.0.required"), 0), R"(["base"])");
  EXPECT_NE(schema.at("properties.launch_floor.properties.figure"), nullptr);
}

TEST(AppSchema, KnowsPartsOfOtherPartsAndListsOfThem) {
  const auto row = [](std::string_view kind, std::string_view path) {
    return titer({"schema", std::string(kind), std::string(path), "--format", "csv"}).out;
  };
  EXPECT_NE(row("cluster", "node")
                .find("node.protocols.N.efficiency,share of the bandwidth that "
                      "it gets,a number from 1e-06 to 1,required\n"),
            std::string::npos);
  EXPECT_NE(
      row("stack", "abilities")
          .find("abilities.precision,of training,\"a list of: `fp32`, `tf32`, `fp16`, `bf16`, "
                "`fp8`, `fp4` or `int8`\",no limit\n"),
      std::string::npos);
  EXPECT_NE(row("search", "space")
                .find("space.micro_batch,b: sequences per micro-batch,an integer from 1 to "
                      "10000000; or a list of such,those that divide a replica's batch\n"),
            std::string::npos);
  const Document network = parse_json(titer({"schema", "network"}).out, "schema");
  EXPECT_NE(network.at("properties.collectives.patternProperties.^all_to_all$"), nullptr);
  EXPECT_NE(network.at("properties.protocols.items.properties.latency.properties.figure"), nullptr);
}

TEST(AppSchema, RefusesWhatIsNotThereWithTheNearest) {
  const Outcome kind = titer({"schema", "rum"});
  EXPECT_EQ(kind.code, 2);
  EXPECT_EQ(
      kind.err,
      "schema: rum: expected run, sweep, search, capacity, course, report, question, model, chip, "
      "cluster, network, topology, stack, reliability, price, grid; did you mean \"run\"?\n");
  const Outcome path = titer({"schema", "run", "plan.tenser"});
  EXPECT_EQ(path.code, 2);
  EXPECT_EQ(path.err, "plan.tenser: no key of a run file; did you mean \"plan.tensor\"?\n");
}

TEST(AppSchema, WritesThoseOfAllKindsToAFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path schemas = folder.path() / "schemas";
  EXPECT_EQ(titer({"schema", "--out", schemas.string()}).code, 0);
  EXPECT_EQ(file_text(schemas / "run.json"), titer({"schema", "run"}).out);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
