// Products that were measured on a chip: taken as they are, and others corrected by the nearest.
#include "titer/hardware/measured_products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "titer/hardware/kernel.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer {
namespace TITER_TEST_FILE {

KernelShape extents(float rows, float columns, float inner) {
  return {.rows = rows, .columns = columns, .inner = inner};
}

Chip h100_with(const std::string& products) {
  Document chip = load_data(kChipData, "h100-sxm5-80gb");
  Document list = parse_json(products, "products");
  chip.root.add("measured_products", list.root);
  return read_document(chip, read_chip);
}

double burst(const Chip& chip, const Kernel& kernel) {
  return KernelClock(chip, DataType::bf16, DataType::fp8, Clocks::burst).time(kernel).si();
}

TEST(MeasuredProducts, TakesAProductOfTheSameExtentsAsItWasMeasured) {
  const Chip chip = h100_with("[[4096, 4096, 4096, 300.0], [8192, 1024, 512, 20.5]]");
  EXPECT_NEAR(burst(chip, product_of(extents(4096, 4096, 4096), DataType::bf16)), 300e-6, 1e-12);
  EXPECT_NEAR(burst(chip, product_of(extents(8192, 1024, 512), DataType::bf16)), 20.5e-6, 1e-12);
}

TEST(MeasuredProducts, CorrectsOthersLessTheFartherTheNearestIs) {
  const MeasuredProducts measured({{.rows = 1024, .columns = 1024, .inner = 1024, .ratio = 1.5}});
  double last = std::log(1.5);
  for (const float rows : {1030.0F, 1200.0F, 2048.0F, 16384.0F, 1e6F}) {
    const MeasuredProducts::Found found = measured.find(extents(rows, 1024, 1024));
    EXPECT_NEAR(found.distance, std::log(rows / 1024.0), 1e-6);
    EXPECT_NEAR(std::log(found.ratio), std::log(1.5) * std::exp(-found.distance / 3.0), 1e-9);
    EXPECT_LT(std::log(found.ratio), last);
    last = std::log(found.ratio);
  }
}

TEST(MeasuredProducts, WeighsNeighboursByTheirDistance) {
  const MeasuredProducts measured({{.rows = 100, .columns = 100, .inner = 100, .ratio = 2.0},
                                   {.rows = 400, .columns = 100, .inner = 100, .ratio = 1.0}});
  const double near_first = measured.find(extents(110, 100, 100)).ratio;
  const double middle = measured.find(extents(200, 100, 100)).ratio;
  const double near_second = measured.find(extents(390, 100, 100)).ratio;
  EXPECT_GT(near_first, middle);
  EXPECT_GT(middle, near_second);
  EXPECT_GT(near_second, 1.0);
}

TEST(MeasuredProducts, LetsTheLastOfEqualExtentsCount) {
  const MeasuredProducts measured({{.rows = 8, .columns = 8, .inner = 8, .ratio = 2.0},
                                   {.rows = 8, .columns = 8, .inner = 8, .ratio = 0.5}});
  EXPECT_NEAR(measured.find(extents(8, 8, 8)).ratio, 0.5, 1e-12);
}

TEST(MeasuredProducts, LeavesOtherKernelsAlone) {
  const Chip chip = h100_with("[[4096, 4096, 4096, 900.0]]");
  const Chip plain = read_document(load_data(kChipData, "h100-sxm5-80gb"), read_chip);
  const Kernel narrow = product_of(extents(4096, 4096, 4096), DataType::fp8);
  Kernel grouped = product_of(extents(4096, 4096, 4096), DataType::bf16);
  grouped.shape.grouped = true;
  KernelShape batch = extents(4096, 4096, 4096);
  batch.count = 2;
  Kernel copy;
  copy.bytes = 1_GB;
  for (const Kernel& kernel : {narrow, grouped, product_of(batch, DataType::bf16), copy}) {
    EXPECT_DOUBLE_EQ(burst(chip, kernel), burst(plain, kernel));
  }
  EXPECT_DOUBLE_EQ(KernelClock(chip, DataType::fp32).time(narrow).si(),
                   KernelClock(plain, DataType::fp32).time(narrow).si());
}

class BadMeasuredProducts : public ::testing::TestWithParam<const char*> {};

TEST_P(BadMeasuredProducts, AreRefusedWithWhatIsExpected) {
  try {
    static_cast<void>(h100_with(GetParam()));
    FAIL() << GetParam();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("expected a list of products [m, n, k, microseconds], all above 0"),
              std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Lists,
                         BadMeasuredProducts,
                         ::testing::Values("[]",
                                           "3",
                                           "\"products.csv\"",
                                           "[[1, 2, 3]]",
                                           "[[1, 2, 3, 0]]",
                                           "[[1, 2, 3, \"4 us\"]]",
                                           "[[1, -2, 3, 4]]",
                                           "[{\"m\": 1}]"));

}  // namespace TITER_TEST_FILE
}  // namespace titer
