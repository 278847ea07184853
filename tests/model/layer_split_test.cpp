// E10, E17 and E18: closed forms of a transformer, and how its products may be split.

#include "titer/model/layer_split.hpp"

#include <gtest/gtest.h>

#include "titer/model/transformer/transformer.hpp"
#include "titer/model/transformer/transformer_estimates.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(E17_LayerSplit, ByColumnsIsTheSameProduct) {
  for (const std::int64_t ranks : {1, 2, 4, 8}) {
    const SplitErrors errors = execute({.rows = 5, .inner = 16, .columns = 24, .ranks = ranks});
    EXPECT_LT(errors.columns, 1e-12);
    EXPECT_LT(errors.rows, 1e-12);
  }
}

TEST(E18_MegatronSplit, KeepsReluByColumnsAndLosesItByRows) {
  for (const std::int64_t ranks : {2, 4}) {
    const SplitErrors errors = execute({.rows = 5, .inner = 16, .columns = 24, .ranks = ranks});
    EXPECT_LT(errors.columns_relu, 1e-12);
    EXPECT_GT(errors.rows_relu_first, 0.1);
  }
  // One rank has all rows.
  EXPECT_LT(execute({.rows = 5, .inner = 16, .columns = 24, .ranks = 1}).rows_relu_first, 1e-12);
}

constexpr TransformerEstimate kGpt3{
    .layers = 96, .hidden = 12288, .heads = 96, .sequence = 2048, .vocabulary = 51200};

TEST(E10_Estimate, IsNarayanansFormulaWithoutSmallTerms) {
  EXPECT_EQ(kGpt3.parameters(), 12.0 * 12288 * 12288 * 96);
  // The published 175 billion. [Brown et al. 2020]
  EXPECT_NEAR(kGpt3.all_parameters(), 174.6e9, 0.1e9);
  // 72 B s l h^2 (1 + s/(6h) + V/(12 l h)); the estimate leaves out the last term.
  const double logits = 51200.0 / (12.0 * 96 * 12288);
  const double attention = 2048 / (6.0 * 12288);
  EXPECT_NEAR(kGpt3.all_flops(8, false) / kGpt3.flops(8),
              (1 + attention + logits) / (1 + attention),
              1e-12);
  // Full recomputation is a forward pass of the layers more: 96 to 72 (trap T25).
  TransformerEstimate without_logits = kGpt3;
  without_logits.vocabulary = 0;
  EXPECT_DOUBLE_EQ(without_logits.all_flops(8, true) / without_logits.all_flops(8, false),
                   96.0 / 72.0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
