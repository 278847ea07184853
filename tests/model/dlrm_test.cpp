#include "titer/model/dlrm/dlrm.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "paths.hpp"
#include "titer/engine/engine.hpp"
#include "titer/input/file.hpp"
#include "titer/model/dlrm/dlrm_times.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Dlrm read(const Document& document) {
  Problems problems;
  Reader in(document, problems);
  Dlrm model = read_dlrm(in);
  problems.raise();
  return model;
}

Dlrm shipped(const std::string& name) {
  return read(load_json(testing::root() / "models" / (name + ".json")));
}

/// Widths of four, tables of eight columns.
Dlrm small(std::vector<EmbeddingTable> tables) {
  return {.name = "small",
          .dense_features = 4,
          .bottom = {16, 8},
          .top = {32, 1},
          .dim = 8,
          .tables = std::move(tables)};
}

TEST(Dlrm, HasTheParametersOfThePublishedModels) {
  const Dlrm terabyte = shipped("dlrm-criteo-1tb");
  // 27 vectors interact: 27 x 26 / 2 products beside the bottom MLP's 128 values.
  EXPECT_EQ(terabyte.interaction_width(), 351 + 128);
  const DlrmParameters count = dlrm_parameters(terabyte);
  EXPECT_EQ(count.bottom, 14 * 512 + 513 * 256 + 257 * 128);
  EXPECT_EQ(count.top, 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257);
  EXPECT_EQ(count.tables, std::int64_t{187'767'399} * 128);
  EXPECT_EQ(parameters(terabyte), 24'034'227'072 + 171'392 + 2'197'505);
  EXPECT_EQ(parameters(shipped("dlrm-criteo-kaggle")),
            33'762'577LL * 16 + (14 * 512 + 513 * 256 + 257 * 64 + 65 * 16) +
                ((16 + 351 + 1) * 512 + 513 * 256 + 257));
}

TEST(Dlrm, CountsTheProductsOfItsMlpsAndOfAllPairsOfVectors) {
  const Dlrm model = small({{.rows = 100}, {.rows = 10}});
  EXPECT_EQ(model.interaction_width(), 8 + 3);
  const DlrmFlops flops = forward_flops(model);
  EXPECT_EQ(flops.bottom.si(), 2.0 * (4 * 16 + 16 * 8));
  EXPECT_EQ(flops.interaction.si(), 2.0 * 3 * 3 * 8);
  EXPECT_EQ(flops.top.si(), 2.0 * (11 * 32 + 32 * 1));
  EXPECT_EQ(flops.total(), flops.bottom + flops.interaction + flops.top);
}

// Of two devices, 100 samples each, fp32 throughout: a vector has 8 x 4 bytes, an index 8.
constexpr DlrmBatch kBatch{.devices = 2, .samples = 200, .type = DataType::fp32};

TEST(TableLoad, OfWholeTablesIsThatOfTheDeviceThatHasMost) {
  const Dlrm model = small({{.rows = 1000, .pooling = 3}, {.rows = 50, .pooling = 2}, {.rows = 7}});
  // The first one on a device, the others on the other: as many look-ups, more vectors.
  const TableLoad load = table_load(model, kBatch);
  EXPECT_EQ(load.lookup.si(), 200 * 3 * (32 + 8) + 2 * 200 * 32);
  EXPECT_EQ(load.update.si(), 200 * 3 * (2 * 32 + 8) + 2 * 200 * 32);
  EXPECT_EQ(load.all_to_all.si(), 2 * 200 * 32);
  EXPECT_EQ(load.reduce_scatter, Bytes{});
}

TEST(TableLoad, OfColumnsIsThatOfNarrowerTables) {
  const Dlrm model =
      small({{.rows = 1000, .pooling = 3, .placement = TablePlacement::column_wise, .parts = 2}});
  const TableLoad load = table_load(model, kBatch);
  EXPECT_EQ(load.lookup.si(), 200 * 3 * (16 + 8) + 200 * 16);
  EXPECT_EQ(load.all_to_all.si(), 200 * 16);
  const Dlrm whole = small({{.rows = 1000, .pooling = 3}});
  EXPECT_EQ(table_load(whole, kBatch).all_to_all.si(), 200 * 32);
}

