// What software families of measured runs are, by files.
#include "titer/measured/run_families.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "measured/made_run.hpp"
#include "temporary_folder.hpp"
#include "titer/input/file.hpp"
#include "titer/measured/run_comparison.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::table;

RunHabits habits(const Cells& changed, const std::filesystem::path& folder = {}) {
  const CsvTable made = table(changed);
  return RunFamilies::load(folder).habits_of(RunRow(made, 0));
}

TEST(RunFamilies, TakeTheLongestNameThatBeginsTheFamilys) {
  EXPECT_FALSE(habits({{"family", "mlperf_gpt3_v30"}}).adapters);
  EXPECT_TRUE(habits({{"family", "MLPerf_llama2_70b_lora_v40"}}).adapters);
}

TEST(RunFamilies, TellRowsOfOneFamilyApartByAColumn) {
  EXPECT_EQ(habits({{"family", "libai"}}).stack, "megatron-lm");
  EXPECT_EQ(habits({{"family", "libai"}, {"notes", "LiBai; V100"}}).stack, "libai");
  EXPECT_FALSE(habits({{"family", "libai"}, {"notes", "LiBai; V100"}}).flash.value_or(true));
}

TEST(RunFamilies, HearTheRowFirst) {
  EXPECT_EQ(habits({{"family", "libai"}, {"software", "deepspeed"}}).stack, "deepspeed");
  EXPECT_EQ(habits({{"family", "new"}, {"software", "neuronx-distributed 0.9"}}).stack, "neuronx");
  EXPECT_EQ(habits({{"software", "deepspeed"}, {"stack", "nemo"}, {"cluster", "dgx-h100"}}).cluster,
            "dgx-h100");
  EXPECT_EQ(habits({{"software", "deepspeed"}, {"stack", "nemo"}}).stack, "nemo");
  const auto reason = [](const Cells& cells) {
    try {
      static_cast<void>(habits(cells));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("known");
  };
  EXPECT_EQ(reason({{"software", "abacus 2"}}), "software \"abacus 2\" is not known");
  EXPECT_EQ(reason({{"family", "new"}}), "software of family \"new\" is not known");
}

TEST(RunFamilies, TellReleasesApartByTheChipsThatTheyRanOn) {
  const auto of = [](const char* software, const char* chip, const char* kind = "") {
    return habits({{"family", "new"}, {"software", software}, {"hw_key", chip}, {"dp_kind", kind}});
  };
  EXPECT_EQ(of("Megatron-LM, 2024", "H100-SXM5-80GB").stack, "megatron-core");
  EXPECT_EQ(of("Megatron-LM, 2022", "A100-SXM4-80GB").stack, "megatron-lm");
  EXPECT_EQ(of("JAX", "TPU v4").stack, "maxtext");
  EXPECT_EQ(of("HAI-LLM", "H800-SXM-80GB").stack, "hai-llm");
  EXPECT_EQ(of("accelerate", "A100-SXM4-80GB", "ZeRO-3").stack, "deepspeed");
  EXPECT_EQ(of("accelerate", "A100-SXM4-80GB", "fsdp-full(zero3)").stack, "fsdp");
}

TEST(RunFamilies, KnowSoftwareThatOtherStandsFor) {
  const auto of = [](const char* software, const char* chip = "A100-SXM4-80GB") {
    return habits({{"family", "new"}, {"software", software}, {"hw_key", chip}});
  };
  EXPECT_EQ(of("XTuner V1 of InternLM").stack, "fsdp");
  EXPECT_EQ(of("Pai-Megatron-Patch").stack, "megatron-core");
  EXPECT_EQ(of("karpathy/llm.c").stack, "torchtitan-compiled");
  EXPECT_EQ(of("gpt-neox").flash, false) << "its default attention";
  EXPECT_EQ(of("DeepSpeed-MoE").flash, false) << "of 2022";
  EXPECT_EQ(of("OLMo + MegaBlocks").stack, "fsdp");
  EXPECT_EQ(of("MegaBlocks (Megatron-LM)").stack, "megatron-lm");
  EXPECT_EQ(habits({{"family", "dgxc_gb200"}, {"hw_key", "GB200 (NVL72)"}}).stack,
            "megatron-bridge");
  EXPECT_EQ(habits({{"family", "mlperf_llama31_8b_v51_amd"}, {"notes", "Primus; dropout 0"}}).stack,
            "megatron-core");
}

TEST(RunFamilies, KnowMachinesByWordsOfTheirChipsAndNetworks) {
  const Cells row = {{"family", "new"}, {"software", "deepspeed"}};
  const auto of = [&](const char* column, const char* text) {
    Cells cells = row;
    cells[column] = text;
    return habits(cells);
  };
  EXPECT_EQ(of("hw_key", "V100-SXM2-32GB").flash, false);
  EXPECT_EQ(of("hw_key", "H100-SXM5-80GB").flash, true);
  EXPECT_EQ(of("hw_key", "A100-SXM4-80GB").flash, std::nullopt);
  EXPECT_EQ(of("inter_link", "EFA (p4d.24xlarge)").network, "4x 100 Gb/s per node");
  EXPECT_EQ(of("inter_link", "EFA, 400 Gb/s per node").transport, "efa-4x100g");
  EXPECT_EQ(of("inter_link", "4x 100 Gb/s Omni-Path per node").transport, "omni-path-4x100g");
  EXPECT_EQ(of("inter_link", "8x HDR200 IB per node").transport, "");
  EXPECT_EQ(of("notes", "faster than on p4d.24xlarge").transport, "") << "the row's own links";
  // What the software does comes before.
  EXPECT_EQ(habits({{"family", "sailor"}, {"hw_key", "GH200-96GB"}}).flash, false);
}

TEST(RunFamilies, LeaveStackAndMachineToTheRowThatNamesThem) {
  const RunReadings read =
      testing::readings({{"stack", "nemo"}, {"cluster", "dgx-h100"}, {"hw_key", "Abacus"}});
  ASSERT_EQ(read.skip_reason, "");
  EXPECT_EQ(read.stack, "nemo");
  EXPECT_EQ(read.readings.at(0).scenarios.at(0).cluster.name, "dgx-h100");
}

TEST(RunFamilies, TellTimesFromRatesWhereTheySayHowTheseCount) {
  const auto compared = [](const char* family, const char* rate) {
    return compare_runs(table({{"family", family},
                               {"iter_time_s", ""},
                               {"tflops_per_gpu", rate},
                               {"dp_kind", "zero1"}}))
        .front();
  };
  const double causal = compared("moe_modelzoo", "100").measured.value_or(0);
  const double full = compared("simumax", "100").measured.value_or(0);
  EXPECT_GT(compared("megatron_sc21", "100").measured.value_or(0), causal) << "either, or both";
  EXPECT_LT(compared("megatron_sc21", "100").measured.value_or(0), full);
  EXPECT_NEAR(compared("moe_modelzoo", "50").measured.value_or(0) / causal, 2.0, 1e-9);
  // 12 L s h of attention beside 72 L h^2 + 6 V h of products, for 32 x 2048 tokens on 16 devices.
  const double products = 72.0 * 24 * 2048 * 2048 + 6.0 * 51200 * 2048;
  const double attention = 12.0 * 24 * 2048 * 2048;
  EXPECT_NEAR(full, (products + attention) * 32 * 2048 / (16 * 100e12), 0.01 * full);
  EXPECT_NEAR(causal, (products + attention / 2) * 32 * 2048 / (16 * 100e12), 0.01 * causal);
}

TEST(RunFamilies, TellTimesFromSharesOfAPeak) {
  const auto compared = [](Cells cells) {
    cells.insert({{"iter_time_s", ""}, {"dp_kind", "zero1"}, {"recompute", "none"}});
    return compare_runs(table(cells)).front();
  };
  const double rate = compared({{"tflops_per_gpu", "156"}}).measured.value_or(0);
  EXPECT_GT(rate, 0);
  EXPECT_NEAR(compared({{"mfu_pct", "50"}}).measured.value_or(0), rate, 1e-9 * rate)
      << "an A100 has 312 TFLOP/s";
  EXPECT_EQ(compared({{"mfu_pct", "50"}, {"precision", "fp32"}}).skip_reason,
            "neither time nor memory measured");
  EXPECT_EQ(compared({{"tflops_per_gpu", "156"}, {"tflops_kind", "8*params*tokens"}}).skip_reason,
            "neither time nor memory measured");
  // With what is computed twice a step has more FLOPs.
  const Cells twice = {{"recompute", "full"}, {"flash_attn", "1"}};
  Cells hardware = twice;
  hardware.insert({{"tflops_per_gpu", "156"}, {"tflops_kind", "hardware (SC21 eq.3)"}});
  Cells useful = twice;
  useful.insert({{"tflops_per_gpu", "156"}, {"tflops_kind", "model, non-causal"}});
  EXPECT_NEAR(compared(hardware).measured.value_or(0) / compared(useful).measured.value_or(1),
              4.0 / 3,
              0.03);
  Cells open = {{"tflops_per_gpu", "156"}, {"seq", "65536"}, {"global_batch", "4"}};
  EXPECT_NE(compared(open).skip_reason.find("how much of attention rates count not stated"),
            std::string::npos);
  open["tflops_kind"] = "causal";
  EXPECT_EQ(compared(open).skip_reason, "");
}

TEST(RunFamilies, AreAsOthersButForWhatTheySay) {
  const auto of = [](const Cells& cells) {
    Cells row = {{"family", "new"}};
    row.insert(cells.begin(), cells.end());
    return habits(row);
  };
  const RunHabits bridge = of({{"software", "Megatron-Bridge 0.3"}});
  EXPECT_EQ(bridge.stack, "megatron-bridge");
  EXPECT_EQ(bridge.recompute, "none");
  EXPECT_EQ(bridge.sharding, Sharding::zero1);
  EXPECT_EQ(
      of({{"software", "Megatron-Bridge 0.3"}, {"model_name", "DeepSeek-V3"}}).predicted_tokens, 1)
      << "however it is spelled";
  const auto next = [&](const char* chip) {
    return of(
        {{"software", "megatron-bridge"}, {"model_name", "Qwen3_Next_80B_a3B"}, {"hw_key", chip}});
  };
  EXPECT_EQ(next("B300-SXM").expert_dispatch, ExpertDispatch::deduplicated);
  EXPECT_EQ(next("GB300 (NVL72)").expert_dispatch, std::nullopt);
  EXPECT_EQ(next("GB300 (NVL72)").predicted_tokens, 1);
  EXPECT_EQ(of({{"software", "MaxText"}, {"hw_key", "MI300X"}}).stack, "maxtext-gpu");
  EXPECT_TRUE(habits({{"family", "mlperf_v51_lora"}, {"model_name", "Llama2-70B-LoRA"}}).adapters);
  EXPECT_EQ(habits({{"family", "mlperf_v51"}, {"model_name", "FLUX.1"}}).model, "flux.1-schnell");
}

TEST(RunFamilies, KnowTheirProgramBetterThanItsName) {
  EXPECT_EQ(
      habits({{"family", "mlperf_gpt3_v41"}, {"software", "NeMo 24.07"}, {"hw_key", "B200-SXM"}})
          .stack,
      "nemo");
  EXPECT_EQ(
      habits({{"family", "sailor_gh200"}, {"software", "Megatron-LM"}, {"hw_key", "GH200-96GB"}})
          .stack,
      "megatron-lm");
  EXPECT_EQ(
      habits({{"family", "new"}, {"software", "Megatron-LM"}, {"hw_key", "GH200-96GB"}}).stack,
      "megatron-core");
  EXPECT_EQ(
      habits({{"family", "new"}, {"software", "megatron-lm"}, {"hw_key", "GH200-96GB"}}).stack,
      "megatron-lm")
      << "as the stack is called";
  EXPECT_EQ(habits({{"family", "new"}, {"software", "our own"}, {"dp_kind", "FSDP"}}).stack,
            "fsdp");
  EXPECT_EQ(habits({{"family", "new"}, {"software", "our own"}, {"hw_key", "TPU v4"}}).stack,
            "maxtext");
}

TEST(RunFamilies, KnowChipsWhoeverCallsThem) {
  const auto chip = [](const char* name) {
    return habits({{"family", "new"}, {"software", "deepspeed"}, {"hw_key", name}}).chip;
  };
  EXPECT_EQ(chip("AMD Instinct MI300X OAM"), "mi300x");
  EXPECT_EQ(chip("NVIDIA H100 80GB HBM3"), "h100-sxm5-80gb");
  EXPECT_EQ(chip("GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(chip("Intel Gaudi 3 (HL-325L)"), "gaudi3");
  EXPECT_EQ(chip("GB200 (NVL72)"), "gb200-nvl72");
  EXPECT_EQ(chip("TPU v6e (Trillium)"), "tpu-v6e");
  EXPECT_EQ(chip("Trainium2 (NeuronCores)"), "") << "a part of a chip";
  EXPECT_EQ(chip("H100 CNX"), "");
}

TEST(RunFamilies, TellWhatARowsTableGuessed) {
  const Cells guessed = {{"family", "vtrain_single"},
                         {"recompute", "full"},
                         {"vocab", "51200"},
                         {"inferred_fields", "vocab;precision"},
                         {"p", "16"},
                         {"t", "1"},
                         {"d", "1"}};
  const auto scenario = [&](const Cells& changed) {
    Cells cells = guessed;
    for (const auto& [column, text] : changed) {
      cells[column] = text;
    }
    const RunReadings read = testing::readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0);
  };
  const Scenario one = scenario({});
  EXPECT_EQ(one.plan.recompute, Recompute::none);
  EXPECT_EQ(one.model.if_transformer()->vocabulary, 50257);
  EXPECT_EQ(one.model.if_transformer()->vocabulary_multiple, 1);
  const Scenario split = scenario({{"p", "4"}, {"t", "4"}});
  EXPECT_EQ(split.model.if_transformer()->vocabulary_multiple, 128);
  const Scenario stated = scenario({{"inferred_fields", "precision"}});
  EXPECT_EQ(stated.model.if_transformer()->vocabulary, 51200);
  EXPECT_EQ(scenario({{"family", "vtrain_multi"}}).plan.recompute, Recompute::full);
}

TEST(RunFamilies, BesideTheTableComeBeforeTheShippedOnes) {
  const testing::TemporaryFolder folder;
  const std::string stack = folder.file("own.json", "{}");
  static_cast<void>(folder.file("families.json",
                                R"({"families": {"mine": {"stack": "nemo", "flash": true},
                                                 "libai": {"stack": "./own.json", "flash": true}}})"));
  EXPECT_EQ(habits({{"family", "mine-1"}}, folder.path()).stack, "nemo");
  const RunHabits own = habits({{"family", "libai"}}, folder.path());
  EXPECT_TRUE(std::filesystem::equivalent(own.stack, stack));
  EXPECT_EQ(own.flash, true);
  EXPECT_EQ(habits({{"family", "vtrain"}}, folder.path()).stack, "deepspeed");
}

TEST(RunFamilies, SayWhatIsWrongInTheirFile) {
  const testing::TemporaryFolder folder;
  static_cast<void>(folder.file(
      "families.json", R"({"families": {"mine": {"stack": "nemo", "sharding": "zero9"}}})"));
  try {
    static_cast<void>(RunFamilies::load(folder.path()));
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    EXPECT_NE(
        std::string(error.what()).find("families.json:1:53: families.mine.sharding: \"zero9\""),
        std::string::npos)
        << error.what();
  }
}

TEST(RunFamilies, AreLikeOthersThatAreThere) {
  const auto wrong = [](const std::string& families) {
    const testing::TemporaryFolder folder;
    static_cast<void>(folder.file("families.json", R"({"families": )" + families + "}"));
    try {
      static_cast<void>(RunFamilies::load(folder.path()));
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.substr(text.find("families.json"));
    }
    return std::string();
  };
  EXPECT_EQ(wrong(R"({"mine": {"like": "libai"}, "more": {"like": "mine"}})"), "");
  EXPECT_EQ(wrong(R"({"mine": {"like": "of nobody"}})"),
            "families.json:1:32: families.mine.like: \"of nobody\": expected the name of a family");
  const std::string round = ": expected a family that is not like this one";
  EXPECT_EQ(wrong(R"({"mine": {"like": "mine"}})"),
            "families.json:1:32: families.mine.like: \"mine\"" + round);
  EXPECT_EQ(wrong(R"({"part": {"where": [{"column": "notes", "says": "x", "like": "part"}]}})"),
            "families.json:1:75: families.part.where.0.like: \"part\"" + round);
  // Each of those that are like one another, but not who is like one of them.
  const std::string all =
      wrong(R"({"mine": {"like": "more"}, "more": {"like": "mine"}, "other": {"like": "more"}})");
  EXPECT_NE(all.find("families.mine.like: \"more\"" + round), std::string::npos) << all;
  EXPECT_NE(all.find("families.more.like: \"mine\"" + round), std::string::npos) << all;
  EXPECT_EQ(all.find("families.other"), std::string::npos) << all;
}

TEST(RunFamilies, TheShippedOnesNameShippedSoftwareAndMachines) {
  const Document document = load_json(data_root() / "configs/families.json");
  const auto is_shipped = [](const DataKind& kind, const Value& habits, std::string_view key) {
    const std::vector<std::string> names = shipped_names(kind);
    const Value* name = habits.find(key);
    return name == nullptr || std::binary_search(names.begin(), names.end(), name->text);
  };
  for (const char* part : {"families", "software"}) {
    for (const auto& [family, habits] : document.at(part)->members) {
      SCOPED_TRACE(family);
      const Value* like = habits.find("like");
      EXPECT_NE(
          habits.find("stack"),
          like == nullptr ? nullptr : document.at("families")->find(like->text)->find("stack"));
      EXPECT_TRUE(is_shipped(kStackData, habits, "stack"));
      EXPECT_TRUE(is_shipped(kClusterData, habits, "cluster"));
    }
  }
  for (const auto& [word, habits] : document.at("machines")->members) {
    EXPECT_TRUE(is_shipped(kStackData, habits, "stack")) << word;
  }
  for (const auto& [word, habits] : document.at("models")->members) {
    EXPECT_EQ(habits.find("stack"), nullptr) << word;
  }
  const std::vector<std::string> chips = shipped_names(kChipData);
  for (const auto& [word, chip] : document.at("chips")->members) {
    EXPECT_TRUE(std::ranges::binary_search(chips, chip.text)) << word;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
