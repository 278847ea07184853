// titer import, from the outside.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/input/file.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string data(const std::string& file) { return (root() / "tests/data/import" / file).string(); }

TEST(AppImport, SummarisesAConfig) {
  const std::string text = data_of(titer({"import", data("config.json")}));
  const std::int64_t h = 1024;
  const std::int64_t n = 8 * (2 * h * h + 2 * h * 256 + 3 * h * 2816 + 2 * h) + 2 * 32000 * h + h;
  ASSERT_EQ(n, 155'730'944);
  EXPECT_TRUE(contains(text, "parameters  155,730,944"));
  EXPECT_TRUE(contains(text, "8 layers, hidden 1024, 16 heads (4 of keys and values)"));
  EXPECT_TRUE(contains(text, "a sequence of 4096"));
}

TEST(AppImport, WritesARunThatIsReadAgain) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run.json").string();
  const Outcome outcome = titer({"import",
                                 data("config.json"),
                                 "--with",
                                 data("deepspeed.json"),
                                 "--cluster",
                                 "dgx-h100",
                                 "--out",
                                 out});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "used: train_batch_size"));
  EXPECT_TRUE(contains(outcome.err, "known to be harmless: sizes of buckets"));
  EXPECT_TRUE(contains(outcome.err, "implied: stack deepspeed"));
  EXPECT_TRUE(contains(outcome.err, "left open: training.sequence"));
  const Document run = load_json(out);
  EXPECT_EQ(run.at("cluster")->text, "dgx-h100");
  EXPECT_EQ(run.at("model.layers")->integer, 8);
  EXPECT_EQ(run.at("plan.sharding")->text, "zero3");
  EXPECT_EQ(run.at("training.global_batch")->integer, 512);
}

TEST(AppImport, ARunIsWhatRunTakes) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run.json").string();
  const Outcome imported =
      titer({"import", data("nemo.yaml"), "--cluster", "dgx-a100-80gb", "--out", out});
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Outcome run = titer({"run", out, "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "iteration_time_s"));
}

TEST(AppImport, ARunNotesWhatWasAssumed) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run.json").string();
  const Outcome imported = titer({"import",
                                  data("formats/axolotl.yaml"),
                                  "--with",
                                  data("formats/accelerate.yaml"),
                                  "--cluster",
                                  "dgx-h100",
                                  "--out",
                                  out});
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Document run = load_json(out);
  ASSERT_NE(run.at("notes"), nullptr);
  const std::size_t others = run.at("notes")->items.size() - 1;
  EXPECT_GE(others, 2U);
  EXPECT_TRUE(run.at("notes")->items.front().text.starts_with("assumed: "));
  // What offloads its weights updates them on the host, where nobody keeps states in 8 bits.
  const Outcome answer = titer({"run", out, "--set", "training.optimizer=adam", "--format", "csv"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out + answer.err, "noted in the run: assumed: "));
  EXPECT_TRUE(contains(answer.out + answer.err, "and " + std::to_string(others) + " more"));
}

TEST(AppImport, AnOpenDegreeIsRefusedByRunUntilItIsTold) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run.json").string();
  const Outcome outcome =
      titer({"import", data("neox.yml"), "--cluster", "dgx-a100-80gb", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "left open: plan.data"));
  const std::string refused = refusal_of(titer({"run", out, "--set", "training.global_batch=48"}));
  EXPECT_TRUE(contains(refused, "plan.data: \"left open by the import\": expected an integer"));
  const Outcome told = titer({"run",
                              out,
                              "--set",
                              "plan.data=6",
                              "--set",
                              "training.global_batch=48",
                              "--format",
                              "json"});
  EXPECT_EQ(told.code, 0) << told.err;
}

