// Models of the HuggingFace Hub, which are known by their names.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "import/imports.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/read_document.hpp"
#include "titer/model/hub/hub_models.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::any_has;

ImportedRun named(std::string_view name) {
  return import_text(
      "model_name_or_path: " + std::string(name) + "\nper_device_train_batch_size: 1\n",
      "sft.yaml");
}

ImportedRun trained(const std::string& name) {
  return import_text(
      "torchrun --nproc_per_node 8 train.py --bf16 True "
      "--per_device_train_batch_size 1 --model_name_or_path " +
          name,
      "run.sh");
}

TEST(HubModels, HaveAsManyParametersAsPublished) {
  struct Case {
    std::string name;
    std::int64_t parameters;
  };
  const std::array<Case, 17> cases = {{{"google/gemma-3-1b-it", 999'885'952},
                                       {"google/gemma-3-4b-it", 3'880'263'168},
                                       {"google/gemma-3-12b-pt", 11'766'034'176},
                                       {"google/gemma-3-27b-it", 27'009'346'304},
                                       {"bigscience/bloom-560m", 559'214'592},
                                       {"bigscience/bloom-1b1", 1'065'314'304},
                                       {"bigscience/bloomz-1b7", 1'722'408'960},
                                       {"bigscience/bloom-3b", 3'002'557'440},
                                       {"bigscience/bloomz-7b1", 7'069'016'064},
                                       {"EleutherAI/gpt-j-6b", 6'050'882'784},
                                       {"tiiuae/falcon-7b-instruct", 6'921'720'704},
                                       {"tiiuae/falcon-40b", 41'303'293'952},
                                       {"Qwen/Qwen-7B-Chat", 7'721'324'544},
                                       {"Qwen/Qwen1.5-14B-Chat", 14'167'290'880},
                                       {"Qwen/Qwen1.5-4B", 3'950'369'280},
                                       {"openlm-research/open_llama_3b_v2", 3'426'473'600},
                                       {"openlm-research/open_llama_13b", 13'015'864'320}}};
  for (const Case& one : cases) {
    const ImportedRun run = trained(one.name);
    EXPECT_EQ(parameters(*run.model), one.parameters) << one.name;
    const bool sees = one.name.starts_with("google/gemma") && one.name != "google/gemma-3-1b-it";
    EXPECT_EQ(any_has(run.assumed, "the language model alone is taken"), sees) << one.name;
  }
}

TEST(HubModels, OfFurtherFamiliesHaveAsManyParametersAsPublished) {
  struct Case {
    std::string name;
    std::int64_t parameters;
  };
  const std::array<Case, 28> cases = {{{"deepseek-ai/deepseek-coder-1.3b-base", 1'346'471'936},
                                       {"deepseek-ai/deepseek-coder-6.7b-instruct", 6'740'512'768},
                                       {"deepseek-ai/deepseek-math-7b-base", 6'910'365'696},
                                       {"mistralai/Ministral-8B-Instruct-2410", 8'019'808'256},
                                       {"microsoft/phi-1_5", 1'418'270'720},
                                       {"microsoft/Phi-4-mini-instruct", 3'836'021'760},
                                       {"tiiuae/Falcon3-7B-Base", 7'455'550'464},
                                       {"baichuan-inc/Baichuan2-7B-Base", 7'505'973'248},
                                       {"internlm/internlm2-7b", 7'737'708'544},
                                       {"internlm/internlm2-1_8b", 1'889'110'016},
                                       {"THUDM/chatglm3-6b", 6'243'584'000},
                                       {"THUDM/glm-4-9b", 9'399'951'360},
                                       {"allenai/OLMo-1B-hf", 1'176'764'416},
                                       {"allenai/OLMo-2-0425-1B", 1'484'916'736},
                                       {"stabilityai/stablelm-2-1_6b", 1'644'515'328},
                                       {"stabilityai/stablelm-3b-4e1t", 2'795'443'200},
                                       {"bigcode/starcoderbase-1b", 1'137'207'296},
                                       {"bigcode/starcoder", 15'517'456'384},
                                       {"princeton-nlp/Sheared-LLaMA-1.3B", 1'345'423'360},
                                       {"upstage/SOLAR-10.7B-v1.0", 10'731'524'096},
                                       {"CohereForAI/c4ai-command-r-v01", 34'980'831'232},
                                       {"openbmb/MiniCPM-2B-sft-bf16", 2'724'880'896},
                                       {"mosaicml/mpt-7b", 6'649'286'656},
                                       {"EleutherAI/gpt-neo-1.3B", 1'315'575'808},
                                       {"EleutherAI/pythia-410m-deduped", 405'334'016},
                                       {"ByteDance-Seed/Seed-OSS-36B-Base", 36'151'104'512},
                                       {"distilgpt2", 81'912'576},
                                       {"berkeley-nest/Starling-LM-7B-alpha", 7'241'732'096}}};
  for (const Case& one : cases) {
    const ImportedRun run = trained(one.name);
    EXPECT_EQ(parameters(*run.model), one.parameters) << one.name;
  }
}

TEST(HubModels, ThoseThatWereTunedAreAsTheirNamesBegin) {
  const ImportedRun run = named("someone/Qwen2.5-7B-Some-Facts-v2");
  ASSERT_TRUE(run.model.has_value());
  EXPECT_EQ(parameters(*run.model), 7'615'616'512);
  EXPECT_TRUE(any_has(run.assumed, "taken as one that was tuned"));
  EXPECT_FALSE(any_has(named("Qwen/Qwen2.5-7B-Instruct").assumed, "taken as one that was tuned"));
  const ImportedRun early = named("TinyLlama/TinyLlama-1.1B-intermediate-step-955k-token-2T");
  EXPECT_EQ(parameters(*early.model), 1'100'048'384);
  EXPECT_EQ(named("someone/Meta-Llama-3-8B_on_law").shipped, "llama3-8b");
}

TEST(HubModels, OthersThatBeginLikeOneAreNotTakenForIt) {
  for (const std::string_view name : {"nvidia/Llama-3.1-Minitron-4B-Width-Base",
                                      "someone/Qwen2.5-7B-pruned-to-5B",
                                      "someone/Llama-3-8B-vision-alpha",
                                      "someone/Mistral-7B-MoE",
                                      "someone/Qwen3-8B-embedding"}) {
    EXPECT_NE(testing::refusal(
                  "model_name_or_path: " + std::string(name) + "\nper_device_train_batch_size: 1\n",
                  "sft.yaml")
                  .find("the shape of this model is not known here"),
              std::string::npos)
        << name;
  }
}

TEST(HubModels, OfMistralsTheFirstAloneSeesAWindow) {
  EXPECT_EQ(named("mistralai/Mistral-7B-v0.1").model->kinds.front().window, 4096);
  for (const std::string_view name : {"mistralai/Mistral-7B-v0.3",
                                      "mistralai/Mistral-Nemo-Base-2407",
                                      "mistralai/Magistral-Small-2509"}) {
    EXPECT_FALSE(named(name).model->kinds.front().window.has_value()) << name;
  }
}

/// As a model is named on the command line.
Transformer by_name(std::string_view name) {
  return read_document(load_data(kModelData, name), read_transformer);
}

TEST(HubModels, AreBasesByTheirNames) {
  const Transformer small = by_name("Qwen/Qwen2.5-1.5B-Instruct");
  EXPECT_EQ(small.layers, 28);
  EXPECT_EQ(small.title, "Qwen2.5-1.5B-Instruct");
  EXPECT_EQ(by_name("baichuan-inc/Baichuan2-13B-Base").positions, Positions::alibi);
  const Transformer mixed = by_name("Qwen/Qwen3.5-27B");
  ASSERT_TRUE(mixed.mixer);
  EXPECT_EQ(mixed.mixer->heads, 48);
  EXPECT_EQ(parameters(by_name("LiquidAI/LFM2-700M")), 742'489'344);
  EXPECT_THROW(static_cast<void>(by_name("nobody/knows-3b")), InputError);
}

/// What is shipped, with one file in the place of another.
class BrokenData {
 public:
  BrokenData(const std::string& file, std::string_view text) {
    namespace fs = std::filesystem;
    fs::create_directory(folder_.path() / "configs");
    fs::create_directory_symlink(data_root() / "models", folder_.path() / "models");
    for (const auto& entry : fs::directory_iterator(data_root() / "configs")) {
      if (entry.path().filename() != file) {
        fs::create_symlink(entry.path(), folder_.path() / "configs" / entry.path().filename());
      }
    }
    path_ = folder_.file("configs/" + file, text);
    setenv("TITER_DATA", folder_.path().c_str(), 1);
  }
  BrokenData(const BrokenData&) = delete;
  BrokenData& operator=(const BrokenData&) = delete;
  ~BrokenData() { unsetenv("TITER_DATA"); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  testing::TemporaryFolder folder_;
  std::string path_;
};

std::string refusal_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(HubModels, OfABrokenFileSayWhereItIsBroken) {
  const auto read = [] { static_cast<void>(hub_model("meta-llama/Llama-3.1-8B")); };
  {
    const BrokenData lacking("hub.json", R"({"not_of_shape": []})");
    EXPECT_EQ(refusal_of(read), lacking.path() + ":1:1: shipped: expected an object");
  }
  const BrokenData shorter("hub.json", R"({"not_of_shape": [], "shipped": {}, "like": {},
  "models": [{"all": {}, "keys": ["a", "b"], "models": {"llama318b": [1]}}]})");
  EXPECT_EQ(refusal_of(read),
            shorter.path() + ":2:70: llama318b: expected 2 values, one for each key");
}

TEST(Formats, OfABrokenFileSayWhereItIsBroken) {
  const BrokenData broken("formats.json",
                          R"({"formats": [{"nam": "a file", "import": "nobody"}]})");
  const std::string refusal =
      refusal_of([] { static_cast<void>(import_text("{\"a\": 1}", "a.json")); });
  EXPECT_NE(refusal.find(broken.path() + ":1:"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("formats.0.nam"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("nobody"), std::string::npos) << refusal;
}

TEST(Architectures, OfABrokenFileSayWhereItIsBroken) {
  const BrokenData broken(
      "architectures.json",
      R"({"decoders": {"a": {"as": "b", "norm": "batch", "biases": ["all"]}}})");
  const std::string refusal = refusal_of([] { static_cast<void>(huggingface_architectures()); });
  for (const std::string_view part : {"decoders.a.as: \"b\": expected a class before this one",
                                      "decoders.a.norm: \"batch\"",
                                      "expected qkv, output, mlp and head"}) {
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  }
}

TEST(Architectures, AreRowsOfAFile) {
  const BrokenData own("architectures.json",
                       R"({"decoders": {"mine": {"keys": {"layers": "depth"},
                                                 "otherwise": {"max_sequence": 512}},
                                        "too": {"as": "mine", "gated": false}}})");
  const auto read = [](const std::string& type) {
    return read_document(parse_json(R"({"model_type": ")" + type +
                                        R"(", "depth": 3, "hidden_size": 64, "vocab_size": 100,
                                        "num_attention_heads": 4, "intermediate_size": 256})",
                                    "config.json"),
                         [](Reader& in) { return read_huggingface(in).model; });
  };
  EXPECT_EQ(read("mine").layers, 3);
  EXPECT_EQ(read("mine").max_sequence, 512);
  EXPECT_TRUE(read("mine").gated);
  EXPECT_FALSE(read("too").gated);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
