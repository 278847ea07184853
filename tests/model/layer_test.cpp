#include "titer/model/layer.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace {

TEST(Transfer, ExistsWhenItHasASize) {
  EXPECT_FALSE(Transfer{}.exists());
  EXPECT_TRUE((Transfer{Collective::all_gather, 1_B}).exists());
}

TEST(OperationList, KeepsTheOrderOfTheForwardPass) {
  OperationList list;
  EXPECT_EQ(list.size(), 0U);
  EXPECT_EQ(list.begin(), list.end());
  list.add({.name = "first"});
  list.add({.name = "second"});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.begin()[0].name, "first");
  EXPECT_EQ(list.begin()[1].name, "second");
  EXPECT_EQ(list.end() - list.begin(), 2);
}

TEST(OperationList, RefusesMoreThanItsRoom) {
  OperationList list;
  for (std::size_t i = 0; i < OperationList::capacity; ++i) {
    list.add({.name = "one more"});
  }
  EXPECT_EQ(list.size(), OperationList::capacity);
  EXPECT_THROW(list.add({.name = "too many"}), Defect);
}

TEST(Operation, IsNothingUnlessTold) {
  const Operation operation;
  EXPECT_FALSE(operation.forward.exists());
  EXPECT_FALSE(operation.input_gradient.exists());
  EXPECT_FALSE(operation.weight_gradient.exists());
  EXPECT_FALSE(operation.forward_transfer.exists());
  EXPECT_FALSE(operation.backward_transfer.exists());
  EXPECT_FALSE(operation.regather_transfer.exists());
  EXPECT_EQ(operation.saved + operation.core_saved, Bytes());
}

}  // namespace
}  // namespace titer
