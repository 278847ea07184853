#include "titer/hardware/data_type.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

TEST(DataType, ListIsIndexedByTheType) {
  for (std::size_t i = 0; i < kDataTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDataTypes[i].value), i);
    EXPECT_EQ(name(kDataTypes[i].value), kDataTypes[i].name);
  }
}

TEST(DataType, NamesAreThoseOfTheDataFiles) {
  EXPECT_EQ(name(DataType::fp32), "fp32");
  EXPECT_EQ(name(DataType::tf32), "tf32");
  EXPECT_EQ(name(DataType::fp16), "fp16");
  EXPECT_EQ(name(DataType::bf16), "bf16");
  EXPECT_EQ(name(DataType::fp8), "fp8");
  EXPECT_EQ(name(DataType::fp4), "fp4");
  EXPECT_EQ(name(DataType::int8), "int8");
}

TEST(DataType, SizesAreEightBitsPerByte) {
  EXPECT_EQ(size_of(DataType::fp32), (32 / 8.0) * 1_B);
  EXPECT_EQ(size_of(DataType::fp16), (16 / 8.0) * 1_B);
  EXPECT_EQ(size_of(DataType::bf16), (16 / 8.0) * 1_B);
  EXPECT_EQ(size_of(DataType::fp8), (8 / 8.0) * 1_B);
  EXPECT_EQ(size_of(DataType::fp4), (4 / 8.0) * 1_B);
  EXPECT_EQ(size_of(DataType::int8), (8 / 8.0) * 1_B);
}

TEST(DataType, Tf32IsStoredAsFp32) { EXPECT_EQ(size_of(DataType::tf32), size_of(DataType::fp32)); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
