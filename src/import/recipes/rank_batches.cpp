#include "recipe_parts.hpp"

namespace titer {

void put_rank_batches(const ImportTask& task,
                      std::string_view key,
                      const RankBatches& batches,
                      std::optional<std::int64_t> data) {
  Value& training = task.into.training;
  put(task.into.plan, "micro_batch", batches.micro);
  if (batches.global) {
    training.add("global_batch", Value(*batches.global));
    const bool is_known = batches.micro && data;
    if (is_known && *batches.global % (*batches.micro * *data) != 0) {
      task.in.fail(key,
                   "expected a multiple of micro-batch x data-parallel ranks, " +
                       std::to_string(*batches.micro) + " x " + std::to_string(*data));
    }
    return;
  }
  if (!batches.micro) {
    return;
  }
  const std::int64_t of_a_rank = *batches.micro * batches.accumulation.value_or(1);
  if (data) {
    training.add("global_batch", Value(of_a_rank * *data));
    return;
  }
  training.add("global_batch", Value(kLeftOpen));
  task.into.open.push_back("training.global_batch: " + std::to_string(of_a_rank) +
                           " for each data-parallel rank");
}

std::optional<std::int64_t> count_or_default(const ImportTask& task,
                                             std::string_view key,
                                             std::int64_t usual) {
  const auto count = task.in.integer(key, 1);
  if (count || task.in.has(key)) {
    return count;
  }
  assume(task, key, "taken as " + std::to_string(usual) + ", its default");
  return usual;
}

}  // namespace titer