TEST(AppImport, RefusesWhatMayChangeTheResultUnlessItIsAccepted) {
  const Outcome refused = titer({"import", data("pretrain.sh")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err,
                       "pretrain.sh:30:5: --degree-of-tomorrow: 3: is not read, and may change"));
  const Outcome accepted = titer({"import", data("pretrain.sh"), "--accept-unknown"});
  EXPECT_EQ(accepted.code, 0);
  EXPECT_TRUE(contains(accepted.err, "may change the result, left out: "));
}

TEST(AppImport, SaysWhichFlagAMistypedOneIsNear) {
  const TemporaryFolder folder;
  const Outcome refused =
      titer({"import",
             folder.file("run.sh",
                         "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
                         "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
                         "--micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 "
                         "--tensor-model-paralel-size 8\n")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err,
                       "--tensor-model-paralel-size: 8 (did you mean "
                       "--tensor-model-parallel-size?): is not read, and may change the result"))
      << refused.err;
}

TEST(AppImport, AdaptersOfExpertsAreRefusedBeforeARunIsWritten) {
  const TemporaryFolder folder;
  const auto tuned = [&](const std::string& targets) {
    return titer({"import",
                  folder.file("run.sh",
                              "torchrun --nproc_per_node 8 train.py --model_name_or_path "
                              "mistralai/Mixtral-8x7B-v0.1 --per_device_train_batch_size 1 "
                              "--max_seq_length 2048 --bf16 True --lora_r 16 "
                              "--lora_target_modules " +
                                  targets + "\n")});
  };
  const Outcome refused = tuned("all-linear");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "of mixtral-8x7b: adapters of experts are not modelled"));
  EXPECT_EQ(tuned("q_proj v_proj").code, 0);
  EXPECT_EQ(tuned("q_proj up_proj").code, 2);
}

TEST(AppImport, AScriptsOpenChoicesAreToldByDefineAndItsLoopsAreSaid) {
  const TemporaryFolder folder;
  const std::string script = folder.file(
      "run.sh",
      "#!/bin/bash\nTP=2\nwhile (( $# )); do\n  case $1 in --tp) TP=$2; shift 2 ;; esac\ndone\n"
      "[ \"$KIND\" = moe ] && MORE=\"--num-experts 8\"\n"
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 \\\n"
      "  --num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 \\\n"
      "  --vocab-size 50304 --micro-batch-size 2 --global-batch-size 64 \\\n"
      "  --tensor-model-parallel-size $TP $MORE 2>&1 | tee log\n");
  const Outcome open = titer({"import", script});
  EXPECT_EQ(open.code, 2);
  EXPECT_TRUE(contains(open.err, "run.sh:6:1: [ \"$KIND\" = moe ]: is not told by the file"));
  EXPECT_TRUE(contains(open.err, "--define KIND=VALUE tells it: moe"));
  const Outcome told = titer({"import", script, "--define", "KIND=moe"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(contains(told.out, "2 of 8 experts"));
  EXPECT_TRUE(contains(told.out, "tensor 2"));
  EXPECT_TRUE(contains(told.err, "assumed: " + script + ":3:1: while (("));
  EXPECT_TRUE(contains(told.err, "stays as it is before it: TP"));
}

TEST(AppImport, RefusesWhatIsNoConfigurationWithinASecond) {
  const TemporaryFolder folder;
  const std::string huge = folder.file("huge.json", "{");
  std::filesystem::resize_file(huge, std::uintmax_t{2} << 30U);
  const std::string deep = folder.file("deep.json", std::string(500'000, '['));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(contains(refusal_of(titer({"import", huge})), "larger than 16 MiB"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", deep})), "nested deeper than 200 levels"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", folder.path().string()})), "cannot be read"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", "no-such-file.yaml"})), "cannot be read"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", data("deepspeed.json")})), "has no model"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", data("config.json"), data("neox.yml")})),
                       "expected one model"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", data("config.json"), "--define", "TP"})),
                       "expected NAME=VALUE"));
  EXPECT_TRUE(contains(refusal_of(titer({"import", data("config.json"), "--devices", "0"})),
                       "expected an integer from 1"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