TEST(TableLoad, OfRowsIsSharedByAllButForTheSums) {
  Dlrm model = small({{.rows = 1000, .pooling = 3, .placement = TablePlacement::row_wise}});
  const TableLoad load = table_load(model, kBatch);
  EXPECT_EQ(load.lookup.si(), 100 * 3 * (32 + 8) + 200 * 32);
  EXPECT_EQ(load.update.si(), 100 * 3 * (2 * 32 + 8) + 200 * 32);
  EXPECT_EQ(load.reduce_scatter.si(), 200 * 32);
  EXPECT_EQ(load.all_to_all, Bytes{});
  model.row_wise_adagrad = true;
  EXPECT_EQ(table_load(model, kBatch).update.si(), 100 * 3 * (2 * (32 + 4) + 8) + 200 * 32);
}

TEST(TableLoad, OfTablesOnEveryDeviceIsAGradientAsLargeAsThem) {
  const Dlrm model =
      small({{.rows = 1000, .pooling = 3, .placement = TablePlacement::data_parallel}});
  const TableLoad load = table_load(model, kBatch);
  EXPECT_EQ(load.lookup.si(), 100 * 3 * (32 + 8) + 100 * 32);
  EXPECT_EQ(load.all_to_all, Bytes{});
}

TEST(TableLoad, HandsOutAsManyBytesAsItReceivesWhereTablesAreAlike) {
  for (const int devices : {1, 2, 8, 64}) {
    const Dlrm model = small(std::vector<EmbeddingTable>(64, {.rows = 1000}));
    const DlrmBatch batch{.devices = devices, .samples = 6400};
    EXPECT_DOUBLE_EQ(table_load(model, batch).all_to_all.si(), 6400.0 / devices * 64 * 32);
  }
  EXPECT_THROW((void)table_load(small({{.rows = 1}}), {.devices = 0, .samples = 1}), Defect);
}

DlrmTimes random_times(std::mt19937& random) {
  const auto time = [&] { return to_seconds(static_cast<Ticks>(random() % 1000)); };
  return {.bottom_forward = time(),
          .lookup = time(),
          .all_to_all_forward = time(),
          .interaction_forward = time(),
          .top_forward = time(),
          .top_backward = time(),
          .interaction_backward = time(),
          .all_to_all_backward = time(),
          .update = time(),
          .bottom_backward = time(),
          .top_all_reduce = time(),
          .bottom_all_reduce = time()};
}

// E1 (and trap T31): the formula is the critical path of its tasks, whatever they take.
TEST(E1_CriticalPath, IsWhatTheTasksTake) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const DlrmTimes times = random_times(random);
    const Timeline timeline = run(dlrm_graph(times));
    EXPECT_EQ(timeline.makespan, to_ticks(total_time(times)));
  }
}

TEST(E1_CriticalPath, HidesTheShorterBranch) {
  const DlrmTimes times{.bottom_forward = 3_us,
                        .lookup = 2_us,
                        .all_to_all_forward = 4_us,
                        .interaction_forward = 1_us,
                        .top_forward = 5_us,
                        .top_backward = 10_us,
                        .interaction_backward = 2_us,
                        .all_to_all_backward = 4_us,
                        .update = 3_us,
                        .bottom_backward = 6_us,
                        .top_all_reduce = 8_us,
                        .bottom_all_reduce = 1_us};
  EXPECT_DOUBLE_EQ(forward_time(times).si(), (2 + 4 + 1 + 5) * 1e-6);
  EXPECT_DOUBLE_EQ(backward_time(times).si(), (10 + 2 + 4 + 3) * 1e-6);
}

