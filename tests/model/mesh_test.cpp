#include "titer/model/mesh.hpp"

#include <gtest/gtest.h>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::int64_t kB = 64;   // tokens
constexpr std::int64_t kH = 32;   // hidden
constexpr std::int64_t kF = 128;  // of the MLP
constexpr double kAll = 2.0 * kB * kH * kF;

Mesh mesh(std::int64_t rows, std::int64_t columns) {
  return {.axes = {{'r', rows}, {'c', columns}}, .dimensions = {{'b', kB}, {'h', kH}, {'f', kF}}};
}

/// X A and Y B of an MLP, with the layouts of X, A, Y, B and of the result Z.
struct Mlp {
  std::string x, a, y, b, z;

  [[nodiscard]] MeshEinsum up() const { return {{"bh", x}, {"hf", a}, {"bf", y}}; }
  [[nodiscard]] MeshEinsum down() const { return {{"bf", y}, {"fh", b}, {"bh", z}}; }
};

void expect_transfer(const MeshTransfer& transfer, const MeshTransfer& expected) {
  EXPECT_EQ(transfer.kind, expected.kind);
  EXPECT_EQ(transfer.of, expected.of);
  EXPECT_EQ(transfer.axis, expected.axis);
  EXPECT_DOUBLE_EQ(transfer.size.si(), expected.size.si());
}

TEST(Mesh, HasTheProductOfItsAxesAsDevices) {
  // Seed 000: the product of DEVICE_MESH_SHAPE is NUM_DEVICES_PER_SPLIT; [1, 128] for 128 experts.
  EXPECT_EQ(mesh(1, 128).devices(), 1 * 128);
  EXPECT_EQ(mesh(16, 8).devices(), 16 * 8);
  EXPECT_EQ(Mesh{}.devices(), 1);
}

TEST(MeshCost, OfOneAxisIsColumnAndRowParallelism) {
  const std::int64_t t = 4;
  const Mesh line = mesh(1, t);
  const Mlp megatron{.x = "..", .a = ".c", .y = ".c", .b = "c.", .z = ".."};
  const Bytes full = kB * kH * size_of(DataType::bf16);

  const MeshCost up = mesh_cost(line, megatron.up(), DataType::bf16);
  EXPECT_DOUBLE_EQ(up.flops.si(), kAll / t);
  EXPECT_TRUE(up.transfers.empty());  // operator f: nothing forward
  const MeshCost down = mesh_cost(line, megatron.down(), DataType::bf16);
  EXPECT_DOUBLE_EQ(down.flops.si(), kAll / t);
  ASSERT_EQ(down.transfers.size(), 1U);  // operator g: the sums of the row-split product
  expect_transfer(down.transfers[0], {Collective::all_reduce, MeshOperand::output, 'c', full});

  const auto [of_x, of_a] = gradients(megatron.up());
  const MeshCost x_gradient = mesh_cost(line, of_x, DataType::bf16);
  EXPECT_DOUBLE_EQ(x_gradient.flops.si(), kAll / t);
  ASSERT_EQ(x_gradient.transfers.size(), 1U);  // operator f: an all-reduce backward
  expect_transfer(x_gradient.transfers[0],
                  {Collective::all_reduce, MeshOperand::output, 'c', full});
  EXPECT_TRUE(mesh_cost(line, of_a, DataType::bf16).transfers.empty());
  for (const MeshEinsum& gradient : gradients(megatron.down())) {
    EXPECT_TRUE(mesh_cost(line, gradient, DataType::bf16).transfers.empty());
  }
}

TEST(MeshCost, WithSequencesSplitGathersAndScattersInstead) {
  const std::int64_t t = 4;
  const Mlp split{.x = "c.", .a = ".c", .y = ".c", .b = "c.", .z = "c."};
  const Bytes full = kB * kH * size_of(DataType::bf16);
  const MeshCost up = mesh_cost(mesh(1, t), split.up(), DataType::bf16);
  ASSERT_EQ(up.transfers.size(), 1U);
  expect_transfer(up.transfers[0], {Collective::all_gather, MeshOperand::left, 'c', full});
  const MeshCost down = mesh_cost(mesh(1, t), split.down(), DataType::bf16);
  ASSERT_EQ(down.transfers.size(), 1U);
  expect_transfer(down.transfers[0], {Collective::reduce_scatter, MeshOperand::output, 'c', full});
}

