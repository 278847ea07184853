// Flags of Megatron-LM and its kin: what becomes of those beyond widths and degrees.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "titer/import/imported.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string gpt(std::string_view flags) {
  return "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
         "--max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 64 " +
         std::string(flags);
}

ImportedRun of(std::string_view flags, std::optional<std::int64_t> devices = {}) {
  ImportOptions options;
  options.devices = devices;
  return import_text(gpt(flags), "run.sh", options);
}

TEST(MegatronFlags, EachOfVeryManyIsListed) {
  constexpr int many = 60'000;
  std::string flags;
  for (int i = 0; i < many; ++i) {
    flags += " --flag-of-tomorrow-" + std::to_string(i) + " " + std::to_string(i);
  }
  const ImportedRun run = of(flags);
  ASSERT_EQ(run.unread.size(), static_cast<std::size_t>(many));
  EXPECT_TRUE(run.unread.back().ends_with("--flag-of-tomorrow-59999: 59999"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