TEST(DlrmBlocks, DoTheFlopsAndHoldTheParametersOfTheModel) {
  Dlrm model = shipped("dlrm-criteo-1tb");
  model.tables[8].placement = TablePlacement::data_parallel;
  model.tables[9].placement = TablePlacement::row_wise;
  const Slice slice{.micro_batch = 512, .sequence = 1, .type = DataType::bf16, .expert = 8};
  ModelBlocks blocks;
  list_blocks(model, slice, blocks);
  ParameterCount count;
  double flops = 0;
  double gradient_flops = 0;
  for (const Block& block : blocks.kinds) {
    count += block.parameters;
    for (const Operation& op : block.operations) {
      flops += op.forward.flops.si();
      gradient_flops += (op.input_gradient.flops + op.weight_gradient.flops).si();
    }
  }
  EXPECT_EQ(count.total(), parameters(model));
  EXPECT_EQ(count.experts, dlrm_parameters(model).tables - 63 * 128);
  EXPECT_DOUBLE_EQ(flops, 512 * forward_flops(model).total().si());
  EXPECT_DOUBLE_EQ(gradient_flops, 2 * flops - 2.0 * 512 * 13 * 512);
  ASSERT_EQ(blocks.order.size(), blocks.kinds.size());
  const TableLoad load =
      table_load(model, {.devices = 8, .samples = 8 * 512.0, .type = DataType::bf16});
  const Operation& lookup = blocks.kinds[0].operations[0];
  EXPECT_EQ(lookup.forward.bytes, load.lookup);
  EXPECT_FALSE(lookup.forward_transfer.exists());
  // E1: the exchange is beside the bottom MLP, of 13 x 512, 512 x 256 and 256 x 64.
  const OperationList& bottom = blocks.kinds[2].operations;
  ASSERT_EQ(bottom.size(), 3U);
  for (const Transfer& exchange : {bottom[1].forward_transfer, bottom[1].backward_transfer}) {
    EXPECT_EQ(exchange.size, load.all_to_all);
    EXPECT_EQ(exchange.group, LayerGroup::expert);
  }
  EXPECT_TRUE(bottom[1].beside && !bottom[0].beside && !bottom[2].beside);
  EXPECT_EQ(blocks.kinds[0].operations[1].forward_transfer.size, load.reduce_scatter);
}

std::string model_text(const std::string& tables, const std::string& bottom = "[16, 8]") {
  return R"({"name": "x", "dense_features": 4, "dim": 8, "bottom": )" + bottom +
         R"(, "top": [4, 1], "tables": )" + tables + "}";
}

TEST(ReadDlrm, WritesTablesAlikeOnce) {
  const Dlrm model = read(parse_json(model_text(R"([{"rows": 10, "count": 3, "pooling": 2.5},
                     {"rows": 20, "placement": "column-wise", "parts": 4}])"),
                                     "model.json"));
  ASSERT_EQ(model.tables.size(), 4U);
  EXPECT_EQ(model.tables[2].rows, 10);
  EXPECT_EQ(model.tables[2].pooling, 2.5);
  EXPECT_EQ(model.tables[2].placement, TablePlacement::table_wise);
  EXPECT_EQ(model.tables[3].parts, 4);
}

TEST(ReadDlrm, SaysWhatIsWrongInALineEach) {
  const std::string widths = "expected the layers' widths: a list of integers from 1 to 1000000";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {model_text(R"([{"rows": 0}])"),
       "100: tables.0.rows: 0: expected an integer from 1 to 1000000000000"},
      {model_text(R"([{"rows": 1, "placement": "diagonal"}])"),
       "116: tables.0.placement: \"diagonal\": expected one of: table-wise, row-wise, "
       "column-wise, data-parallel"},
      {model_text(R"([{"rows": 1, "placement": "column-wise"}])"),
       "91: tables.0.parts: missing; expected an integer from 1 to 1000000"},
      {model_text(R"([{"rows": 1, "placement": "column-wise", "parts": 3}])"),
       "140: tables.0.parts: 3: expected a divisor of the 8 columns"},
      {model_text(R"([{"rows": 1, "parts": 2}])"),
       "112: tables.0.parts: 2: expected none: only a \"column-wise\" table has parts"},
      {model_text(R"([{"rows": 1, "count": 100000}, {"rows": 1}])"),
       "90: tables: [{\"rows\":1,\"count\":100000},{\"rows\":1}]: expected at most 100000 tables"},
      {model_text(R"([{"rows": 1000000000000, "count": 100000}])", "[8]"),
       "86: tables: [{\"rows\":1000000000000,\"count\":100000}]: expected at most 1e+17 "
       "parameters"},
      {model_text("7"), "90: tables: 7: expected an array of objects"},
      {model_text("[]"), "90: tables: []: expected a table at least"},
      {model_text(R"([{"rows": 1}])", "[16, 4]"),
       "56: bottom: [16,4]: expected a last width of 8, that of the tables' vectors (\"dim\")"},
      {model_text(R"([{"rows": 1}])", "[]"), "56: bottom: []: " + widths},
      {model_text(R"([{"rows": 1}])", "[16, 8.5]"), "56: bottom: [16,8.5]: " + widths},
  };
  for (const auto& [text, line] : cases) {
    try {
      (void)read(parse_json(text, "model.json"));
      ADD_FAILURE() << "nothing wrong with " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.lines, std::vector<std::string>{"model.json:1:" + line});
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