TEST(MeshCost, OfBatchesOverAnAxisIsDataParallelism) {
  const std::int64_t d = 8;
  const Mesh line = mesh(d, 1);
  const Mlp data{.x = "r.", .a = "..", .y = "r.", .b = "..", .z = "r."};
  EXPECT_TRUE(mesh_cost(line, data.up(), DataType::fp32).transfers.empty());
  const auto [of_x, of_a] = gradients(data.up());
  EXPECT_TRUE(mesh_cost(line, of_x, DataType::fp32).transfers.empty());
  const MeshCost weights = mesh_cost(line, of_a, DataType::fp32);
  EXPECT_DOUBLE_EQ(weights.flops.si(), kAll / d);
  ASSERT_EQ(weights.transfers.size(), 1U);
  expect_transfer(
      weights.transfers[0],
      {Collective::all_reduce, MeshOperand::output, 'r', kH * kF * size_of(DataType::fp32)});
}

TEST(MeshCost, OfWeightsSplitOverTheSameAxisIsFullySharded) {
  const std::int64_t d = 8;
  const Mlp sharded{.x = "r.", .a = "r.", .y = "r.", .b = "r.", .z = "r."};
  const Bytes weights = kH * kF * size_of(DataType::bf16);
  const MeshCost up = mesh_cost(mesh(d, 1), sharded.up(), DataType::bf16);
  EXPECT_DOUBLE_EQ(up.flops.si(), kAll / d);
  ASSERT_EQ(up.transfers.size(), 1U);
  expect_transfer(up.transfers[0], {Collective::all_gather, MeshOperand::right, 'r', weights});
  const MeshCost gradient = mesh_cost(mesh(d, 1), gradients(sharded.up())[1], DataType::bf16);
  ASSERT_EQ(gradient.transfers.size(), 1U);
  expect_transfer(gradient.transfers[0],
                  {Collective::reduce_scatter, MeshOperand::output, 'r', weights});
}

TEST(MeshCost, OfBatchTimesModelIsTheGridOfBoth) {
  // Seed 004: batch x model on a mesh of 2 x 2; the same for other sizes.
  for (const auto& [d, t] : {std::pair{2, 2}, {4, 8}}) {
    const Mesh grid = mesh(d, t);
    const Mlp both{.x = "r.", .a = ".c", .y = "rc", .b = "c.", .z = "r."};
    EXPECT_TRUE(mesh_cost(grid, both.up(), DataType::bf16).transfers.empty());
    const MeshCost down = mesh_cost(grid, both.down(), DataType::bf16);
    EXPECT_DOUBLE_EQ(down.flops.si(), kAll / (d * t));
    ASSERT_EQ(down.transfers.size(), 1U);
    expect_transfer(
        down.transfers[0],
        {Collective::all_reduce, MeshOperand::output, 'c', kB * kH / d * size_of(DataType::bf16)});
    const MeshCost weights = mesh_cost(grid, gradients(both.down())[1], DataType::bf16);
    EXPECT_DOUBLE_EQ(weights.flops.si(), kAll / (d * t));
    ASSERT_EQ(weights.transfers.size(), 1U);
    expect_transfer(
        weights.transfers[0],
        {Collective::all_reduce, MeshOperand::output, 'r', kF * kH / t * size_of(DataType::bf16)});
  }
}

TEST(MeshCost, OfActivationsSplitOverBothAxes) {
  // Weights are split over both axes too: gathered over the rows as fully sharded ones are, while
  // activations are gathered and scattered over the columns. [GSPMD 2021, table 1]
  const std::int64_t r = 4;
  const std::int64_t c = 2;
  const Mesh grid = mesh(r, c);
  const Mlp both{.x = "rc", .a = "rc", .y = "rc", .b = "cr", .z = "rc"};
  const Bytes activations = kB / r * kH * size_of(DataType::bf16);
  const Bytes weights = kH * kF / c * size_of(DataType::bf16);

  const MeshCost up = mesh_cost(grid, both.up(), DataType::bf16);
  EXPECT_DOUBLE_EQ(up.flops.si(), kAll / (r * c));
  ASSERT_EQ(up.transfers.size(), 2U);
  expect_transfer(up.transfers[0], {Collective::all_gather, MeshOperand::right, 'r', weights});
  expect_transfer(up.transfers[1], {Collective::all_gather, MeshOperand::left, 'c', activations});

  const MeshCost down = mesh_cost(grid, both.down(), DataType::bf16);
  EXPECT_DOUBLE_EQ(down.flops.si(), kAll / (r * c));
  ASSERT_EQ(down.transfers.size(), 2U);
  expect_transfer(down.transfers[0], {Collective::all_gather, MeshOperand::right, 'r', weights});
  expect_transfer(down.transfers[1],
                  {Collective::reduce_scatter, MeshOperand::output, 'c', activations});
}

