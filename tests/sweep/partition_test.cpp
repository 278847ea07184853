#include "titer/sweep/partition.hpp"

#include <gtest/gtest.h>

#include <map>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Variables = std::map<std::string, std::string>;

Launch launch_in(const Variables& variables) {
  return read_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

/// "3/64 srun": the shard, counted from 1, and who says so.
std::string told(const Variables& variables) {
  const Launch launch = launch_in(variables);
  return std::to_string(launch.shard.rank + 1) + "/" + std::to_string(launch.shard.size) + " " +
         launch.launcher;
}

std::string refusal_of_shard(std::string_view text) {
  try {
    static_cast<void>(read_shard(text));
  } catch (const InputError& error) {
    return error.lines.at(0);
  }
  return "";
}

TEST(ChunksCut, CoverEveryPointOnce) {
  for (const std::size_t points : {0U, 1U, 7U, 1023U, 1024U, 5000U, 300'000U, 3'000'000U}) {
    const Chunks chunks = cut_into_chunks(points, 256);
    std::size_t next = 0;
    for (std::size_t k = 0; k < chunks.count(); ++k) {
      ASSERT_EQ(chunks.begin(k), next);
      ASSERT_GT(chunks.end(k), next);
      next = chunks.end(k);
    }
    EXPECT_EQ(next, points);
  }
}

TEST(ChunksCut, AreAThousandUntilTheyAreLargeAndAMillionAtMost) {
  EXPECT_EQ(cut_into_chunks(500, 256).size, 1u);
  EXPECT_EQ(cut_into_chunks(32'256, 256).size, 32'256u / 1024u);
  EXPECT_EQ(cut_into_chunks(10'000'000, 256).size, 256u);
  EXPECT_EQ(cut_into_chunks(10'000'000, 1).size, 10'000'000u >> 20U);
  EXPECT_EQ(cut_into_chunks(std::size_t{1} << 40U, 256).count(), std::size_t{1} << 20U);
}

TEST(ShardOwns, EveryChunkIsOneShardsAndInItsOrder) {
  for (const std::size_t size : {1U, 2U, 3U, 7U, 40U}) {
    for (const std::size_t chunks : {0U, 1U, 6U, 7U, 39U}) {
      std::vector<int> owners(chunks, 0);
      for (std::size_t rank = 0; rank < size; ++rank) {
        const Shard shard{.rank = rank, .size = size};
        for (std::size_t nth = 0; nth < shard.count(chunks); ++nth) {
          ASSERT_LT(shard.chunk(nth), chunks);
          EXPECT_EQ(shard.chunk(nth) % size, rank);
          ++owners[shard.chunk(nth)];
        }
      }
      EXPECT_EQ(owners, std::vector<int>(chunks, 1)) << size << " shards";
    }
  }
}

TEST(ShardText, CountsFromOne) {
  EXPECT_EQ(read_shard("3/64"), (Shard{.rank = 2, .size = 64}));
  EXPECT_EQ(read_shard("1/1"), (Shard{.rank = 0, .size = 1}));
  for (const char* text :
       {"", "3", "/", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/2/3", "1/9999999"}) {
    EXPECT_EQ(refusal_of_shard(text),
              "--shard: " + std::string(text) +
                  ": expected I/N, the I-th of N from 1 to N, such as 3/64");
  }
}

TEST(LaunchedBy, NobodyIsOneProcess) {
  EXPECT_EQ(told({}), "1/1 ");
  EXPECT_EQ(told({{"HOME", "/root"}}), "1/1 ");
}

TEST(LaunchedBy, Mpirun) {
  EXPECT_EQ(told({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "3/4 Open MPI");
  EXPECT_EQ(told({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}), "1/4 MPI");
  EXPECT_EQ(told({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}), "2/2 MVAPICH");
}

TEST(LaunchedBy, Srun) {
  Variables step = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}};
  EXPECT_EQ(told(step), "6/8 srun");
  // With --mpi=pmix a rank of PMIx, which tells no size, stands beside it.
  step["PMIX_RANK"] = "5";
  EXPECT_EQ(told(step), "6/8 srun");
  // The other way round: mpirun starts its daemons by srun, and its ranks by itself.
  step["OMPI_COMM_WORLD_RANK"] = "1";
  step["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_EQ(told(step), "2/2 Open MPI");
}

// Both have a SLURM_PROCID of 0 and a number of tasks, but nobody started those.
TEST(LaunchedBy, AJobsScriptOrShellIsOneProcess) {
  Variables job = {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}};
  EXPECT_EQ(told(job), "1/1 ");
  job["SLURM_STEP_NUM_TASKS"] = "64";
  for (const char* special : {"4294967290", "4294967291", "4294967292"}) {
    job["SLURM_STEP_ID"] = special;
    EXPECT_EQ(told(job), "1/1 ") << special;
  }
}

TEST(LaunchedBy, AnArrayOfJobs) {
  Variables task = {
      {"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "0"}};
  EXPECT_EQ(told(task), "4/4 a Slurm array");
  task = {{"SLURM_ARRAY_TASK_ID", "30"},
          {"SLURM_ARRAY_TASK_COUNT", "4"},
          {"SLURM_ARRAY_TASK_MIN", "10"},
          {"SLURM_ARRAY_TASK_STEP", "10"}};
  EXPECT_EQ(told(task), "3/4 a Slurm array");
  task["SLURM_STEP_ID"] = "0";
  task["SLURM_PROCID"] = "1";
  task["SLURM_STEP_NUM_TASKS"] = "2";
  EXPECT_EQ(told(task), "6/8 a Slurm array and srun")
      << "2 x 2 before this task, and one of its own";
}

TEST(LaunchedByRefuses, ARankWithoutASize) {
  for (const Variables& variables :
       {Variables{{"PMIX_RANK", "1"}},
        Variables{{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}},
        Variables{{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}}) {
    EXPECT_THROW(static_cast<void>(launch_in(variables)), InputError);
  }
}

TEST(UsualThreads, AreTheCoresOfTheProcess) {
  EXPECT_EQ(usual_threads({}, 16, 16), 16u);
  EXPECT_EQ(usual_threads({}, 4, 16), 4u) << "taskset";
}

TEST(UsualThreads, AreAShareOfTheMachineForOneOfSeveral) {
  const Launch eight{.shard = {.rank = 0, .size = 16}, .on_node = 8};
  EXPECT_EQ(usual_threads(eight, 64, 64), 64u / 8u);
  EXPECT_EQ(usual_threads(eight, 32, 64), 8u) << "bound to a socket that four share";
  EXPECT_EQ(usual_threads(eight, 1, 64), 1u) << "bound to a core";
  EXPECT_EQ(usual_threads(eight, 4, 4), 1u) << "more processes than cores";
}

TEST(UsualThreads, FollowWhatSlurmGives) {
  Variables step = {{"SLURM_STEP_ID", "0"},
                    {"SLURM_PROCID", "5"},
                    {"SLURM_STEP_NUM_TASKS", "10"},
                    {"SLURM_NODEID", "2"},
                    {"SLURM_STEP_TASKS_PER_NODE", "4(x2),2"},
                    {"SLURM_CPUS_ON_NODE", "16"}};
  EXPECT_EQ(launch_in(step).on_node, 2u);
  EXPECT_EQ(usual_threads(launch_in(step), 128, 128), 16u / 2u);
  step["SLURM_NODEID"] = "1";
  EXPECT_EQ(usual_threads(launch_in(step), 128, 128), 16u / 4u);
  step["SLURM_CPUS_PER_TASK"] = "3";
  EXPECT_EQ(usual_threads(launch_in(step), 128, 128), 3u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
