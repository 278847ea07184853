#include "titer/model/layer.hpp"

#include <gtest/gtest.h>

#include "titer/model/blocks.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(Transfer, ExistsWhenItHasASize) {
  EXPECT_FALSE(Transfer{}.exists());
  EXPECT_TRUE((Transfer{Collective::all_gather, 1_B}).exists());
}

TEST(Modules, AreBits) {
  EXPECT_EQ(bits(Module::core_attention, Module::mlp), (1 << 0) + (1 << 3));
  const Operation op{.name = "experts", .modules = bits(Module::moe, Module::activation)};
  EXPECT_TRUE(op.is_part_of(Module::moe));
  EXPECT_TRUE(op.is_part_of(Module::activation));
  EXPECT_FALSE(op.is_part_of(Module::mlp));
}

TEST(SavedBytes, AreFreedByTheModulesThatNameThem) {
  const OperationList list = {{.name = "free", .saved = 1_B, .core_saved = 2_B},
                              {.name = "core",
                               .saved = 4_B,
                               .core_saved = 8_B,
                               .modules = bit(Module::core_attention),
                               .freed_by = bits(Module::attention, Module::mlp)}};
  EXPECT_EQ(saved_bytes(list), (1 + 2 + 4 + 8) * 1_B);
  EXPECT_EQ(saved_bytes(list, bit(Module::core_attention)), (1 + 2 + 4) * 1_B);
  EXPECT_EQ(saved_bytes(list, bit(Module::mlp)), (1 + 2 + 8) * 1_B);
  EXPECT_EQ(saved_bytes(list, bits(Module::attention, Module::core_attention)), (1 + 2) * 1_B);
  EXPECT_EQ(saved_bytes(list, bit(Module::moe)), saved_bytes(list));
}

TEST(Operation, IsNothingUnlessTold) {
  const Operation operation;
  EXPECT_FALSE(operation.forward.exists());
  EXPECT_FALSE(operation.input_gradient.exists());
  EXPECT_FALSE(operation.weight_gradient.exists());
  EXPECT_FALSE(operation.forward_transfer.exists());
  EXPECT_FALSE(operation.backward_transfer.exists());
  EXPECT_FALSE(operation.regather_transfer.exists());
  EXPECT_EQ(operation.saved + operation.core_saved + operation.working, Bytes());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