TEST(MeshCost, GathersAnOutputThatIsToBeWhole) {
  const Mlp plain{.x = "r.", .a = ".c", .y = "..", .b = "..", .z = ".."};
  const MeshCost up = mesh_cost(mesh(4, 2), plain.up(), DataType::bf16);
  EXPECT_DOUBLE_EQ(up.flops.si(), kAll / (4 * 2));
  ASSERT_EQ(up.transfers.size(), 2U);
  const Bytes full = kB * kF * size_of(DataType::bf16);
  expect_transfer(up.transfers[0], {Collective::all_gather, MeshOperand::output, 'r', full / 2});
  expect_transfer(up.transfers[1], {Collective::all_gather, MeshOperand::output, 'c', full});
}

TEST(MeshCost, ExchangesOneSplitForAnother) {
  // Experts e on the axis that split the groups g before: dispatch, `gec,gm->egm`-like.
  const Mesh line = {.axes = {{'x', 8}}, .dimensions = {{'g', 16}, {'e', 8}, {'m', 32}}};
  const MeshEinsum dispatch = {{"ge", "x."}, {"gm", "x."}, {"egm", "x.."}};
  const MeshCost cost = mesh_cost(line, dispatch, DataType::bf16);
  ASSERT_EQ(cost.transfers.size(), 1U);
  expect_transfer(cost.transfers[0],
                  {Collective::all_to_all,
                   MeshOperand::output,
                   'x',
                   8.0 * 16 * 32 / 8 * size_of(DataType::bf16)});
}

/// Two layouts do not split a dimension over different axes.
bool agree(char one, char other) { return one == other || one == '.' || other == '.'; }

TEST(MeshCost, DividesTheWorkByEveryAxisThatSplitsIt) {
  constexpr std::array layouts = {"..", "r.", ".r", "c.", ".c", "rc", "cr"};
  const Mesh grid = mesh(4, 2);
  for (const std::string x : layouts) {
    for (const std::string a : layouts) {
      for (const std::string y : layouts) {
        const MeshEinsum einsum{{"bh", x}, {"hf", a}, {"bf", y}};
        const MeshCost cost = mesh_cost(grid, einsum, DataType::bf16);
        double repeated = 1;
        for (const auto& [axis, size] : grid.axes) {
          const bool used = (x + a + y).find(axis) != std::string::npos;
          repeated *= used ? 1.0 : static_cast<double>(size);
        }
        EXPECT_GE(cost.flops.si() * 8.0, kAll * repeated) << x << a << y;
        if (agree(x[0], y[0]) && agree(x[1], a[0]) && agree(a[1], y[1])) {
          EXPECT_DOUBLE_EQ(cost.flops.si() * 8.0, kAll * repeated) << x << a << y;
        }
        // Whatever is asked for moves no more than whole tensors.
        for (const MeshTransfer& transfer : cost.transfers) {
          const MeshTensor& of = transfer.of == MeshOperand::left    ? einsum.left
                                 : transfer.of == MeshOperand::right ? einsum.right
                                                                     : einsum.output;
          EXPECT_LE(transfer.size.si(), 2.0 * of.elements(grid)) << x << a << y;
          EXPECT_GE(transfer.size.si(), 2.0 * of.local_elements(grid) / 8) << x << a << y;
        }
      }
    }
  }
}

TEST(MeshCost, RefusesLayoutsThatCannotBe) {
  const Mlp twice{.x = "rr", .a = "..", .y = "..", .b = "..", .z = ".."};
  EXPECT_THROW(static_cast<void>(mesh_cost(mesh(2, 2), twice.up(), DataType::bf16)), Defect);
  const Mlp uneven{.x = "r.", .a = "..", .y = "..", .b = "..", .z = ".."};
  EXPECT_THROW(static_cast<void>(mesh_cost(mesh(3, 2), uneven.up(), DataType::bf16)), Defect);
  const Mlp unknown{.x = "z.", .a = "..", .y = "..", .b = "..", .z = ".."};
  EXPECT_THROW(static_cast<void>(mesh_cost(mesh(2, 2), unknown.up(), DataType::bf16)), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
